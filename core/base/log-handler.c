#include "base/log-handler-private.h"

#include <errno.h>
#include <unistd.h>

typedef struct {
    DroverLogHandler base;
    int fd;
} Stream;

gpointer
drover_log_handler_alloc(const DroverLogHandlerClass *class, gsize size)
{
    DroverLogHandler *handler = g_malloc0(size);

    handler->class = class;
    g_atomic_ref_count_init(&handler->references);
    handler->format = drover_log_format_new(DROVER_LOG_DEFAULT_FORMAT, NULL, TRUE, NULL);
    return handler;
}

DroverLogHandler *
drover_log_handler_ref(DroverLogHandler *handler)
{
    g_atomic_ref_count_inc(&handler->references);
    return handler;
}

void
drover_log_handler_unref(DroverLogHandler *handler)
{
    if (!g_atomic_ref_count_dec(&handler->references))
        return;
    if (handler->class->clear != NULL)
        handler->class->clear(handler);
    drover_log_format_free(handler->format);
    g_free(handler);
}

void
drover_log_handler_set_threshold(DroverLogHandler *handler, int threshold)
{
    handler->threshold = threshold;
}

void
drover_log_handler_set_format(DroverLogHandler *handler, DroverLogFormat *format)
{
    drover_log_format_free(handler->format);
    handler->format = format;
}

void
drover_log_handler_emit(DroverLogHandler *handler, const DroverLogRecord *record)
{
    g_autoptr(GString) text = NULL;

    if (drover_log_level_number(record->level) < handler->threshold)
        return;
    text = g_string_new(NULL);
    drover_log_format_append(handler->format, record, text);
    g_string_append_c(text, '\n');
    handler->class->write(handler, record, text);
}

void
drover_log_write_all(int fd, const char *text, gsize length)
{
    for (gsize done = 0; done < length;) {
        ssize_t n = write(fd, text + done, length - done);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        done += (gsize)n;
    }
}

/* ---- The simple kinds ---- */

static void
write_stream(DroverLogHandler *handler, const DroverLogRecord *record, const GString *text)
{
    drover_log_write_all(((Stream *)handler)->fd, text->str, text->len);
}

DroverLogHandler *
drover_log_handler_new_stream(int fd)
{
    static const DroverLogHandlerClass class = {.write = write_stream};
    Stream *stream = drover_log_handler_alloc(&class, sizeof(Stream));

    stream->fd = fd;
    return &stream->base;
}

static void
write_nothing(DroverLogHandler *handler, const DroverLogRecord *record, const GString *text)
{
}

DroverLogHandler *
drover_log_handler_new_null(void)
{
    static const DroverLogHandlerClass class = {.write = write_nothing};

    return drover_log_handler_alloc(&class, sizeof(DroverLogHandler));
}
