#include "driver/remote.h"

#include <pthread.h>
#include <string.h>

#include "base/json.h"
#include "driver/remote-private.h"
#include "driver/watch.h"

#define MOST_MACHINES 100000

typedef struct {
    struct drover_driver table;
    const struct drover_driver *driver;
    char *path;
} Known;

/* Name -> Known. Written by the core loop, read by providers' threads. */
static pthread_mutex_t known_lock = PTHREAD_MUTEX_INITIALIZER;
static GHashTable *known;

/* ---- The provider's life ---- */

static void
machine_free(gpointer data)
{
    DroverRemoteMachine *machine = data;

    g_free(machine->pool);
    g_free(machine);
}

static DroverRemote *
remote_new(struct drover_provider *provider, const Known *of)
{
    const struct drover_value *config = drover_provider_config(provider);
    DroverRemote *remote = g_new0(DroverRemote, 1);

    remote->provider = provider;
    remote->driver = of->driver;
    remote->path = g_strdup(of->path);
    remote->context = g_main_context_ref_thread_default();
    remote->limit = drover_watch_limit(of->driver, config);
    g_queue_init(&remote->orders);
    remote->values = drover_transport_number(config);
    remote->machines = g_ptr_array_new_with_free_func(machine_free);
    remote->operations = g_hash_table_new(g_int64_hash, g_int64_equal);
    return remote;
}

static void
clear_timer(GSource **timer)
{
    if (*timer != NULL)
        g_source_destroy(*timer);
    g_clear_pointer(timer, g_source_unref);
}

static void
remote_free(DroverRemote *remote)
{
    clear_timer(&remote->watch);
    clear_timer(&remote->restart);
    g_ptr_array_unref(remote->values);
    g_ptr_array_unref(remote->machines);
    g_hash_table_unref(remote->operations);
    g_main_context_unref(remote->context);
    g_free(remote->problem);
    g_free(remote->path);
    g_free(remote);
}

static const Known *
find_known(const struct drover_provider *provider)
{
    const char *name = drover_value_get_string(drover_provider_config(provider), "driver", "");
    const Known *found;

    pthread_mutex_lock(&known_lock);
    found = g_hash_table_lookup(known, name);
    pthread_mutex_unlock(&known_lock);
    return found;
}

static int
provider_open(struct drover_provider *provider, void **self)
{
    const Known *of = find_known(provider);
    DroverRemote *remote;
    int outcome = 0;

    if (of == NULL)
        return drover_provider_fail(provider, DROVER_FAILURE_OTHER, "its driver is not known");
    remote = remote_new(provider, of);
    remote->failure = DROVER_FAILURE_OTHER;
    if (drover_remote_start(remote) && drover_remote_settle(remote) &&
        remote->state == DROVER_REMOTE_UP) {
        remote->opened = TRUE;
        *self = remote;
        return 0;
    }
    outcome = drover_provider_fail(provider, remote->failure, "%s",
                                   remote->problem != NULL ? remote->problem
                                                           : "the driver gave no reason");
    g_free(drover_remote_kill(remote));
    remote_free(remote);
    return outcome;
}

void
drover_remote_note_opened(DroverRemote *remote, const json_t *answer)
{
    const json_t *problem = json_object_get(answer, "problem");
    const char *text = drover_json_string(problem, "text");

    if (drover_json_boolean(answer, "ok", FALSE)) {
        remote->state = DROVER_REMOTE_UP;
        drover_host_provider_trouble(remote->provider, NULL);
        if (!remote->opened)
            return; /* the runner says the rest */
        drover_remote_order(remote, "start", "provider_start", 0, json_object());
        if (remote->idle)
            drover_remote_order(remote, "idle", "provider_idle", 0, json_object());
        drover_remote_operations_resumed(remote);
        return;
    }
    g_free(remote->problem);
    remote->problem = g_strdup(text != NULL ? text : drover_json_string(answer, "text"));
    remote->failure =
        (enum drover_failure)drover_json_integer(problem, "failure", DROVER_FAILURE_OTHER);
    /* Its end is seen, and it is started again. */
    if (remote->opened)
        drover_remote_order(remote, "close", "provider_close", 0, json_object());
}

gboolean
drover_remote_note_machine(DroverRemote *remote, const json_t *frame)
{
    DroverRemoteMachine *machine;

    /* Those of later processes are the same. */
    if (remote->opened)
        return TRUE;
    if (remote->machines->len >= MOST_MACHINES)
        return FALSE;
    machine = g_new0(DroverRemoteMachine, 1);
    machine->pool = g_strdup(drover_json_string(frame, "pool"));
    machine->config = drover_json_integer(frame, "config", -1);
    machine->slots = drover_json_integer(frame, "slots", 0);
    g_ptr_array_add(remote->machines, machine);
    return TRUE;
}

static int
inventory_list(void *self, struct drover_inventory *inventory)
{
    const DroverRemote *remote = self;

    for (guint i = 0; i < remote->machines->len; i++) {
        const DroverRemoteMachine *machine = remote->machines->pdata[i];

        if (machine->config >= 0 && machine->config < remote->values->len)
            drover_inventory_add(inventory, machine->pool, remote->values->pdata[machine->config],
                                 (uint32_t)CLAMP(machine->slots, 0, UINT32_MAX));
    }
    return 0;
}

static void
tell(DroverRemote *remote, const char *order, const char *function, const char *a, const char *b)
{
    if (remote->state == DROVER_REMOTE_UP)
        drover_remote_order(remote, order, function, 0, json_pack("{s:s?, s:s?}", "a", a, "b", b));
}

static void
provider_start(void *self)
{
    tell(self, "start", "provider_start", NULL, NULL);
}

static void
provider_idle(void *self)
{
    ((DroverRemote *)self)->idle = TRUE;
    tell(self, "idle", "provider_idle", NULL, NULL);
}

static void
provider_stop(void *self)
{
    tell(self, "stop", "provider_stop", NULL, NULL);
}

static void
provider_close(void *self)
{
    DroverRemote *remote = self;

    remote->opened = FALSE; /* it is not started again */
    if (remote->state == DROVER_REMOTE_UP) {
        tell(remote, "close", "provider_close", NULL, NULL);
        drover_remote_settle(remote);
    }
    g_free(drover_remote_kill(remote));
    remote_free(remote);
}

static void
node_deleted(void *self, const char *node_id)
{
    tell(self, "node_deleted", "node_deleted", node_id, NULL);
}

static void
node_reused(void *self, const char *node_id, const char *request_id)
{
    tell(self, "node_reused", "node_reused", node_id, request_id);
}

static void
scan_failed(void *self, const char *label, const char *external_id)
{
    tell(self, "scan_failed", "scan_failed", label, external_id);
}

/* ---- The table ---- */

static Known *
known_new(const struct drover_driver *driver, const char *path)
{
    Known *own = g_new0(Known, 1);

    own->driver = driver;
    own->path = g_strdup(path);
    own->table = *driver;
    own->table.provider_open = provider_open;
    own->table.provider_start = provider_start;
    own->table.provider_idle = provider_idle;
    own->table.provider_stop = provider_stop;
    own->table.provider_close = provider_close;
    own->table.inventory_list = inventory_list;
    own->table.node_deleted = driver->node_deleted != NULL ? node_deleted : NULL;
    own->table.node_reused = driver->node_reused != NULL ? node_reused : NULL;
    own->table.scan_failed = driver->scan_failed != NULL ? scan_failed : NULL;
    drover_remote_fill_operations(&own->table, driver);
    return own;
}

const struct drover_driver *
drover_remote_driver(const struct drover_driver *driver, const char *path)
{
    Known *own;

    pthread_mutex_lock(&known_lock);
    if (known == NULL)
        known = g_hash_table_new(g_str_hash, g_str_equal);
    own = g_hash_table_lookup(known, driver->name);
    if (own == NULL || own->driver != driver) {
        own = known_new(driver, path);
        g_hash_table_replace(known, (gpointer)driver->name, own);
    }
    pthread_mutex_unlock(&known_lock);
    return &own->table;
}
