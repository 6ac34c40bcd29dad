/*
 * A driver for My Cloud: its options, the life of a provider, and the table that the host reads.
 * What it does is in machine.c. Everything that is called here is explained in <drover/driver.h>,
 * and in drover-driver(3).
 */
#include "mycloud.h"

#include <stdlib.h>

/* ---- Options ----
 *
 * The host checks the configuration by this table alone, fills in the defaults and reports mistakes
 * with file, line and column. `drover driver info mycloud` prints it. The common options (name,
 * driver, max-servers and so on) are the host's and do not stand here.
 */

#define LABEL "pools[].labels[]."

static const struct drover_option options[] = {
    {
        .path = "url",
        .type = DROVER_OPTION_STRING,
        .flags = DROVER_OPTION_REQUIRED,
        .help = "Address of the cloud's API, without a slash at its end.",
    },
    {
        .path = "token",
        .type = DROVER_OPTION_STRING,
        .flags = DROVER_OPTION_SECRET, /* never shown */
        .help = "What the cloud knows the account by.",
    },
    {
        .path = "rate",
        .type = DROVER_OPTION_NUMBER,
        .fallback = "10",
        .allowed = "0..",
        .help = "Most calls a second; 0: no limit.",
    },
    {
        .path = "boot-timeout",
        .type = DROVER_OPTION_NUMBER,
        .fallback = "60",
        .allowed = "1..",
        .help = "Seconds in which a machine has to be up.",
    },

    /* A list is declared before its members. */
    {
        .path = "pools[].labels[]",
        .type = DROVER_OPTION_LIST,
        .fallback = "[]",
        .unique = "name",
        .help = "Labels that the pool serves.",
    },
    {
        .path = LABEL "name",
        .type = DROVER_OPTION_STRING,
        .flags = DROVER_OPTION_REQUIRED,
        .refers_to = "labels", /* this is how the host knows which labels a pool offers */
        .help = "Name of the label.",
    },
    {
        .path = LABEL "size",
        .type = DROVER_OPTION_STRING,
        .fallback = "small",
        .allowed = "small|large",
        .help = "Size of the machines.",
    },
    {
        .path = LABEL "username",
        .type = DROVER_OPTION_STRING,
        .fallback = "zuul",
        .help = "Account that those who use a machine log in to.",
    },
    {.path = NULL}, /* the end */
};

/* ---- A provider's life: open, (operations), close ---- */

static void
close_provider(void *self)
{
    struct cloud *cloud = self;

    drover_http_free(cloud->http);
    free(cloud);
}

/* Strings of the configuration live as long as the provider. Nothing is asked of the cloud yet. */
static int
open_provider(struct drover_provider *provider, void **self)
{
    const struct drover_value *config = drover_provider_config(provider);
    struct drover_limiter *limiter;
    struct cloud *cloud = calloc(1, sizeof(*cloud));

    if (cloud == NULL)
        return drover_provider_fail(provider, DROVER_FAILURE_OTHER, "out of memory");
    cloud->provider = provider;
    cloud->url = drover_value_get_string(config, "url", "");
    cloud->token = drover_value_get_string(config, "token", NULL);
    cloud->boot_timeout = drover_value_get_number(config, "boot-timeout", 60);
    cloud->http = drover_http_new(provider);
    limiter = drover_limiter_new(drover_value_get_number(config, "rate", 0));
    drover_http_set_limiter(cloud->http, limiter);
    drover_limiter_free(limiter); /* the client keeps it */
    drover_http_set_text(cloud->http, DROVER_HTTP_USER_AGENT, "drover-driver-mycloud/" VERSION);
    *self = cloud; /* handed to every other function */
    return 0;
}

/* ---- The table ---- */

static const struct drover_driver driver = {
    DROVER_DRIVER_HEADER,
    .name = "mycloud", /* as the file is called */
    .version = VERSION,
    .description = "machines of My Cloud",
    .licence = "Apache-2.0",
    /* Each capability stands for functions below. */
    .capabilities = DROVER_CAN_MACHINES | DROVER_CAN_RESOURCES,
    .options = options,
    .provider_open = open_provider,
    .provider_close = close_provider,
    .operation_cancel = operation_cancel,
    .operation_save = operation_save,
    .operation_resume = operation_resume,
    .machine_create = machine_create,
    .machine_delete = machine_delete,
    .resource_list = machine_list,
    .resource_delete = machine_delete,
};
DROVER_DRIVER(driver)
