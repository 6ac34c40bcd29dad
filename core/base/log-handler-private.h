/* What the kinds of handlers have in common. */
#pragma once

#include "base/log-handler.h"

typedef struct {
    /* `text` is the formatted message with a newline at its end. */
    void (*write)(DroverLogHandler *handler, const DroverLogRecord *record, const GString *text);
    void (*clear)(DroverLogHandler *handler); /* may be NULL */
} DroverLogHandlerClass;

/* A kind's own struct begins with it. */
struct _DroverLogHandler {
    const DroverLogHandlerClass *class;
    gatomicrefcount references;
    int threshold;
    DroverLogFormat *format;
};

/* `size` is that of the kind's own struct; all of it is 0 but the base. */
gpointer drover_log_handler_alloc(const DroverLogHandlerClass *class, gsize size);
/* All of it, unless it cannot be written. */
void drover_log_write_all(int fd, const char *text, gsize length);
