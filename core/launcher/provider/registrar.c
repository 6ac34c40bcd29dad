#include "launcher/provider/registrar.h"

#include <string.h>

#include "base/log.h"
#include "launcher/provider/slot-table.h"
#include "zk/change.h"

#define LOGGER         "driver.inventory"
#define INVENTORY_PATH "/drover/inventory"

typedef struct {
    const DroverMachine *machine;
    char **labels;
    const DroverPoolConfig *pool;
    json_t *fields; /* of its nodes' records, as the driver said last; NULL: never reached */
    DroverTask *task;
    guint64 *registering; /* one bit a slot: a create is under way */
    gboolean due;         /* an empty slot is to be filled */
    gboolean compare;     /* the nodes in its slots are to be compared, too */
    gboolean first;       /* never compared since this registrar exists */
    gboolean reached;     /* since the last step: fill its slots */
    gboolean unreachable; /* at the first attempt: its free nodes are no use to anybody */
    gboolean touched;     /* the next step looks at it */
} Machine;

struct _DroverRegistrar {
    grefcount references; /* the owner, and every change and task under way */
    DroverCluster *cluster;
    DroverRunner *runner;
    char *provider;
    char *launcher; /* what the nodes' records say who made them */
    DroverSlotMachine *slot_machines;
    Machine *machines;
    guint n_machines;
    DroverSlotTable *table; /* of the provider's nodes */
    GPtrArray *touched;     /* of Machine */
    GHashTable *changing;   /* ids of nodes with a change under way */
    DroverLock *lock;
    gboolean lock_wanted, settled, retired;
    gboolean dirty; /* something happened since the last step */
    guint timer;
};

/* One change or task under way, about a node or a slot. */
typedef struct {
    DroverRegistrar *registrar;
    Machine *machine;
    guint slot;
    char *node_id;
    const char *verb;
} Errand;

static void
registrar_unref(DroverRegistrar *registrar)
{
    if (!g_ref_count_dec(&registrar->references))
        return;
    for (guint i = 0; i < registrar->n_machines; i++) {
        json_decref(registrar->machines[i].fields);
        g_strfreev(registrar->machines[i].labels);
        g_free(registrar->machines[i].registering);
        g_free((char *)registrar->slot_machines[i].identity.name);
        g_free((char *)registrar->slot_machines[i].identity.username);
    }
    g_free(registrar->machines);
    g_free(registrar->slot_machines);
    g_hash_table_unref(registrar->changing);
    g_ptr_array_unref(registrar->touched);
    g_free(registrar->provider);
    g_free(registrar->launcher);
    g_free(registrar);
}

static Errand *
errand_new(DroverRegistrar *registrar, Machine *machine, const char *node_id, const char *verb)
{
    Errand *errand = g_new0(Errand, 1);

    g_ref_count_inc(&registrar->references);
    errand->registrar = registrar;
    errand->machine = machine;
    errand->node_id = g_strdup(node_id);
    errand->verb = verb;
    return errand;
}

static void
errand_free(Errand *errand)
{
    registrar_unref(errand->registrar);
    g_free(errand->node_id);
    g_free(errand);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Errand, errand_free)

static guint
index_of(const Machine *machine, const DroverRegistrar *registrar)
{
    return (guint)(machine - registrar->machines);
}

static char *
machine_text(const DroverRegistrar *registrar, const Machine *machine)
{
    const DroverMachineIdentity *identity =
        &registrar->slot_machines[index_of(machine, registrar)].identity;

    return g_strdup_printf("%s (user %s, port %d)", identity->name, identity->username,
                           identity->port);
}

/* ---- What the next step looks at ---- */

static void
touch(DroverRegistrar *registrar, Machine *machine)
{
    registrar->dirty = TRUE;
    if (machine->touched)
        return;
    machine->touched = TRUE;
    g_ptr_array_add(registrar->touched, machine);
}

/* `index` may be DROVER_NO_MACHINE. */
static void
touch_index(DroverRegistrar *registrar, int index)
{
    registrar->dirty = TRUE;
    if (index != DROVER_NO_MACHINE)
        touch(registrar, &registrar->machines[index]);
}

/* ---- The lock ---- */

static void
step_again(DroverRegistrar *registrar)
{
    registrar->dirty = TRUE;
    drover_registrar_step(registrar);
}

static void
on_lock(DroverLock *lock, DroverLockOutcome outcome, gpointer user_data)
{
    DroverRegistrar *registrar = user_data;

    registrar->lock_wanted = FALSE;
    registrar->settled = FALSE;
    if (outcome == DROVER_LOCK_HELD)
        drover_log_for(DROVER_LOG_DEBUG, LOGGER, "Registering the machines of provider %s",
                       registrar->provider);
    step_again(registrar);
}

/* FALSE as long as another process, or our predecessor, looks after this provider. */
static gboolean
may_write(DroverRegistrar *registrar)
{
    if (!drover_lock_is_held(registrar->lock)) {
        if (!registrar->lock_wanted) {
            registrar->lock_wanted = TRUE;
            drover_lock_acquire(registrar->lock, DROVER_LOCK_WAIT_FOREVER, on_lock, registrar);
        }
        return FALSE;
    }
    /* What the former holder wrote has to be in the cache before the first decision. */
    if (!registrar->settled)
        registrar->settled = drover_cluster_has_settled_nodes(registrar->cluster);
    return registrar->settled;
}

/* ---- Changes ---- */

static void
note_outcome(DroverRegistrar *registrar, const DroverChangeResult *result)
{
    if (result->outcome == DROVER_CHANGE_UNFENCED && !registrar->retired) {
        /* Somebody removed our contender: begin again as anybody would. */
        drover_lock_release(registrar->lock);
        registrar->lock_wanted = FALSE;
    }
    if (!registrar->retired)
        step_again(registrar);
}

static void
on_registered(const DroverChangeResult *result, gpointer user_data)
{
    g_autoptr(Errand) errand = user_data;
    g_autofree char *text = machine_text(errand->registrar, errand->machine);

    errand->machine->registering[errand->slot / 64] &=
        ~(G_GUINT64_CONSTANT(1) << (errand->slot % 64));
    if (result->outcome == DROVER_CHANGE_DONE)
        drover_log(DROVER_LOG_INFO,
                   &(DroverLogSubject){.logger = LOGGER,
                                       .node_id = strrchr(result->created[0], '/') + 1,
                                       .provider = errand->registrar->provider},
                   "Registered %s, slot %u", text, errand->slot);
    else
        /* Whose answer is lost may well be registered; the next comparison shows it. */
        drover_log_for(result->outcome == DROVER_CHANGE_UNKNOWN ? DROVER_LOG_DEBUG
                                                                : DROVER_LOG_WARNING,
                       LOGGER, "Slot %u of %s was not registered: %s", errand->slot, text,
                       drover_change_outcome_name(result->outcome));
    /* What the server refuses is tried again by the next sync only. */
    if (result->outcome != DROVER_CHANGE_DONE && result->outcome != DROVER_CHANGE_REFUSED)
        errand->machine->due = TRUE;
    touch(errand->registrar, errand->machine);
    note_outcome(errand->registrar, result);
}

static void
on_node_changed(const DroverChangeResult *result, gpointer user_data)
{
    g_autoptr(Errand) errand = user_data;
    DroverRegistrar *registrar = errand->registrar;
    DroverLogSubject subject = {
        .logger = LOGGER, .node_id = errand->node_id, .provider = registrar->provider};

    g_hash_table_remove(registrar->changing, errand->node_id);
    if (result->outcome == DROVER_CHANGE_DONE)
        drover_log(DROVER_LOG_INFO, &subject, "Node of provider %s %s", registrar->provider,
                   errand->verb);
    else if (result->outcome == DROVER_CHANGE_BUSY)
        drover_log(DROVER_LOG_WARNING, &subject, "Node is locked by somebody; not %s now",
                   errand->verb);
    /* A busy node is looked at again by the next sync only. */
    if (result->outcome == DROVER_CHANGE_BUSY || registrar->retired)
        return;
    touch_index(registrar, drover_slot_table_find(registrar->table, errand->node_id));
    note_outcome(registrar, result);
}

static json_t *
common_fields(const DroverRegistrar *registrar, const Machine *machine)
{
    json_t *fields = json_deep_copy(machine->fields);

    drover_record_set_string(fields, "pool", machine->pool->name);
    json_object_set_new(fields, "type",
                        drover_json_from_strings((const char *const *)machine->labels));
    if (machine->pool->node_attributes != NULL)
        json_object_set(fields, "attributes", machine->pool->node_attributes);
    else
        json_object_set_new(fields, "attributes", json_null());
    return fields;
}

static void
register_slot(DroverRegistrar *registrar, Machine *machine, guint slot)
{
    g_autoptr(json_t) record = drover_node_new_record(DROVER_NODE_READY);
    g_autoptr(json_t) fields = common_fields(registrar, machine);
    g_autoptr(GBytes) data = NULL;
    DroverChange *change = drover_change_new(drover_cluster_session(registrar->cluster));
    Errand *errand = errand_new(registrar, machine, NULL, "registered");

    drover_node_record_merge(record, fields);
    drover_record_set_string(record, "provider", registrar->provider);
    drover_record_set_string(record, "launcher", registrar->launcher);
    json_object_set_new(record, "slot", json_integer(slot));
    data = drover_record_bytes(record);
    errand->slot = slot;
    machine->registering[slot / 64] |= G_GUINT64_CONSTANT(1) << (slot % 64);
    drover_change_hold(change, registrar->lock);
    drover_change_create(change, DROVER_NODES_PATH "/", data, ZOO_SEQUENCE);
    drover_change_commit(change, on_registered, errand);
}

static DroverChange *
change_of_node(DroverRegistrar *registrar, const DroverNode *node)
{
    DroverChange *change = drover_change_new(drover_cluster_session(registrar->cluster));

    g_hash_table_add(registrar->changing, g_strdup(node->id));
    if (drover_lock_is_held(registrar->lock))
        drover_change_hold(change, registrar->lock);
    return change;
}

static gboolean
may_touch(const DroverRegistrar *registrar, const DroverNode *node)
{
    return drover_node_is_free(node) && !g_hash_table_contains(registrar->changing, node->id);
}

void
drover_registrar_deregister(DroverRegistrar *registrar, const DroverNode *node)
{
    g_autofree char *path = drover_node_path(node->id);
    DroverCache *nodes = drover_cluster_nodes(registrar->cluster);
    DroverChange *change;

    if (!may_touch(registrar, node))
        return;
    change = change_of_node(registrar, node);
    drover_change_delete_claimed(change, path, drover_cache_lock_directory_exists(nodes, node->id),
                                 node->version);
    drover_change_commit(change, on_node_changed,
                         errand_new(registrar, NULL, node->id, "deregistered"));
}

/* Lists of keys are compared as sets: the order of a scan means nothing. */
static gboolean
same_keys(const json_t *a, const json_t *b)
{
    const json_t *left, *right;
    size_t i, k;

    if (json_array_size(a) != json_array_size(b))
        return FALSE;
    json_array_foreach(a, i, left)
    {
        gboolean found = FALSE;

        json_array_foreach(b, k, right) found = found || json_equal(left, right);
        if (!found)
            return FALSE;
    }
    return TRUE;
}

static gboolean
is_outdated(const json_t *record, const json_t *wanted)
{
    static const char *const compared[] = {
        "type",       "pool",       "attributes", "username", "connection_port", "connection_type",
        "shell_type", "python_path"};

    for (guint i = 0; i < G_N_ELEMENTS(compared); i++)
        if (!json_equal(json_object_get(record, compared[i]), json_object_get(wanted, compared[i])))
            return TRUE;
    return !same_keys(json_object_get(record, "host_keys"), json_object_get(wanted, "host_keys"));
}

static void
update_node(DroverRegistrar *registrar, Machine *machine, const DroverNode *node, guint slot)
{
    g_autoptr(json_t) record = NULL, wanted = NULL, fields = NULL;
    g_autoptr(GBytes) data = NULL;
    g_autofree char *path = NULL, *lock = NULL;
    DroverChange *change;

    if (!may_touch(registrar, node))
        return;
    record = drover_node_record(node);
    fields = common_fields(registrar, machine);
    wanted = json_copy(record);
    drover_node_record_merge(wanted, fields);
    if (!is_outdated(record, wanted) && node->slot == (int)slot)
        return;
    json_object_set_new(wanted, "slot", json_integer(slot));
    data = drover_record_bytes(wanted);
    path = drover_node_path(node->id);
    lock = drover_node_lock_path(node->id);
    change = change_of_node(registrar, node);
    drover_change_claim(
        change, lock,
        drover_cache_lock_directory_exists(drover_cluster_nodes(registrar->cluster), node->id));
    drover_change_set(change, path, data, node->version);
    drover_change_commit(change, on_node_changed,
                         errand_new(registrar, machine, node->id, "updated"));
}

/* ---- Reaching machines ---- */

static void
keep_fields(Machine *machine, const json_t *fields)
{
    static const char *const optional[] = {"shell_type", "python_path", "public_ipv4",
                                           "public_ipv6"};

    json_decref(machine->fields);
    machine->fields = json_deep_copy(fields);
    /* What the driver did not set is unset, also in a record that has an older value. */
    for (guint i = 0; i < G_N_ELEMENTS(optional); i++)
        if (json_object_get(machine->fields, optional[i]) == NULL)
            json_object_set_new(machine->fields, optional[i], json_null());
    if (json_object_get(machine->fields, "host_keys") == NULL)
        json_object_set_new(machine->fields, "host_keys", json_array());
}

static void
on_reached(const DroverTaskResult *result, gpointer user_data)
{
    g_autoptr(Errand) errand = user_data;
    DroverRegistrar *registrar = errand->registrar;
    Machine *machine = errand->machine;

    machine->task = NULL;
    if (registrar->retired)
        return;
    if (result->ok) {
        keep_fields(machine, result->fields);
        machine->reached = TRUE;
    } else {
        g_autofree char *text = machine_text(registrar, machine);

        drover_log_for(DROVER_LOG_WARNING, LOGGER, "Cannot register %s of provider %s: %s", text,
                       registrar->provider, result->message);
        machine->unreachable = machine->first;
    }
    machine->first = FALSE;
    touch(registrar, machine);
    step_again(registrar);
}

static void
reach(DroverRegistrar *registrar, Machine *machine)
{
    DroverTaskInput input = {.pool = machine->machine->pool,
                             .label_config = machine->machine->config};

    machine->task =
        drover_runner_submit(registrar->runner, DROVER_TASK_SLOT_REGISTER, &input, on_reached, NULL,
                             errand_new(registrar, machine, NULL, "reached"));
}

/* ---- The step ---- */

static gboolean
is_registering(const Machine *machine, guint slot)
{
    return (machine->registering[slot / 64] >> (slot % 64)) & 1;
}

static gboolean
has_empty_place(const DroverSlotRow *row, const Machine *machine)
{
    for (guint i = 0; i < row->places->len; i++)
        if (row->places->pdata[i] == NULL && !is_registering(machine, i))
            return TRUE;
    return FALSE;
}

static void
fill_and_update(DroverRegistrar *registrar, Machine *machine, const DroverSlotRow *row)
{
    for (guint i = 0; i < row->places->len; i++) {
        const DroverNode *node = row->places->pdata[i];

        if (node != NULL && machine->compare)
            update_node(registrar, machine, node, i);
        else if (node == NULL && machine->reached && !is_registering(machine, i))
            register_slot(registrar, machine, i);
    }
}

static void
deregister_all(DroverRegistrar *registrar, const GPtrArray *nodes)
{
    for (guint i = 0; i < nodes->len; i++)
        if (nodes->pdata[i] != NULL)
            drover_registrar_deregister(registrar, nodes->pdata[i]);
}

static void
step_machine(DroverRegistrar *registrar, Machine *machine)
{
    g_autoptr(DroverSlotRow) row =
        drover_slot_table_row(registrar->table, index_of(machine, registrar));

    machine->touched = FALSE;
    deregister_all(registrar, row->excess);
    if (machine->unreachable) {
        machine->unreachable = FALSE;
        deregister_all(registrar, row->places);
    }
    if (machine->reached) {
        fill_and_update(registrar, machine, row);
        machine->reached = machine->due = machine->compare = FALSE;
    } else if (machine->due && machine->task == NULL) {
        machine->due = FALSE;
        if (machine->first || has_empty_place(row, machine))
            reach(registrar, machine);
        else if (machine->fields != NULL)
            fill_and_update(registrar, machine, row);
    }
}

void
drover_registrar_step(DroverRegistrar *registrar)
{
    g_autoptr(GPtrArray) unknown = NULL, touched = NULL;

    /* A lock that was lost with the session is wanted again at once. */
    if (registrar->retired || (!registrar->dirty && drover_lock_is_held(registrar->lock)) ||
        !drover_cluster_is_complete(registrar->cluster) || !may_write(registrar))
        return;
    registrar->dirty = FALSE;
    touched = g_steal_pointer(&registrar->touched);
    registrar->touched = g_ptr_array_new();
    unknown = drover_slot_table_unknown(registrar->table);
    deregister_all(registrar, unknown);
    for (guint i = 0; i < touched->len; i++)
        step_machine(registrar, touched->pdata[i]);
}

void
drover_registrar_note_node(DroverRegistrar *registrar, const char *id, const DroverNode *node)
{
    int before = drover_slot_table_find(registrar->table, id);
    const DroverNode *own =
        node != NULL && g_strcmp0(node->provider, registrar->provider) == 0 ? node : NULL;

    drover_slot_table_note(registrar->table, id, own);
    if (own == NULL && before != DROVER_NO_MACHINE) {
        registrar->machines[before].due = TRUE;
        touch_index(registrar, before);
    } else if (own != NULL && drover_node_is_free(own)) {
        /* Others are not written to, and have their places until they are gone. */
        touch_index(registrar, drover_slot_table_find(registrar->table, id));
    }
}

static gboolean
on_sync_time(gpointer user_data)
{
    DroverRegistrar *registrar = user_data;

    for (guint i = 0; i < registrar->n_machines; i++) {
        registrar->machines[i].due = registrar->machines[i].compare = TRUE;
        touch(registrar, &registrar->machines[i]);
    }
    step_again(registrar);
    return G_SOURCE_CONTINUE;
}

/* ---- Life ---- */

static char **
machine_labels(const struct drover_value *config)
{
    const struct drover_value *list = drover_value_get(config, "labels");
    size_t n = drover_value_length(list);
    char **labels = g_new0(char *, n + 1);

    for (size_t i = 0; i < n; i++)
        labels[i] = g_strdup(drover_value_string(drover_value_item(list, i)));
    return labels;
}

static void
take_machine(DroverRegistrar *registrar, const DroverProviderConfig *config, guint i,
             const DroverMachine *machine)
{
    Machine *own = &registrar->machines[i];
    DroverSlotMachine *slot_machine = &registrar->slot_machines[i];

    own->machine = machine;
    own->labels = machine_labels(machine->config);
    own->pool = drover_provider_config_find_pool(config, machine->pool);
    own->registering = g_new0(guint64, machine->slots / 64 + 1);
    own->due = own->first = own->compare = own->pool != NULL;
    slot_machine->slots = own->pool != NULL ? machine->slots : 0;
    if (own->pool == NULL)
        drover_log_for(
            DROVER_LOG_WARNING, LOGGER,
            "Provider %s: the driver lists a machine of pool %s, which is not configured",
            config->name, machine->pool);
    /* Copies: answers may still come when the runner and its configuration are gone. */
    slot_machine->identity.name = g_strdup(drover_value_get_string(machine->config, "name", ""));
    slot_machine->identity.username =
        g_strdup(drover_value_get_string(machine->config, "username", ""));
    slot_machine->identity.port =
        (int)drover_value_get_integer(machine->config, "connection-port", 0);
    touch(registrar, own);
}

static void
take_nodes(DroverRegistrar *registrar)
{
    DroverCacheIter iter;
    const char *id;
    gpointer node;

    drover_cache_iter_init(&iter, drover_cluster_nodes(registrar->cluster));
    while (drover_cache_iter_next(&iter, &id, &node))
        drover_registrar_note_node(registrar, id, node);
}

DroverRegistrar *
drover_registrar_new(DroverCluster *cluster, DroverRunner *runner,
                     const DroverProviderConfig *config, const GPtrArray *machines,
                     guint sync_interval)
{
    DroverRegistrar *registrar = g_new0(DroverRegistrar, 1);
    g_autofree char *name = g_uri_escape_string(config->name, NULL, FALSE);
    g_autofree char *directory = g_strconcat(INVENTORY_PATH "/", name, "/lock", NULL);

    g_ref_count_init(&registrar->references);
    registrar->cluster = cluster;
    registrar->runner = runner;
    registrar->provider = g_strdup(config->name);
    registrar->launcher = g_strconcat(config->driver, " driver", NULL);
    registrar->touched = g_ptr_array_new();
    registrar->n_machines = machines->len;
    registrar->machines = g_new0(Machine, machines->len);
    registrar->slot_machines = g_new0(DroverSlotMachine, machines->len);
    for (guint i = 0; i < machines->len; i++)
        take_machine(registrar, config, i, g_ptr_array_index(machines, i));
    registrar->table = drover_slot_table_new(registrar->slot_machines, registrar->n_machines);
    take_nodes(registrar);
    registrar->changing = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    registrar->lock = drover_lock_new(drover_cluster_session(cluster), directory, TRUE, NULL);
    registrar->timer = g_timeout_add_seconds(sync_interval, on_sync_time, registrar);
    return registrar;
}

const struct drover_value *
drover_registrar_machine(const DroverRegistrar *registrar, const DroverNode *node)
{
    int index = drover_slot_table_machine_of(registrar->table, node);

    return index != DROVER_NO_MACHINE ? registrar->machines[index].machine->config : NULL;
}

void
drover_registrar_free(DroverRegistrar *registrar)
{
    if (registrar == NULL)
        return;
    registrar->retired = TRUE;
    for (guint i = 0; i < registrar->n_machines; i++)
        if (registrar->machines[i].task != NULL)
            drover_task_cancel(registrar->machines[i].task);
    g_source_remove(registrar->timer);
    drover_lock_free(registrar->lock);
    registrar->lock = NULL;
    g_clear_pointer(&registrar->table, drover_slot_table_free);
    registrar_unref(registrar);
}
