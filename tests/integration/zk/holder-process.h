/* The program holder.c as a child process. A call that fails ends the test. */
#pragma once

#include <glib.h>

typedef struct _Holder Holder;

/* With a session of 4 s, straight to the server or through the proxy. */
Holder *holder_start(const char *folder, gboolean through_proxy);

/* Sends one line. */
void holder_send(Holder *holder, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* Waits for a line that begins so, and returns what follows; free with g_free. */
char *holder_wait(Holder *holder, const char *beginning);

void holder_stop(Holder *holder);     /* SIGSTOP */
void holder_continue(Holder *holder); /* SIGCONT */
/* Waits for the end that it was told to come to; returns the exit status. */
int holder_end(Holder *holder);
/* SIGKILL, and frees. */
void holder_kill(Holder *holder);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Holder, holder_kill)
