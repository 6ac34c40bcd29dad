#include "launcher/upkeep/cleaner-private.h"

#include "launcher/cluster/node-claim.h"

#define LOGGER "CleanupWorker"

typedef struct {
    const char *name;
    void (*run)(DroverCleaner *cleaner, const char *name);
} Task;

/* The drivers tell what they have; what comes of it is not waited for. */
static void
clean_leaks(DroverCleaner *cleaner, const char *name)
{
    const GPtrArray *providers = cleaner->config->providers;

    for (guint i = 0; i < providers->len; i++) {
        const DroverProviderConfig *provider = providers->pdata[i];
        DroverManager *manager = cleaner->find_manager(provider->name, cleaner->user_data);

        if (manager != NULL)
            drover_manager_clean_leaks(manager);
    }
}

static const Task tasks[] = {
    {"stale request locks", drover_clean_request_locks},
    {"leaked resources", clean_leaks},
    {"lost requests", drover_clean_lost_requests},
    {"declined requests", drover_clean_declined_requests},
    {"nodes over their age", drover_clean_old_nodes},
    {"empty nodes", drover_clean_empty_nodes},
    {"orphaned nodes", drover_clean_orphaned_nodes},
};

/* ---- Runs ---- */

static void begin_run(DroverCleaner *cleaner);

static gboolean
on_timer(gpointer user_data)
{
    DroverCleaner *cleaner = user_data;

    cleaner->timer = 0;
    cleaner->due = TRUE;
    if (drover_cluster_is_complete(cleaner->cluster))
        begin_run(cleaner);
    return G_SOURCE_REMOVE;
}

static void
end_run(DroverCleaner *cleaner)
{
    GHashTable *last = cleaner->empty[0];

    drover_log_for(DROVER_LOG_DEBUG, LOGGER, "Finished cleanup");
    cleaner->empty[0] = cleaner->empty[1];
    cleaner->empty[1] = last;
    g_hash_table_remove_all(cleaner->empty[1]);
    g_hash_table_remove_all(cleaner->taken);
    cleaner->timer =
        g_timeout_add_seconds(cleaner->hurried ? 0 : cleaner->interval, on_timer, cleaner);
    cleaner->hurried = FALSE;
}

static void
finish_part(DroverCleaner *cleaner)
{
    if (--cleaner->under_way == 0 && cleaner->cluster != NULL)
        end_run(cleaner);
}

static void
begin_run(DroverCleaner *cleaner)
{
    cleaner->due = FALSE;
    cleaner->under_way = 1;
    drover_log_for(DROVER_LOG_DEBUG, LOGGER, "Starting cleanup");
    for (guint i = 0; i < G_N_ELEMENTS(tasks); i++)
        tasks[i].run(cleaner, tasks[i].name);
    finish_part(cleaner);
}

void
drover_cleaner_note_complete(DroverCleaner *cleaner)
{
    if (cleaner->due && drover_cluster_is_complete(cleaner->cluster))
        begin_run(cleaner);
}

void
drover_cleaner_hurry(DroverCleaner *cleaner)
{
    cleaner->hurried = cleaner->timer == 0;
    if (cleaner->hurried)
        return;
    g_source_remove(cleaner->timer);
    cleaner->timer = g_timeout_add_seconds(0, on_timer, cleaner);
}

/* ---- Errands ---- */

static void
cleaner_unref(DroverCleaner *cleaner)
{
    if (!g_ref_count_dec(&cleaner->references))
        return;
    drover_config_unref(cleaner->config);
    g_hash_table_unref(cleaner->taken);
    g_hash_table_unref(cleaner->locks);
    g_hash_table_unref(cleaner->empty[0]);
    g_hash_table_unref(cleaner->empty[1]);
    g_free(cleaner);
}

DroverErrand *
drover_errand_new(DroverCleaner *cleaner, const char *task, const char *path)
{
    DroverErrand *errand;

    if (!g_hash_table_add(cleaner->taken, g_strdup(path)))
        return NULL;
    errand = g_new0(DroverErrand, 1);
    g_ref_count_inc(&cleaner->references);
    cleaner->under_way++;
    errand->cleaner = cleaner;
    errand->task = task;
    errand->path = g_strdup(path);
    errand->nodes = g_ptr_array_new_with_free_func((GDestroyNotify)drover_node_unref);
    return errand;
}

DroverErrand *
drover_errand_new_for_node(DroverCleaner *cleaner, const char *task, const DroverNode *node)
{
    g_autofree char *path = drover_node_path(node->id);
    DroverErrand *errand = drover_errand_new(cleaner, task, path);

    if (errand != NULL)
        g_ptr_array_add(errand->nodes, drover_node_ref((DroverNode *)node));
    return errand;
}

gboolean
drover_errand_add_node(DroverErrand *errand, const DroverNode *node)
{
    char *path = drover_node_path(node->id);

    if (!g_hash_table_add(errand->cleaner->taken, path))
        return FALSE;
    g_ptr_array_add(errand->nodes, drover_node_ref((DroverNode *)node));
    return TRUE;
}

void
drover_errand_free(DroverErrand *errand)
{
    finish_part(errand->cleaner);
    cleaner_unref(errand->cleaner);
    g_clear_pointer(&errand->request, drover_request_unref);
    g_clear_pointer(&errand->names, g_hash_table_unref);
    g_ptr_array_unref(errand->nodes);
    g_free(errand->path);
    g_free(errand);
}

gboolean
drover_errand_goes_on(const DroverErrand *errand)
{
    return errand->cleaner->cluster != NULL;
}

void
drover_errand_log_failure(const DroverErrand *errand, int rc)
{
    DroverLogSubject subject = drover_errand_subject(errand);

    drover_log(drover_rc_is_unknown(rc) ? DROVER_LOG_DEBUG : DROVER_LOG_ERROR, &subject,
               "Cleaning %s failed at %s: %s", errand->task, errand->path, zerror(rc));
}

gboolean
drover_errand_has_read(const DroverErrand *errand, int rc)
{
    if (!drover_errand_goes_on(errand))
        return FALSE;
    if (rc != ZOK)
        drover_errand_log_failure(errand, rc);
    return rc == ZOK;
}

DroverSession *
drover_errand_session(const DroverErrand *errand)
{
    return drover_cluster_session(errand->cleaner->cluster);
}

DroverLogSubject
drover_errand_subject(const DroverErrand *errand)
{
    const DroverNode *node = errand->nodes->len == 1 ? errand->nodes->pdata[0] : NULL;
    DroverLogSubject subject = {.logger = LOGGER};

    if (errand->request != NULL) {
        subject.request_id = errand->request->id;
        subject.event_id = errand->request->event_id;
    } else if (node != NULL) {
        subject.request_id = node->allocated_to;
        subject.node_id = node->id;
        subject.provider = node->provider;
        subject.pool = node->pool;
    }
    return subject;
}

/* ---- Nodes ---- */

gboolean
drover_cleaner_serves(const DroverCleaner *cleaner, const DroverNode *node)
{
    return node->provider != NULL &&
           cleaner->find_manager(node->provider, cleaner->user_data) != NULL;
}

static void
on_expired(const DroverChangeResult *result, gpointer user_data)
{
    g_autoptr(DroverErrand) errand = user_data;
    DroverLogSubject subject = drover_errand_subject(errand);

    if (result->outcome != DROVER_CHANGE_DONE)
        drover_log(DROVER_LOG_DEBUG, &subject, "Node left as it is: %s",
                   drover_change_outcome_name(result->outcome));
}

void
drover_errand_expire_node(DroverErrand *errand, const char *why)
{
    DroverCluster *cluster = errand->cleaner->cluster;
    const DroverNode *node = errand->nodes->pdata[0];
    DroverLogSubject subject = drover_errand_subject(errand);
    g_autoptr(json_t) record = drover_node_record(node);
    DroverChange *change = drover_change_new(drover_cluster_session(cluster));

    drover_log(DROVER_LOG_DEBUG, &subject, "Deleting node: %s", why);
    drover_node_record_set_state(record, DROVER_NODE_DELETING);
    drover_node_claim(cluster, change, node, record);
    drover_change_commit(change, on_expired, errand);
}

/* ---- Life ---- */

DroverCleaner *
drover_cleaner_new(DroverCluster *cluster, DroverConfig *config, guint interval,
                   DroverFindManager find_manager, gpointer user_data)
{
    DroverCleaner *cleaner = g_new0(DroverCleaner, 1);

    g_ref_count_init(&cleaner->references);
    cleaner->cluster = cluster;
    cleaner->config = drover_config_ref(config);
    cleaner->interval = interval;
    cleaner->find_manager = find_manager;
    cleaner->user_data = user_data;
    cleaner->due = TRUE;
    cleaner->taken = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    cleaner->locks = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    for (guint i = 0; i < G_N_ELEMENTS(cleaner->empty); i++)
        cleaner->empty[i] = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    return cleaner;
}

void
drover_cleaner_set_config(DroverCleaner *cleaner, DroverConfig *config)
{
    drover_config_unref(cleaner->config);
    cleaner->config = drover_config_ref(config);
}

void
drover_cleaner_free(DroverCleaner *cleaner)
{
    if (cleaner == NULL)
        return;
    cleaner->cluster = NULL;
    g_clear_handle_id(&cleaner->timer, g_source_remove);
    cleaner_unref(cleaner);
}
