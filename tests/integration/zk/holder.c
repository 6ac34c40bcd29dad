/*
 * A process with a session of its own, for tests that kill or stop one.
 *
 *     holder PORT STATE-FOLDER
 *
 * It tells on its output, one line each: "connected ID RESUMED", "suspended", "lost"; or "refused
 * MESSAGE" when the session cannot be begun. Its input has commands, each answered by one line:
 *
 *     lock DIRECTORY            "held CONTENDER", once it is
 *     create PATH               "created NAME": ephemeral
 *     set DIRECTORY PATH TEXT   "set OUTCOME": with the proof of that lock
 *     abandon                   ends without ending the session
 *     close                     ends the session too
 */
#include <glib-unix.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "zk/change.h"

static DroverSession *session;
static GHashTable *locks; /* directory -> DroverLock */
static GMainLoop *loop;

static void tell(const char *format, ...) G_GNUC_PRINTF(1, 2);

static void
tell(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    putchar('\n');
    fflush(stdout);
}

static void
on_state(DroverSession *changed, DroverSessionState state, gpointer user_data)
{
    if (state == DROVER_SESSION_CONNECTED)
        tell("connected %" G_GINT64_FORMAT " %d", drover_session_id(changed),
             drover_session_is_resumed(changed));
    else if (state == DROVER_SESSION_SUSPENDED)
        tell("suspended");
    else if (state == DROVER_SESSION_LOST)
        tell("lost");
}

/* ---- Commands ---- */

static void
on_lock(DroverLock *lock, DroverLockOutcome outcome, gpointer user_data)
{
    if (outcome == DROVER_LOCK_HELD)
        tell("held %s", strrchr(drover_lock_contender(lock), '/') + 1);
    else
        tell("not held: %d", outcome);
}

static void
do_lock(char **words)
{
    DroverLock *lock = drover_lock_new(session, words[1], FALSE, NULL);

    g_hash_table_insert(locks, g_strdup(words[1]), lock);
    drover_lock_acquire(lock, DROVER_LOCK_WAIT_FOREVER, on_lock, NULL);
}

static void
on_created(const DroverChangeResult *result, gpointer user_data)
{
    tell("created %s", result->outcome == DROVER_CHANGE_DONE ? result->created[0] : "nothing");
}

static void
do_create(char **words)
{
    DroverChange *change = drover_change_new(session);

    drover_change_create(change, words[1], NULL, ZOO_EPHEMERAL);
    drover_change_commit(change, on_created, NULL);
}

static void
on_set(const DroverChangeResult *result, gpointer user_data)
{
    tell("set %s", drover_change_outcome_name(result->outcome));
}

static void
do_set(char **words)
{
    g_autoptr(GBytes) data = g_bytes_new(words[3], strlen(words[3]));
    DroverChange *change = drover_change_new(session);

    drover_change_hold(change, g_hash_table_lookup(locks, words[1]));
    drover_change_set(change, words[2], data, -1);
    drover_change_commit(change, on_set, NULL);
}

static void
do_abandon(char **words)
{
    drover_session_abandon(session);
    g_main_loop_quit(loop);
}

static void
do_close(char **words)
{
    g_main_loop_quit(loop);
}

static gboolean
on_input(int fd, GIOCondition condition, gpointer user_data)
{
    static const struct {
        const char *name;
        void (*run)(char **words);
    } commands[] = {{"lock", do_lock},
                    {"create", do_create},
                    {"set", do_set},
                    {"abandon", do_abandon},
                    {"close", do_close}};
    char line[1024];
    g_auto(GStrv) words = NULL;

    if (fgets(line, sizeof line, stdin) == NULL)
        exit(0);
    words = g_strsplit(g_strchomp(line), " ", 4);
    for (guint i = 0; i < G_N_ELEMENTS(commands); i++)
        if (strcmp(words[0], commands[i].name) == 0)
            commands[i].run(words);
    return G_SOURCE_CONTINUE;
}

int
main(int argc, char **argv)
{
    DroverSessionServer address = {"127.0.0.1", (guint16)atoi(argv[1])};
    DroverSessionOptions options = {
        .servers = &address, .n_servers = 1, .timeout = 4, .state_dir = argv[2]};
    g_autoptr(GError) error = NULL;

    drover_log_set_level(DROVER_LOG_WARNING);
    setvbuf(stdin, NULL, _IONBF, 0);
    session = drover_session_new(&options, &error);
    if (session == NULL) {
        tell("refused %s", error->message);
        return 2;
    }
    locks =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)drover_lock_free);
    loop = g_main_loop_new(NULL, FALSE);
    drover_session_add_listener(session, on_state, NULL);
    g_unix_fd_add(STDIN_FILENO, G_IO_IN | G_IO_HUP, on_input, NULL);
    g_main_loop_run(loop);
    g_hash_table_unref(locks);
    drover_session_close(session);
    g_main_loop_unref(loop);
    return 0;
}
