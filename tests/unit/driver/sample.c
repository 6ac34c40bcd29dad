/* A driver that does what its configuration says; built in several forms, see CMakeLists.txt. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <drover/driver.h>
#include <glib.h>

#ifndef CALLED
#define CALLED NAME
#endif
#ifndef CAPABILITIES
#define CAPABILITIES (DROVER_CAN_MACHINES | DROVER_CAN_INVENTORY)
#endif
#ifndef FIRST_TYPE
#define FIRST_TYPE DROVER_OPTION_STRING
#endif
#ifndef FIRST_FLAGS
#define FIRST_FLAGS 0
#endif

#ifdef UNBOUND
void drover_sample_symbol_that_nobody_has(void);
#endif

/* The drivers are to be opened so that they do not see each other. */
DROVER_EXPORT int drover_sample_marker;
DROVER_EXPORT int drover_sample_marker = 1;

/* ---- Options: of the header's size, of a future one's, of an earlier one's ---- */

#ifdef LONG_OPTIONS
struct sample_option {
    struct drover_option option;
    const char *from_the_future;
};
#define OPTION(...)                                                                                \
    {                                                                                              \
        .option = {__VA_ARGS__}, .from_the_future = "new"                                          \
    }
#elif defined(SHORT_OPTIONS)
struct sample_option {
    const char *path;
    enum drover_option_type type;
    uint32_t flags;
};
#define OPTION(...)                                                                                \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
#else
#define sample_option drover_option
#define OPTION(...)                                                                                \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
#endif

static const struct sample_option options[] = {
    OPTION(.path = "mode", .type = FIRST_TYPE, .flags = FIRST_FLAGS),
    OPTION(.path = "pools[]", .type = DROVER_OPTION_LIST),
#ifdef ENDLESS
    [2 ... 5000] = OPTION(.path = "more", .type = DROVER_OPTION_ANY),
#else
    OPTION(.path = NULL),
#endif
};

/* ---- The provider ---- */

struct self {
    struct drover_provider *provider;
    const char *mode;
    struct drover_operation *earlier; /* of the operation before */
    GString *heard;                   /* what the host said, for machine_console() to tell */
    int counting;                     /* operations of count_to_three() under way */
};

__attribute__((unused)) static int
provider_open(struct drover_provider *provider, void **self)
{
    const char *mode = drover_value_get_string(drover_provider_config(provider), "mode", "plain");
    struct self *own;

#ifdef UNBOUND
    drover_sample_symbol_that_nobody_has();
#endif
    if (strcmp(mode, "refuse") == 0)
        return drover_provider_fail(provider, DROVER_FAILURE_AUTH, "%s is refused",
                                    drover_provider_name(provider));
    if (strcmp(mode, "refuse for ever") == 0)
        return drover_provider_fail(provider, DROVER_FAILURE_PERMANENT, "never \xff");
    if (strcmp(mode, "refuse silently") == 0)
        return -1;
    if (strcmp(mode, "no object") == 0)
        return 0;
    if (strcmp(mode, "slow open") == 0)
        usleep(100000);
    drover_provider_log(provider, DROVER_DEBUG, "opened in mode %s", mode);
    drover_provider_log(provider, (enum drover_log_level)99, "of no level");
    own = calloc(1, sizeof(*own));
    own->provider = provider;
    own->mode = mode;
    own->heard = g_string_new(NULL);
    *self = own;
    return 0;
}

static void hear(void *self, const char *format, ...) DROVER_PRINTF(2, 3);

static void
hear(void *self, const char *format, ...)
{
    struct self *own = self;
    va_list arguments;

    va_start(arguments, format);
    if (own != NULL)
        g_string_append_vprintf(own->heard, format, arguments);
    va_end(arguments);
}

static void
provider_start(void *self)
{
    hear(self, "start;");
}

static void
provider_idle(void *self)
{
    hear(self, "idle;");
}

static void
provider_stop(void *self)
{
    struct self *own = self;

    if (own != NULL)
        drover_provider_log(own->provider, DROVER_INFO, "stopped");
}

static void
provider_close(void *self)
{
    struct self *own = self;

    if (own == NULL)
        return;
    drover_provider_log(own->provider, DROVER_INFO, "closed, operations under way: %d",
                        own->counting);
    g_string_free(own->heard, TRUE);
    free(own);
}

static int
inventory_list(void *self, struct drover_inventory *inventory)
{
    struct self *own = self;

    if (own == NULL)
        return 0;
    drover_inventory_add(inventory, "main", drover_provider_config(own->provider), 3);
    return strcmp(own->mode, "no inventory") == 0 ? -1 : 0;
}

/* ---- What an operation does, by mode ---- */

static enum drover_step
succeed(struct self *own, struct drover_operation *op)
{
    return DROVER_DONE;
}

/* Waits without a thread of its own: three steps, then done. */
static enum drover_step
count_to_three(struct self *own, struct drover_operation *op)
{
    int *count = drover_operation_state(op);

    if (count == NULL) {
        count = calloc(1, sizeof(*count));
        drover_operation_set_state(op, count, free);
        own->counting++;
    }
    if (++*count == 3) {
        own->counting--;
        return DROVER_DONE;
    }
    drover_operation_call_after(op, 1);
    return DROVER_RUNNING;
}

/* Never says when it wants to be called again. */
static enum drover_step
run_once_more(struct self *own, struct drover_operation *op)
{
    if (drover_operation_state(op) != NULL)
        return DROVER_DONE;
    drover_operation_set_state(op, op, NULL);
    return DROVER_RUNNING;
}

static void *
wake_often(void *op)
{
    for (int i = 0; i < 1000; i++)
        drover_operation_wake(op);
    drover_operation_log(op, DROVER_DEBUG, "woken");
    return NULL;
}

static void
join(void *thread)
{
    pthread_join(*(pthread_t *)thread, NULL);
    free(thread);
}

static pthread_t
begin_waking(struct drover_operation *op)
{
    pthread_t thread;

    drover_operation_call_after(op, DROVER_WHEN_WOKEN);
    pthread_create(&thread, NULL, wake_often, op);
    return thread;
}

static enum drover_step
wait_for_another_thread(struct self *own, struct drover_operation *op)
{
    pthread_t *thread;

    if (drover_operation_state(op) != NULL)
        return DROVER_DONE;
    thread = malloc(sizeof(*thread));
    *thread = begin_waking(op);
    drover_operation_set_state(op, thread, join);
    return DROVER_RUNNING;
}

/* The thread goes on waking when the operation has long ended. */
static enum drover_step
be_woken_late(struct self *own, struct drover_operation *op)
{
    if (drover_operation_state(op) != NULL)
        return DROVER_DONE;
    pthread_detach(begin_waking(op));
    drover_operation_set_state(op, op, NULL);
    return DROVER_RUNNING;
}

static void
note_release(void *released)
{
    *(int *)released = 1;
}

/* Says everything about the operation before, which has ended. */
static enum drover_step
speak_of_the_past(struct self *own, struct drover_operation *op)
{
    struct drover_operation *past = own->earlier;
    int released = 0;

    own->earlier = op;
    if (past == NULL)
        return DROVER_DONE;
    drover_operation_set_string(past, "external_id", "of-the-past");
    drover_operation_set_integer(past, "slot", 1);
    drover_operation_set_json(past, "driver_data", "{}");
    drover_operation_add_host_key(past, "key");
    drover_operation_set_resource(past, "cores", 1);
    drover_operation_add_item(past, "server", "x");
    drover_operation_append_text(past, "text", 4);
    drover_operation_call_after(past, 1);
    drover_operation_wake(past);
    drover_operation_set_status(past, "past");
    drover_operation_set_progress(past, 1, 2);
    drover_operation_retry_after(past, 1);
    drover_operation_log(past, DROVER_ERR, "past");
    drover_operation_set_state(past, &released, note_release);
    return released && drover_operation_node_id(past) == NULL &&
                   drover_operation_external_id(past) == NULL &&
                   drover_operation_pool(past) == NULL && drover_operation_label(past) == NULL &&
                   drover_operation_pool_config(past) == NULL &&
                   drover_operation_label_config(past) == NULL &&
                   drover_operation_input(past, "tags") == NULL &&
                   drover_operation_state(past) == NULL && !drover_operation_cancelled(past)
               ? DROVER_DONE
               : drover_operation_fail(past, DROVER_FAILURE_OTHER, "the past answers");
}

static enum drover_step
run_until_cancelled(struct self *own, struct drover_operation *op)
{
    drover_operation_call_after(op, DROVER_WHEN_WOKEN);
    return drover_operation_cancelled(op)
               ? drover_operation_fail(op, DROVER_FAILURE_OTHER, "cancelled")
               : DROVER_RUNNING;
}

/* Steps are called while this one runs: GLib's loop is the thread's, a driver may run it. */
static enum drover_step
run_the_loop(struct self *own, struct drover_operation *op)
{
    int *running = drover_operation_state(op);

    if (running == NULL) {
        running = calloc(1, sizeof(*running));
        drover_operation_set_state(op, running, free);
    }
    if (*running == 1)
        return drover_operation_fail(op, DROVER_FAILURE_OTHER, "stepped within a step");
    if (*running == 2)
        return DROVER_DONE;
    *running = 1;
    drover_operation_call_after(op, 1);
    for (int i = 0; i < 20; i++) {
        drover_operation_wake(op);
        usleep(1000);
        g_main_context_iteration(g_main_context_get_thread_default(), FALSE);
    }
    *running = 2;
    return DROVER_RUNNING;
}

static enum drover_step
fail_for_quota(struct self *own, struct drover_operation *op)
{
    return drover_operation_fail(op, DROVER_FAILURE_QUOTA, "%d of %d used", 3, 3);
}

static enum drover_step
fail_for_rate(struct self *own, struct drover_operation *op)
{
    drover_operation_retry_after(op, 1500);
    return drover_operation_fail(op, DROVER_FAILURE_RATE_LIMITED, "too often");
}

static enum drover_step
fail_for_rate_for_ever(struct self *own, struct drover_operation *op)
{
    drover_operation_retry_after(op, UINT32_MAX);
    return drover_operation_fail(op, DROVER_FAILURE_RATE_LIMITED, "too often");
}

static enum drover_step
fail_strangely(struct self *own, struct drover_operation *op)
{
    return drover_operation_fail(op, (enum drover_failure)77, "bytes \xff");
}

static enum drover_step
fail_without_reason(struct self *own, struct drover_operation *op)
{
    return DROVER_FAILED;
}

static enum drover_step
fail_and_succeed(struct self *own, struct drover_operation *op)
{
    drover_operation_fail(op, DROVER_FAILURE_OTHER, "not so bad after all");
    return DROVER_DONE;
}

static enum drover_step
answer_nonsense(struct self *own, struct drover_operation *op)
{
    return (enum drover_step)42;
}

static enum drover_step
block(struct self *own, struct drover_operation *op)
{
    usleep(300000);
    return DROVER_DONE;
}

static enum drover_step
block_for_ever(struct self *own, struct drover_operation *op)
{
    for (;;)
        pause();
    return DROVER_DONE;
}

static enum drover_step
set_objects(struct self *own, struct drover_operation *op)
{
    drover_operation_set_string(op, "external_id", "server-1");
    drover_operation_set_string(op, "external_id", "server-1");
    drover_operation_set_json(op, "external_id", "{\"server\": \"1\", \"volume\": \"2\"}");
    drover_operation_set_json(op, "connection_port", "{\"host\": \"x\"}");
    drover_operation_set_json(op, "driver_data", "[1, null]");
    drover_operation_set_json(op, "driver_data", "no JSON");
    drover_operation_set_json(op, "hostname", "{}");
    drover_operation_set_string(op, "username", NULL);
    drover_operation_set_string(op, "az", "");
    drover_operation_set_string(op, "region", "\xff");
    drover_operation_set_string(op, "tags", "of no item");
    drover_operation_set_string(op, NULL, "x");
    drover_operation_set_progress(op, 3, 4);
    drover_operation_set_status(op, "done \xff");
    return DROVER_DONE;
}

static const struct {
    const char *mode;
    enum drover_step (*work)(struct self *own, struct drover_operation *op);
} modes[] = {
    {"steps", count_to_three},
    {"once more", run_once_more},
    {"thread", wait_for_another_thread},
    {"late wake", be_woken_late},
    {"past", speak_of_the_past},
    {"forever", run_until_cancelled},
    {"loop", run_the_loop},
    {"quota", fail_for_quota},
    {"rate", fail_for_rate},
    {"rate for ever", fail_for_rate_for_ever},
    {"strange failure", fail_strangely},
    {"no reason", fail_without_reason},
    {"not so bad", fail_and_succeed},
    {"nonsense", answer_nonsense},
    {"block", block},
    {"block for ever", block_for_ever},
    {"objects", set_objects},
};

static enum drover_step
work(void *self, struct drover_operation *op)
{
    struct self *own = self;

    for (size_t i = 0; own != NULL && i < sizeof(modes) / sizeof(*modes); i++)
        if (strcmp(modes[i].mode, own->mode) == 0)
            return modes[i].work(own, op);
    return succeed(own, op);
}

/* ---- The functions of the table ---- */

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
    drover_operation_append_text(op, tags != NULL ? tags : "none", 4);
    return outcome;
}

static enum drover_step
delete_or_check(void *self, struct drover_operation *op)
{
    return work(self, op);
}

static enum drover_step
list_resources(void *self, struct drover_operation *op)
{
    drover_operation_add_item(op, "server", "a");
    drover_operation_set_resource(op, "cores", 2);
    drover_operation_set_string(op, "external_id", "a");
    drover_operation_add_item(op, "volume", "b");
    drover_operation_set_string(op, "tags", "{}");
    return DROVER_DONE;
}

/* Saves how far it counted, see count_to_three(); nothing at first. */
static char *
save(void *self, struct drover_operation *op)
{
    const struct self *own = self;
    int *count = drover_operation_state(op);
    char *text = NULL;

    if (own == NULL || strcmp(own->mode, "steps") != 0 || count == NULL)
        return NULL;
    return asprintf(&text, "count %d", *count) > 0 ? text : NULL;
}

static int
resume(void *self, struct drover_operation *op, const char *saved)
{
    int *count = calloc(1, sizeof(*count));

    if (sscanf(saved, "count %d", count) != 1) {
        free(count);
        return -1;
    }
    drover_operation_set_state(op, count, free);
    return 0;
}

static enum drover_step
tell_what_was_heard(void *self, struct drover_operation *op)
{
    const struct self *own = self;

    drover_operation_append_text(op, own->heard->str, own->heard->len);
    return DROVER_DONE;
}

static void
node_deleted(void *self, const char *node_id)
{
    hear(self, "deleted %s;", node_id);
}

static void
node_reused(void *self, const char *node_id, const char *request_id)
{
    hear(self, "reused %s for %s;", node_id, request_id);
}

static void
scan_failed(void *self, const char *label, const char *external_id)
{
    hear(self, "scan of %s failed, label %s;", external_id, label);
}

/* ---- The table ---- */

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
            .option_size = sizeof(struct sample_option),
#ifdef OPTION_SIZE
            .option_size = OPTION_SIZE,
#endif
            .name = CALLED,
            .version = "1.2",
            .description = "a sample",
#ifndef UNLICENSED
            .licence = "Apache-2.0",
#endif
            .capabilities = CAPABILITIES,
            .options = (const struct drover_option *)options,
#ifndef CANNOT_OPEN
            .provider_open = provider_open,
#endif
            .provider_start = provider_start,
            .provider_idle = provider_idle,
            .provider_stop = provider_stop,
            .provider_close = provider_close,
            .operation_save = save,
            .operation_resume = resume,
            .machine_create = create,
#ifndef INCOMPLETE
            .machine_delete = delete_or_check,
#endif
            .machine_console = tell_what_was_heard,
            .scan_failed = scan_failed,
            .inventory_list = inventory_list,
            .slot_register = create,
            .slot_check = delete_or_check,
            .resource_list = list_resources,
            .node_deleted = node_deleted,
            .node_reused = node_reused,
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
