#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"

static struct {
    GMutex lock;
    DroverLogLevel level;
    int fd;
    char *path; /* NULL when writing to a descriptor that somebody else owns */
    dev_t device;
    ino_t inode;
} sink = {.level = DROVER_LOG_INFO, .fd = STDERR_FILENO};

static const char *const level_names[] = {"DEBUG", "INFO", "WARNING", "ERROR"};

void
drover_log_set_level(DroverLogLevel level)
{
    g_atomic_int_set((gint *)&sink.level, (gint)level);
}

gboolean
drover_log_enabled(DroverLogLevel level)
{
    return (gint)level >= g_atomic_int_get((gint *)&sink.level);
}

static gboolean
open_file(const char *path)
{
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0640);
    struct stat status;

    if (fd < 0 || fstat(fd, &status) != 0)
        return FALSE;
    if (sink.path != NULL)
        close(sink.fd);
    sink.fd = fd;
    sink.device = status.st_dev;
    sink.inode = status.st_ino;
    return TRUE;
}

static void
forget_file(void)
{
    if (sink.path != NULL)
        close(sink.fd);
    g_clear_pointer(&sink.path, g_free);
}

void
drover_log_set_fd(int fd)
{
    g_mutex_lock(&sink.lock);
    forget_file();
    sink.fd = fd;
    g_mutex_unlock(&sink.lock);
}

gboolean
drover_log_set_file(const char *path, GError **error)
{
    gboolean opened;

    g_mutex_lock(&sink.lock);
    forget_file();
    opened = open_file(path);
    if (opened)
        sink.path = g_strdup(path);
    else
        g_set_error(error, DROVER_ERROR, DROVER_ERROR_FAILED, "cannot write the log file %s: %s",
                    path, g_strerror(errno));
    g_mutex_unlock(&sink.lock);
    return opened;
}

static void
reopen_renamed_file(void)
{
    struct stat status;

    if (sink.path == NULL)
        return;
    if (stat(sink.path, &status) != 0 || status.st_dev != sink.device ||
        status.st_ino != sink.inode)
        open_file(sink.path);
}

static void
append_part(GString *line, const char *name, const char *value)
{
    if (value != NULL)
        g_string_append_printf(line, "[%s: %s] ", name, value);
}

static void
append_prefix(GString *out, DroverLogLevel level, const char *logger)
{
    gint64 now = g_get_real_time();
    time_t seconds = (time_t)(now / G_USEC_PER_SEC);
    struct tm local;
    char stamp[32];

    /* GDateTime looks at the time zone's file for every line. */
    localtime_r(&seconds, &local);
    strftime(stamp, sizeof(stamp), "%Y-%m-%d %H:%M:%S", &local);
    g_string_append_printf(out, "%s,%03d %s nodepool.%s: ", stamp,
                           (int)(now % G_USEC_PER_SEC / 1000), level_names[level],
                           logger != NULL ? logger : "NodePool");
}

void
drover_log(DroverLogLevel level, const DroverLogSubject *subject, const char *format, ...)
{
    static const DroverLogSubject nothing;
    g_autoptr(GString) text = NULL;
    g_autoptr(GString) out = NULL;
    g_auto(GStrv) lines = NULL;
    va_list arguments;

    if (!drover_log_enabled(level))
        return;
    if (subject == NULL)
        subject = &nothing;

    text = g_string_new(NULL);
    append_part(text, "e", subject->event_id);
    append_part(text, "node_request", subject->request_id);
    append_part(text, "node", subject->node_id);
    va_start(arguments, format);
    g_string_append_vprintf(text, format, arguments);
    va_end(arguments);

    out = g_string_new(NULL);
    lines = g_strsplit(text->str, "\n", -1);
    for (guint i = 0; lines[i] != NULL; i++) {
        append_prefix(out, level, subject->logger);
        g_string_append_printf(out, "%s%s\n", i > 0 ? "  " : "", lines[i]);
    }

    g_mutex_lock(&sink.lock);
    reopen_renamed_file();
    for (gsize done = 0; done < out->len;) {
        ssize_t n = write(sink.fd, out->str + done, out->len - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        done += (gsize)n;
    }
    g_mutex_unlock(&sink.lock);
}
