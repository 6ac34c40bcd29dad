/*
 * What Drover needs of JSON beyond jansson: the dialect that Python's json module writes, and
 * reading fields of records that other programs wrote and that may hold anything.
 */
#pragma once

#include <glib.h>
#include <jansson.h>

G_DEFINE_AUTOPTR_CLEANUP_FUNC(json_t, json_decref)

/*
 * Parses one JSON object. Accepts what Python writes beyond the standard or jansson's limits: the
 * bare tokens NaN, Infinity and -Infinity and reals beyond all limits are read as null, integers of
 * more than 64 bits as reals, and escaped halves of surrogate pairs as U+FFFD. Of keys given twice
 * the last one wins. Sets DROVER_ERROR_MALFORMED. Returns a new reference.
 */
json_t *drover_json_parse_object(const char *text, gsize length, GError **error);

/* The compact text of a value; free with g_free. Never NULL for values made by this program. */
char *drover_json_text(const json_t *value);

/* Fields of an object. A field that is missing, null or of another type reads as the default. */
const char *drover_json_string(const json_t *object, const char *key);
double drover_json_real(const json_t *object, const char *key, double otherwise);
gint64 drover_json_integer(const json_t *object, const char *key, gint64 otherwise);
gboolean drover_json_boolean(const json_t *object, const char *key, gboolean otherwise);

/*
 * The strings of a list field, other elements left out; a bare string reads as a list of one,
 * anything else as empty. Free with g_strfreev; never NULL.
 */
char **drover_json_strings(const json_t *object, const char *key);

/* A new list of the given strings; NULL reads as empty. */
json_t *drover_json_from_strings(const char *const *strings);

/* A new string, or null for NULL. What is not UTF-8 becomes U+FFFD. */
json_t *drover_json_from_string(const char *text);

/* The names of an object's members, borrowed; free with g_list_free. */
GList *drover_json_sorted_keys(const json_t *object);
