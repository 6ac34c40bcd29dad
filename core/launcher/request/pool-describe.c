#include "launcher/request/pool-private.h"
#include "launcher/request/room.h"

json_t *
drover_pool_verdict(const DroverPool *pool, const char *request_id)
{
    json_t *verdict = drover_verdicts_find(pool->verdicts, request_id);

    if (verdict == NULL)
        return NULL;
    drover_record_set_string(verdict, "launcher", pool->launcher_id);
    drover_record_set_string(verdict, "provider", pool->provider);
    drover_record_set_string(verdict, "pool", pool->name);
    return verdict;
}

static json_t *
handler_object(const DroverPool *pool, const char *request_id, const DroverHandler *handler)
{
    json_t *object = drover_verdicts_find(pool->verdicts, request_id);

    if (object == NULL)
        object = json_pack("{s:s}", "id", request_id);
    json_object_set_new(object, "accepted", json_boolean(drover_handler_is_pending(handler)));
    return object;
}

/* What its nodes use, and of what the pool's configuration and the cloud let it use. */
static void
describe_room(json_t *object, const DroverPool *pool)
{
    const DroverResources *used;

    if (pool->manager == NULL || drover_manager_facts(pool->manager) == NULL)
        return;
    used = drover_usage_of_pool(drover_manager_parts(pool->manager)->usage, pool->provider,
                                pool->name);
    json_object_set_new(object, "used", used != NULL ? drover_resources_json(used) : json_object());
    json_object_set_new(object, "limits", drover_room_limits(pool->manager, pool->config));
}

json_t *
drover_pool_describe(const DroverPool *pool)
{
    json_t *object = json_object(), *requests = json_array();
    guint waiting = 0;
    GHashTableIter iter;
    gpointer id, handler;

    g_hash_table_iter_init(&iter, pool->handlers);
    while (g_hash_table_iter_next(&iter, &id, &handler)) {
        waiting += drover_handler_is_paused(handler);
        json_array_append_new(requests, handler_object(pool, id, handler));
    }
    drover_record_set_string(object, "provider", pool->provider);
    drover_record_set_string(object, "pool", pool->name);
    drover_record_set_string(object, "launcher", pool->launcher_id);
    json_object_set_new(object, "registered", json_boolean(drover_pool_is_announced(pool)));
    json_object_set_new(object, "paused", json_boolean(drover_pool_is_paused(pool)));
    drover_record_set_string(object, "held", pool->held);
    json_object_set_new(object, "handlers", json_integer(g_hash_table_size(pool->handlers)));
    json_object_set_new(object, "waiting", json_integer(waiting));
    json_object_set_new(object, "declining", json_integer(g_hash_table_size(pool->declining)));
    json_object_set_new(object, "requests", requests);
    describe_room(object, pool);
    return object;
}
