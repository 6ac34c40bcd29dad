#include "launcher/machine/inheritance.h"

#include "base/log.h"
#include "launcher/cluster/held-node.h"
#include "launcher/machine/deletion.h"
#include "zk/lock.h"

#define LOGGER "NodePool"

struct _DroverInheritance {
    grefcount references; /* the owner, and every answer still to come */
    gboolean freed;
    DroverParts *parts;
    const DroverInheritanceHooks *hooks;
    gpointer user_data;
    GPtrArray *locks; /* of DroverLock, being taken over and given up */
    GPtrArray *nodes; /* of DroverHeldNode, being removed */
};

/* One that is held now was our predecessor's; one that is not is somebody else's. */
static void
on_taken(DroverLock *lock, DroverLockOutcome outcome, gpointer user_data)
{
    DroverInheritance *inheritance = user_data;

    gboolean ours = outcome == DROVER_LOCK_HELD;

    if (ours)
        drover_log_for(DROVER_LOG_INFO, LOGGER, "Giving up %s, which an earlier process had locked",
                       drover_lock_directory(lock));
    g_ptr_array_remove_fast(inheritance->locks, lock);
    if (ours)
        inheritance->hooks->given_up(inheritance->user_data);
}

static void
inheritance_unref(DroverInheritance *inheritance)
{
    if (g_ref_count_dec(&inheritance->references))
        g_free(inheritance);
}

typedef struct {
    DroverInheritance *inheritance;
    char *directory;
} Question;

static void
on_asked(gboolean inherited, gpointer user_data)
{
    Question *question = user_data;
    DroverInheritance *inheritance = question->inheritance;

    if (inherited && !inheritance->freed) {
        DroverLock *lock = drover_lock_new(drover_cluster_session(inheritance->parts->cluster),
                                           question->directory, FALSE, NULL);

        g_ptr_array_add(inheritance->locks, lock);
        drover_lock_acquire(lock, DROVER_LOCK_DO_NOT_WAIT, on_taken, inheritance);
    }
    inheritance_unref(inheritance);
    g_free(question->directory);
    g_free(question);
}

/* Takes the path over. Nobody else's lock is touched, if only for a moment. */
static void
give_up(DroverInheritance *inheritance, char *directory)
{
    Question *question = g_new0(Question, 1);

    g_ref_count_inc(&inheritance->references);
    *question = (Question){inheritance, directory};
    drover_lock_ask_inherited(drover_cluster_session(inheritance->parts->cluster), directory,
                              on_asked, question);
}

static void
on_node_deleted(DroverHeldNode *node, DroverHeldOutcome outcome, gpointer user_data)
{
    DroverInheritance *inheritance = user_data;

    g_ptr_array_remove_fast(inheritance->nodes, node);
}

static void
on_node_taken(DroverHeldNode *node, DroverHeldOutcome outcome, gpointer user_data)
{
    DroverInheritance *inheritance = user_data;
    const char *state = outcome == DROVER_HELD_DONE
                            ? drover_json_string(drover_held_node_record(node), "state")
                            : NULL;

    if (g_strcmp0(state, drover_node_state_name(DROVER_NODE_INIT)) == 0)
        drover_held_node_delete(node, on_node_deleted, inheritance);
    else
        g_ptr_array_remove_fast(inheritance->nodes, node);
}

static gboolean
is_just_begun(const DroverInheritance *inheritance, const DroverNode *node)
{
    return node->state == DROVER_NODE_INIT && node->launcher != NULL &&
           inheritance->hooks->is_own(node->launcher, inheritance->user_data);
}

/* A launch or a deletion may have had it, before or after it wrote anything. */
static gboolean
may_be_locked(const DroverNode *node)
{
    return node->state == DROVER_NODE_INIT || drover_deletion_is_due(node->state);
}

static void
give_up_nodes(DroverInheritance *inheritance)
{
    DroverCacheIter iter;
    const char *id;
    gpointer node;

    drover_cache_iter_init(&iter, drover_cluster_nodes(inheritance->parts->cluster));
    while (drover_cache_iter_next(&iter, &id, &node)) {
        if (inheritance->hooks->in_use(id, inheritance->user_data))
            continue;
        if (is_just_begun(inheritance, node))
            g_ptr_array_add(
                inheritance->nodes,
                drover_held_node_take(inheritance->parts->cluster, id, on_node_taken, inheritance));
        else if (may_be_locked(node))
            give_up(inheritance, drover_node_lock_path(id));
    }
}

static void
give_up_requests(DroverInheritance *inheritance)
{
    const GPtrArray *requests = drover_cluster_requests(inheritance->parts->cluster);

    for (guint i = 0; i < requests->len; i++) {
        const DroverRequest *request = g_ptr_array_index(requests, i);

        if (request->state == DROVER_REQUEST_PENDING &&
            !inheritance->hooks->in_use(request->id, inheritance->user_data))
            give_up(inheritance, drover_request_lock_path(request->id));
    }
}

DroverInheritance *
drover_inheritance_new(DroverParts *parts, const DroverInheritanceHooks *hooks, gpointer user_data)
{
    DroverInheritance *inheritance = g_new0(DroverInheritance, 1);

    g_ref_count_init(&inheritance->references);
    inheritance->parts = parts;
    inheritance->hooks = hooks;
    inheritance->user_data = user_data;
    inheritance->locks = g_ptr_array_new_with_free_func((GDestroyNotify)drover_lock_free);
    inheritance->nodes = g_ptr_array_new_with_free_func((GDestroyNotify)drover_held_node_free);
    if (drover_session_is_resumed(drover_cluster_session(parts->cluster))) {
        give_up_nodes(inheritance);
        give_up_requests(inheritance);
    }
    return inheritance;
}

void
drover_inheritance_free(DroverInheritance *inheritance)
{
    if (inheritance == NULL)
        return;
    g_ptr_array_unref(inheritance->locks);
    g_ptr_array_unref(inheritance->nodes);
    inheritance->freed = TRUE;
    inheritance_unref(inheritance);
}
