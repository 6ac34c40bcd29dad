#include "launcher/provider/backing-private.h"

#include <string.h>

#include "driver/transport.h"
#include "zk/operation.h"

/* ---- Small things ---- */

DroverBacking *
drover_backing_ref(DroverBacking *backing)
{
    g_ref_count_inc(&backing->references);
    return backing;
}

void
drover_backing_unref(DroverBacking *backing)
{
    if (!g_ref_count_dec(&backing->references))
        return;
    g_hash_table_unref(backing->tickets);
    g_hash_table_unref(backing->unseen);
    g_hash_table_unref(backing->claimed);
    g_hash_table_unref(backing->noted);
    g_hash_table_unref(backing->slots);
    g_hash_table_unref(backing->launches);
    g_ptr_array_unref(backing->wishes);
    g_free(backing->provider);
    g_free(backing->owner);
    g_free(backing);
}

static void
free_slot(gpointer data)
{
    DroverBackingSlot *slot = data;

    g_free(slot->backing_node);
    g_free(slot);
}

static void
free_launch(gpointer data)
{
    DroverBackingLaunch *launch = data;

    g_free(launch->pool);
    g_free(launch);
}

/* ---- What the driver hears ---- */

void
drover_backing_tell(DroverBacking *backing, enum drover_backing_event event, json_t *facts)
{
    if (backing->parts != NULL)
        drover_runner_backing_event(backing->runner, event, drover_transport_unpack(facts));
    json_decref(facts);
}

void
drover_backing_tell_slot(DroverBacking *backing, enum drover_backing_event event,
                         const char *node_id, const char *backing_node, int slot)
{
    drover_backing_tell(
        backing, event,
        json_pack("{s:s, s:s, s:i}", "node", node_id, "backing_node", backing_node, "slot", slot));
}

json_t *
drover_backing_fields(const DroverNode *node)
{
    static const char *const names[] = {
        "interface_ip", "public_ipv4",     "public_ipv6", "private_ipv4",   "az",
        "region",       "cloud",           "username",    "python_path",    "shell_type",
        "host_keys",    "connection_type", "attributes",  "connection_port"};
    g_autoptr(json_t) record = drover_node_record(node);
    json_t *fields = json_object();

    for (guint i = 0; i < G_N_ELEMENTS(names); i++)
        json_object_set(fields, names[i], json_object_get(record, names[i]));
    return fields;
}

static void
tell_node(DroverBacking *backing, const DroverNode *node)
{
    g_hash_table_insert(backing->noted, g_strdup(node->id), g_strdup(node->user_data));
    drover_backing_tell(backing, DROVER_BACKING_NODE,
                        json_pack("{s:s, s:s, s:o}", "backing_node", node->id, "user_data",
                                  node->user_data, "fields", drover_backing_fields(node)));
}

/* ---- Which nodes are the provider's ---- */

void
drover_backing_take(DroverBacking *backing, const char *id, const char *contender)
{
    const DroverNode *node = drover_cluster_node(backing->parts->cluster, id);

    g_hash_table_insert(backing->claimed, g_strdup(id), g_strdup(contender));
    if (node != NULL)
        g_hash_table_insert(backing->noted, g_strdup(id), g_strdup(node->user_data));
}

void
drover_backing_lose(DroverBacking *backing, const char *id)
{
    g_autofree char *name = g_strdup(id);

    g_hash_table_remove(backing->noted, name);
    if (g_hash_table_remove(backing->claimed, name))
        drover_backing_tell(backing, DROVER_BACKING_GONE, json_pack("{s:s}", "backing_node", name));
}

/* Anybody can write a user data; only who had the lock free could become its holder. */
typedef struct {
    DroverBacking *backing;
    char *id, *contender;
} Look;

static void
look_free(Look *look)
{
    if (look->backing->parts != NULL)
        look->backing->wake(look->backing->user_data);
    look->backing->verifying--;
    drover_backing_unref(look->backing);
    g_free(look->id);
    g_free(look->contender);
    g_free(look);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Look, look_free)

/* FALSE when the look has to be repeated. */
static gboolean
was_seen(const Look *look, int rc)
{
    if (!drover_rc_is_unknown(rc))
        return TRUE;
    g_hash_table_add(look->backing->unseen, g_strdup(look->id));
    return FALSE;
}

static gboolean
may_be_ours(const DroverBacking *backing, const DroverNode *node)
{
    g_autofree char *owner = node != NULL ? drover_node_backing_owner(node) : NULL;

    return g_strcmp0(owner, backing->owner) == 0;
}

static void
on_contender(const DroverReadReply *reply, gpointer user_data)
{
    g_autoptr(Look) look = user_data;
    DroverBacking *backing = look->backing;
    const DroverNode *node;

    if (backing->parts == NULL || !was_seen(look, reply->rc) || reply->rc != ZOK ||
        !drover_lock_has_identifier(reply->data, backing->owner) ||
        g_hash_table_contains(backing->claimed, look->id))
        return;
    node = drover_cluster_node(backing->parts->cluster, look->id);
    if (!may_be_ours(backing, node))
        return;
    drover_backing_take(backing, look->id, look->contender);
    tell_node(backing, node);
}

static void
on_contenders(const DroverReadReply *reply, gpointer user_data)
{
    g_autoptr(Look) look = user_data;
    g_autofree char *lock = drover_node_lock_path(look->id);
    const char *holder =
        reply->rc == ZOK ? drover_lock_find_holder((const char *const *)reply->children) : NULL;

    if (look->backing->parts == NULL || !was_seen(look, reply->rc) || holder == NULL)
        return;
    look->contender = g_strconcat(lock, "/", holder, NULL);
    drover_session_get(look->backing->session, look->contender, FALSE, on_contender, look);
    g_steal_pointer(&look);
}

static void
look_at_lock(DroverBacking *backing, const char *id)
{
    g_autofree char *lock = drover_node_lock_path(id);
    Look *look = g_new0(Look, 1);

    look->backing = drover_backing_ref(backing);
    look->id = g_strdup(id);
    backing->verifying++;
    drover_session_list(backing->session, lock, FALSE, on_contenders, look);
}

/* ---- News of nodes ---- */

static void
note_backing_node(DroverBacking *backing, const char *id, const DroverNode *node)
{
    gboolean claimed = g_hash_table_contains(backing->claimed, id);

    if (!may_be_ours(backing, node)) {
        if (claimed)
            drover_backing_lose(backing, id);
    } else if (!claimed) {
        look_at_lock(backing, id);
    } else if (g_strcmp0(g_hash_table_lookup(backing->noted, id), node->user_data) != 0) {
        tell_node(backing, node);
    }
}

static void
note_slot(DroverBacking *backing, const char *id, const DroverNode *node)
{
    const DroverBackingSlot *known = g_hash_table_lookup(backing->slots, id);
    DroverBackingSlot *slot;

    if (node == NULL || node->backing_node == NULL || node->backing_slot == DROVER_NO_SLOT ||
        g_strcmp0(node->provider, backing->provider) != 0) {
        if (g_hash_table_remove(backing->slots, id))
            drover_backing_tell(backing, DROVER_BACKING_FREE, json_pack("{s:s}", "node", id));
        return;
    }
    if (known != NULL && strcmp(known->backing_node, node->backing_node) == 0 &&
        known->slot == node->backing_slot)
        return;
    slot = g_new0(DroverBackingSlot, 1);
    slot->backing_node = g_strdup(node->backing_node);
    slot->slot = node->backing_slot;
    g_hash_table_insert(backing->slots, g_strdup(id), slot);
    drover_backing_tell_slot(backing, DROVER_BACKING_SLOT, id, slot->backing_node, slot->slot);
}

void
drover_backing_note_node(const GPtrArray *backings, const char *id, const DroverNode *node)
{
    for (guint i = 0; i < backings->len; i++) {
        DroverBacking *backing = backings->pdata[i];

        if (!backing->began)
            continue;
        note_backing_node(backing, id, node);
        note_slot(backing, id, node);
    }
}

/* ---- The pass ---- */

static void
begin(DroverBacking *backing)
{
    DroverCacheIter iter;
    const char *id;
    gpointer node;

    backing->began = TRUE;
    drover_cache_iter_init(&iter, drover_cluster_nodes(backing->parts->cluster));
    while (drover_cache_iter_next(&iter, &id, &node)) {
        note_backing_node(backing, id, node);
        note_slot(backing, id, node);
    }
    drover_backing_withdraw_left(backing);
}

/* What was lost with the connection. */
static void
try_again(DroverBacking *backing)
{
    g_autofree gpointer *ids = g_hash_table_get_keys_as_array(backing->unseen, NULL);

    if ((!backing->sweeping && ids[0] == NULL) ||
        !drover_cluster_is_settled(backing->parts->cluster))
        return;
    for (guint i = 0; ids[i] != NULL; i++) {
        g_autofree char *id = NULL;

        g_hash_table_steal_extended(backing->unseen, ids[i], (gpointer *)&id, NULL);
        note_backing_node(backing, id, drover_cluster_node(backing->parts->cluster, id));
    }
    if (backing->sweeping)
        drover_backing_withdraw_left(backing);
}

/* The driver's order: backing nodes, then their slots, whichever was found first. */
static void
finish_list(DroverBacking *backing)
{
    GHashTableIter iter;
    gpointer id, value;

    backing->listed = TRUE;
    g_hash_table_iter_init(&iter, backing->slots);
    while (g_hash_table_iter_next(&iter, &id, &value)) {
        const DroverBackingSlot *slot = value;

        drover_backing_tell_slot(backing, DROVER_BACKING_SLOT, id, slot->backing_node, slot->slot);
    }
    drover_backing_tell(backing, DROVER_BACKING_LISTED, json_object());
}

static void
step(DroverBacking *backing)
{
    if (!backing->began)
        begin(backing);
    try_again(backing);
    if (!backing->listed && backing->verifying == 0 && g_hash_table_size(backing->unseen) == 0)
        finish_list(backing);
    drover_backing_step_tickets(backing);
    drover_backing_step_wishes(backing);
}

void
drover_backing_step_all(const GPtrArray *backings)
{
    for (guint i = 0; i < backings->len; i++)
        step(backings->pdata[i]);
}

/* ---- What the driver wants ---- */

/* With our name in it; NULL when it is no JSON object. Free with g_free. */
static char *
owned_text(const DroverBacking *backing, const char *text)
{
    g_autoptr(json_t) data =
        text != NULL ? drover_json_parse_object(text, strlen(text), NULL) : NULL;

    if (data == NULL)
        return NULL;
    json_object_set_new(data, "owner", json_string(backing->owner));
    return drover_json_text(data);
}

static gboolean
makes_sense(const struct drover_backing_call *call, const char *user_data)
{
    switch (call->kind) {
    case DROVER_BACKING_REQUEST:
        return call->label != NULL && user_data != NULL;
    case DROVER_BACKING_WITHDRAW:
        return TRUE;
    case DROVER_BACKING_ANNOTATE:
        return call->backing_node != NULL && user_data != NULL;
    case DROVER_BACKING_RELEASE:
        return call->backing_node != NULL;
    case DROVER_BACKING_ASSIGN:
        return call->backing_node != NULL && call->node_id != NULL && call->slot <= G_MAXINT;
    }
    return FALSE;
}

static void
on_call(const struct drover_backing_call *call, gpointer user_data)
{
    DroverBacking *backing = user_data;
    g_autofree char *text = owned_text(backing, call->user_data);

    if (!makes_sense(call, text))
        drover_log(
            DROVER_LOG_WARNING,
            &(DroverLogSubject){.logger = DROVER_BACKING_LOGGER, .provider = backing->provider},
            "The driver asks for something that makes no sense");
    else if (call->kind == DROVER_BACKING_REQUEST)
        drover_backing_begin_ticket(backing, call->ticket, call->label, text);
    else if (call->kind == DROVER_BACKING_WITHDRAW)
        drover_backing_withdraw_ticket(backing, call->ticket);
    else
        drover_backing_wish(backing, call, text);
    backing->wake(backing->user_data);
}

/* ---- Nodes that are being made ---- */

void
drover_backing_add_launch(DroverBacking *backing, const char *node_id, const char *pool,
                          DroverBackingBindFunc bind, gpointer launch)
{
    DroverBackingLaunch *entry = g_new0(DroverBackingLaunch, 1);

    entry->pool = g_strdup(pool);
    entry->bind = bind;
    entry->launch = launch;
    g_hash_table_insert(backing->launches, g_strdup(node_id), entry);
}

void
drover_backing_remove_launch(DroverBacking *backing, const char *node_id)
{
    g_hash_table_remove(backing->launches, node_id);
    drover_backing_drop_wishes_of(backing, node_id);
}

/* ---- Life ---- */

DroverBacking *
drover_backing_new(DroverParts *parts, const char *driver, DroverRunner *runner,
                   void (*wake)(gpointer user_data), gpointer user_data)
{
    DroverBacking *backing = g_new0(DroverBacking, 1);

    g_ref_count_init(&backing->references);
    backing->parts = parts;
    backing->session = drover_cluster_session(parts->cluster);
    backing->runner = runner;
    backing->provider = g_strdup(drover_runner_name(runner));
    backing->owner = g_strdup_printf("NodePool:%s:%s", driver, backing->provider);
    backing->wake = wake;
    backing->user_data = user_data;
    backing->tickets =
        g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, drover_backing_free_ticket);
    backing->unseen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    backing->claimed = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    backing->noted = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    backing->slots = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_slot);
    backing->launches = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_launch);
    backing->wishes = g_ptr_array_new_with_free_func(drover_backing_free_wish);
    g_ptr_array_add(parts->backings, backing);
    drover_runner_set_backing(runner, on_call, backing);
    wake(user_data);
    return backing;
}

void
drover_backing_free(DroverBacking *backing)
{
    g_autoptr(GList) tickets = NULL;

    if (backing == NULL)
        return;
    drover_runner_set_backing(backing->runner, NULL, NULL);
    tickets = g_hash_table_get_keys(backing->tickets);
    for (GList *number = tickets; number != NULL; number = number->next)
        drover_backing_withdraw_ticket(backing, *(const guint64 *)number->data);
    g_ptr_array_remove(backing->parts->backings, backing);
    backing->parts = NULL;
    /* They hold it, as it holds them. */
    g_hash_table_remove_all(backing->tickets);
    g_ptr_array_set_size(backing->wishes, 0);
    drover_backing_unref(backing);
}
