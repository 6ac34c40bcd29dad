/* Machines that exist already. */
#include "check/groups.h"
#include "check/operations.h"

typedef struct {
    DroverSubject *subject;
    GPtrArray *configs; /* struct drover_value, one for each machine */
    const char *pool;   /* of the first one */
} Machines;

static void
on_add(void *data, const char *pool, const struct drover_value *config, uint32_t slots)
{
    Machines *machines = data;
    DroverSubject *subject = machines->subject;

    if (pool == NULL || drover_provider_config_find_pool(subject->provider, pool) == NULL)
        drover_subject_fail(subject, "it adds a machine to pool %s, which there is not",
                            pool != NULL ? pool : "of no name");
    if (drover_value_type(config) != DROVER_VALUE_MAP)
        drover_subject_fail(subject, "it adds a machine without its section of the configuration");
    if (slots == 0)
        drover_subject_fail(subject, "it adds a machine without a slot");
    if (machines->configs->len == 0 && pool != NULL)
        machines->pool =
            drover_provider_config_find_pool(subject->provider, pool) != NULL ? pool : NULL;
    g_ptr_array_add(machines->configs, (gpointer)config);
}

static void
list(Machines *machines, const DroverBench *bench)
{
    struct drover_inventory *inventory = drover_host_inventory_new(on_add, machines);

    if (machines->subject->driver->inventory_list(drover_bench_self(bench), inventory) != 0)
        drover_subject_fail(machines->subject, "inventory_list() fails");
    drover_host_inventory_free(inventory);
}

/* The configuration is all that counts: each listing is the same. */
static void
check_list(Machines *machines, DroverBench *bench)
{
    guint first;

    list(machines, bench);
    first = machines->configs->len;
    list(machines, bench);
    if (machines->configs->len != 2 * first)
        drover_subject_fail(machines->subject, "two listings have %u and %u machines", first,
                            machines->configs->len - first);
    drover_subject_ok(machines->subject, "%u machines", first);
}

static void
check_slot(Machines *machines, DroverBench *bench, const char *function, DroverWorkFunc step)
{
    struct drover_operation_input input = {.node_id = "0000000001", .pool = machines->pool};
    DroverWork *work;

    if (machines->configs->len == 0) {
        drover_subject_skip(machines->subject, "the configuration has no machine");
        return;
    }
    input.label_config = machines->configs->pdata[0];
    work = drover_check_try(machines->subject, bench, function, step, &input);
    if (work != NULL)
        drover_check_judge(machines->subject, bench, work);
}

static void
run(DroverSubject *subject)
{
    g_autoptr(GPtrArray) configs = g_ptr_array_new();
    Machines machines = {.subject = subject, .configs = configs};
    DroverBench *bench;

    drover_subject_begin(subject, "inventory");
    bench = drover_check_open(subject);
    if (bench == NULL)
        return;
    if ((subject->driver->capabilities & DROVER_CAN_INVENTORY) == 0) {
        drover_subject_skip(subject, "the driver has no inventory");
    } else {
        check_list(&machines, bench);
        drover_subject_begin(subject, "slot-register");
        check_slot(&machines, bench, "slot_register", subject->driver->slot_register);
        drover_subject_begin(subject, "slot-check");
        check_slot(&machines, bench, "slot_check", subject->driver->slot_check);
    }
    drover_check_close(subject, bench);
}

static const char *const checks[] = {"inventory", "slot-register", "slot-check", NULL};
const DroverCheckGroup drover_inventory_checks = {checks, run};
