#include "zk/operation.h"

#include <string.h>

#include "zk/session-private.h"

/* Room for the sequence number that the server appends, and the final zero. */
#define SEQUENCE_ROOM 16

gboolean
drover_rc_is_unknown(int rc)
{
    switch (rc) {
    case ZCONNECTIONLOSS:
    case ZOPERATIONTIMEOUT:
    case ZSESSIONEXPIRED:
    case ZSESSIONMOVED:
    case ZCLOSING:
    case ZINVALIDSTATE:
        return TRUE;
    default:
        return FALSE;
    }
}

/* ---- Reads ---- */

typedef struct {
    DroverMessage message;
    DroverReadReply reply;
    DroverReadFunc done;
    gpointer user_data;
} Read;

static void
deliver_read(DroverMessage *message)
{
    Read *read = (Read *)message;

    read->reply.rc = message->rc;
    if (read->done != NULL)
        read->done(&read->reply, read->user_data);
    g_clear_pointer(&read->reply.data, g_bytes_unref);
    g_strfreev((char **)read->reply.children);
    g_free(read);
}

static Read *
read_new(DroverSession *session, DroverReadFunc done, gpointer user_data)
{
    Read *read = g_new0(Read, 1);

    read->message.deliver = deliver_read;
    read->done = done;
    read->user_data = user_data;
    drover_session_expect(session, &read->message);
    return read;
}

static void
answer_read(Read *read, int rc, const struct Stat *stat)
{
    read->message.rc = rc;
    if (stat != NULL)
        read->reply.stat = *stat;
    drover_session_post(read->message.owner, &read->message);
}

static void
on_get(int rc, const char *value, int length, const struct Stat *stat, const void *context)
{
    Read *read = (Read *)context;

    if (rc == ZOK)
        read->reply.data = g_bytes_new(value, length > 0 ? (gsize)length : 0);
    answer_read(read, rc, rc == ZOK ? stat : NULL);
}

static void
on_exists(int rc, const struct Stat *stat, const void *context)
{
    answer_read((Read *)context, rc, rc == ZOK ? stat : NULL);
}

static void
on_list(int rc, const struct String_vector *names, const struct Stat *stat, const void *context)
{
    Read *read = (Read *)context;

    if (rc == ZOK) {
        read->reply.n_children = (guint)names->count;
        read->reply.children = g_new0(const char *, read->reply.n_children + 1);
        for (guint i = 0; i < read->reply.n_children; i++)
            read->reply.children[i] = g_strdup(names->data[i]);
    }
    answer_read(read, rc, rc == ZOK ? stat : NULL);
}

/* One call of the library; what it returns. */
typedef int (*AskFunc)(zhandle_t *zh, const char *full, gboolean watch, Read *read);

static int
ask_get(zhandle_t *zh, const char *full, gboolean watch, Read *read)
{
    return zoo_aget(zh, full, watch, on_get, read);
}

static int
ask_exists(zhandle_t *zh, const char *full, gboolean watch, Read *read)
{
    return zoo_aexists(zh, full, watch, on_exists, read);
}

static int
ask_list(zhandle_t *zh, const char *full, gboolean watch, Read *read)
{
    return zoo_aget_children2(zh, full, watch, on_list, read);
}

static void
begin_read(DroverSession *session, const char *path, AskFunc ask, gboolean watch,
           DroverReadFunc done, gpointer user_data)
{
    g_autofree char *full = drover_session_full_path(session, path);
    Read *read = read_new(session, done, user_data);
    zhandle_t *zh = drover_session_handle(session);
    int rc = zh != NULL ? ask(zh, full, watch, read) : ZCONNECTIONLOSS;

    drover_session_count(session)->reads++;
    if (rc != ZOK)
        answer_read(read, rc, NULL);
}

void
drover_session_get(DroverSession *session, const char *path, gboolean watch, DroverReadFunc done,
                   gpointer user_data)
{
    begin_read(session, path, ask_get, watch, done, user_data);
}

void
drover_session_exists(DroverSession *session, const char *path, gboolean watch, DroverReadFunc done,
                      gpointer user_data)
{
    begin_read(session, path, ask_exists, watch, done, user_data);
}

void
drover_session_list(DroverSession *session, const char *path, gboolean watch, DroverReadFunc done,
                    gpointer user_data)
{
    begin_read(session, path, ask_list, watch, done, user_data);
}

/* ---- Transactions ---- */

typedef struct {
    enum { CREATE, SET, DELETE, CHECK } kind;
    char *path; /* as the caller named it */
    char *full; /* with the chroot, made at commit */
    GBytes *data;
    int flags;
    gint32 version;
    char *created; /* buffer for the name that the server chose */
    gsize created_size;
    struct Stat stat; /* after a set */
} Operation;

struct _DroverTransaction {
    DroverMessage message;
    GArray *operations; /* of Operation */
    zoo_op_t *ops;
    zoo_op_result_t *results;
    DroverCommitFunc done;
    gpointer user_data;
};

static void
operation_clear(Operation *operation)
{
    g_free(operation->path);
    g_free(operation->full);
    g_free(operation->created);
    g_clear_pointer(&operation->data, g_bytes_unref);
}

DroverTransaction *
drover_transaction_new(void)
{
    DroverTransaction *transaction = g_new0(DroverTransaction, 1);

    transaction->operations = g_array_new(FALSE, TRUE, sizeof(Operation));
    g_array_set_clear_func(transaction->operations, (GDestroyNotify)operation_clear);
    return transaction;
}

void
drover_transaction_free(DroverTransaction *transaction)
{
    g_array_unref(transaction->operations);
    g_free(transaction->ops);
    g_free(transaction->results);
    g_free(transaction);
}

static guint
add_operation(DroverTransaction *transaction, int kind, const char *path, GBytes *data, int flags,
              gint32 version)
{
    Operation operation = {.kind = kind,
                           .path = g_strdup(path),
                           .data = data != NULL ? g_bytes_ref(data) : NULL,
                           .flags = flags,
                           .version = version};

    g_array_append_val(transaction->operations, operation);
    return transaction->operations->len - 1;
}

guint
drover_transaction_create(DroverTransaction *transaction, const char *path, GBytes *data, int flags)
{
    return add_operation(transaction, CREATE, path, data, flags, 0);
}

guint
drover_transaction_set(DroverTransaction *transaction, const char *path, GBytes *data,
                       gint32 version)
{
    return add_operation(transaction, SET, path, data, 0, version);
}

guint
drover_transaction_delete(DroverTransaction *transaction, const char *path, gint32 version)
{
    return add_operation(transaction, DELETE, path, NULL, 0, version);
}

guint
drover_transaction_check(DroverTransaction *transaction, const char *path, gint32 version)
{
    return add_operation(transaction, CHECK, path, NULL, 0, version);
}

/* As the library judges paths; the last name may be empty when the server completes it. */
static gboolean
is_valid_path(const char *path, gboolean completed)
{
    g_auto(GStrv) names = g_strsplit(path, "/", -1);
    guint n = g_strv_length(names);

    if (n < 2 || names[0][0] != '\0')
        return FALSE;
    for (guint i = 1; i < n; i++) {
        if ((names[i][0] == '\0' && !(completed && i == n - 1)) || strcmp(names[i], ".") == 0 ||
            strcmp(names[i], "..") == 0)
            return FALSE;
    }
    for (const char *c = path; *c != '\0'; c++) {
        if ((guchar)*c < ' ')
            return FALSE;
    }
    return TRUE;
}

/* ZOK when the library may be given the transaction. */
static int
check_transaction(DroverTransaction *transaction, zhandle_t *zh)
{
    for (guint i = 0; i < transaction->operations->len; i++) {
        Operation *operation = &g_array_index(transaction->operations, Operation, i);
        gboolean completed = operation->kind == CREATE && (operation->flags & ZOO_SEQUENCE) != 0;

        if (!is_valid_path(operation->full, completed))
            return transaction->results[i].err = ZBADARGUMENTS;
    }
    return zh != NULL && zoo_state(zh) == ZOO_CONNECTED_STATE ? ZOK : ZCONNECTIONLOSS;
}

static void
prepare_operation(DroverSession *session, Operation *operation, zoo_op_t *op)
{
    gsize length = 0;
    const char *data = operation->data != NULL ? g_bytes_get_data(operation->data, &length) : NULL;

    switch (operation->kind) {
    case CREATE:
        operation->created_size = strlen(operation->full) + SEQUENCE_ROOM;
        operation->created = g_malloc0(operation->created_size);
        zoo_create_op_init(op, operation->full, data != NULL ? data : "", (int)length,
                           drover_session_acl(session), operation->flags, operation->created,
                           (int)operation->created_size);
        break;
    case SET:
        zoo_set_op_init(op, operation->full, data != NULL ? data : "", (int)length,
                        operation->version, &operation->stat);
        break;
    case DELETE:
        zoo_delete_op_init(op, operation->full, operation->version);
        break;
    case CHECK:
        zoo_check_op_init(op, operation->full, operation->version);
        break;
    }
}

static void
notify_writes(DroverSession *session, DroverTransaction *transaction, const char *const *paths,
              const gint32 *versions)
{
    for (guint i = 0; i < transaction->operations->len; i++) {
        Operation *operation = &g_array_index(transaction->operations, Operation, i);
        g_autoptr(GBytes) empty = NULL;

        if (operation->kind == CHECK)
            continue;
        if (operation->kind != DELETE && operation->data == NULL)
            empty = g_bytes_new(NULL, 0);
        drover_session_notify_write(session, paths[i],
                                    operation->data != NULL ? operation->data : empty, versions[i],
                                    operation->kind == SET ? operation->stat.mzxid : 0);
    }
}

static void
deliver_commit(DroverMessage *message)
{
    DroverTransaction *transaction = (DroverTransaction *)message;
    DroverSession *session = message->owner;
    guint n = transaction->operations->len;
    g_autofree int *codes = g_new0(int, n);
    g_autofree gint32 *versions = g_new0(gint32, n);
    g_autofree const char **paths = g_new0(const char *, n);
    DroverCommitReply reply = {message->rc, n, codes, paths, versions};

    for (guint i = 0; i < n; i++) {
        Operation *operation = &g_array_index(transaction->operations, Operation, i);
        codes[i] = transaction->results[i].err;
        paths[i] = operation->path;
        if (message->rc == ZOK && operation->kind == CREATE)
            paths[i] = drover_session_strip_chroot(session, operation->created);
        if (message->rc == ZOK && operation->kind == SET)
            versions[i] = operation->stat.version;
    }
    if (message->rc == ZOK)
        notify_writes(session, transaction, paths, versions);
    if (transaction->done != NULL)
        transaction->done(&reply, transaction->user_data);
    drover_transaction_free(transaction);
}

static void
on_commit(int rc, const void *context)
{
    DroverTransaction *transaction = (DroverTransaction *)context;

    transaction->message.rc = rc;
    drover_session_post(transaction->message.owner, &transaction->message);
}

void
drover_session_commit(DroverSession *session, DroverTransaction *transaction, DroverCommitFunc done,
                      gpointer user_data)
{
    zhandle_t *zh = drover_session_handle(session);
    guint n = transaction->operations->len;
    int rc;

    transaction->message.deliver = deliver_commit;
    transaction->done = done;
    transaction->user_data = user_data;
    drover_session_expect(session, &transaction->message);
    for (guint i = 0; i < n; i++) {
        Operation *operation = &g_array_index(transaction->operations, Operation, i);
        operation->full = drover_session_full_path(session, operation->path);
    }
    /* What the library refuses half-way, it frees wrongly: for a path that it does not like, or
     * when the session ends at that moment, which takes it a connection first. */
    transaction->results = g_new0(zoo_op_result_t, n);
    rc = check_transaction(transaction, zh);
    if (rc == ZOK) {
        transaction->ops = g_new0(zoo_op_t, n);
        for (guint i = 0; i < n; i++)
            prepare_operation(session, &g_array_index(transaction->operations, Operation, i),
                              &transaction->ops[i]);
        rc = zoo_amulti(zh, (int)n, transaction->ops, transaction->results, on_commit, transaction);
        if (rc == ZMARSHALLINGERROR)
            rc = ZINVALIDSTATE; /* nothing was sent: the session ended meanwhile */
    }
    drover_session_count(session)->transactions++;
    drover_session_count(session)->writes += n;
    if (rc != ZOK)
        on_commit(rc, transaction);
}

void
drover_session_delete(DroverSession *session, const char *path, DroverCommitFunc done,
                      gpointer user_data)
{
    DroverTransaction *transaction = drover_transaction_new();

    drover_transaction_delete(transaction, path, -1);
    drover_session_commit(session, transaction, done, user_data);
}

/* ---- Parents ---- */

static void
on_ensured(int rc, const char *name, const void *context)
{
    answer_read((Read *)context, rc == ZNODEEXISTS ? ZOK : rc, NULL);
}

static void
ensure_one(DroverSession *session, const char *full, DroverReadFunc done, gpointer user_data)
{
    Read *read = read_new(session, done, user_data);
    zhandle_t *zh = drover_session_handle(session);
    int rc = ZCONNECTIONLOSS;

    if (zh != NULL)
        rc = zoo_acreate(zh, full, "", 0, drover_session_acl(session), 0, on_ensured, read);
    if (rc != ZOK)
        answer_read(read, rc, NULL);
}

/* The creation of the last of the path, until it is known whether it is there. */
typedef struct {
    int created_rc;
    DroverReadFunc done;
    gpointer user_data;
} Last;

static void
on_last_created(const DroverReadReply *reply, gpointer user_data)
{
    ((Last *)user_data)->created_rc = reply->rc;
}

/* It may be there although we would not be allowed to create it. */
static void
on_last_looked_up(const DroverReadReply *reply, gpointer user_data)
{
    g_autofree Last *last = user_data;
    DroverReadReply answer = *reply;

    if (reply->rc == ZNONODE)
        answer.rc = last->created_rc;
    if (last->done != NULL)
        last->done(&answer, last->user_data);
}

void
drover_session_ensure(DroverSession *session, const char *path, DroverReadFunc done,
                      gpointer user_data)
{
    g_autofree char *full = drover_session_full_path(session, path);
    Last *last = g_new0(Last, 1);

    last->done = done;
    last->user_data = user_data;
    /* All at once: the servers keep the order, and parents that exist already say so. */
    for (char *slash = strchr(full + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        ensure_one(session, full, NULL, NULL);
        *slash = '/';
    }
    ensure_one(session, full, on_last_created, last);
    drover_session_exists(session, path, FALSE, on_last_looked_up, last);
}
