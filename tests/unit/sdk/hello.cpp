/* The same driver in C++; members of the table stand in the header's order. */
#include <drover/driver.h>

namespace
{
int
provider_open(drover_provider *provider, void **self)
{
    *self = provider;
    return 0;
}

drover_step
machine_create(void *, drover_operation *op)
{
    drover_operation_set_string(op, "external_id", "made-outside");
    return DROVER_DONE;
}

drover_step
machine_delete(void *, drover_operation *op)
{
    return drover_operation_fail(op, DROVER_FAILURE_NOT_FOUND, "%s is gone", "it");
}

const drover_driver driver = {
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
} // namespace

DROVER_DRIVER(driver)
