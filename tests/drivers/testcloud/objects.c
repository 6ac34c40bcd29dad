#include "objects.h"

#include <stdlib.h>
#include <string.h>

const struct object_form object_forms[OBJECT_KINDS] = {
    [OBJECT_SERVER] = {"server", "machine", "/machines"},
    [OBJECT_ADDRESS] = {"address", "address", "/addresses"},
    [OBJECT_VOLUME] = {"volume", "volume", "/volumes"},
};

void
objects_clear(struct objects *objects)
{
    for (int i = 0; i < OBJECT_KINDS; i++) {
        free(objects->ids[i]);
        objects->ids[i] = NULL;
    }
}

void
objects_set(struct objects *objects, enum object_kind kind, const char *id)
{
    free(objects->ids[kind]);
    objects->ids[kind] = strdup(id);
    if (objects->ids[kind] == NULL)
        abort();
}

int
objects_are_none(const struct objects *objects)
{
    for (int i = 0; i < OBJECT_KINDS; i++)
        if (objects->ids[i] != NULL)
            return 0;
    return 1;
}

/* ---- The external id ---- */

static int
read_members(struct objects *objects, const json_t *external_id)
{
    for (int i = 0; i < OBJECT_KINDS; i++) {
        const char *id = json_string_value(json_object_get(external_id, object_forms[i].member));

        if (id != NULL && *id != '\0')
            objects_set(objects, (enum object_kind)i, id);
    }
    return objects_are_none(objects) ? -1 : 0;
}

int
objects_read(struct objects *objects, const char *external_id)
{
    json_t *object;
    int outcome;

    if (external_id == NULL || *external_id == '\0')
        return -1;
    object = json_loads(external_id, 0, NULL);
    objects->plain = !json_is_object(object);
    if (objects->plain)
        objects_set(objects, OBJECT_SERVER, external_id);
    outcome = objects->plain ? 0 : read_members(objects, object);
    json_decref(object);
    return outcome;
}

char *
objects_write(const struct objects *objects)
{
    json_t *object;
    char *text;

    if (objects_are_none(objects))
        return NULL;
    if (objects->plain)
        return strdup(objects->ids[OBJECT_SERVER]);
    object = json_object();
    for (int i = 0; i < OBJECT_KINDS; i++)
        if (objects->ids[i] != NULL)
            json_object_set_new(object, object_forms[i].member, json_string(objects->ids[i]));
    text = json_dumps(object, JSON_COMPACT);
    json_decref(object);
    return text;
}

void
objects_show(const struct objects *objects, struct drover_operation *op)
{
    char *text = objects_write(objects);

    if (objects->plain)
        drover_operation_set_string(op, "external_id", text);
    else
        drover_operation_set_json(op, "external_id", text);
    free(text);
}
