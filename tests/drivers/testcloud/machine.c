#include "machine.h"

#include "options.h"

#include <stdlib.h>
#include <string.h>

/* ---- Asking for one ---- */

static void
add_tags(json_t *tags, const struct drover_value *more)
{
    for (size_t i = 0; i < drover_value_length(more); i++)
        json_object_set_new(tags, drover_value_key(more, i),
                            json_string(drover_value_string(drover_value_item(more, i))));
}

json_t *
machine_tags(const struct drover_operation *op)
{
    const struct drover_value *label = drover_operation_label_config(op);
    const char *text = drover_operation_input(op, "tags");
    json_t *hosts = text != NULL ? json_loads(text, 0, NULL) : NULL;
    json_t *tags = json_object();

    add_tags(tags, drover_value_get(label, "tags"));
    add_tags(tags, drover_value_get(label, "dynamic-tags"));
    json_object_update(tags, hosts);
    json_decref(hosts);
    return tags;
}

/* The id of an uploaded image comes from the host; that of a cloud image from the configuration. */
static const char *
image_of(const struct cloud *cloud, const struct drover_operation *op)
{
    const struct drover_value *image =
        label_cloud_image(cloud->config, drover_operation_label_config(op));

    if (image == NULL)
        return drover_operation_input(op, "image");
    return drover_value_get_string(image, "image-id", drover_value_get_string(image, "name", NULL));
}

json_t *
machine_description(struct cloud *cloud, const struct drover_operation *op, json_t *tags)
{
    const struct drover_value *label = drover_operation_label_config(op);
    const char *image = image_of(cloud, op);
    const char *name = drover_operation_input(op, "hostname");

    if (image == NULL) {
        json_decref(tags);
        return NULL;
    }
    return json_pack("{s:s, s:s, s:s, s:s?, s:o}", "name", name != NULL ? name : "unnamed",
                     "flavor", drover_value_get_string(label, "flavor", ""), "image", image, "zone",
                     drover_operation_input(op, "az"), "tags", tags);
}

/* ---- What it is like ---- */

int
machine_exists(const json_t *machine)
{
    const char *state = json_string_value(json_object_get(machine, "state"));

    return state == NULL || strcmp(state, "DELETED") != 0;
}

enum machine_state
machine_state(const json_t *machine)
{
    static const struct {
        const char *word;
        enum machine_state state;
    } states[] = {
        {"BUILD", MACHINE_BOOTS},    {"ACTIVE", MACHINE_UP},       {"ERROR", MACHINE_BROKEN},
        {"DELETED", MACHINE_BROKEN}, {"DELETING", MACHINE_BROKEN},
    };
    const char *word = json_string_value(json_object_get(machine, "state"));

    for (size_t i = 0; word != NULL && i < sizeof states / sizeof *states; i++)
        if (strcmp(states[i].word, word) == 0)
            return states[i].state;
    return MACHINE_BOOTS;
}

enum drover_step
machine_fail(struct drover_operation *op, const json_t *machine)
{
    const char *state = json_string_value(json_object_get(machine, "state"));
    const char *fault = json_string_value(json_object_get(machine, "fault"));
    enum drover_failure failure = fault != NULL && strcasestr(fault, "quota") != NULL
                                      ? DROVER_FAILURE_QUOTA
                                      : DROVER_FAILURE_BROKEN;

    return drover_operation_fail(op, failure, "machine %s is in state %s: %s",
                                 json_string_value(json_object_get(machine, "id")), state,
                                 fault != NULL ? fault : "no reason is given");
}

void
machine_show_cost(struct drover_operation *op, const json_t *flavor)
{
    drover_operation_set_resource(op, "cores", json_number_value(json_object_get(flavor, "cores")));
    drover_operation_set_resource(op, "ram", json_number_value(json_object_get(flavor, "ram")));
    drover_operation_set_resource(op, "instances", 1);
}

void
machine_show_label_cost(struct drover_operation *op, const json_t *flavor)
{
    const struct drover_value *label = drover_operation_label_config(op);

    machine_show_cost(op, flavor);
    if (label_wants_extra(label, "volume")) {
        drover_operation_set_resource(op, "volumes", 1);
        drover_operation_set_resource(op, "volume-gb", VOLUME_GB);
    }
    if (label_wants_extra(label, "address"))
        drover_operation_set_resource(op, "addresses", 1);
}

/* ---- Showing it to the host ---- */

static void
show(struct drover_operation *op, const char *field, const json_t *value)
{
    char *text;

    if (json_is_string(value) || json_is_null(value)) {
        drover_operation_set_string(op, field, json_string_value(value));
    } else if (json_is_integer(value)) {
        drover_operation_set_integer(op, field, json_integer_value(value));
    } else if (value != NULL) {
        text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
        drover_operation_set_json(op, field, text);
        free(text);
    }
}

/* What the cloud says of a machine besides counts more than what the host knows of the image. */
static void
show_members(struct drover_operation *op, const json_t *fields)
{
    const char *field;
    json_t *value;

    json_object_foreach((json_t *)fields, field, value)
    {
        show(op, field, value);
    }
}

static const char *
address_of(const json_t *machine)
{
    static const char *const preferred[] = {"public_ipv4", "public_ipv6", "private_ipv4"};
    const json_t *addresses = json_object_get(machine, "addresses");

    for (size_t i = 0; i < sizeof preferred / sizeof *preferred; i++) {
        const char *address = json_string_value(json_object_get(addresses, preferred[i]));

        if (address != NULL && *address != '\0')
            return address;
    }
    return NULL;
}

enum drover_step
machine_show(struct drover_operation *op, const json_t *machine)
{
    const char *address = address_of(machine);

    if (address == NULL)
        return drover_operation_fail(op, DROVER_FAILURE_NO_ADDRESS,
                                     "machine %s has no address that can be used",
                                     json_string_value(json_object_get(machine, "id")));
    drover_operation_set_string(op, "interface_ip", address);
    show_members(op, json_object_get(machine, "addresses"));
    show(op, "az", json_object_get(machine, "zone"));
    show(op, "host_id", json_object_get(machine, "host"));
    show_members(op, json_object_get(machine, "connection"));
    machine_show_label_cost(op, json_object_get(machine, "flavor"));
    return DROVER_DONE;
}
