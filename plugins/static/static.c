/*
 * The driver for machines that exist already: it names their slots, and says which of them are
 * alive and with which host keys. The host registers them as nodes.
 */
#include <drover/driver.h>

#include "options.h"
#include "visit.h"

static int
open_provider(struct drover_provider *provider, void **self)
{
    *self = provider;
    return 0;
}

static int
list_machines(void *self, struct drover_inventory *inventory)
{
    const struct drover_provider *provider = self;
    const struct drover_value *pools = drover_value_get(drover_provider_config(provider), "pools");

    for (size_t i = 0; i < drover_value_length(pools); i++) {
        const struct drover_value *pool = drover_value_item(pools, i);
        const struct drover_value *machines = drover_value_get(pool, "nodes");

        for (size_t j = 0; j < drover_value_length(machines); j++) {
            const struct drover_value *machine = drover_value_item(machines, j);

            drover_inventory_add(inventory, drover_value_get_string(pool, "name", ""), machine,
                                 machine_slots(machine));
        }
    }
    return 0;
}

static const struct drover_driver driver = {
    DROVER_DRIVER_HEADER,
    .name = "static",
    .version = DROVER_VERSION,
    .description = "machines that exist already",
    .licence = "Apache-2.0",
    .capabilities = DROVER_CAN_INVENTORY,
    .options = static_options,
    .provider_open = open_provider,
    .operation_cancel = visit_cancel,
    .inventory_list = list_machines,
    .slot_register = visit_to_register,
    .slot_check = visit_to_check,
};
DROVER_DRIVER(driver)
