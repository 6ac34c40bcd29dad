#include "handle.h"

#include <pthread.h>

/* Handle -> object, for those that have not ended. */
static pthread_mutex_t living_lock = PTHREAD_MUTEX_INITIALIZER;
static GHashTable *living;
static gsize last_handle;

gpointer
drover_handle_new(gpointer object, void (*release)(gpointer object))
{
    DroverHandled *handled = object;
    gpointer handle;

    handled->references = 1;
    handled->release = release;
    pthread_mutex_lock(&living_lock);
    if (living == NULL)
        living = g_hash_table_new(NULL, NULL);
    handle = GSIZE_TO_POINTER(++last_handle);
    g_hash_table_insert(living, handle, object);
    pthread_mutex_unlock(&living_lock);
    return handle;
}

gpointer
drover_handle_find(const void *handle, void (*release)(gpointer object))
{
    DroverHandled *handled = NULL;

    pthread_mutex_lock(&living_lock);
    if (living != NULL)
        handled = g_hash_table_lookup(living, handle);
    if (handled != NULL && handled->release != release)
        handled = NULL;
    if (handled != NULL)
        g_atomic_int_inc(&handled->references);
    pthread_mutex_unlock(&living_lock);
    return handled;
}

gpointer
drover_handle_end(const void *handle)
{
    gpointer object = NULL;

    pthread_mutex_lock(&living_lock);
    if (living != NULL) {
        object = g_hash_table_lookup(living, handle);
        g_hash_table_remove(living, handle);
        if (g_hash_table_size(living) == 0)
            g_clear_pointer(&living, g_hash_table_unref);
    }
    pthread_mutex_unlock(&living_lock);
    return object;
}

void
drover_handled_unref(gpointer object)
{
    DroverHandled *handled = object;

    if (g_atomic_int_dec_and_test(&handled->references))
        handled->release(object);
}
