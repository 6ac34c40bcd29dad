/*
 * Records: what Drover keeps in ZooKeeper, one JSON object a znode, in the form that Nodepool 11
 * and Zuul read and write.
 *
 * A decoded object (DroverNode, ...) is a snapshot that never changes. To write one, take its
 * record as a JSON object, change fields there, and store the text: every field of the table is
 * then present, and fields that this version does not know are kept.
 */
#pragma once

#include <glib.h>

#include "base/json.h"

/* Seconds since the epoch, now. */
double drover_record_now(void);

typedef enum {
    DROVER_FIELD_NULL, /* null when unset */
    DROVER_FIELD_LIST, /* [] */
    DROVER_FIELD_TRUE,
    DROVER_FIELD_ZERO,
} DroverFieldDefault;

typedef struct {
    const char *name;
    DroverFieldDefault otherwise;
} DroverField;

/* Adds the fields of the table (ended by a NULL name) that the record lacks, as their default. */
void drover_record_complete(json_t *record, const DroverField *fields);

/* The znode's data. */
GBytes *drover_record_bytes(const json_t *record);

/* Sets a string field, or null for NULL. */
void drover_record_set_string(json_t *record, const char *field, const char *value);
/* Sets `state`, and `state_time` to now. */
void drover_record_set_state(json_t *record, const char *state);

/* The index of a word in a NULL-ended list; the list's length when it is not there or NULL. */
guint drover_record_find_word(const char *const *words, const char *word);
