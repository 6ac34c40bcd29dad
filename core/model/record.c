#include "model/record.h"

#include <string.h>

double
drover_record_now(void)
{
    return (double)g_get_real_time() / G_USEC_PER_SEC;
}

static json_t *
make_default(DroverFieldDefault kind)
{
    switch (kind) {
    case DROVER_FIELD_LIST:
        return json_array();
    case DROVER_FIELD_TRUE:
        return json_true();
    case DROVER_FIELD_ZERO:
        return json_integer(0);
    default:
        return json_null();
    }
}

void
drover_record_complete(json_t *record, const DroverField *fields)
{
    for (; fields->name != NULL; fields++)
        if (json_object_get(record, fields->name) == NULL)
            json_object_set_new(record, fields->name, make_default(fields->otherwise));
}

GBytes *
drover_record_bytes(const json_t *record)
{
    char *text = drover_json_text(record);

    return g_bytes_new_take(text, strlen(text));
}

void
drover_record_set_string(json_t *record, const char *field, const char *value)
{
    json_object_set_new(record, field, drover_json_from_string(value));
}

void
drover_record_set_state(json_t *record, const char *state)
{
    drover_record_set_string(record, "state", state);
    json_object_set_new(record, "state_time", json_real(drover_record_now()));
}

guint
drover_record_find_word(const char *const *words, const char *word)
{
    guint i = 0;

    while (words[i] != NULL && (word == NULL || strcmp(words[i], word) != 0))
        i++;
    return i;
}
