/*
 * The terminal as a whole screen: standard output, and keys from standard input. One at a time.
 *
 * It is put back as it was by drover_terminal_close(), and also when the program dies of a signal.
 */
#pragma once

#include <glib.h>

/* Keys without a character of their own; others are their character. */
typedef enum {
    DROVER_KEY_UP = 0x110000,
    DROVER_KEY_DOWN,
    DROVER_KEY_PAGE_UP,
    DROVER_KEY_PAGE_DOWN,
    DROVER_KEY_HOME,
    DROVER_KEY_END,
    DROVER_KEY_OTHER,
} DroverKey;

typedef struct _DroverTerminal DroverTerminal;

/* Whether there is a terminal that can be drawn on. */
gboolean drover_terminal_is_there(void);

/* Ctrl-Z is done here: the terminal is given back as long as the program is stopped. */
DroverTerminal *drover_terminal_open(void (*key)(guint key, gpointer user_data),
                                     void (*resized)(gpointer user_data), gpointer user_data);
void drover_terminal_close(DroverTerminal *terminal);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DroverTerminal, drover_terminal_close)

void drover_terminal_size(guint *rows, guint *columns);
