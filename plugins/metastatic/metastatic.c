/*
 * The driver that cuts machines of other providers into slots, each a node of its own. It knows its
 * records and slots; that they are written down, and who else has some, is the host's.
 */
#include "create.h"
#include "events.h"
#include "options.h"

static int
open_provider(struct drover_provider *provider, void **data)
{
    struct metastatic *self = g_new0(struct metastatic, 1);

    self->provider = provider;
    self->config = drover_provider_config(provider);
    self->records = g_ptr_array_new_with_free_func(record_free);
    self->creations = g_hash_table_new(g_str_hash, g_str_equal);
    *data = self;
    return 0;
}

static void
idle_provider(void *data)
{
    ((struct metastatic *)data)->idle = TRUE;
}

static void
close_provider(void *data)
{
    struct metastatic *self = data;

    g_ptr_array_unref(self->records);
    g_hash_table_unref(self->creations);
    g_free(self);
}

static void
wake(void *self, struct drover_operation *op)
{
    drover_operation_wake(op);
}

/* The slot is the node's as long as its record is there. */
static enum drover_step
delete_machine(void *self, struct drover_operation *op)
{
    return DROVER_DONE;
}

static void
note_scan_failed(void *data, const char *label, const char *node_id)
{
    struct metastatic *self = data;
    struct record *record = node_id != NULL ? record_of_occupant(self, node_id) : NULL;

    if (record != NULL)
        record_fail(self, record, "a node on it cannot be reached");
}

/* The host asks from time to time: nothing is listed, what is idle is released. */
static enum drover_step
list_resources(void *data, struct drover_operation *op)
{
    struct metastatic *self = data;

    if (self->listed && !self->idle)
        record_look_at_all(self);
    return DROVER_DONE;
}

static enum drover_step
delete_resource(void *self, struct drover_operation *op)
{
    return drover_operation_fail(op, DROVER_FAILURE_NOT_FOUND, "the driver has no resources");
}

static const struct drover_driver driver = {
    DROVER_DRIVER_HEADER,
    .name = "metastatic",
    .version = DROVER_VERSION,
    .description = "slots of other providers' machines",
    .licence = "Apache-2.0",
    .capabilities = DROVER_CAN_MACHINES | DROVER_CAN_RESOURCES | DROVER_CAN_BACKING,
    .options = metastatic_options,
    .config_check = check_config,
    .provider_open = open_provider,
    .provider_idle = idle_provider,
    .provider_close = close_provider,
    .operation_cancel = wake,
    .machine_create = create_step,
    .machine_delete = delete_machine,
    .scan_failed = note_scan_failed,
    .resource_list = list_resources,
    .resource_delete = delete_resource,
    .backing_event = hear_event,
};
DROVER_DRIVER(driver)
