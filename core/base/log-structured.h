/*
 * Messages as key=value and as JSON, one line each whatever they contain. The keys, in this order:
 * time (UTC, RFC 3339, milliseconds), level, logger, event_id, node_request, node, provider, pool,
 * message; what is not known is left out.
 */
#pragma once

#include "base/log-format.h"

/* The parts of the subject with their keys, in their order; `key` is NULL at the end. */
typedef struct {
    const char *key;
    gsize offset; /* of the text in DroverLogSubject */
} DroverLogPart;
extern const DroverLogPart drover_log_parts[];
const char *drover_log_part(const DroverLogSubject *subject, const DroverLogPart *part);

/* "info" */
const char *drover_log_level_word(DroverLogLevel level);

/* Appends the line without its newline. */
void drover_log_structured_append(DroverLogForm form, const DroverLogRecord *record, GString *out);
