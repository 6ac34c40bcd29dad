#include "cli/store.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

struct _DroverStore {
    DroverSession *session;
    gboolean connected;
};

/* ---- Waiting ---- */

static gboolean
wake_up(gpointer user_data)
{
    *(gboolean *)user_data = TRUE;
    return G_SOURCE_REMOVE;
}

gboolean
drover_store_wait(DroverStore *store, const gboolean *done, gint64 deadline)
{
    gboolean late = FALSE;
    guint timer = 0;

    if (deadline >= 0)
        timer = g_timeout_add((guint)MAX(0, (deadline - g_get_monotonic_time()) / 1000), wake_up,
                              &late);
    while (!*done && !late)
        g_main_context_iteration(NULL, TRUE);
    if (!late && timer != 0)
        g_source_remove(timer);
    return *done;
}

/* ---- The connection ---- */

static void
on_state(DroverSession *session, DroverSessionState state, gpointer user_data)
{
    ((DroverStore *)user_data)->connected = state == DROVER_SESSION_CONNECTED;
}

DroverStore *
drover_store_open(const DroverConfig *config, guint timeout, GError **error)
{
    DroverStore *store = g_new0(DroverStore, 1);
    g_autofree DroverSessionServer *servers = g_new0(DroverSessionServer, config->servers->len);
    DroverSessionOptions options = {.servers = servers,
                                    .n_servers = config->servers->len,
                                    .chroot = config->chroot,
                                    .timeout = config->zookeeper_timeout,
                                    .digest = config->zookeeper_digest,
                                    .tls_cert = config->tls_cert,
                                    .tls_key = config->tls_key,
                                    .tls_ca = config->tls_ca,
                                    .tls_any_hostname = !config->tls_verify_hostname};

    for (guint i = 0; i < config->servers->len; i++) {
        const DroverServerConfig *server = config->servers->pdata[i];
        servers[i] = (DroverSessionServer){server->host, (guint16)server->port};
    }
    store->session = drover_session_new(&options, error);
    if (store->session == NULL) {
        g_free(store);
        return NULL;
    }
    drover_session_add_listener(store->session, on_state, store);
    if (!drover_store_wait(store, &store->connected,
                           timeout > 0 ? g_get_monotonic_time() + timeout * G_TIME_SPAN_SECOND
                                       : -1)) {
        g_autofree char *hosts = drover_config_host_string(config);

        g_set_error(error, DROVER_ERROR, DROVER_ERROR_TIMEOUT,
                    "no connection to ZooKeeper at %s within %u s", hosts, timeout);
        drover_store_close(store);
        return NULL;
    }
    return store;
}

void
drover_store_close(DroverStore *store)
{
    drover_session_close(store->session);
    g_free(store);
}

DroverSession *
drover_store_session(const DroverStore *store)
{
    return store->session;
}

/* ---- Reading ---- */

void
drover_record_free(DroverRecord *record)
{
    g_free(record->name);
    g_clear_pointer(&record->data, g_bytes_unref);
    g_strfreev(record->contenders);
    g_free(record);
}

/* Answers that are still to come, and what they have brought. */
typedef struct {
    guint missing;
    gboolean complete;
    char **names;
} Batch;

typedef struct {
    Batch *batch;
    DroverRecord *record;
} Question;

static void
count_answer(Batch *batch)
{
    if (--batch->missing == 0)
        batch->complete = TRUE;
}

static void
on_data(const DroverReadReply *reply, gpointer user_data)
{
    g_autofree Question *question = user_data;

    if (reply->rc == ZOK && g_bytes_get_size(reply->data) > 0) {
        question->record->data = g_bytes_ref(reply->data);
        question->record->version = reply->stat.version;
    }
    count_answer(question->batch);
}

static void
on_contenders(const DroverReadReply *reply, gpointer user_data)
{
    g_autofree Question *question = user_data;

    question->record->contenders =
        reply->rc == ZOK ? g_strdupv((char **)reply->children) : g_new0(char *, 1);
    count_answer(question->batch);
}

static Question *
question_new(Batch *batch, DroverRecord *record)
{
    Question *question = g_new0(Question, 1);

    question->batch = batch;
    question->record = record;
    batch->missing++;
    return question;
}

static DroverRecord *
ask(DroverStore *store, Batch *batch, const char *parent, const char *name, gboolean with_lock)
{
    DroverRecord *record = g_new0(DroverRecord, 1);
    g_autofree char *path = g_strconcat(parent, "/", name, NULL);
    g_autofree char *lock = g_strconcat(path, "/lock", NULL);

    record->name = g_strdup(name);
    drover_session_get(store->session, path, FALSE, on_data, question_new(batch, record));
    if (with_lock)
        drover_session_list(store->session, lock, FALSE, on_contenders,
                            question_new(batch, record));
    return record;
}

static void
on_names(const DroverReadReply *reply, gpointer user_data)
{
    Batch *batch = user_data;

    batch->names = reply->rc == ZOK ? g_strdupv((char **)reply->children) : g_new0(char *, 1);
    batch->complete = TRUE;
}

static gint
compare_strings(gconstpointer a, gconstpointer b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

char **
drover_store_list(DroverStore *store, const char *parent)
{
    Batch listing = {0};

    drover_session_list(store->session, parent, FALSE, on_names, &listing);
    drover_store_wait(store, &listing.complete, -1);
    qsort(listing.names, g_strv_length(listing.names), sizeof(char *), compare_strings);
    return listing.names;
}

GPtrArray *
drover_store_read_all(DroverStore *store, const char *parent, gboolean with_locks)
{
    GPtrArray *records = g_ptr_array_new_with_free_func((GDestroyNotify)drover_record_free);
    g_auto(GStrv) names = drover_store_list(store, parent);
    Batch batch = {0};

    for (char **name = names; *name != NULL; name++)
        g_ptr_array_add(records, ask(store, &batch, parent, *name, with_locks));
    if (records->len > 0)
        drover_store_wait(store, &batch.complete, -1);
    for (guint i = records->len; i > 0; i--)
        if (((DroverRecord *)records->pdata[i - 1])->data == NULL)
            g_ptr_array_remove_index(records, i - 1);
    return records;
}

DroverRecord *
drover_store_read(DroverStore *store, const char *parent, const char *name, gboolean with_lock)
{
    Batch batch = {0};
    DroverRecord *record;

    /* A name is one component; anything else names no record. */
    if (name[0] == '\0' || strchr(name, '/') != NULL || strcmp(name, ".") == 0 ||
        strcmp(name, "..") == 0)
        return NULL;
    record = ask(store, &batch, parent, name, with_lock);
    drover_store_wait(store, &batch.complete, -1);
    if (record->data == NULL)
        g_clear_pointer(&record, drover_record_free);
    return record;
}

/* ---- Writing and locking ---- */

typedef struct {
    gboolean complete;
    DroverChangeOutcome outcome;
    char *created;
} Commit;

static void
on_changed(const DroverChangeResult *result, gpointer user_data)
{
    Commit *commit = user_data;

    commit->complete = TRUE;
    commit->outcome = result->outcome;
    if (result->outcome == DROVER_CHANGE_DONE && result->created[0] != NULL)
        commit->created = g_strdup(strrchr(result->created[0], '/') + 1);
}

DroverChangeOutcome
drover_store_commit(DroverStore *store, DroverChange *change, char **created)
{
    Commit commit = {0};

    drover_change_commit(change, on_changed, &commit);
    drover_store_wait(store, &commit.complete, -1);
    if (created != NULL)
        *created = g_steal_pointer(&commit.created);
    g_free(commit.created);
    return commit.outcome;
}

typedef struct {
    gboolean complete;
    DroverLockOutcome outcome;
} Acquisition;

static void
on_lock(DroverLock *lock, DroverLockOutcome outcome, gpointer user_data)
{
    Acquisition *acquisition = user_data;

    acquisition->complete = TRUE;
    acquisition->outcome = outcome;
}

DroverLockOutcome
drover_store_lock(DroverStore *store, DroverLock *lock, gint64 wait)
{
    Acquisition acquisition = {0};

    drover_lock_acquire(lock, wait, on_lock, &acquisition);
    drover_store_wait(store, &acquisition.complete, -1);
    return acquisition.outcome;
}
