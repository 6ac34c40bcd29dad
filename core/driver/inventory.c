/* The machines that a driver says exist already. Nothing here trusts it to make sense. */
#include "driver/runner-private.h"

#define MOST_MACHINES 100000
#define MOST_SLOTS    10000

typedef struct {
    DroverRunner *runner;
    GHashTable *values; /* all that a machine's section may be */
    GPtrArray *machines;
} Listing;

static void
machine_free(gpointer data)
{
    DroverMachine *machine = data;

    g_free(machine->pool);
    g_free(machine);
}

GPtrArray *
drover_inventory_new(void)
{
    return g_ptr_array_new_with_free_func(machine_free);
}

static void
collect(GHashTable *values, const struct drover_value *value)
{
    g_hash_table_add(values, (gpointer)value);
    for (gsize i = 0; i < drover_value_length(value); i++)
        collect(values, drover_value_item(value, i));
}

/* What is wrong with a machine; NULL: nothing. */
static const char *
mistake(const Listing *listing, const char *pool, const struct drover_value *config, uint32_t slots)
{
    if (listing->machines->len >= MOST_MACHINES)
        return "there are too many";
    if (pool == NULL || !g_utf8_validate(pool, -1, NULL))
        return "its pool has no name";
    if (config == NULL || !g_hash_table_contains(listing->values, config))
        return "its section is not in the configuration";
    if (slots > MOST_SLOTS)
        return "it has too many slots";
    return NULL;
}

static void
on_add_machine(void *data, const char *pool, const struct drover_value *config, uint32_t slots)
{
    Listing *listing = data;
    const char *wrong = mistake(listing, pool, config, slots);
    g_autofree char *text = NULL;
    DroverMachine *machine;

    if (wrong != NULL) {
        text = g_strconcat("the driver lists a machine that is left out: ", wrong, NULL);
        drover_runner_log(listing->runner, DROVER_WARNING, NULL, text);
        return;
    }
    machine = g_new0(DroverMachine, 1);
    machine->pool = g_strdup(pool);
    machine->config = config;
    machine->slots = slots;
    g_ptr_array_add(listing->machines, machine);
}

gboolean
drover_inventory_list(DroverRunner *runner, const struct drover_value *config, GPtrArray *machines)
{
    g_autoptr(GHashTable) values = g_hash_table_new(NULL, NULL);
    Listing listing = {.runner = runner, .values = values, .machines = machines};
    struct drover_inventory *inventory = drover_host_inventory_new(on_add_machine, &listing);
    int outcome;

    collect(values, config);
    drover_runner_enter(runner, "inventory_list");
    outcome = drover_runner_driver(runner)->inventory_list(drover_runner_self(runner), inventory);
    drover_runner_leave(runner);
    drover_host_inventory_free(inventory);
    return outcome == 0;
}
