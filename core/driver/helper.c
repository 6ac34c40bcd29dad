#include "driver/helper.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/process.h"
#include "driver/transport.h"

#define PROGRAM            "drover-driver-host"
#define LIMIT_MILLISECONDS 10000
/* How long an end in good order may take. */
#define END_TRIES            100
#define END_TRY_MICROSECONDS 2000

static gboolean
is_program(const char *path)
{
    return path != NULL && g_file_test(path, G_FILE_TEST_IS_EXECUTABLE);
}

char *
drover_helper_path(void)
{
    const char *named = g_getenv("DROVER_DRIVER_HOST");
    g_autofree char *own = g_file_read_link("/proc/self/exe", NULL);
    g_autofree char *folder = own != NULL ? g_path_get_dirname(own) : NULL;
    g_autofree char *beside = folder != NULL ? g_build_filename(folder, PROGRAM, NULL) : NULL;
    const char *const places[] = {named, beside, DROVER_HELPER_DIR "/" PROGRAM};

    for (guint i = 0; i < G_N_ELEMENTS(places); i++)
        if (is_program(places[i]))
            return g_strdup(places[i]);
    return NULL;
}

/* Whether the process has said that it survived, before the time is up or it has ended. */
static gboolean
wait_for_word(int fd, gboolean *in_time)
{
    gint64 deadline = g_get_monotonic_time() + LIMIT_MILLISECONDS * G_TIME_SPAN_MILLISECOND;
    char word[sizeof(DROVER_HELPER_SURVIVED)] = "";
    gsize length = 0;

    *in_time = TRUE;
    while (length < strlen(DROVER_HELPER_SURVIVED)) {
        gint64 left = (deadline - g_get_monotonic_time()) / G_TIME_SPAN_MILLISECOND;
        struct pollfd wanted = {.fd = fd, .events = POLLIN};
        ssize_t got;

        *in_time = left > 0 && poll(&wanted, 1, (int)left) != 0;
        if (!*in_time)
            return FALSE;
        got = read(fd, word + length, sizeof(word) - 1 - length);
        if (got == 0 || (got < 0 && errno != EINTR))
            return FALSE;
        length += (gsize)MAX(got, 0);
    }
    return strcmp(word, DROVER_HELPER_SURVIVED) == 0;
}

static int
wait_for_end(GPid pid)
{
    int status = 0;

    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    g_spawn_close_pid(pid);
    return status;
}

static char *
describe_end(gboolean in_time, int status)
{
    g_autofree char *end = NULL;

    if (!in_time)
        return g_strdup_printf("loading it takes more than %d s", LIMIT_MILLISECONDS / 1000);
    end = drover_process_describe_end(status);
    return g_strdup_printf("a process that loaded it %s", end);
}

gboolean
drover_helper_try_load(const char *path, char **reason)
{
    g_autofree char *program = drover_helper_path();
    char *words[] = {program, (char *)"--check", (char *)path, NULL};
    gboolean in_time, survived;
    int output, status;
    GPid pid;

    if (program == NULL ||
        !g_spawn_async_with_pipes(
            NULL, words, NULL, G_SPAWN_DO_NOT_REAP_CHILD | G_SPAWN_STDERR_TO_DEV_NULL,
            drover_process_restore_files, NULL, &pid, NULL, &output, NULL, NULL))
        return TRUE;
    survived = wait_for_word(output, &in_time);
    close(output);
    if (!in_time)
        kill(pid, SIGKILL);
    status = wait_for_end(pid);
    if (!survived)
        *reason = describe_end(in_time, status);
    return survived;
}

/* ---- To have a driver ---- */

static gboolean
spawn(const char *program, const char *name, int theirs, GPid *pid, GError **error)
{
    const char *words[] = {program, "--serve", name, NULL};
    const int targets[] = {DROVER_TRANSPORT_FD};

    return g_spawn_async_with_pipes_and_fds(NULL, words, NULL,
                                            G_SPAWN_DO_NOT_REAP_CHILD | G_SPAWN_STDOUT_TO_DEV_NULL,
                                            drover_process_restore_files, NULL, -1, -1, -1, &theirs,
                                            targets, 1, pid, NULL, NULL, NULL, error);
}

gboolean
drover_helper_start(const char *name, GPid *pid, int *fd, GError **error)
{
    g_autofree char *program = drover_helper_path();
    int ends[2];
    gboolean started;

    if (program == NULL || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        g_set_error(error, G_SPAWN_ERROR, G_SPAWN_ERROR_FAILED, "%s",
                    program == NULL ? PROGRAM " is not installed" : g_strerror(errno));
        return FALSE;
    }
    started = spawn(program, name, ends[1], pid, error);
    close(ends[1]);
    if (started)
        *fd = ends[0];
    else
        close(ends[0]);
    return started;
}

gboolean
drover_helper_end(GPid pid, int *status)
{
    gboolean own = FALSE;

    /* It closes its socket at its end, which may take a moment. */
    for (guint i = 0; i < END_TRIES && !own; i++) {
        own = waitpid(pid, status, WNOHANG) != 0;
        if (!own)
            g_usleep(END_TRY_MICROSECONDS);
    }
    if (own)
        g_spawn_close_pid(pid);
    else {
        kill(pid, SIGKILL);
        *status = wait_for_end(pid);
    }
    return own;
}
