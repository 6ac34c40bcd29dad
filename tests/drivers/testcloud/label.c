#include "label.h"

#include "call.h"
#include "list.h"
#include "objects.h"
#include "options.h"

#include <stdlib.h>

enum drover_step
check_label_ready(struct cloud *cloud, struct drover_operation *op)
{
    const struct drover_value *image =
        label_cloud_image(cloud->config, drover_operation_label_config(op));
    const char *name = drover_value_get_string(image, "name", "");
    const char *id = drover_value_get_string(image, "image-id", name);
    const json_t *images;
    enum drover_step step;

    if (image == NULL)
        return DROVER_DONE;
    step = list_get_recent(cloud->images, op, &images);
    if (step != DROVER_DONE)
        return step;
    if (list_find(images, "id", id) != NULL || list_find(images, "name", id) != NULL)
        return DROVER_DONE;
    return drover_operation_fail(op, DROVER_FAILURE_NOT_FOUND, "there is no image %s", id);
}

enum drover_step
list_zones(struct cloud *cloud, struct drover_operation *op)
{
    const json_t *zones;
    enum drover_step step = list_get_recent(cloud->zones, op, &zones);
    size_t index;
    json_t *zone;

    if (step != DROVER_DONE)
        return step;
    json_array_foreach(zones, index, zone)
    {
        drover_operation_add_item(op, "zone", json_string_value(json_object_get(zone, "name")));
    }
    return DROVER_DONE;
}

/* "/machines/ID/console" of the machine in the operation's external id; NULL: there is none. */
static char *
console_path(const struct drover_operation *op)
{
    struct objects objects = {.plain = 0};
    char *path = NULL;

    if (objects_read(&objects, drover_operation_external_id(op)) == 0 &&
        objects.ids[OBJECT_SERVER] != NULL)
        path = call_path("/machines", objects.ids[OBJECT_SERVER], "/console");
    objects_clear(&objects);
    return path;
}

enum drover_step
show_console(struct cloud *cloud, struct drover_operation *op)
{
    const struct drover_value *label = drover_operation_label_config(op);
    struct drover_http_request *call;
    const char *text;
    size_t length;
    char *path;

    if (!drover_value_get_boolean(label, "console-log", label == NULL))
        return DROVER_DONE;
    path = console_path(op);
    if (path == NULL)
        return drover_operation_fail(op, DROVER_FAILURE_NOT_FOUND, "there is no machine");
    call = call_of_operation(cloud, op, path);
    free(path);
    if (!drover_http_request_is_done(call))
        return DROVER_RUNNING;
    if (call_failure(call) != 0)
        return call_fail(call, op);
    text = drover_http_body(call, &length);
    drover_operation_append_text(op, text, length);
    return DROVER_DONE;
}
