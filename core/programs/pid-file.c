#include "programs/pid-file.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

#define PAUSE (G_USEC_PER_SEC / 10)

/* The pid in the file; 0 when there is none, or anything else. */
static pid_t
read_pid(const char *path)
{
    g_autofree char *text = NULL;
    gint64 pid = 0;

    if (!g_file_get_contents(path, &text, NULL, NULL) ||
        !g_ascii_string_to_signed(g_strstrip(text), 10, 1, G_MAXINT32, &pid, NULL))
        return 0;
    return (pid_t)pid;
}

static gboolean
is_gone(pid_t pid)
{
    return pid > 0 && kill(pid, 0) != 0 && errno == ESRCH;
}

static gboolean
fail(GError **error, const char *path)
{
    g_set_error(error, DROVER_ERROR, DROVER_ERROR_FAILED, "cannot write the pid file %s: %s", path,
                g_strerror(errno));
    return FALSE;
}

/* A file beside it with this process's pid, to be put in its place: nobody reads half of it. */
static char *
write_beside(const char *path, GError **error)
{
    g_autofree char *beside = g_strdup_printf("%s.%d", path, (int)getpid());
    g_autofree char *text = g_strdup_printf("%d\n", (int)getpid());
    int fd = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    gboolean written;

    if (fd < 0) {
        fail(error, path);
        return NULL;
    }
    written = fchmod(fd, 0644) == 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    if (close(fd) == 0 && written)
        return g_steal_pointer(&beside);
    fail(error, path);
    g_unlink(beside);
    return NULL;
}

/* One starter at a time looks and removes, so that none removes what another one just made. */
static int
lock_folder(const char *path, GError **error)
{
    g_autofree char *folder = g_path_get_dirname(path);
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0 || flock(fd, LOCK_EX) != 0)
        fail(error, path);
    return fd;
}

/* TRUE when it is made. FALSE without an error when somebody has it. */
static gboolean
try_to_take(const char *path, GError **error)
{
    g_autofree char *beside = NULL;
    gboolean made;
    int folder = lock_folder(path, error);

    if (folder < 0)
        return FALSE;
    if (is_gone(read_pid(path)))
        g_unlink(path);
    beside = write_beside(path, error);
    made = beside != NULL && link(beside, path) == 0;
    if (beside != NULL && !made && errno != EEXIST)
        fail(error, path);
    if (beside != NULL)
        g_unlink(beside);
    close(folder);
    return made;
}

gboolean
drover_pid_file_take(const char *path, guint seconds, GError **error)
{
    gint64 deadline = g_get_monotonic_time() + seconds * G_TIME_SPAN_SECOND;
    GError *problem = NULL;

    while (!try_to_take(path, &problem)) {
        if (problem != NULL) {
            g_propagate_error(error, problem);
            return FALSE;
        }
        if (g_get_monotonic_time() >= deadline) {
            g_set_error(error, DROVER_ERROR, DROVER_ERROR_BUSY,
                        "Timeout waiting to acquire lock for %s", path);
            return FALSE;
        }
        g_usleep(PAUSE);
    }
    return TRUE;
}

gboolean
drover_pid_file_inherit(const char *path, GError **error)
{
    g_autofree char *beside = write_beside(path, error);

    if (beside == NULL)
        return FALSE;
    if (g_rename(beside, path) == 0)
        return TRUE;
    fail(error, path);
    g_unlink(beside);
    return FALSE;
}

void
drover_pid_file_remove(const char *path)
{
    if (read_pid(path) == getpid())
        g_unlink(path);
}
