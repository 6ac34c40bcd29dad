#include "launcher/cluster/images.h"

#include "base/json.h"
#include "base/log.h"
#include "model/image-reading.h"

#define LOGGER "zk.ImageCache"

typedef struct {
    char *path, *external_id;
    gboolean ready;
    double state_time;
} Upload;

/* One image for one provider. */
typedef struct {
    DroverImages *images;
    char *image, *provider;
    DroverCache *builds;
    GHashTable *uploads; /* build id -> DroverCache of Upload */
} Watch;

/* The user data of one cache of uploads. */
typedef struct {
    Watch *watch;
    char *root;
    DroverCache *cache;
} Build;

struct _DroverImages {
    DroverSession *session;
    DroverImagesFunc changed;
    gpointer user_data;
    GHashTable *watches; /* "image\nprovider" -> Watch */
};

static void
say_changed(const Watch *watch)
{
    watch->images->changed(watch->images->user_data);
}

/* ---- Uploads ---- */

static void
upload_free(gpointer data)
{
    Upload *upload = data;

    g_free(upload->path);
    g_free(upload->external_id);
    g_free(upload);
}

static gpointer
decode_upload(const char *name, GBytes *data, gint32 version, gpointer user_data)
{
    const Build *build = user_data;
    g_autoptr(GError) error = NULL;
    gsize length;
    const char *text = g_bytes_get_data(data, &length);
    g_autoptr(json_t) record = drover_json_parse_object(text, length, &error);
    Upload *upload;

    if (record == NULL) {
        drover_log_for(DROVER_LOG_ERROR, LOGGER, "%s/%s is unusable: %s", build->root, name,
                       error->message);
        return NULL;
    }
    upload = g_new0(Upload, 1);
    upload->path = g_strconcat(build->root, "/", name, NULL);
    upload->external_id = g_strdup(drover_json_string(record, "external_id"));
    upload->ready = g_strcmp0(drover_json_string(record, "state"), "ready") == 0;
    upload->state_time = drover_json_real(record, "state_time", 0);
    return upload;
}

static void
on_upload(DroverCache *cache, const char *name, gpointer old, gpointer new_object,
          gpointer user_data)
{
    say_changed(((const Build *)user_data)->watch);
}

static void
on_completed(DroverCache *cache, gboolean complete, gpointer user_data)
{
    if (complete)
        say_changed(((const Build *)user_data)->watch);
}

/* ---- Builds ---- */

static void
build_free(gpointer data)
{
    Build *build = data;

    drover_cache_free(build->cache);
    g_free(build->root);
    g_free(build);
}

static void
watch_build(Watch *watch, const char *id)
{
    static const DroverCacheClass uploads = {.decode = decode_upload,
                                             .free = upload_free,
                                             .changed = on_upload,
                                             .completed = on_completed};
    Build *build = g_new0(Build, 1);

    build->watch = watch;
    build->root = g_strdup_printf("%s/%s/builds/%s/providers/%s/images", DROVER_IMAGES_PATH,
                                  watch->image, id, watch->provider);
    g_hash_table_insert(watch->uploads, g_strdup(id), build);
    build->cache = drover_cache_new(watch->images->session, build->root, &uploads, build);
}

/* That it exists is all that counts here. */
static gpointer
decode_build(const char *name, GBytes *data, gint32 version, gpointer user_data)
{
    return g_strdup(name);
}

static void
on_build(DroverCache *cache, const char *name, gpointer old, gpointer new_object,
         gpointer user_data)
{
    Watch *watch = user_data;

    if (new_object == NULL)
        g_hash_table_remove(watch->uploads, name);
    else if (old == NULL)
        watch_build(watch, name);
    say_changed(watch);
}

static void
on_builds_completed(DroverCache *cache, gboolean complete, gpointer user_data)
{
    if (complete)
        say_changed(user_data);
}

/* ---- Watches ---- */

static void
watch_free(gpointer data)
{
    Watch *watch = data;

    drover_cache_free(watch->builds);
    g_hash_table_unref(watch->uploads);
    g_free(watch->image);
    g_free(watch->provider);
    g_free(watch);
}

static Watch *
need_watch(DroverImages *images, const char *image, const char *provider)
{
    static const DroverCacheClass builds = {.decode = decode_build,
                                            .free = g_free,
                                            .changed = on_build,
                                            .completed = on_builds_completed};
    g_autofree char *key = g_strconcat(image, "\n", provider, NULL), *root = NULL;
    Watch *watch = g_hash_table_lookup(images->watches, key);

    if (watch != NULL)
        return watch;
    watch = g_new0(Watch, 1);
    watch->images = images;
    watch->image = g_strdup(image);
    watch->provider = g_strdup(provider);
    watch->uploads = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, build_free);
    g_hash_table_insert(images->watches, g_steal_pointer(&key), watch);
    root = g_strconcat(DROVER_IMAGES_PATH "/", image, "/builds", NULL);
    watch->builds = drover_cache_new(images->session, root, &builds, watch);
    return watch;
}

static gboolean
is_complete(const Watch *watch)
{
    gboolean complete = drover_cache_is_complete(watch->builds);
    GHashTableIter iter;
    gpointer build;

    g_hash_table_iter_init(&iter, watch->uploads);
    while (g_hash_table_iter_next(&iter, NULL, &build))
        complete = complete && drover_cache_is_complete(((Build *)build)->cache);
    return complete;
}

static const Upload *
find_latest(const Watch *watch)
{
    const Upload *latest = NULL;
    GHashTableIter builds;
    gpointer build;

    g_hash_table_iter_init(&builds, watch->uploads);
    while (g_hash_table_iter_next(&builds, NULL, &build)) {
        DroverCacheIter iter;
        gpointer object;

        drover_cache_iter_init(&iter, ((Build *)build)->cache);
        while (drover_cache_iter_next(&iter, NULL, &object)) {
            const Upload *upload = object;

            if (upload->ready && (latest == NULL || upload->state_time > latest->state_time))
                latest = upload;
        }
    }
    return latest;
}

DroverImageState
drover_images_find(DroverImages *images, const char *image, const char *provider,
                   DroverImageUpload *upload)
{
    const Watch *watch = need_watch(images, image, provider);
    const Upload *latest;

    if (!is_complete(watch))
        return DROVER_IMAGE_UNKNOWN;
    latest = find_latest(watch);
    if (latest == NULL)
        return DROVER_IMAGE_NONE;
    *upload = (DroverImageUpload){latest->path, latest->external_id};
    return DROVER_IMAGE_READY;
}

/* ---- Life ---- */

DroverImages *
drover_images_new(DroverSession *session, DroverImagesFunc changed, gpointer user_data)
{
    DroverImages *images = g_new0(DroverImages, 1);

    images->session = session;
    images->changed = changed;
    images->user_data = user_data;
    images->watches = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, watch_free);
    return images;
}

void
drover_images_free(DroverImages *images)
{
    if (images == NULL)
        return;
    g_hash_table_unref(images->watches);
    g_free(images);
}
