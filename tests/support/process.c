#include "support/process.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FIRST_PORT = 16000, PORTS = 16000 };

static gboolean
port_is_free(guint16 port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    int reuse = 1;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    gboolean is_free;

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &reuse, sizeof reuse);
    is_free = bind(fd, (struct sockaddr *)&address, sizeof address) == 0 && listen(fd, 1) == 0;
    close(fd);
    return is_free;
}

guint16
test_free_port(void)
{
    for (int attempt = 0; attempt < PORTS; attempt++) {
        guint16 port = (guint16)(FIRST_PORT + g_random_int_range(0, PORTS));

        if (port_is_free(port))
            return port;
    }
    g_error("no free port");
}

typedef struct {
    int log;
    pid_t parent;
} ChildSetup;

/* Runs in the child, between fork and exec. */
static void
set_up_child(gpointer user_data)
{
    const ChildSetup *setup = user_data;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != setup->parent)
        _exit(1);
    if (setup->log >= 0) {
        dup2(setup->log, STDOUT_FILENO);
        dup2(setup->log, STDERR_FILENO);
    }
}

gboolean
test_process_start(const char *const *argv, const char *log, pid_t *pid, GError **error)
{
    ChildSetup setup = {.log = -1, .parent = getpid()};
    gboolean started;

    if (log != NULL) {
        setup.log = open(log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
        if (setup.log < 0) {
            g_set_error(error, G_FILE_ERROR, g_file_error_from_errno(errno), "%s: %s", log,
                        g_strerror(errno));
            return FALSE;
        }
    }
    started =
        g_spawn_async(NULL, (char **)argv, NULL, G_SPAWN_SEARCH_PATH | G_SPAWN_DO_NOT_REAP_CHILD,
                      set_up_child, &setup, pid, error);
    if (setup.log >= 0)
        close(setup.log);
    return started;
}

gboolean
test_process_start_with_pipes(const char *const *argv, int *input, int *output, pid_t *pid,
                              GError **error)
{
    ChildSetup setup = {.log = -1, .parent = getpid()};

    signal(SIGPIPE, SIG_IGN); /* writing to a child that has ended is an error, not our end */
    return g_spawn_async_with_pipes(NULL, (char **)argv, NULL,
                                    G_SPAWN_SEARCH_PATH | G_SPAWN_DO_NOT_REAP_CHILD, set_up_child,
                                    &setup, pid, input, output, NULL, error);
}

int
test_process_end(pid_t *pid, int signal)
{
    int status = 0;

    if (*pid <= 0)
        return 0;
    if (signal != 0)
        kill(*pid, signal);
    while (waitpid(*pid, &status, 0) < 0 && errno == EINTR)
        ;
    *pid = 0;
    return status;
}

gboolean
test_process_has_ended(pid_t *pid)
{
    if (*pid > 0 && waitpid(*pid, NULL, WNOHANG) != *pid)
        return FALSE;
    *pid = 0;
    return TRUE;
}

gboolean
test_process_run(const char *const *argv, GError **error)
{
    g_autofree char *output = NULL;
    g_autofree char *errors = NULL;
    int status;

    if (!g_spawn_sync(NULL, (char **)argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &output, &errors,
                      &status, error))
        return FALSE;
    if (!g_spawn_check_wait_status(status, error)) {
        g_prefix_error(error, "%s %s: %s%s", argv[0], argv[1], output, errors);
        return FALSE;
    }
    return TRUE;
}

char *
test_folder_make(void)
{
    g_autoptr(GError) error = NULL;
    char *folder = g_dir_make_tmp("drover-test-XXXXXX", &error);

    g_assert_no_error(error);
    return folder;
}

static int
remove_entry(const char *path, const struct stat *status, int type, struct FTW *walk)
{
    return remove(path);
}

void
test_folder_remove(const char *folder)
{
    if (folder != NULL)
        nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}
