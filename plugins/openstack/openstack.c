/*
 * The driver for OpenStack clouds: machines of Nova, with addresses of Neutron, disks of Cinder and
 * images of Glance.
 */
#include "cleaning.h"
#include "console.h"
#include "cost.h"
#include "create.h"
#include "image.h"
#include "options.h"
#include "removal.h"
#include "resources.h"
#include "upload.h"

static int
open_provider(struct drover_provider *provider, void **self)
{
    *self = cloud_open(provider);
    return *self != NULL ? 0 : -1;
}

static void
close_provider(void *self)
{
    cloud_close(self);
}

static void
wake(void *self, struct drover_operation *op)
{
    drover_operation_wake(op);
}

/* Only what goes on for long cleans up when it is cancelled; anything else just ends. */
static enum drover_step
unless_cancelled(void *self, struct drover_operation *op,
                 enum drover_step (*step)(struct cloud *cloud, struct drover_operation *op))
{
    if (drover_operation_cancelled(op))
        return drover_operation_fail(op, DROVER_FAILURE_OTHER, "cancelled");
    return step(self, op);
}

#define LONG_STEP(name, function)                                                                  \
    static enum drover_step name(void *self, struct drover_operation *op)                          \
    {                                                                                              \
        return function(self, op);                                                                 \
    }
#define SHORT_STEP(name, function)                                                                 \
    static enum drover_step name(void *self, struct drover_operation *op)                          \
    {                                                                                              \
        return unless_cancelled(self, op, function);                                               \
    }
LONG_STEP(machine_create, create_step)
LONG_STEP(machine_delete, removal_step)
LONG_STEP(image_upload, upload_step)
SHORT_STEP(machine_console, console_step)
SHORT_STEP(label_ready, image_check_label)
SHORT_STEP(zone_list, resources_list_zones)
SHORT_STEP(quota_limits, cost_limits)
SHORT_STEP(quota_label, cost_of_label)
SHORT_STEP(quota_usage, cost_of_servers)
SHORT_STEP(resource_list, resources_list)
SHORT_STEP(resource_delete, removal_step_resource)
SHORT_STEP(image_delete, removal_step_image)
SHORT_STEP(image_list, resources_list_images)

static const struct drover_driver driver = {
    DROVER_DRIVER_HEADER,
    .name = "openstack",
    .version = DROVER_VERSION,
    .description = "machines of OpenStack clouds",
    .licence = "Apache-2.0",
    .capabilities = DROVER_CAN_MACHINES | DROVER_CAN_IMAGES | DROVER_CAN_QUOTA |
                    DROVER_CAN_RESOURCES | DROVER_CAN_CONSOLE,
    .options = openstack_options,
    .config_check = options_check,
    .provider_open = open_provider,
    .provider_close = close_provider,
    .operation_cancel = wake,
    .operation_save = work_save,
    .operation_resume = work_resume,
    .machine_create = machine_create,
    .machine_delete = machine_delete,
    .machine_console = machine_console,
    .label_ready = label_ready,
    .zone_list = zone_list,
    .quota_limits = quota_limits,
    .quota_label = quota_label,
    .quota_usage = quota_usage,
    .resource_list = resource_list,
    .resource_delete = resource_delete,
    .image_upload = image_upload,
    .image_delete = image_delete,
    .image_list = image_list,
};
DROVER_DRIVER(driver)
