/* The smallest driver, as an author would begin: it knows nothing but the installed SDK. */
#include <drover/driver.h>

static int
provider_open(struct drover_provider *provider, void **self)
{
    *self = provider;
    return 0;
}

static enum drover_step
machine_create(void *self, struct drover_operation *op)
{
    (void)self;
    drover_operation_set_string(op, "external_id", "made-outside");
    return DROVER_DONE;
}

static enum drover_step
machine_delete(void *self, struct drover_operation *op)
{
    (void)self;
    (void)op;
    return DROVER_DONE;
}

static const struct drover_driver driver = {
    DROVER_DRIVER_HEADER,
    .name = "hello",
    .version = "1",
    .description = "made outside the tree",
    .licence = "Apache-2.0",
    .capabilities = DROVER_CAN_MACHINES,
    .provider_open = provider_open,
    .machine_create = machine_create,
    .machine_delete = machine_delete,
};
DROVER_DRIVER(driver)
