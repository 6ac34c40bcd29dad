#include "cli/store.h"

#include <string.h>

#include "base/compare.h"
#include "base/error.h"
#include "base/log.h"
#include "model/connection.h"
#include "model/image-reading.h"
#include "zk/bulk.h"

/* So many reads are worth a connection of their own. */
#define BULK         500
#define BULK_SECONDS 10 /* without an answer */

struct _DroverStore {
    DroverSession *session;
    char *hosts;
    guint timeout; /* seconds, 0: none */
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

    if (deadline >= 0) {
        gint64 milliseconds = (deadline - g_get_monotonic_time()) / 1000;
        timer = g_timeout_add((guint)CLAMP(milliseconds, 0, G_MAXUINT), wake_up, &late);
    }
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

static gboolean
wait_for_connection(DroverStore *store, GError **error)
{
    gint64 deadline = -1;

    if (store->timeout > 0)
        deadline = g_get_monotonic_time() + store->timeout * G_TIME_SPAN_SECOND;
    if (drover_store_wait(store, &store->connected, deadline))
        return TRUE;
    g_set_error(error, DROVER_ERROR, DROVER_ERROR_TIMEOUT,
                "no connection to ZooKeeper at %s within %u s", store->hosts, store->timeout);
    return FALSE;
}

static DroverSession *
begin_session(const DroverConfig *config, GError **error)
{
    g_autofree DroverSessionServer *servers = drover_connection_servers(config);
    DroverSessionOptions options = drover_connection_options(config, servers);

    options.leave_chroot = TRUE;
    return drover_session_new(&options, error);
}

DroverStore *
drover_store_open(const DroverConfig *config, guint timeout, GError **error)
{
    DroverSession *session = begin_session(config, error);
    DroverStore *store;

    if (session == NULL)
        return NULL;
    store = g_new0(DroverStore, 1);
    store->session = session;
    store->hosts = drover_config_host_string(config);
    store->timeout = timeout;
    drover_session_add_listener(session, on_state, store);
    if (!wait_for_connection(store, error))
        g_clear_pointer(&store, drover_store_close);
    return store;
}

void
drover_store_close(DroverStore *store)
{
    drover_session_close(store->session);
    g_free(store->hosts);
    g_free(store);
}

DroverSession *
drover_store_session(const DroverStore *store)
{
    return store->session;
}

/* ---- Many reads at once ---- */

/* One read: of a znode's data or of its children. Where the answer goes is its owner's. */
typedef struct {
    char *path;
    gboolean of_children, watch;
    DroverReadReply *reply; /* with references of its own; NULL without an answer that counts */
    guint *missing;         /* answers still to come of the whole batch */
    gboolean *complete;
} Question;

static void
question_free(gpointer data)
{
    Question *question = data;

    if (question->reply != NULL) {
        g_clear_pointer(&question->reply->data, g_bytes_unref);
        g_strfreev((char **)question->reply->children);
        g_free(question->reply);
    }
    g_free(question->path);
    g_free(question);
}

static GPtrArray *
batch_new(void)
{
    return g_ptr_array_new_with_free_func(question_free);
}

static Question *
add_question(GPtrArray *batch, char *path, gboolean of_children, gboolean watch)
{
    Question *question = g_new0(Question, 1);

    question->path = path;
    question->of_children = of_children;
    question->watch = watch;
    g_ptr_array_add(batch, question);
    return question;
}

static void
keep_answer(const DroverReadReply *reply, gpointer user_data)
{
    Question *question = user_data;

    if (drover_rc_is_unknown(reply->rc))
        return;
    question->reply = g_memdup2(reply, sizeof(*reply));
    if (reply->data != NULL)
        g_bytes_ref(question->reply->data);
    question->reply->children = (const char **)g_strdupv((char **)reply->children);
}

static void
on_answer(const DroverReadReply *reply, gpointer user_data)
{
    Question *question = user_data;

    keep_answer(reply, question);
    *question->complete = --*question->missing == 0;
}

static gboolean
is_answered(const GPtrArray *batch)
{
    for (guint i = 0; i < batch->len; i++)
        if (((const Question *)batch->pdata[i])->reply == NULL)
            return FALSE;
    return TRUE;
}

/* Sends what has no answer yet, and waits until everything was answered or lost. */
static void
send_unanswered(DroverStore *store, GPtrArray *batch)
{
    guint missing = 0;
    gboolean complete = FALSE;

    for (guint i = 0; i < batch->len; i++) {
        Question *question = batch->pdata[i];

        if (question->reply != NULL)
            continue;
        missing++;
        question->missing = &missing;
        question->complete = &complete;
        if (question->of_children)
            drover_session_list(store->session, question->path, question->watch, on_answer,
                                question);
        else
            drover_session_get(store->session, question->path, question->watch, on_answer,
                               question);
    }
    drover_store_wait(store, &complete, -1);
}

/* An answer that says neither what is there nor that nothing is. */
static gboolean
check_answers(const GPtrArray *batch, GError **error)
{
    for (guint i = 0; i < batch->len; i++) {
        const Question *question = batch->pdata[i];

        if (question->reply->rc != ZOK && question->reply->rc != ZNONODE) {
            g_set_error(error, DROVER_ERROR, DROVER_ERROR_UNSUPPORTED,
                        "ZooKeeper does not let %s be read: %s", question->path,
                        zerror(question->reply->rc));
            return FALSE;
        }
    }
    return TRUE;
}

/* Reads in few requests what it can. Watches need requests of their own, and are for all or none.
 */
static void
send_in_bulk(DroverStore *store, const GPtrArray *batch)
{
    g_autoptr(GError) error = NULL;
    g_autofree DroverBulkRead *reads = NULL;

    if (batch->len < BULK || ((const Question *)batch->pdata[0])->watch)
        return;
    reads = g_new0(DroverBulkRead, batch->len);
    for (guint i = 0; i < batch->len; i++) {
        const Question *question = batch->pdata[i];

        reads[i] = (DroverBulkRead){question->path, question->of_children, (gpointer)question};
    }
    if (!drover_bulk_read(store->session, reads, batch->len, BULK_SECONDS, keep_answer, &error))
        drover_log_for(DROVER_LOG_DEBUG, "zk.ZooKeeper", "%s", error->message);
}

/* Asks until everything is answered. */
static gboolean
ask(DroverStore *store, GPtrArray *batch, GError **error)
{
    send_in_bulk(store, batch);
    while (!is_answered(batch)) {
        if (!wait_for_connection(store, error))
            return FALSE;
        send_unanswered(store, batch);
    }
    return check_answers(batch, error);
}

/* ---- Reading ---- */

/* Takes the names from the answer; NULL when there is no such znode. */
static char **
take_names(Question *question)
{
    char **names = (char **)g_steal_pointer(&question->reply->children);

    if (names != NULL)
        qsort(names, g_strv_length(names), sizeof(char *), drover_compare_strings);
    return names;
}

static void
free_names(gpointer names)
{
    g_strfreev(names);
}

GPtrArray *
drover_store_list_each(DroverStore *store, const char *const *paths, GError **error)
{
    g_autoptr(GPtrArray) batch = batch_new();
    GPtrArray *lists;

    for (; *paths != NULL; paths++)
        add_question(batch, g_strdup(*paths), TRUE, FALSE);
    if (!ask(store, batch, error))
        return NULL;
    lists = g_ptr_array_new_with_free_func(free_names);
    for (guint i = 0; i < batch->len; i++)
        g_ptr_array_add(lists, take_names(batch->pdata[i]));
    return lists;
}

char **
drover_store_list(DroverStore *store, const char *path, GError **error)
{
    const char *const paths[] = {path, NULL};
    g_autoptr(GPtrArray) lists = drover_store_list_each(store, paths, error);
    char **names;

    if (lists == NULL)
        return NULL;
    names = g_steal_pointer(&lists->pdata[0]);
    return names != NULL ? names : g_new0(char *, 1);
}

void
drover_record_free(DroverRecord *record)
{
    g_free(record->name);
    g_clear_pointer(&record->data, g_bytes_unref);
    g_strfreev(record->contenders);
    g_free(record);
}

/* The record of this answer; NULL when there is none. */
static DroverRecord *
take_record(const char *name, Question *data, gboolean even_empty)
{
    DroverRecord *record;

    if (data->reply->rc != ZOK || (!even_empty && g_bytes_get_size(data->reply->data) == 0))
        return NULL;
    record = g_new0(DroverRecord, 1);
    record->name = g_strdup(name);
    record->data = g_steal_pointer(&data->reply->data);
    record->version = data->reply->stat.version;
    record->owner = data->reply->stat.ephemeralOwner;
    record->has_children = data->reply->stat.numChildren > 0;
    return record;
}

/* A znode without children has no lock directory: most free nodes cost no second question. */
static gboolean
read_contenders(DroverStore *store, const char *parent, GPtrArray *records, GError **error)
{
    g_autoptr(GPtrArray) batch = batch_new();
    guint next = 0;

    for (guint i = 0; i < records->len; i++) {
        const DroverRecord *record = records->pdata[i];
        if (record->has_children)
            add_question(batch, g_strconcat(parent, "/", record->name, "/lock", NULL), TRUE, FALSE);
    }
    if (!ask(store, batch, error))
        return FALSE;
    for (guint i = 0; i < records->len; i++) {
        DroverRecord *record = records->pdata[i];
        if (record->has_children)
            record->contenders = take_names(batch->pdata[next++]);
    }
    return TRUE;
}

/* A name is one component; anything else names no record. */
static gboolean
is_name(const char *name)
{
    return name[0] != '\0' && strchr(name, '/') == NULL && strcmp(name, ".") != 0 &&
           strcmp(name, "..") != 0;
}

GPtrArray *
drover_store_read_each(DroverStore *store, const char *parent, const char *const *names,
                       DroverReadFlags flags, GError **error)
{
    g_autoptr(GPtrArray) batch = batch_new();
    g_autoptr(GPtrArray) asked = g_ptr_array_new();
    g_autoptr(GPtrArray) records =
        g_ptr_array_new_with_free_func((GDestroyNotify)drover_record_free);

    for (; *names != NULL; names++) {
        if (!is_name(*names))
            continue;
        g_ptr_array_add(asked, (gpointer)*names);
        add_question(batch, g_strconcat(parent, "/", *names, NULL), FALSE,
                     (flags & DROVER_READ_WATCH) != 0);
    }
    if (!ask(store, batch, error))
        return NULL;
    for (guint i = 0; i < asked->len; i++) {
        DroverRecord *record =
            take_record(asked->pdata[i], batch->pdata[i], (flags & DROVER_READ_EMPTY) != 0);

        if (record != NULL)
            g_ptr_array_add(records, record);
    }
    if ((flags & DROVER_READ_LOCK) != 0 && !read_contenders(store, parent, records, error))
        return NULL;
    return g_steal_pointer(&records);
}

GPtrArray *
drover_store_read_all(DroverStore *store, const char *parent, DroverReadFlags flags, GError **error)
{
    g_auto(GStrv) names = drover_store_list(store, parent, error);

    if (names == NULL)
        return NULL;
    return drover_store_read_each(store, parent, (const char *const *)names, flags, error);
}

DroverRecord *
drover_store_read(DroverStore *store, const char *parent, const char *name, DroverReadFlags flags,
                  GError **error)
{
    const char *const names[] = {name, NULL};
    g_autoptr(GPtrArray) records = drover_store_read_each(store, parent, names, flags, error);

    if (records == NULL)
        return NULL;
    if (records->len == 0) {
        g_set_error(error, DROVER_ERROR, DROVER_ERROR_NOT_FOUND, "%s/%s does not exist", parent,
                    name);
        return NULL;
    }
    return g_ptr_array_steal_index(records, 0);
}

typedef struct {
    gboolean complete;
    json_t *images;
} ImagesAnswer;

static void
on_images(const json_t *images, gpointer user_data)
{
    ImagesAnswer *answer = user_data;

    answer->complete = TRUE;
    answer->images = json_incref((json_t *)images);
}

json_t *
drover_store_read_images(DroverStore *store, GError **error)
{
    ImagesAnswer answer = {0};

    drover_image_reading_begin(store->session, on_images, &answer);
    drover_store_wait(store, &answer.complete, -1);
    if (answer.images == NULL)
        g_set_error(error, DROVER_ERROR, DROVER_ERROR_LOST,
                    "the images in ZooKeeper could not be read");
    return answer.images;
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
        commit->created = g_path_get_basename(result->created[0]);
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

void
drover_store_catch_up(DroverStore *store, const char *path)
{
    DroverChange *change;

    /* It writes nothing, and yet goes the way of all writes. */
    do {
        change = drover_change_new(store->session);
        drover_change_expect(change, path, -1);
    } while (drover_store_commit(store, change, NULL) == DROVER_CHANGE_UNKNOWN);
}

static gboolean
fail_to_write(const char *path, DroverChangeOutcome outcome, GError **error)
{
    g_set_error(error, DROVER_ERROR, DROVER_ERROR_FAILED, "%s cannot be written: %s", path,
                drover_change_outcome_name(outcome));
    return FALSE;
}

static gboolean
delete_children(DroverStore *store, const char *path, GError **error)
{
    g_auto(GStrv) names = drover_store_list(store, path, error);

    for (char **name = names; name != NULL && *name != NULL; name++) {
        g_autofree char *child = g_strconcat(path, "/", *name, NULL);

        if (!drover_store_delete_tree(store, child, error))
            return FALSE;
    }
    return names != NULL;
}

gboolean
drover_store_delete_tree(DroverStore *store, const char *path, GError **error)
{
    DroverChangeOutcome outcome;

    do {
        DroverChange *change;

        if (!delete_children(store, path, error))
            return FALSE;
        change = drover_change_new(store->session);
        drover_change_delete(change, path, -1);
        outcome = drover_store_commit(store, change, NULL);
    } while (outcome == DROVER_CHANGE_BUSY || outcome == DROVER_CHANGE_CONFLICT ||
             outcome == DROVER_CHANGE_UNKNOWN);
    return outcome == DROVER_CHANGE_DONE || outcome == DROVER_CHANGE_GONE ||
           fail_to_write(path, outcome, error);
}

typedef struct {
    gboolean complete;
    int rc;
} Ensured;

static void
on_ensured(const DroverReadReply *reply, gpointer user_data)
{
    *(Ensured *)user_data = (Ensured){TRUE, reply->rc};
}

gboolean
drover_store_ensure(DroverStore *store, const char *path, GError **error)
{
    Ensured ensured = {0};

    drover_session_ensure(store->session, path, on_ensured, &ensured);
    drover_store_wait(store, &ensured.complete, -1);
    if (ensured.rc != ZOK)
        g_set_error(error, DROVER_ERROR, DROVER_ERROR_FAILED, "%s cannot be made: %s", path,
                    zerror(ensured.rc));
    return ensured.rc == ZOK;
}

gboolean
drover_store_put(DroverStore *store, const char *path, GBytes *data, GError **error)
{
    DroverChange *change;
    DroverChangeOutcome outcome;

    if (!drover_store_ensure(store, path, error))
        return FALSE;
    change = drover_change_new(store->session);
    drover_change_set(change, path, data, -1);
    outcome = drover_store_commit(store, change, NULL);
    return outcome == DROVER_CHANGE_DONE || fail_to_write(path, outcome, error);
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
