#include <string.h>

#include "launcher/cluster/node-claim.h"
#include "launcher/provider/backing-private.h"
#include "zk/lock.h"
#include "zk/operation.h"

#define REQUEST_PREFIX DROVER_REQUESTS_PATH "/100-"
/* How long a node of ours that somebody has locked is waited for. */
#define PATIENCE (30 * G_USEC_PER_SEC)

/* A backing node that was asked for. */
typedef struct {
    grefcount references; /* the table, and an answer still to come */
    DroverBacking *backing;
    guint64 number;
    char *user_data;
    char *request_id; /* NULL until it is made */
    gboolean busy;    /* an answer is still to come */
    gboolean withdrawn;
    gint64 patience; /* until when a locked node is waited for; 0: none was met */
} Ticket;

static void
ticket_unref(Ticket *ticket)
{
    if (!g_ref_count_dec(&ticket->references))
        return;
    drover_backing_unref(ticket->backing);
    g_free(ticket->user_data);
    g_free(ticket->request_id);
    g_free(ticket);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Ticket, ticket_unref)

void
drover_backing_free_ticket(gpointer ticket)
{
    ticket_unref(ticket);
}

static Ticket *
expect_answer(Ticket *ticket)
{
    g_ref_count_inc(&ticket->references);
    ticket->busy = TRUE;
    return ticket;
}

static DroverLogSubject
subject_of(const Ticket *ticket)
{
    return (DroverLogSubject){.logger = DROVER_BACKING_LOGGER,
                              .request_id = ticket->request_id,
                              .provider = ticket->backing->provider};
}

/* ---- The end ---- */

static void
delete_request(const Ticket *ticket)
{
    DroverChange *change = drover_change_new(drover_backing_session(ticket->backing));
    g_autofree char *path = drover_request_path(ticket->request_id);

    drover_change_delete(change, path, -1);
    drover_change_commit(change, NULL, NULL);
}

static void
forget(Ticket *ticket)
{
    g_hash_table_remove(ticket->backing->tickets, &ticket->number);
}

static void
fail(Ticket *ticket, const char *reason)
{
    DroverLogSubject subject = subject_of(ticket);

    drover_log(DROVER_LOG_WARNING, &subject, "No backing node: %s", reason);
    drover_backing_tell(
        ticket->backing, DROVER_BACKING_FAILED,
        json_pack("{s:I, s:s}", "ticket", (json_int_t)ticket->number, "reason", reason));
    forget(ticket);
}

/* Nobody is to answer the request any more. */
static void
give_up(Ticket *ticket, const char *reason)
{
    delete_request(ticket);
    fail(ticket, reason);
}

/* A node that it had got meanwhile is freed as that of any request that is gone. */
static void
end(Ticket *ticket)
{
    DroverLogSubject subject = subject_of(ticket);

    drover_log(DROVER_LOG_INFO, &subject, "The request for a backing node is withdrawn");
    delete_request(ticket);
    forget(ticket);
}

void
drover_backing_withdraw_ticket(DroverBacking *backing, guint64 number)
{
    Ticket *ticket = g_hash_table_lookup(backing->tickets, &number);

    if (ticket == NULL)
        return;
    ticket->withdrawn = TRUE;
    if (!ticket->busy)
        end(ticket);
}

/* ---- The beginning ---- */

static void
on_made(const DroverChangeResult *result, gpointer user_data)
{
    g_autoptr(Ticket) ticket = user_data;
    DroverLogSubject subject;

    ticket->busy = FALSE;
    if (result->outcome == DROVER_CHANGE_DONE)
        ticket->request_id = g_strdup(strrchr(result->created[0], '/') + 1);
    if (ticket->backing->parts == NULL)
        return;
    if (ticket->request_id == NULL) {
        fail(ticket, drover_change_outcome_name(result->outcome));
        return;
    }
    subject = subject_of(ticket);
    drover_log(DROVER_LOG_INFO, &subject, "Asked for a backing node");
    if (ticket->withdrawn)
        end(ticket);
    else
        ticket->backing->wake(ticket->backing->user_data);
}

void
drover_backing_begin_ticket(DroverBacking *backing, guint64 number, const char *label,
                            const char *user_data)
{
    const char *labels[] = {label, NULL};
    g_autoptr(json_t) record = drover_request_new_record(labels, backing->owner, TRUE);
    g_autoptr(GBytes) data = drover_record_bytes(record);
    DroverChange *change = drover_change_new(drover_backing_session(backing));
    Ticket *ticket = g_new0(Ticket, 1);

    g_ref_count_init(&ticket->references);
    ticket->backing = drover_backing_ref(backing);
    ticket->number = number;
    ticket->user_data = g_strdup(user_data);
    g_hash_table_replace(backing->tickets, &ticket->number, ticket);
    drover_change_create(change, REQUEST_PREFIX, data, ZOO_EPHEMERAL | ZOO_SEQUENCE);
    drover_change_commit(change, on_made, expect_answer(ticket));
}

/* ---- The claim ---- */

/* Of nobody's session: it outlives this process. */
static void
add_contender(DroverChange *change, const DroverBacking *backing, const char *node_id)
{
    g_autoptr(GBytes) owner = g_bytes_new(backing->owner, strlen(backing->owner));
    g_autofree char *lock = drover_node_lock_path(node_id), *name = drover_lock_new_name();
    g_autofree char *path = g_strconcat(lock, "/", name, NULL);

    drover_change_create(change, path, owner, ZOO_SEQUENCE);
}

static void
report_ready(Ticket *ticket, const char *node_id)
{
    DroverBacking *backing = ticket->backing;
    const DroverNode *node = drover_cluster_node(backing->parts->cluster, node_id);

    if (node == NULL) {
        fail(ticket, "the backing node is gone");
        return;
    }
    drover_backing_tell(backing, DROVER_BACKING_READY,
                        json_pack("{s:I, s:s, s:o}", "ticket", (json_int_t)ticket->number,
                                  "backing_node", node_id, "fields", drover_backing_fields(node)));
    forget(ticket);
}

/* A node that somebody has locked for a moment is free soon. */
static void
be_patient(Ticket *ticket, const char *node_id)
{
    DroverCluster *cluster = ticket->backing->parts->cluster;

    if (ticket->patience == 0)
        ticket->patience = g_get_monotonic_time() + PATIENCE;
    if (g_get_monotonic_time() < ticket->patience) {
        drover_cache_lock(drover_cluster_nodes(cluster), node_id);
        return;
    }
    give_up(ticket, "the backing node is locked by somebody else");
}

static void
on_claimed(const DroverChangeResult *result, gpointer user_data)
{
    g_autoptr(Ticket) ticket = user_data;
    DroverBacking *backing = ticket->backing;
    DroverLogSubject subject = subject_of(ticket);
    g_autofree char *node_id = NULL;

    ticket->busy = FALSE;
    if (backing->parts == NULL)
        return;
    if (result->outcome == DROVER_CHANGE_DONE) {
        g_auto(GStrv) parts =
            g_strsplit(result->created[0] + strlen(DROVER_NODES_PATH "/"), "/", 2);

        node_id = g_strdup(parts[0]);
        drover_backing_take(backing, node_id, result->created[0]);
        subject.node_id = node_id;
        drover_log(DROVER_LOG_INFO, &subject, "Claimed the backing node");
        report_ready(ticket, node_id);
    } else if (result->outcome == DROVER_CHANGE_BUSY) {
        const DroverRequest *request =
            drover_cluster_request(backing->parts->cluster, ticket->request_id);

        if (request != NULL && request->nodes[0] != NULL)
            be_patient(ticket, request->nodes[0]);
    }
}

static void
claim(Ticket *ticket, const DroverRequest *request)
{
    DroverCluster *cluster = ticket->backing->parts->cluster;
    const DroverNode *node =
        request->nodes[0] != NULL ? drover_cluster_node(cluster, request->nodes[0]) : NULL;
    g_autofree char *path = drover_request_path(request->id);
    g_autoptr(json_t) record = NULL;
    DroverChange *change;

    if (node == NULL || node->state != DROVER_NODE_READY) {
        give_up(ticket, "the backing node is gone");
        return;
    }
    record = drover_node_record(node);
    drover_node_record_set_state(record, DROVER_NODE_IN_USE);
    drover_record_set_string(record, "user_data", ticket->user_data);
    change = drover_change_new(drover_backing_session(ticket->backing));
    drover_node_claim(cluster, change, node, record);
    add_contender(change, ticket->backing, node->id);
    drover_change_delete(change, path, request->version);
    drover_change_commit(change, on_claimed, expect_answer(ticket));
}

/* ---- The pass ---- */

static void
step(Ticket *ticket)
{
    DroverCluster *cluster = ticket->backing->parts->cluster;
    const DroverRequest *request = drover_cluster_request(cluster, ticket->request_id);

    if (request == NULL) {
        if (drover_cluster_is_settled(cluster))
            fail(ticket, "somebody deleted the request");
    } else if (request->state == DROVER_REQUEST_FAILED) {
        give_up(ticket, "the request failed");
    } else if (request->state == DROVER_REQUEST_FULFILLED && drover_cluster_is_settled(cluster)) {
        claim(ticket, request);
    }
}

void
drover_backing_step_tickets(DroverBacking *backing)
{
    g_autoptr(GList) tickets = g_hash_table_get_values(backing->tickets);

    for (GList *item = tickets; item != NULL; item = item->next) {
        Ticket *ticket = item->data;

        if (!ticket->busy && ticket->request_id != NULL)
            step(ticket);
    }
}

gboolean
drover_backing_has_request(const GPtrArray *backings, const char *id)
{
    for (guint i = 0; i < backings->len; i++) {
        const DroverBacking *backing = backings->pdata[i];
        GHashTableIter iter;
        gpointer value;

        g_hash_table_iter_init(&iter, backing->tickets);
        while (g_hash_table_iter_next(&iter, NULL, &value))
            if (g_strcmp0(((const Ticket *)value)->request_id, id) == 0)
                return TRUE;
    }
    return FALSE;
}

/* ---- What an earlier process has left ---- */

typedef struct {
    DroverBacking *backing;
    char *path;
} Left;

static void
on_left(const DroverReadReply *reply, gpointer user_data)
{
    Left *left = user_data;

    if (left->backing->parts != NULL && reply->rc == ZOK &&
        reply->stat.ephemeralOwner == drover_session_id(drover_backing_session(left->backing)))
        drover_session_delete(drover_backing_session(left->backing), left->path, NULL, NULL);
    drover_backing_unref(left->backing);
    g_free(left->path);
    g_free(left);
}

static gboolean
is_only_one(const DroverBacking *backing)
{
    const GPtrArray *all = backing->parts->backings;

    for (guint i = 0; i < all->len; i++) {
        const DroverBacking *other = all->pdata[i];

        if (other != backing && strcmp(other->owner, backing->owner) == 0)
            return FALSE;
    }
    return TRUE;
}

void
drover_backing_withdraw_left(DroverBacking *backing)
{
    const GPtrArray *requests = drover_cluster_requests(backing->parts->cluster);

    /* An older object of this process asks for its own. */
    if (!is_only_one(backing))
        return;
    for (guint i = 0; i < requests->len; i++) {
        const DroverRequest *request = requests->pdata[i];
        Left *left;

        if (g_strcmp0(request->requestor, backing->owner) != 0 ||
            drover_backing_has_request(backing->parts->backings, request->id))
            continue;
        left = g_new0(Left, 1);
        left->backing = drover_backing_ref(backing);
        left->path = drover_request_path(request->id);
        drover_session_exists(drover_backing_session(backing), left->path, FALSE, on_left, left);
    }
}
