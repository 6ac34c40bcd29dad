/*
 * The driver of the fake cloud of the tests: an ordinary driver, built against the SDK alone, that
 * does everything a driver can do.
 */
#include "cloud.h"
#include "create.h"
#include "label.h"
#include "list.h"
#include "options.h"
#include "quota.h"
#include "removal.h"
#include "resources.h"
#include "upload.h"
#include "work.h"

#include <stdlib.h>

/* ---- A provider's life ---- */

static void
set_up_http(struct cloud *cloud)
{
    struct drover_limiter *limiter =
        drover_limiter_new(drover_value_get_number(cloud->config, "rate", 0));

    cloud->http = drover_http_new(cloud->provider);
    drover_http_set_limiter(cloud->http, limiter);
    drover_limiter_free(limiter);
    drover_http_set_text(cloud->http, DROVER_HTTP_USER_AGENT, "testcloud");
    drover_http_set_number(
        cloud->http, DROVER_HTTP_TRY_LIMIT,
        (int64_t)(drover_value_get_number(cloud->config, "call-timeout", 60) * 1000));
    drover_http_set_number(cloud->http, DROVER_HTTP_TRIES,
                           drover_value_get_integer(cloud->config, "call-tries", 5));
}

static int
open_provider(struct drover_provider *provider, void **self)
{
    const struct drover_value *config = drover_provider_config(provider);
    double interval = drover_value_get_number(config, "list-interval", 1);
    uint32_t milliseconds = (uint32_t)(interval * 1000);
    struct cloud *cloud = calloc(1, sizeof *cloud);

    if (cloud == NULL)
        return drover_provider_fail(provider, DROVER_FAILURE_OTHER, "out of memory");
    cloud->provider = provider;
    cloud->config = config;
    cloud->url = drover_value_get_string(config, "url", "");
    cloud->token = drover_value_get_string(config, "token", NULL);
    cloud->resumes = drover_value_get_boolean(config, "resume", 1);
    cloud->blocks = drover_value_get_string(config, "style", "step")[0] == 'b';
    set_up_http(cloud);
    cloud->machines = list_new(cloud, "machines", "id", milliseconds);
    cloud->addresses = list_new(cloud, "addresses", "id", milliseconds);
    cloud->volumes = list_new(cloud, "volumes", "id", milliseconds);
    cloud->images = list_new(cloud, "images", "id", milliseconds);
    cloud->flavors = list_new(cloud, "flavors", "name", milliseconds);
    cloud->zones = list_new(cloud, "zones", "name", milliseconds);
    *self = cloud;
    return 0;
}

static void
close_provider(void *self)
{
    struct cloud *cloud = self;
    struct list *const lists[] = {cloud->machines, cloud->addresses, cloud->volumes,
                                  cloud->images,   cloud->flavors,   cloud->zones};

    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        list_free(lists[i]);
    drover_http_free(cloud->http);
    free(cloud);
}

/* ---- News: only the log shows that they were heard ---- */

static void
note_idle(void *self)
{
    const struct cloud *cloud = self;

    drover_provider_log(cloud->provider, DROVER_INFO, "Idle: a newer configuration takes over");
}

static void
note_scan_failed(void *self, const char *label, const char *external_id)
{
    const struct cloud *cloud = self;

    drover_provider_log(cloud->provider, DROVER_INFO, "The scan of %s, label %s, failed",
                        external_id, label);
}

static void
note_deleted(void *self, const char *node_id)
{
    const struct cloud *cloud = self;

    drover_provider_log(cloud->provider, DROVER_INFO, "Node %s is gone", node_id);
}

static void
note_reused(void *self, const char *node_id, const char *request_id)
{
    const struct cloud *cloud = self;

    drover_provider_log(cloud->provider, DROVER_INFO, "Node %s is used again, by request %s",
                        node_id, request_id);
}

static void
wake(void *self, struct drover_operation *op)
{
    drover_operation_wake(op);
}

/* ---- The table ---- */

#define RUN(name, step)                                                                            \
    static enum drover_step name(void *self, struct drover_operation *op)                          \
    {                                                                                              \
        return work_run(self, op, step);                                                           \
    }
RUN(machine_create, create_machine)
RUN(machine_delete, delete_machine)
RUN(machine_console, show_console)
RUN(label_ready, check_label_ready)
RUN(zone_list, list_zones)
RUN(quota_limits, show_limits)
RUN(quota_label, show_label_cost)
RUN(quota_usage, show_usage)
RUN(resource_list, list_resources)
RUN(resource_delete, delete_resource)
RUN(image_upload, upload_image)
RUN(image_delete, delete_image)
RUN(image_list, list_images)

static const struct drover_driver driver = {
    DROVER_DRIVER_HEADER,
    .name = "testcloud",
    .version = DROVER_VERSION,
    .description = "machines of the tests' fake cloud",
    .licence = "Apache-2.0",
    .capabilities = DROVER_CAN_MACHINES | DROVER_CAN_QUOTA | DROVER_CAN_RESOURCES |
                    DROVER_CAN_CONSOLE | DROVER_CAN_IMAGES | DROVER_MAY_BLOCK,
    .options = testcloud_options,
    .config_check = check_config,
    .provider_open = open_provider,
    .provider_idle = note_idle,
    .provider_close = close_provider,
    .operation_cancel = wake,
    .operation_save = work_save,
    .operation_resume = work_resume,
    .machine_create = machine_create,
    .machine_delete = machine_delete,
    .machine_console = machine_console,
    .label_ready = label_ready,
    .zone_list = zone_list,
    .scan_failed = note_scan_failed,
    .quota_limits = quota_limits,
    .quota_label = quota_label,
    .quota_usage = quota_usage,
    .resource_list = resource_list,
    .resource_delete = resource_delete,
    .image_upload = image_upload,
    .image_delete = image_delete,
    .image_list = image_list,
    .node_deleted = note_deleted,
    .node_reused = note_reused,
};
DROVER_DRIVER(driver)
