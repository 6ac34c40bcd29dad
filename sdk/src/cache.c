/* A value that is fetched at most so often. */
#include <drover/cache.h>

#include <glib.h>

#define PAUSE_AFTER_FAILURE_MILLISECONDS 1000
/* Of the lifetime, between the end of a fetch that took longer than that and the next one. */
#define PART_FOR_PAUSE 2

struct drover_cache {
    uint32_t lifetime;
    drover_cache_fetch fetch;
    void (*release)(void *value);
    void *data;

    void *value;
    gboolean has_value;
    int64_t value_began; /* the fetch of the value */
    int64_t old_from;    /* when the value is old */
    gboolean fetching;
    int64_t began;               /* the fetch under way */
    gboolean expired;            /* what is being fetched is old already */
    enum drover_failure failure; /* of the last fetch that failed */
    char *message;
    gboolean unsaid;     /* nobody was told of it yet */
    int64_t not_before;  /* those that wait do not make the next try earlier */
    GHashTable *waiting; /* operations to be woken by the next fetch; a set */
    GSource *timer;      /* for those that wait, until the value is old */
};

struct drover_cache *
drover_cache_new(uint32_t milliseconds, drover_cache_fetch fetch, void (*release)(void *value),
                 void *data)
{
    struct drover_cache *cache = g_new0(struct drover_cache, 1);

    cache->lifetime = milliseconds;
    cache->fetch = fetch;
    cache->release = release;
    cache->data = data;
    cache->waiting = g_hash_table_new(NULL, NULL);
    return cache;
}

static void
stop_timer(struct drover_cache *cache)
{
    if (cache->timer == NULL)
        return;
    g_source_destroy(cache->timer);
    g_clear_pointer(&cache->timer, g_source_unref);
}

static void
drop_value(struct drover_cache *cache)
{
    if (cache->has_value && cache->release != NULL)
        cache->release(cache->value);
    cache->has_value = FALSE;
}

void
drover_cache_free(struct drover_cache *cache)
{
    if (cache == NULL)
        return;
    stop_timer(cache);
    drop_value(cache);
    g_hash_table_unref(cache->waiting);
    g_free(cache->message);
    g_free(cache);
}

/* ---- Fetching ---- */

static void
begin_fetch(struct drover_cache *cache)
{
    if (cache->fetching)
        return;
    stop_timer(cache);
    cache->fetching = TRUE;
    cache->expired = FALSE;
    cache->began = drover_now();
    cache->fetch(cache, cache->data);
}

static void
end_fetch(struct drover_cache *cache)
{
    GHashTableIter iter;
    gpointer op;

    cache->fetching = FALSE;
    g_hash_table_iter_init(&iter, cache->waiting);
    while (g_hash_table_iter_next(&iter, &op, NULL))
        drover_operation_wake(op);
    g_hash_table_remove_all(cache->waiting);
}

/* The value tells of the time when it was asked for. A cloud that takes its time is not asked
 * without a pause, though. */
static int64_t
next_due(const struct drover_cache *cache)
{
    return MAX(cache->began + cache->lifetime, drover_now() + cache->lifetime / PART_FOR_PAUSE);
}

void
drover_cache_fetched(struct drover_cache *cache, void *value)
{
    drop_value(cache);
    cache->value = value;
    cache->has_value = TRUE;
    cache->value_began = cache->began;
    cache->old_from = cache->expired ? 0 : next_due(cache);
    cache->unsaid = FALSE;
    end_fetch(cache);
}

void
drover_cache_failed(struct drover_cache *cache, enum drover_failure failure, const char *message)
{
    cache->failure = failure;
    g_free(cache->message);
    cache->message = g_strdup(message);
    cache->unsaid = TRUE;
    cache->not_before = drover_now() + MIN(cache->lifetime, PAUSE_AFTER_FAILURE_MILLISECONDS);
    end_fetch(cache);
}

/* ---- Asking ---- */

static void
note_waiting(struct drover_cache *cache, struct drover_operation *op)
{
    if (op != NULL)
        g_hash_table_add(cache->waiting, op);
}

static gboolean
is_old(const struct drover_cache *cache)
{
    return !cache->has_value || drover_now() >= cache->old_from;
}

/* A cloud that fails at once is not asked in a circle by all those who need it. */
static gboolean
may_fetch(const struct drover_cache *cache)
{
    return is_old(cache) && drover_now() >= cache->not_before;
}

enum drover_cache_answer
drover_cache_get(struct drover_cache *cache, struct drover_operation *op, const void **value)
{
    /* The fetch may be over when begin_fetch() returns. */
    if (!cache->unsaid && may_fetch(cache))
        begin_fetch(cache);
    if (cache->unsaid && !cache->fetching) {
        cache->unsaid = FALSE;
        return DROVER_CACHE_FAILED;
    }
    if (!cache->has_value) {
        drover_cache_wait(cache, op);
        return DROVER_CACHE_WAIT;
    }
    *value = cache->value;
    return DROVER_CACHE_VALUE;
}

static gboolean
on_old(gpointer data)
{
    struct drover_cache *cache = data;

    stop_timer(cache);
    begin_fetch(cache);
    return G_SOURCE_REMOVE;
}

void
drover_cache_wait(struct drover_cache *cache, struct drover_operation *op)
{
    int64_t due = MAX(cache->has_value ? cache->old_from : 0, cache->not_before);

    note_waiting(cache, op);
    if (cache->fetching || cache->timer != NULL)
        return;
    cache->timer = g_timeout_source_new((guint)MAX(due - drover_now(), 0));
    g_source_set_callback(cache->timer, on_old, cache, NULL);
    g_source_attach(cache->timer, g_main_context_get_thread_default());
}

void
drover_cache_expire(struct drover_cache *cache)
{
    cache->old_from = 0;
    cache->expired = TRUE;
    if (cache->timer != NULL)
        g_source_set_ready_time(cache->timer, 0);
}

/* ---- What is known of the last fetch ---- */

enum drover_failure
drover_cache_failure(const struct drover_cache *cache)
{
    return cache->failure;
}

const char *
drover_cache_message(const struct drover_cache *cache)
{
    return cache->message;
}

int64_t
drover_cache_time(const struct drover_cache *cache)
{
    return cache->has_value ? cache->value_began : 0;
}
