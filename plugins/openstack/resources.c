#include "resources.h"

#include "cleaning.h"
#include "list.h"
#include "server.h"
#include "session.h"
#include "work.h"

struct beginning {
    struct work work;
    int64_t time;
};

int64_t
operation_began(struct drover_operation *op)
{
    struct beginning *beginning = drover_operation_state(op);

    if (beginning == NULL) {
        beginning = g_new0(struct beginning, 1);
        beginning->time = drover_now();
        drover_operation_set_state(op, beginning, g_free);
    }
    return beginning->time;
}

void
resources_show(struct drover_operation *op, const char *kind, const json_t *object,
               const json_t *tags)
{
    json_t *texts = json_object();
    const char *key, *name = list_text(object, "name");
    json_t *value;
    char *text;

    json_object_foreach((json_t *)tags, key, value)
    {
        if (json_is_string(value))
            json_object_set(texts, key, value);
    }
    text = json_dumps(texts, JSON_COMPACT);
    drover_operation_add_item(op, kind, list_text(object, "id"));
    drover_operation_set_string(op, "tags", text);
    if (name != NULL)
        drover_operation_set_string(op, "name", name);
    free(text);
    json_decref(texts);
}

/* A record that is incomplete may be anybody's. */
static void
show_servers(struct drover_operation *op, const json_t *servers)
{
    size_t index;
    json_t *server;

    json_array_foreach((json_t *)servers, index, server)
    {
        if (server_exists(server) && !server_is_partial(server))
            resources_show(op, "instance", server, json_object_get(server, "metadata"));
    }
}

/* Those of the project: others may be shared with it, and an administrator sees all that there are.
 * The properties of an image are members of its record. */
static void
show_images(const struct cloud *cloud, struct drover_operation *op, const json_t *images)
{
    const char *project = session_project(cloud->session);
    size_t index;
    json_t *image;

    json_array_foreach((json_t *)images, index, image)
    {
        if (project != NULL && g_strcmp0(list_text(image, "owner"), project) == 0)
            resources_show(op, "image", image, image);
    }
}

/* What is gone by now, and its owner with it, must not be taken for something that was left. */
enum drover_step
resources_list(struct cloud *cloud, struct drover_operation *op)
{
    int64_t began = operation_began(op);
    const json_t *servers, *images;
    enum drover_step step = cleaning_step(cloud->cleaning, op, began);

    if (step == DROVER_DONE)
        step = list_get_after_if_any(cloud, LIST_OWN_IMAGES, op, began, &images);
    if (step == DROVER_DONE)
        step = list_get_after(cloud, LIST_SERVERS, op, began, &servers);
    if (step != DROVER_DONE)
        return step;
    show_servers(op, servers);
    show_images(cloud, op, images);
    return DROVER_DONE;
}

enum drover_step
resources_list_images(struct cloud *cloud, struct drover_operation *op)
{
    const json_t *images;
    enum drover_step step =
        list_get_after(cloud, LIST_PRIVATE_IMAGES, op, operation_began(op) - 1000, &images);

    if (step == DROVER_DONE)
        show_images(cloud, op, images);
    return step;
}

/* A cloud that does not tell has no zones to choose from. */
enum drover_step
resources_list_zones(struct cloud *cloud, struct drover_operation *op)
{
    const json_t *zones;
    enum drover_step step = list_get_if_any(cloud, LIST_ZONES, op, &zones);
    size_t index;
    json_t *zone;

    if (step != DROVER_DONE)
        return step;
    json_array_foreach((json_t *)zones, index, zone)
    {
        if (json_is_true(json_object_get(json_object_get(zone, "zoneState"), "available")) &&
            list_text(zone, "zoneName") != NULL)
            drover_operation_add_item(op, "zone", list_text(zone, "zoneName"));
    }
    return DROVER_DONE;
}
