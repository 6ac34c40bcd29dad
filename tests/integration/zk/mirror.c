#include "mirror.h"

#include <string.h>

typedef struct {
    Mirror *mirror;
    char *text;
} Object;

static gpointer
decode(const char *name, GBytes *data, gint32 version, gpointer user_data)
{
    Mirror *mirror = user_data;
    Object *object;

    mirror->decoded++;
    if (g_str_has_prefix(g_bytes_get_data(data, NULL), "bad"))
        return NULL;
    mirror->alive++;
    object = g_new0(Object, 1);
    object->mirror = mirror;
    object->text = g_strndup(g_bytes_get_data(data, NULL), g_bytes_get_size(data));
    return object;
}

static void
object_free(gpointer data)
{
    Object *object = data;

    object->mirror->alive--;
    g_free(object->text);
    g_free(object);
}

static void
on_changed(DroverCache *cache, const char *name, gpointer old, gpointer new_object,
           gpointer user_data)
{
    Mirror *mirror = user_data;

    mirror->changes++;
    g_assert_true(old != new_object);
    g_assert_true(drover_cache_lookup(cache, name) == new_object);
}

static void
on_lock_changed(DroverCache *cache, const char *name, DroverCacheLock lock, gpointer user_data)
{
    ((Mirror *)user_data)->lock_changes++;
    g_assert_cmpint(drover_cache_lock(cache, name), ==, lock);
}

static void
on_completed(DroverCache *cache, gboolean complete, gpointer user_data)
{
    g_assert_true(drover_cache_is_complete(cache) == complete);
    if (complete)
        ((Mirror *)user_data)->completions++;
}

Mirror *
mirror_new(DroverSession *session, const char *root)
{
    static const DroverCacheClass klass = {.decode = decode,
                                           .free = object_free,
                                           .changed = on_changed,
                                           .lock_changed = on_lock_changed,
                                           .completed = on_completed};
    Mirror *mirror = g_new0(Mirror, 1);

    mirror->root = g_strdup(root);
    mirror->cache = drover_cache_new(session, root, &klass, mirror);
    return mirror;
}

void
mirror_free(Mirror *mirror)
{
    drover_cache_free(mirror->cache);
    g_assert_cmpuint(mirror->alive, ==, 0);
    g_free(mirror->root);
    g_free(mirror);
}

const char *
mirror_text(const Mirror *mirror, const char *name)
{
    const Object *object = drover_cache_lookup(mirror->cache, name);

    return object != NULL ? object->text : NULL;
}

/* ---- Waiting ---- */

static gboolean
is_settled(gpointer user_data)
{
    return drover_cache_is_settled(((Mirror *)user_data)->cache);
}

void
wait_settled(Mirror *mirror)
{
    wait_until(is_settled, mirror);
}

typedef struct {
    Mirror *mirror;
    const char *name, *text;
    DroverCacheLock lock;
} Expectation;

static gboolean
has_text(gpointer user_data)
{
    const Expectation *expected = user_data;

    return g_strcmp0(mirror_text(expected->mirror, expected->name), expected->text) == 0;
}

static gboolean
has_lock(gpointer user_data)
{
    const Expectation *expected = user_data;

    return drover_cache_lock(expected->mirror->cache, expected->name) == expected->lock;
}

void
wait_text(Mirror *mirror, const char *name, const char *text)
{
    Expectation expected = {.mirror = mirror, .name = name, .text = text};

    wait_until(has_text, &expected);
}

void
wait_lock(Mirror *mirror, const char *name, DroverCacheLock lock)
{
    Expectation expected = {.mirror = mirror, .name = name, .lock = lock};

    wait_until(has_lock, &expected);
}
