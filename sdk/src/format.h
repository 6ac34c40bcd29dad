/* Texts that drivers give as a format and arguments. */
#pragma once

#include <glib.h>
#include <stdarg.h>

/* In a function whose last named parameter is `format`: the text, to be freed with g_free. */
#define FORMAT_TEXT(text, format)                                                                  \
    do {                                                                                           \
        va_list arguments;                                                                         \
                                                                                                   \
        va_start(arguments, format);                                                               \
        (text) = g_strdup_vprintf(format, arguments);                                              \
        va_end(arguments);                                                                         \
    } while (0)
