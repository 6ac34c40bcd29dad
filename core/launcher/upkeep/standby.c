#include "launcher/upkeep/standby.h"

#include "base/log.h"
#include "launcher/cluster/node-claim.h"
#include "launcher/upkeep/standby-plan.h"
#include "zk/operation.h"

#define LOGGER         "NodePool"
#define STANDBY_PATH   "/drover/standby"
#define REQUEST_PREFIX DROVER_REQUESTS_PATH "/900-"
#define MOST_AT_ONCE   100 /* requests in one transaction */
#define PATIENCE       2.0 /* seconds, with nodes that somebody has locked */

/* Whose request it is; one session's ephemerals may be of an earlier process. */
typedef enum {
    UNASKED,
    ASKED,
    OURS,
    FOREIGN,
} Owner;

/* A request for standby nodes. */
typedef struct {
    DroverRequest *request;
    Owner owner;
    gboolean busy;       /* it is being ended */
    double patience;     /* until when locked nodes are waited for; 0: none was met */
    GHashTable *skipped; /* ids of its nodes that are left as they are */
} Entry;

struct _DroverStandby {
    grefcount references;   /* the owner, and every answer still to come */
    DroverCluster *cluster; /* NULL once freed */
    DroverConfig *config;
    DroverStandbyHooks hooks;
    gpointer user_data;
    DroverStandbyPlan *plan;
    GHashTable *entries; /* id -> Entry */
    GHashTable *making;  /* labels that requests are being made for */
};

/* An answer still to come, about a request or a label. */
typedef struct {
    DroverStandby *standby;
    char *name;
    DroverRequest *ending; /* as it was when it was found to have ended */
    guint making;          /* how many requests */
} Errand;

static double
now(void)
{
    return (double)g_get_monotonic_time() / G_USEC_PER_SEC;
}

static void
entry_free(gpointer data)
{
    Entry *entry = data;

    drover_request_unref(entry->request);
    g_hash_table_unref(entry->skipped);
    g_free(entry);
}

static void
standby_unref(DroverStandby *standby)
{
    if (!g_ref_count_dec(&standby->references))
        return;
    drover_config_unref(standby->config);
    drover_standby_plan_free(standby->plan);
    g_hash_table_unref(standby->entries);
    g_hash_table_unref(standby->making);
    g_free(standby);
}

static Errand *
errand_new(DroverStandby *standby, const char *name)
{
    Errand *errand = g_new0(Errand, 1);

    g_ref_count_inc(&standby->references);
    errand->standby = standby;
    errand->name = g_strdup(name);
    return errand;
}

static void
errand_free(Errand *errand)
{
    standby_unref(errand->standby);
    g_clear_pointer(&errand->ending, drover_request_unref);
    g_free(errand->name);
    g_free(errand);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Errand, errand_free)

static gboolean
goes_on(const Errand *errand)
{
    return errand->standby->cluster != NULL;
}

/* The request that it is about; NULL when that is gone. */
static Entry *
entry_of(const Errand *errand)
{
    return goes_on(errand) ? g_hash_table_lookup(errand->standby->entries, errand->name) : NULL;
}

static DroverSession *
session_of(const DroverStandby *standby)
{
    return drover_cluster_session(standby->cluster);
}

static void
wake(DroverStandby *standby)
{
    standby->hooks.wake(standby->user_data);
}

/* ---- Whose ---- */

static void
on_owner(const DroverReadReply *reply, gpointer user_data)
{
    g_autoptr(Errand) errand = user_data;
    Entry *entry = entry_of(errand);

    if (entry == NULL)
        return;
    entry->owner = UNASKED;
    if (reply->rc != ZOK)
        return;
    entry->owner = reply->stat.ephemeralOwner == drover_session_id(session_of(errand->standby))
                       ? OURS
                       : FOREIGN;
    wake(errand->standby);
}

static void
ask_owner(DroverStandby *standby, Entry *entry)
{
    g_autofree char *path = drover_request_path(entry->request->id);

    entry->owner = ASKED;
    drover_session_exists(session_of(standby), path, FALSE, on_owner,
                          errand_new(standby, entry->request->id));
}

/* ---- The end of our requests ---- */

static void end(DroverStandby *standby, Entry *entry);

/* The id of the entry's node that stood in the way, or NULL. */
static const char *
find_blamed(const Entry *entry, const char *blamed)
{
    for (char **id = entry->request->nodes; blamed != NULL && *id != NULL; id++) {
        g_autofree char *path = drover_node_path(*id);

        if (g_str_has_prefix(blamed, path))
            return *id;
    }
    return NULL;
}

static void
note_end(DroverStandby *standby, const DroverRequest *request)
{
    DroverLogSubject subject = {
        .logger = LOGGER, .event_id = request->event_id, .request_id = request->id};
    const char *label = request->labels[0];

    if (label == NULL)
        return;
    if (request->state == DROVER_REQUEST_FULFILLED) {
        drover_standby_plan_note_fulfilled(standby->plan, label);
        drover_log(DROVER_LOG_DEBUG, &subject, "Another standby node of label %s is ready", label);
    } else {
        drover_log(DROVER_LOG_DEBUG, &subject,
                   "No standby node of label %s; asking again in %.0f s", label,
                   drover_standby_plan_note_failed(standby->plan, label, now()));
    }
}

/* A locked node may be free at once: others lock what they look at. */
static gboolean
is_to_be_skipped(DroverStandby *standby, Entry *entry, const char *id, DroverChangeOutcome outcome)
{
    if (outcome == DROVER_CHANGE_BUSY && entry->patience == 0) {
        entry->patience = now() + PATIENCE;
        /* Its release wakes us. */
        drover_cache_lock(drover_cluster_nodes(standby->cluster), id);
    }
    return outcome == DROVER_CHANGE_GONE ||
           (outcome == DROVER_CHANGE_BUSY && now() >= entry->patience);
}

static void
on_ended(const DroverChangeResult *result, gpointer user_data)
{
    g_autoptr(Errand) errand = user_data;
    Entry *entry = entry_of(errand);
    const char *blamed;

    if (result->outcome == DROVER_CHANGE_DONE)
        note_end(errand->standby, errand->ending);
    if (entry == NULL)
        return;
    entry->busy = FALSE;
    blamed = find_blamed(entry, result->blamed);
    if (blamed != NULL && is_to_be_skipped(errand->standby, entry, blamed, result->outcome)) {
        g_hash_table_add(entry->skipped, g_strdup(blamed));
        end(errand->standby, entry);
    }
}

/* Whoever has a node that is left out gives it back; then its request is gone, and it is free. */
static void
free_nodes(DroverStandby *standby, const Entry *entry, DroverChange *change)
{
    for (char **id = entry->request->nodes; *id != NULL; id++) {
        const DroverNode *node = drover_cluster_node(standby->cluster, *id);
        g_autoptr(json_t) record = NULL;

        if (node == NULL || g_strcmp0(node->allocated_to, entry->request->id) != 0 ||
            g_hash_table_contains(entry->skipped, *id))
            continue;
        record = drover_node_record(node);
        drover_record_set_string(record, "allocated_to", NULL);
        drover_node_claim(standby->cluster, change, node, record);
    }
}

static void
end(DroverStandby *standby, Entry *entry)
{
    g_autofree char *path = drover_request_path(entry->request->id);
    DroverChange *change = drover_change_new(session_of(standby));
    Errand *errand = errand_new(standby, entry->request->id);

    entry->busy = TRUE;
    errand->ending = drover_request_ref(entry->request);
    if (entry->request->state == DROVER_REQUEST_FULFILLED)
        free_nodes(standby, entry, change);
    drover_change_delete(change, path, entry->request->version);
    drover_change_commit(change, on_ended, errand);
}

static gboolean
has_ended(const Entry *entry)
{
    return entry->request->state == DROVER_REQUEST_FULFILLED ||
           entry->request->state == DROVER_REQUEST_FAILED;
}

static void
step_entries(DroverStandby *standby)
{
    GHashTableIter iter;
    gpointer value;

    g_hash_table_iter_init(&iter, standby->entries);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        Entry *entry = value;

        if (entry->owner == UNASKED)
            ask_owner(standby, entry);
        else if (entry->owner == OURS && has_ended(entry) && !entry->busy)
            end(standby, entry);
    }
}

/* ---- Requests ---- */

/*
 * Each label has a znode whose version counts how often somebody made requests. It is read first,
 * then what everybody made until then is counted, and the requests are made at that version: who
 * was slower counts again.
 */
static char *
counter_path(const char *label)
{
    g_autofree char *name = g_uri_escape_string(label, NULL, TRUE);

    return g_strconcat(STANDBY_PATH "/", name, NULL);
}

/* How many to make, of a label that may be configured no more. */
static guint
need_of(DroverStandby *standby, const char *name)
{
    const DroverLabelConfig *label = drover_config_find_label(standby->config, name);
    guint need;

    if (label == NULL || label->min_ready <= 0)
        return 0;
    need = drover_standby_plan_need(standby->plan, name, label->min_ready, now());
    return need > 0 && standby->hooks.can_make(name, standby->user_data) ? need : 0;
}

static void
stop_making(Errand *errand)
{
    g_hash_table_remove(errand->standby->making, errand->name);
    errand_free(errand);
}

static void
on_made(const DroverChangeResult *result, gpointer user_data)
{
    Errand *errand = user_data;

    if (result->outcome == DROVER_CHANGE_DONE) {
        drover_log_for(DROVER_LOG_INFO, LOGGER, "Created requests for %u %s nodes", errand->making,
                       errand->name);
        drover_standby_plan_note_made(errand->standby->plan, errand->name);
    }
    if (goes_on(errand) && result->outcome == DROVER_CHANGE_CONFLICT)
        wake(errand->standby);
    stop_making(errand);
}

static void
make(Errand *errand, gint32 counter)
{
    const char *labels[] = {errand->name, NULL};
    g_autofree char *path = counter_path(errand->name);
    g_autoptr(GBytes) nothing = g_bytes_new_static("", 0);
    DroverChange *change = drover_change_new(session_of(errand->standby));

    drover_change_set(change, path, nothing, counter);
    for (guint i = 0; i < errand->making; i++) {
        g_autoptr(json_t) record =
            drover_request_new_record(labels, DROVER_STANDBY_REQUESTOR, FALSE);
        g_autoptr(GBytes) data = drover_record_bytes(record);

        drover_change_create(change, REQUEST_PREFIX, data, ZOO_EPHEMERAL | ZOO_SEQUENCE);
    }
    drover_change_commit(change, on_made, errand);
}

static void
on_counter(const DroverReadReply *reply, gpointer user_data)
{
    Errand *errand = user_data;

    if (reply->rc == ZOK && goes_on(errand) && drover_cluster_is_settled(errand->standby->cluster))
        errand->making = MIN(need_of(errand->standby, errand->name), MOST_AT_ONCE);
    if (errand->making > 0)
        make(errand, reply->stat.version);
    else
        stop_making(errand);
}

static void
on_counter_made(const DroverReadReply *reply, gpointer user_data)
{
    Errand *errand = user_data;
    g_autofree char *path = counter_path(errand->name);

    if (reply->rc == ZOK && goes_on(errand))
        drover_session_exists(session_of(errand->standby), path, FALSE, on_counter, errand);
    else
        stop_making(errand);
}

static void
on_counter_looked_for(const DroverReadReply *reply, gpointer user_data)
{
    Errand *errand = user_data;
    g_autofree char *path = counter_path(errand->name);

    if (reply->rc == ZNONODE && goes_on(errand))
        drover_session_ensure(session_of(errand->standby), path, on_counter_made, errand);
    else
        on_counter(reply, errand);
}

static void
step_label(DroverStandby *standby, const char *name)
{
    g_autofree char *path = counter_path(name);

    if (g_hash_table_contains(standby->making, name) || need_of(standby, name) == 0)
        return;
    g_hash_table_add(standby->making, g_strdup(name));
    drover_session_exists(session_of(standby), path, FALSE, on_counter_looked_for,
                          errand_new(standby, name));
}

void
drover_standby_step(DroverStandby *standby)
{
    const GPtrArray *labels = standby->config->labels;

    if (!drover_cluster_is_complete(standby->cluster))
        return;
    step_entries(standby);
    for (guint i = 0; i < labels->len; i++)
        step_label(standby, ((const DroverLabelConfig *)labels->pdata[i])->name);
}

/* ---- News ---- */

void
drover_standby_note_node(DroverStandby *standby, const DroverNode *old, const DroverNode *new_node)
{
    drover_standby_plan_note_node(standby->plan, old, new_node);
}

static Entry *
entry_new(void)
{
    Entry *entry = g_new0(Entry, 1);

    entry->skipped = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    return entry;
}

void
drover_standby_note_request(DroverStandby *standby, const char *id, const DroverRequest *old,
                            const DroverRequest *new_request)
{
    Entry *entry = g_hash_table_lookup(standby->entries, id);

    drover_standby_plan_note_request(standby->plan, old, new_request);
    if (!drover_standby_is_for(new_request)) {
        g_hash_table_remove(standby->entries, id);
        return;
    }
    if (entry == NULL) {
        entry = entry_new();
        g_hash_table_insert(standby->entries, g_strdup(id), entry);
    }
    g_clear_pointer(&entry->request, drover_request_unref);
    entry->request = drover_request_ref((DroverRequest *)new_request);
    wake(standby);
}

/* ---- Life ---- */

DroverStandby *
drover_standby_new(DroverCluster *cluster, DroverConfig *config, const DroverStandbyHooks *hooks,
                   gpointer user_data)
{
    DroverStandby *standby = g_new0(DroverStandby, 1);

    g_ref_count_init(&standby->references);
    standby->cluster = cluster;
    standby->config = drover_config_ref(config);
    standby->hooks = *hooks;
    standby->user_data = user_data;
    standby->plan = drover_standby_plan_new();
    standby->entries = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, entry_free);
    standby->making = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    return standby;
}

void
drover_standby_free(DroverStandby *standby)
{
    if (standby == NULL)
        return;
    standby->cluster = NULL;
    standby_unref(standby);
}

void
drover_standby_set_config(DroverStandby *standby, DroverConfig *config)
{
    drover_config_unref(standby->config);
    standby->config = drover_config_ref(config);
}
