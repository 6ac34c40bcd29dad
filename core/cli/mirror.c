#include "cli/mirror.h"

struct _DroverMirror {
    DroverMirrorListener listener;
    gpointer user_data;
    DroverCache *caches[DROVER_MIRROR_PARTS];
};

/* ---- Objects ---- */

/* What is no such record is shown by `list`; here it is as if it had no data. */
static gpointer
decode_node(const char *name, GBytes *data, gint32 version, gpointer user_data)
{
    return drover_node_decode(name, data, version, NULL);
}

static gpointer
decode_request(const char *name, GBytes *data, gint32 version, gpointer user_data)
{
    return drover_request_decode(name, data, version, NULL);
}

static gpointer
decode_board(const char *name, GBytes *data, gint32 version, gpointer user_data)
{
    gsize length;
    const char *text = g_bytes_get_data(data, &length);

    return drover_json_parse_object(text, length, NULL);
}

static gpointer
decode_pool(const char *name, GBytes *data, gint32 version, gpointer user_data)
{
    return drover_component_decode(data, NULL);
}

static void
free_board(gpointer board)
{
    json_decref(board);
}

static const struct {
    const char *root;
    gpointer (*decode)(const char *name, GBytes *data, gint32 version, gpointer user_data);
    GDestroyNotify free;
} parts[DROVER_MIRROR_PARTS] = {
    [DROVER_MIRROR_NODES] = {DROVER_NODES_PATH, decode_node, (GDestroyNotify)drover_node_unref},
    [DROVER_MIRROR_REQUESTS] = {DROVER_REQUESTS_PATH, decode_request,
                                (GDestroyNotify)drover_request_unref},
    [DROVER_MIRROR_BOARDS] = {DROVER_DECISIONS_PATH, decode_board, free_board},
    [DROVER_MIRROR_POOLS] = {DROVER_COMPONENTS_PATH "/pool", decode_pool,
                             (GDestroyNotify)drover_component_free},
};

/* ---- Changes ---- */

static DroverMirrorPart
part_of(const DroverMirror *mirror, const DroverCache *cache)
{
    DroverMirrorPart part = 0;

    while (mirror->caches[part] != cache)
        part++;
    return part;
}

static void
on_changed(DroverCache *cache, const char *name, gpointer old, gpointer now, gpointer user_data)
{
    DroverMirror *mirror = user_data;

    if (mirror->listener.changed != NULL)
        mirror->listener.changed(part_of(mirror, cache), name, old, now, mirror->user_data);
}

gboolean
drover_mirror_is_complete(const DroverMirror *mirror)
{
    for (guint i = 0; i < DROVER_MIRROR_PARTS; i++)
        if (mirror->caches[i] == NULL || !drover_cache_is_complete(mirror->caches[i]))
            return FALSE;
    return TRUE;
}

static void
on_completed(DroverCache *cache, gboolean complete, gpointer user_data)
{
    DroverMirror *mirror = user_data;

    if (mirror->listener.complete != NULL && drover_mirror_is_complete(mirror))
        mirror->listener.complete(mirror->user_data);
}

/* ---- Life ---- */

DroverMirror *
drover_mirror_new(DroverStore *store, const DroverMirrorListener *listener, gpointer user_data)
{
    DroverMirror *mirror = g_new0(DroverMirror, 1);

    mirror->listener = *listener;
    mirror->user_data = user_data;
    for (guint i = 0; i < DROVER_MIRROR_PARTS; i++) {
        const DroverCacheClass klass = {.decode = parts[i].decode,
                                        .free = parts[i].free,
                                        .changed = on_changed,
                                        .completed = on_completed};

        mirror->caches[i] =
            drover_cache_new(drover_store_session(store), parts[i].root, &klass, mirror);
    }
    return mirror;
}

void
drover_mirror_free(DroverMirror *mirror)
{
    for (guint i = 0; i < DROVER_MIRROR_PARTS; i++)
        drover_cache_free(mirror->caches[i]);
    g_free(mirror);
}

/* ---- Questions ---- */

const DroverCache *
drover_mirror_cache(const DroverMirror *mirror, DroverMirrorPart part)
{
    return mirror->caches[part];
}

static const json_t *
find_on_board(const json_t *board, const char *request_id, const char *wanted)
{
    const json_t *verdict;
    size_t i;

    json_array_foreach(json_object_get(board, "requests"), i, verdict)
    {
        if (g_strcmp0(drover_json_string(verdict, "id"), request_id) == 0 &&
            (wanted == NULL || g_strcmp0(drover_json_string(verdict, "verdict"), wanted) == 0))
            return verdict;
    }
    return NULL;
}

const json_t *
drover_mirror_find_verdict(const DroverMirror *mirror, const char *launcher_id,
                           const char *request_id, const char *verdict, const json_t **board)
{
    const json_t *found = NULL;
    DroverCacheIter iter;
    gpointer object;

    drover_cache_iter_init(&iter, mirror->caches[DROVER_MIRROR_BOARDS]);
    while (found == NULL && drover_cache_iter_next(&iter, NULL, &object)) {
        if (launcher_id != NULL &&
            g_strcmp0(drover_json_string(object, "launcher"), launcher_id) != 0)
            continue;
        found = find_on_board(object, request_id, verdict);
        if (found != NULL && board != NULL)
            *board = object;
    }
    return found;
}
