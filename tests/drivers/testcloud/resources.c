#include "resources.h"

#include "list.h"
#include "machine.h"
#include "objects.h"

#include <stdlib.h>

void
show_resource(struct drover_operation *op, const char *kind, const json_t *object)
{
    const json_t *tags = json_object_get(object, "tags");
    char *text = json_dumps(json_is_object(tags) ? tags : NULL, JSON_COMPACT);
    const char *name = json_string_value(json_object_get(object, "name"));

    drover_operation_add_item(op, kind, json_string_value(json_object_get(object, "id")));
    drover_operation_set_string(op, "tags", text != NULL ? text : "{}");
    if (name != NULL)
        drover_operation_set_string(op, "name", name);
    free(text);
}

static void
show_all(struct drover_operation *op, const char *kind, const json_t *objects)
{
    size_t index;
    json_t *object;

    json_array_foreach(objects, index, object) if (machine_exists(object))
        show_resource(op, kind, object);
}

enum drover_step
list_resources(struct cloud *cloud, struct drover_operation *op)
{
    struct list *const lists[] = {cloud->machines, cloud->addresses, cloud->volumes};
    const json_t *items[OBJECT_KINDS];

    /* First all lists are there, then items are made. */
    for (int i = 0; i < OBJECT_KINDS; i++) {
        enum drover_step step = list_get_recent(lists[i], op, &items[i]);

        if (step != DROVER_DONE)
            return step;
    }
    for (int i = 0; i < OBJECT_KINDS; i++)
        show_all(op, object_forms[i].kind, items[i]);
    return DROVER_DONE;
}
