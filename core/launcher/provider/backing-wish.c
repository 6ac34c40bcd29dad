#include <string.h>

#include "driver/tags.h"
#include "launcher/provider/backing-private.h"

/* Something that is to be done with a backing node. It is tried in each pass until it is done, or
 * makes no sense any more. */
typedef struct {
    grefcount references; /* the list, and an answer still to come */
    DroverBacking *backing;
    int kind; /* of struct drover_backing_call */
    char *backing_node, *node_id, *user_data;
    int slot;
    gboolean busy;
} Wish;

static void
wish_unref(Wish *wish)
{
    if (!g_ref_count_dec(&wish->references))
        return;
    drover_backing_unref(wish->backing);
    g_free(wish->backing_node);
    g_free(wish->node_id);
    g_free(wish->user_data);
    g_free(wish);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Wish, wish_unref)

void
drover_backing_free_wish(gpointer wish)
{
    wish_unref(wish);
}

static Wish *
wish_ref(Wish *wish)
{
    g_ref_count_inc(&wish->references);
    return wish;
}

static void
forget(Wish *wish)
{
    g_ptr_array_remove(wish->backing->wishes, wish);
}

static DroverLogSubject
subject_of(const Wish *wish)
{
    return (DroverLogSubject){.logger = DROVER_BACKING_LOGGER,
                              .node_id = wish->node_id != NULL ? wish->node_id : wish->backing_node,
                              .provider = wish->backing->provider};
}

/* NULL when it is the provider's no more, or not yet seen. */
static const DroverNode *
find_node(const Wish *wish)
{
    return drover_cluster_node(wish->backing->parts->cluster, wish->backing_node);
}

static const char *
contender_of(const Wish *wish)
{
    return g_hash_table_lookup(wish->backing->claimed, wish->backing_node);
}

/* ---- Changes of the backing node alone ---- */

static void
on_changed(const DroverChangeResult *result, gpointer user_data)
{
    g_autoptr(Wish) wish = user_data;
    DroverBacking *backing = wish->backing;
    DroverLogSubject subject = subject_of(wish);

    wish->busy = FALSE;
    if (backing->parts == NULL)
        return;
    switch (result->outcome) {
    case DROVER_CHANGE_DONE:
        if (wish->kind == DROVER_BACKING_RELEASE) {
            drover_log(DROVER_LOG_INFO, &subject, "Released the backing node");
            drover_backing_lose(backing, wish->backing_node);
        }
        forget(wish);
        break;
    case DROVER_CHANGE_CONFLICT:
    case DROVER_CHANGE_UNKNOWN:
        /* Decided again, when the caches show what there is. */
        break;
    default:
        drover_log(DROVER_LOG_WARNING, &subject, "The backing node is not ours any more: %s",
                   drover_change_outcome_name(result->outcome));
        drover_backing_lose(backing, wish->backing_node);
        forget(wish);
    }
}

static void
change_node(Wish *wish, const DroverNode *node)
{
    g_autoptr(json_t) record = drover_node_record(node);
    g_autoptr(GBytes) data = NULL;
    g_autofree char *path = drover_node_path(node->id);
    DroverChange *change = drover_change_new(wish->backing->session);

    if (wish->kind == DROVER_BACKING_RELEASE) {
        drover_node_record_set_state(record, DROVER_NODE_USED);
        drover_change_delete(change, contender_of(wish), -1);
    } else {
        drover_record_set_string(record, "user_data", wish->user_data);
        drover_change_expect(change, contender_of(wish), -1);
    }
    data = drover_record_bytes(record);
    drover_change_set(change, path, data, node->version);
    wish->busy = TRUE;
    drover_change_commit(change, on_changed, wish_ref(wish));
}

/* ---- A slot ---- */

/* Another node that has the slot, or any with DROVER_NO_SLOT; NULL: none. */
static const char *
find_occupant(const Wish *wish, int number)
{
    GHashTableIter iter;
    gpointer id, value;

    g_hash_table_iter_init(&iter, wish->backing->slots);
    while (g_hash_table_iter_next(&iter, &id, &value)) {
        const DroverBackingSlot *slot = value;

        if ((number == DROVER_NO_SLOT || slot->slot == number) &&
            strcmp(slot->backing_node, wish->backing_node) == 0 &&
            g_strcmp0(id, wish->node_id) != 0)
            return id;
    }
    return NULL;
}

static void
answer(Wish *wish, enum drover_backing_event event)
{
    drover_backing_tell_slot(wish->backing, event, wish->node_id, wish->backing_node, wish->slot);
    forget(wish);
}

/* Nobody else has given the slot away, or released the node, since this was decided. */
static gboolean
prove(DroverChange *change, gpointer user_data)
{
    const Wish *wish = user_data;
    const DroverNode *node = find_node(wish);
    g_autofree char *path = drover_node_path(wish->backing_node);

    if (contender_of(wish) == NULL || node == NULL || find_occupant(wish, wish->slot) != NULL ||
        !drover_cluster_has_settled_nodes(wish->backing->parts->cluster))
        return FALSE;
    drover_change_expect(change, contender_of(wish), -1);
    drover_change_set(change, path, node->record, node->version);
    return TRUE;
}

static void
on_bound(gboolean stored, gpointer user_data)
{
    Wish *wish = user_data;
    DroverLogSubject subject = subject_of(wish);

    wish->busy = FALSE;
    if (stored) {
        drover_log(DROVER_LOG_INFO, &subject, "Assigned slot %d of backing node %s", wish->slot,
                   wish->backing_node);
        answer(wish, DROVER_BACKING_ASSIGNED);
    } else {
        wish->backing->wake(wish->backing->user_data);
    }
}

static void
assign(Wish *wish, const DroverBackingLaunch *launch)
{
    DroverBacking *backing = wish->backing;
    g_autofree char *tags = drover_tags_of_node(wish->node_id, launch->pool, backing->provider);
    g_autoptr(json_t) fields =
        json_pack("{s:i, s:{s:o, s:s, s:i, s:s}}", "slot", wish->slot, "driver_data", "metadata",
                  drover_tags_parse(tags), "backing_node", wish->backing_node, "slot", wish->slot,
                  "node", wish->node_id);

    wish->busy = TRUE;
    launch->bind(fields, prove, on_bound, wish, launch->launch);
}

static void
try_to_assign(Wish *wish)
{
    DroverBacking *backing = wish->backing;
    const DroverBackingLaunch *launch = g_hash_table_lookup(backing->launches, wish->node_id);
    const char *occupant = find_occupant(wish, wish->slot);

    if (launch != NULL && occupant == NULL && contender_of(wish) != NULL) {
        assign(wish, launch);
        return;
    }
    if (occupant != NULL)
        drover_backing_tell_slot(backing, DROVER_BACKING_SLOT, occupant, wish->backing_node,
                                 wish->slot);
    answer(wish, DROVER_BACKING_REFUSED);
}

/* ---- The pass ---- */

static void
step(Wish *wish)
{
    const DroverNode *node = find_node(wish);

    if (wish->kind == DROVER_BACKING_ASSIGN) {
        try_to_assign(wish);
    } else if (contender_of(wish) == NULL || node == NULL) {
        forget(wish);
    } else if (wish->kind == DROVER_BACKING_RELEASE &&
               find_occupant(wish, DROVER_NO_SLOT) != NULL) {
        drover_backing_tell(wish->backing, DROVER_BACKING_KEPT,
                            json_pack("{s:s}", "backing_node", wish->backing_node));
        forget(wish);
    } else {
        change_node(wish, node);
    }
}

void
drover_backing_step_wishes(DroverBacking *backing)
{
    g_autoptr(GPtrArray) wishes = g_ptr_array_new_with_free_func(drover_backing_free_wish);

    for (guint i = 0; i < backing->wishes->len; i++)
        g_ptr_array_add(wishes, wish_ref(backing->wishes->pdata[i]));
    for (guint i = 0; i < wishes->len; i++)
        if (!((Wish *)wishes->pdata[i])->busy &&
            drover_cluster_has_settled_nodes(backing->parts->cluster))
            step(wishes->pdata[i]);
}

void
drover_backing_wish(DroverBacking *backing, const struct drover_backing_call *call,
                    const char *user_data)
{
    Wish *wish = g_new0(Wish, 1);

    g_ref_count_init(&wish->references);
    wish->backing = drover_backing_ref(backing);
    wish->kind = call->kind;
    wish->backing_node = g_strdup(call->backing_node);
    wish->node_id = g_strdup(call->node_id);
    wish->user_data = g_strdup(user_data);
    wish->slot = (int)call->slot;
    g_ptr_array_add(backing->wishes, wish);
}

void
drover_backing_drop_wishes_of(DroverBacking *backing, const char *node_id)
{
    for (guint i = backing->wishes->len; i > 0; i--) {
        const Wish *wish = backing->wishes->pdata[i - 1];

        if (g_strcmp0(wish->node_id, node_id) != 0)
            continue;
        /* A slot that is written down, now or still to come, is told of as every one in use. */
        if (!g_hash_table_contains(backing->slots, node_id))
            drover_backing_tell_slot(backing, DROVER_BACKING_REFUSED, node_id, wish->backing_node,
                                     wish->slot);
        g_ptr_array_remove_index(backing->wishes, i - 1);
    }
}
