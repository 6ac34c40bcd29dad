/* A driver that does what its configuration says; built in several forms, see CMakeLists.txt. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <drover/driver.h>
#include <pthread.h>

#ifndef CALLED
#define CALLED NAME
#endif
#ifndef CAPABILITIES
#define CAPABILITIES (DROVER_CAN_MACHINES | DROVER_CAN_INVENTORY)
#endif

#ifdef UNBOUND
void drover_sample_symbol_that_nobody_has(void);
#endif

static const struct drover_option options[] = {
    {.path = "mode", .type = DROVER_OPTION_STRING, .help = "what to do"},
    {.path = "pools[]", .type = DROVER_OPTION_LIST, .help = "pools"},
    {.path = NULL},
};

struct self {
    struct drover_provider *provider;
    const char *mode;
};

static int
provider_open(struct drover_provider *provider, void **self)
{
    struct self *own = calloc(1, sizeof(*own));

    own->provider = provider;
    own->mode = drover_value_get_string(drover_provider_config(provider), "mode", "plain");
    if (strcmp(own->mode, "refuse") == 0) {
        free(own);
        return drover_provider_fail(provider, DROVER_FAILURE_AUTH, "%s is refused",
                                    drover_provider_name(provider));
    }
    if (strcmp(own->mode, "refuse silently") == 0) {
        free(own);
        return -1;
    }
#ifdef UNBOUND
    drover_sample_symbol_that_nobody_has();
#endif
    *self = own;
    return 0;
}

static void
provider_close(void *self)
{
    free(self);
}

static int
inventory_list(void *self, struct drover_inventory *inventory)
{
    struct self *own = self;

    drover_inventory_add(inventory, "main", drover_provider_config(own->provider), 3);
    return 0;
}

static void *
wake_later(void *op)
{
    drover_operation_wake(op);
    return NULL;
}

static void
join(void *thread)
{
    pthread_join(*(pthread_t *)thread, NULL);
    free(thread);
}

/* Waits without a thread of its own: three steps, then done. */
static enum drover_step
count_to_three(struct drover_operation *op)
{
    int *count = drover_operation_state(op);

    if (count == NULL) {
        count = calloc(1, sizeof(*count));
        drover_operation_set_state(op, count, free);
    }
    if (++*count == 3)
        return DROVER_DONE;
    drover_operation_call_after(op, 1);
    return DROVER_RUNNING;
}

static enum drover_step
wait_for_another_thread(struct drover_operation *op)
{
    pthread_t *thread;

    if (drover_operation_state(op) != NULL)
        return DROVER_DONE;
    thread = malloc(sizeof(*thread));
    pthread_create(thread, NULL, wake_later, op);
    drover_operation_set_state(op, thread, join);
    return DROVER_RUNNING;
}

static enum drover_step
work(struct self *own, struct drover_operation *op)
{
    const char *mode = own->mode;

    if (strcmp(mode, "steps") == 0)
        return count_to_three(op);
    if (strcmp(mode, "thread") == 0)
        return wait_for_another_thread(op);
    if (strcmp(mode, "forever") == 0)
        return drover_operation_cancelled(op)
                   ? drover_operation_fail(op, DROVER_FAILURE_OTHER, "cancelled")
                   : DROVER_RUNNING;
    if (strcmp(mode, "quota") == 0)
        return drover_operation_fail(op, DROVER_FAILURE_QUOTA, "%d of %d used", 3, 3);
    if (strcmp(mode, "strange failure") == 0)
        return drover_operation_fail(op, (enum drover_failure)77, "bytes \xff");
    if (strcmp(mode, "no reason") == 0)
        return DROVER_FAILED;
    if (strcmp(mode, "nonsense") == 0)
        return (enum drover_step)42;
    if (strcmp(mode, "block") == 0)
        usleep(300000);
    return DROVER_DONE;
}

static enum drover_step
create(void *self, struct drover_operation *op)
{
    const char *tags = drover_operation_input(op, "tags");
    enum drover_step outcome;

    drover_operation_set_string(op, "external_id", "id-1");
    outcome = work(self, op);
    drover_operation_set_string(op, "interface_ip", "192.0.2.1");
    drover_operation_set_string(op, "no_such_field", "x");
    drover_operation_set_integer(op, "connection_port", 2222);
    drover_operation_add_host_key(op, "ssh-ed25519 AAAA");
    drover_operation_add_host_key(op, "ssh-rsa BBBB");
    drover_operation_set_resource(op, "cores", 4);
    drover_operation_set_resource(op, "ram", 1.0 / 0.0);
    drover_operation_append_text(op, tags != NULL ? tags : "none", tags != NULL ? 4 : 4);
    return outcome;
}

static enum drover_step delete (void *self, struct drover_operation *op) { return work(self, op); }

static enum drover_step
list_resources(void *self, struct drover_operation *op)
{
    drover_operation_add_item(op, "server", "a");
    drover_operation_set_resource(op, "cores", 2);
    drover_operation_add_item(op, "volume", "b");
    drover_operation_set_string(op, "tags", "{}");
    return DROVER_DONE;
}

struct longer_driver {
    struct drover_driver driver;
    void (*from_the_future)(void);
};

/* The header's own values are overridden on purpose. */
#ifdef __clang__
#pragma GCC diagnostic ignored "-Winitializer-overrides"
#else
#pragma GCC diagnostic ignored "-Woverride-init"
#endif

static const struct longer_driver table = {
    .driver =
        {
            DROVER_DRIVER_HEADER,
#ifdef MAJOR
            .abi_major = MAJOR,
#endif
#ifdef MINOR
            .abi_minor = MINOR,
#endif
#ifdef LONGER
            .size = sizeof(struct longer_driver),
#endif
#ifdef SHORTER
            .size = offsetof(struct drover_driver, quota_limits),
#endif
#ifdef SIZE
            .size = SIZE,
#endif
#ifdef OPTION_SIZE
            .option_size = OPTION_SIZE,
#endif
            .name = CALLED,
            .version = "1.2",
            .description = "a sample",
            .licence = "Apache-2.0",
            .capabilities = CAPABILITIES,
            .options = options,
            .provider_open = provider_open,
            .provider_close = provider_close,
            .machine_create = create,
#ifndef INCOMPLETE
            .machine_delete = delete,
#endif
            .inventory_list = inventory_list,
            .slot_register = create,
            .slot_check = delete,
            .resource_list = list_resources,
        },
};

#ifdef NOENTRY
#define drover_driver_entry drover_sample_under_another_name
#endif

DROVER_EXPORT const struct drover_driver *drover_driver_entry(void);

const struct drover_driver *
drover_driver_entry(void)
{
    const struct drover_driver *found = &table.driver;

#ifdef NOTHING
    found = NULL;
#endif
    return found;
}
