/*
 * Tells ThreadSanitizer what GLib orders. GLib is not built with it and locks by futex, so that
 * without this every lock would look like none. Linked into each program and library of a build
 * with DROVER_SANITIZE=thread, where the linker sends the calls here (see cmake/Warnings.cmake).
 */
#include <glib.h>
#include <sanitizer/tsan_interface.h>

/* The wrapped functions have no declaration of their own, as the linker makes their names. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#define WRAPPED(type, name, ...)                                                                   \
    type __real_##name(__VA_ARGS__);                                                               \
    type __wrap_##name(__VA_ARGS__)

/* ---- Locks ---- */

WRAPPED(void, g_mutex_lock, GMutex *mutex)
{
    __real_g_mutex_lock(mutex);
    __tsan_acquire(mutex);
}

WRAPPED(void, g_mutex_unlock, GMutex *mutex)
{
    __tsan_release(mutex);
    __real_g_mutex_unlock(mutex);
}

WRAPPED(gboolean, g_cond_wait_until, GCond *condition, GMutex *mutex, gint64 end)
{
    gboolean in_time;

    __tsan_release(mutex);
    in_time = __real_g_cond_wait_until(condition, mutex, end);
    __tsan_acquire(mutex);
    return in_time;
}

/* ---- What is set once, and counted ---- */

WRAPPED(void, g_once_init_leave, volatile void *location, gsize result)
{
    __tsan_release((void *)location);
    __real_g_once_init_leave(location, result);
}

WRAPPED(void, g_atomic_rc_box_release_full, gpointer box, GDestroyNotify clear)
{
    __tsan_release(box);
    __tsan_acquire(box);
    __real_g_atomic_rc_box_release_full(box, clear);
}

WRAPPED(gboolean, g_atomic_ref_count_dec, gatomicrefcount *count)
{
    gboolean last;

    __tsan_release((void *)count);
    last = __real_g_atomic_ref_count_dec(count);
    __tsan_acquire((void *)count);
    return last;
}

/* ---- What is handed to the loop of another thread ---- */

/* One lock for all loops: an order too many hides less than one too few shows. */
static char loops;

typedef struct {
    GSourceFunc function;
    gpointer data;
    GDestroyNotify destroy;
} Callback;

static gboolean
call(gpointer user_data)
{
    const Callback *callback = user_data;

    __tsan_acquire(&loops);
    return callback->function(callback->data);
}

static void
destroy(gpointer user_data)
{
    Callback *callback = user_data;

    __tsan_acquire(&loops);
    if (callback->destroy != NULL)
        callback->destroy(callback->data);
    g_free(callback);
}

static Callback *
callback_new(GSourceFunc function, gpointer data, GDestroyNotify notify)
{
    Callback *callback = g_new(Callback, 1);

    *callback = (Callback){function, data, notify};
    __tsan_release(&loops);
    return callback;
}

/* Other kinds of sources call back in their own way, and lock what they share. */
WRAPPED(void, g_source_set_callback, GSource *source, GSourceFunc function, gpointer data,
        GDestroyNotify notify)
{
    gboolean plain =
        source->source_funcs == &g_idle_funcs || source->source_funcs == &g_timeout_funcs;

    if (plain)
        __real_g_source_set_callback(source, call, callback_new(function, data, notify), destroy);
    else
        __real_g_source_set_callback(source, function, data, notify);
}

WRAPPED(guint, g_source_attach, GSource *source, GMainContext *context)
{
    __tsan_release(&loops);
    return __real_g_source_attach(source, context);
}

WRAPPED(guint, g_idle_add_full, gint priority, GSourceFunc function, gpointer data,
        GDestroyNotify notify)
{
    return __real_g_idle_add_full(priority, call, callback_new(function, data, notify), destroy);
}

guint
__wrap_g_idle_add(GSourceFunc function, gpointer data)
{
    return __wrap_g_idle_add_full(G_PRIORITY_DEFAULT_IDLE, function, data, NULL);
}
