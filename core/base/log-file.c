/* The handler that writes to a file, and puts it aside in time. */
#include "base/log-handler-private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log-rotation.h"

typedef struct {
    DroverLogHandler base;
    char *path;
    int fd;
    dev_t device;
    ino_t inode;
    DroverLogRotation rotation;
    gint64 turn; /* seconds since 1970: when it is put aside, by time */
} File;

/* On failure the old descriptor stays in use: a line in the wrong file is better than none. */
static gboolean
open_file(File *file, int flags)
{
    int fd = open(file->path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | flags, 0640);
    struct stat status;

    if (fd < 0)
        return FALSE;
    if (fstat(fd, &status) == 0) {
        file->device = status.st_dev;
        file->inode = status.st_ino;
    }
    if (file->fd >= 0)
        close(file->fd);
    file->fd = fd;
    return TRUE;
}

static void
put_aside(File *file, const DroverLogRecord *record, const struct stat *status, gsize length)
{
    gint64 now = record->time / G_USEC_PER_SEC;

    switch (file->rotation.turn) {
    case DROVER_LOG_KEEP:
        return;
    case DROVER_LOG_BY_SIZE:
        if (file->rotation.size <= 0 || file->rotation.backups == 0 || status->st_size == 0 ||
            status->st_size + (gint64)length <= file->rotation.size)
            return;
        drover_log_rotate_by_number(file->path, file->rotation.backups);
        break;
    default:
        if (now < file->turn)
            return;
        drover_log_rotate_by_time(file->path, &file->rotation, file->turn);
        file->turn = drover_log_next_turn(&file->rotation, now);
        break;
    }
    open_file(file, 0);
}

static void
write_file(DroverLogHandler *handler, const DroverLogRecord *record, const GString *text)
{
    File *file = (File *)handler;
    struct stat status;

    if (stat(file->path, &status) != 0 || status.st_dev != file->device ||
        status.st_ino != file->inode)
        open_file(file, 0);
    else
        put_aside(file, record, &status, text->len);
    drover_log_write_all(file->fd, text->str, text->len);
}

static void
clear_file(DroverLogHandler *handler)
{
    File *file = (File *)handler;

    if (file->fd >= 0)
        close(file->fd);
    g_free(file->path);
}

/* A file that is older than its next turn is put aside with the first message. */
static gint64
begin_of(const char *path)
{
    struct stat status;

    if (stat(path, &status) == 0 && status.st_size > 0)
        return (gint64)status.st_mtime;
    return g_get_real_time() / G_USEC_PER_SEC;
}

DroverLogHandler *
drover_log_handler_new_file(const char *path, gboolean truncate, const DroverLogRotation *rotation,
                            GError **error)
{
    static const DroverLogHandlerClass class = {.write = write_file, .clear = clear_file};
    File *file = drover_log_handler_alloc(&class, sizeof(File));

    file->fd = -1;
    /* The working directory may change later. */
    file->path = g_canonicalize_filename(path, NULL);
    if (rotation != NULL) {
        file->rotation = *rotation;
        file->turn = drover_log_next_turn(rotation, begin_of(file->path));
    }
    if (!open_file(file, truncate ? O_TRUNC : 0)) {
        g_set_error(error, DROVER_ERROR, DROVER_ERROR_FAILED, "cannot write the log file %s: %s",
                    path, g_strerror(errno));
        drover_log_handler_unref(&file->base);
        return NULL;
    }
    return &file->base;
}
