#include "objects.h"

#include <stdlib.h>
#include <string.h>

const struct object_form object_forms[OBJECT_KINDS] = {
    [OBJECT_SERVER] = {"server", "machine", "instance", "/machines"},
    [OBJECT_ADDRESS] = {"address", "address", "address", "/addresses"},
    [OBJECT_VOLUME] = {"volume", "volume", "volume", "/volumes"},
    [OBJECT_IMAGE] = {"image", "image", "image", "/images"},
};

struct list *
objects_list(const struct cloud *cloud, enum object_kind kind)
{
    struct list *const lists[OBJECT_KINDS] = {
        [OBJECT_SERVER] = cloud->machines,
        [OBJECT_ADDRESS] = cloud->addresses,
        [OBJECT_VOLUME] = cloud->volumes,
        [OBJECT_IMAGE] = cloud->images,
    };

    return lists[kind];
}

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

void
objects_copy(struct objects *to, const struct objects *from)
{
    for (int i = 0; i < OBJECT_KINDS; i++)
        if (from->ids[i] != NULL)
            objects_set(to, (enum object_kind)i, from->ids[i]);
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

int
objects_read_json(struct objects *objects, const json_t *external_id)
{
    objects->plain = json_is_string(external_id);
    if (objects->plain)
        objects_set(objects, OBJECT_SERVER, json_string_value(external_id));
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
    json_t *value;
    int outcome;

    if (external_id == NULL || *external_id == '\0')
        return -1;
    value = json_loads(external_id, 0, NULL);
    if (!json_is_object(value)) {
        json_decref(value);
        value = json_string(external_id);
    }
    outcome = objects_read_json(objects, value);
    json_decref(value);
    return outcome;
}

json_t *
objects_json(const struct objects *objects)
{
    json_t *object;

    if (objects_are_none(objects))
        return NULL;
    if (objects->plain)
        return json_string(objects->ids[OBJECT_SERVER]);
    object = json_object();
    for (int i = 0; i < OBJECT_KINDS; i++)
        if (objects->ids[i] != NULL)
            json_object_set_new(object, object_forms[i].member, json_string(objects->ids[i]));
    return object;
}

void
objects_show(const struct objects *objects, struct drover_operation *op)
{
    json_t *external_id;
    char *text;

    if (objects->plain) {
        drover_operation_set_string(op, "external_id", objects->ids[OBJECT_SERVER]);
        return;
    }
    external_id = objects_json(objects);
    text = json_dumps(external_id, JSON_COMPACT);
    drover_operation_set_json(op, "external_id", text);
    json_decref(external_id);
    free(text);
}
