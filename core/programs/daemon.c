#include "programs/daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "programs/pid-file.h"

#define PATIENCE 10 /* seconds for a pid file that somebody has */

static struct {
    char *pid_file; /* NULL in the foreground */
    int ready;      /* the starting process reads its other end */
} daemon_state = {.ready = -1};

static gboolean
fail(GError **error, const char *what)
{
    g_set_error(error, DROVER_ERROR, DROVER_ERROR_FAILED, "cannot go to the background: %s: %s",
                what, g_strerror(errno));
    return FALSE;
}

/* Ends the starting process as soon as it is known how the start went. */
static void G_GNUC_NORETURN
wait_for_daemon(int ready, pid_t child)
{
    char word;
    ssize_t n;

    waitpid(child, NULL, 0);
    do
        n = read(ready, &word, 1);
    while (n < 0 && errno == EINTR);
    _exit(n == 1 ? EXIT_SUCCESS : EXIT_FAILURE);
}

static void
leave_surroundings(void)
{
    static const int ignored[] = {SIGTSTP, SIGTTIN, SIGTTOU, SIGPIPE};
    const struct rlimit no_core = {0, 0};

    umask(022);
    setrlimit(RLIMIT_CORE, &no_core);
    for (guint i = 0; i < G_N_ELEMENTS(ignored); i++)
        signal(ignored[i], SIG_IGN);
}

/* The daemon itself, a grandchild: it can never get a terminal. */
static gboolean
become_daemon(int ready, const char *pid_file, GError **error)
{
    if (chdir("/") != 0)
        return fail(error, "/");
    leave_surroundings();
    daemon_state.ready = ready;
    daemon_state.pid_file = g_strdup(pid_file);
    return drover_pid_file_inherit(pid_file, error);
}

gboolean
drover_daemon_begin(const char *pid_file, GError **error)
{
    int ends[2];
    pid_t child;

    if (!drover_pid_file_take(pid_file, PATIENCE, error))
        return FALSE;
    close_range(STDERR_FILENO + 1, ~0U, 0);
    if (pipe2(ends, O_CLOEXEC) != 0 || (child = fork()) < 0) {
        fail(error, "fork");
        drover_pid_file_remove(pid_file);
        return FALSE;
    }
    if (child > 0) {
        close(ends[1]);
        wait_for_daemon(ends[0], child);
    }
    close(ends[0]);
    setsid();
    if (fork() != 0)
        _exit(EXIT_SUCCESS);
    return become_daemon(ends[1], pid_file, error);
}

void
drover_daemon_ready(void)
{
    int nothing;

    if (daemon_state.pid_file == NULL)
        return;
    nothing = open("/dev/null", O_RDWR);
    for (int fd = STDIN_FILENO; nothing >= 0 && fd <= STDERR_FILENO; fd++)
        dup2(nothing, fd);
    if (nothing > STDERR_FILENO)
        close(nothing);
    if (write(daemon_state.ready, "r", 1) != 1)
        g_warning("nobody waited for the start");
    close(daemon_state.ready);
}

void
drover_daemon_end(void)
{
    if (daemon_state.pid_file != NULL)
        drover_pid_file_remove(daemon_state.pid_file);
    g_clear_pointer(&daemon_state.pid_file, g_free);
}
