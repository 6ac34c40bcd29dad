#include "web/image-tree.h"

#include "model/image-reading.h"

#define FRESH_SECONDS 1

struct _DroverImageTree {
    DroverSession *session;
    DroverImageTreeFunc changed;
    gpointer user_data;
    json_t *images; /* as read last; or NULL */
    gint64 read;    /* when that was */
    DroverImageReading *reading;
};

static void
on_read(const json_t *images, gpointer user_data)
{
    DroverImageTree *tree = user_data;

    tree->reading = NULL;
    if (images == NULL)
        return;
    json_decref(tree->images);
    tree->images = json_incref((json_t *)images);
    tree->read = g_get_monotonic_time();
    tree->changed(tree->user_data);
}

const json_t *
drover_image_tree_get(DroverImageTree *tree)
{
    gint64 now = g_get_monotonic_time();

    if (tree->images != NULL && now - tree->read < FRESH_SECONDS * G_USEC_PER_SEC)
        return tree->images;
    if (tree->reading == NULL)
        tree->reading = drover_image_reading_begin(tree->session, on_read, tree);
    return NULL;
}

DroverImageTree *
drover_image_tree_new(DroverSession *session, DroverImageTreeFunc changed, gpointer user_data)
{
    DroverImageTree *tree = g_new0(DroverImageTree, 1);

    tree->session = session;
    tree->changed = changed;
    tree->user_data = user_data;
    return tree;
}

void
drover_image_tree_free(DroverImageTree *tree)
{
    if (tree->reading != NULL)
        drover_image_reading_cancel(tree->reading);
    json_decref(tree->images);
    g_free(tree);
}
