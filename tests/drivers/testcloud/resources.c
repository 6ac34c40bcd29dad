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

/* The images that the cloud offers to everybody belong to nobody. */
static void
show_own(struct drover_operation *op, const char *kind, const json_t *objects)
{
    size_t index;
    json_t *object;

    json_array_foreach(objects, index, object)
    {
        if (machine_exists(object) && !json_is_true(json_object_get(object, "public")))
            show_resource(op, kind, object);
    }
}

enum drover_step
list_resources(struct cloud *cloud, struct drover_operation *op)
{
    const json_t *items[OBJECT_KINDS];

    /* First all lists are there, then items are made. */
    for (int i = 0; i < OBJECT_KINDS; i++) {
        enum drover_step step =
            list_get_recent(objects_list(cloud, (enum object_kind)i), op, &items[i]);

        if (step != DROVER_DONE)
            return step;
    }
    for (int i = 0; i < OBJECT_KINDS; i++)
        show_own(op, object_forms[i].resource, items[i]);
    return DROVER_DONE;
}

enum drover_step
list_images(struct cloud *cloud, struct drover_operation *op)
{
    const json_t *images;
    enum drover_step step = list_get_recent(cloud->images, op, &images);
    size_t index;
    json_t *image;

    if (step != DROVER_DONE)
        return step;
    json_array_foreach(images, index, image)
    {
        show_resource(op, object_forms[OBJECT_IMAGE].resource, image);
    }
    return DROVER_DONE;
}
