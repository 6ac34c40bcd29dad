#include "model/image-reading.h"

#include <string.h>

#include "base/json.h"
#include "zk/lock.h"
#include "zk/operation.h"

struct _DroverImageReading {
    DroverSession *session;
    DroverImageReadingFunc done; /* NULL: nobody is interested any more */
    gpointer user_data;
    json_t *images;
    guint pending;
    gboolean failed;
    GHashTable *newest; /* image -> gint64*: the czxid of its newest build */
    GHashTable *locked; /* image -> gint64*: the czxid of the contender that holds its build lock */
};

/* What a read is about: image, build, provider. */
enum { IMAGE, BUILD, PROVIDER, N_NAMES };

typedef struct Step Step;
typedef void (*TakeFunc)(const Step *step, const DroverReadReply *reply);
typedef void (*ReadFunc)(DroverSession *session, const char *path, gboolean watch,
                         DroverReadFunc done, gpointer user_data);

struct Step {
    DroverImageReading *reading;
    char *path;
    char *names[N_NAMES];
    TakeFunc take;
};

/* ---- Steps ---- */

/* Whether the newest build was begun by who holds the lock. */
static void
settle_builds(DroverImageReading *reading)
{
    const char *name;
    json_t *image;

    json_object_foreach(reading->images, name, image)
    {
        const gint64 *newest = g_hash_table_lookup(reading->newest, name);
        const gint64 *locked = g_hash_table_lookup(reading->locked, name);

        json_object_set_new(image, "building",
                            json_boolean(newest != NULL && locked != NULL && *newest > *locked));
    }
}

static void
finish(DroverImageReading *reading)
{
    settle_builds(reading);
    if (reading->done != NULL)
        reading->done(reading->failed ? NULL : reading->images, reading->user_data);
    json_decref(reading->images);
    g_hash_table_unref(reading->newest);
    g_hash_table_unref(reading->locked);
    g_free(reading);
}

static void
on_reply(const DroverReadReply *reply, gpointer user_data)
{
    Step *step = user_data;
    DroverImageReading *reading = step->reading;

    if (reply->rc == ZOK && reading->done != NULL)
        step->take(step, reply);
    else if (reply->rc != ZNONODE)
        reading->failed = TRUE;
    g_free(step->path);
    for (guint i = 0; i < N_NAMES; i++)
        g_free(step->names[i]);
    g_free(step);
    if (--reading->pending == 0)
        finish(reading);
}

/* About what `parent` is about, and `name` in the place `place` (N_NAMES: nothing more). */
static void
ask(const Step *parent, const char *below, guint place, const char *name, ReadFunc read,
    TakeFunc take)
{
    Step *step = g_new0(Step, 1);

    step->reading = parent->reading;
    step->path = g_strconcat(parent->path, below, NULL);
    for (guint i = 0; i < N_NAMES; i++)
        step->names[i] = g_strdup(i == place ? name : parent->names[i]);
    step->take = take;
    step->reading->pending++;
    read(step->reading->session, step->path, FALSE, on_reply, step);
}

static void
ask_child(const Step *parent, const char *child, guint place, ReadFunc read, TakeFunc take)
{
    g_autofree char *below = g_strconcat("/", child, NULL);

    ask(parent, below, place, child, read, take);
}

/* ---- What is read, from the leaves up ---- */

static json_t *
image_of(const Step *step)
{
    return json_object_get(step->reading->images, step->names[IMAGE]);
}

static json_t *
build_of(const Step *step)
{
    return json_object_get(json_object_get(image_of(step), "builds"), step->names[BUILD]);
}

/* null for what is no record. */
static json_t *
parse(const DroverReadReply *reply)
{
    gsize length;
    const char *text = g_bytes_get_data(reply->data, &length);
    json_t *record = length > 0 ? drover_json_parse_object(text, length, NULL) : NULL;

    return record != NULL ? record : json_null();
}

static void
take_upload(const Step *step, const DroverReadReply *reply)
{
    json_array_append_new(json_object_get(build_of(step), "uploads"),
                          json_pack("{s:o, s:s, s:o}", "provider",
                                    drover_json_from_string(step->names[PROVIDER]), "id",
                                    strrchr(step->path, '/') + 1, "record", parse(reply)));
}

static void
take_uploads(const Step *step, const DroverReadReply *reply)
{
    for (guint i = 0; i < reply->n_children; i++)
        if (strcmp(reply->children[i], "lock") != 0)
            ask_child(step, reply->children[i], N_NAMES, drover_session_get, take_upload);
}

static void
take_providers(const Step *step, const DroverReadReply *reply)
{
    for (guint i = 0; i < reply->n_children; i++) {
        g_autofree char *below = g_strconcat("/", reply->children[i], "/images", NULL);

        ask(step, below, PROVIDER, reply->children[i], drover_session_list, take_uploads);
    }
}

static void
keep_number(GHashTable *table, const char *name, gint64 number)
{
    const gint64 *old = g_hash_table_lookup(table, name);

    if (old == NULL || *old < number)
        g_hash_table_replace(table, g_strdup(name), g_memdup2(&number, sizeof number));
}

static void
take_build(const Step *step, const DroverReadReply *reply)
{
    keep_number(step->reading->newest, step->names[IMAGE], reply->stat.czxid);
    json_object_set_new(json_object_get(image_of(step), "builds"), step->names[BUILD],
                        json_pack("{s:o, s:[]}", "record", parse(reply), "uploads"));
    ask(step, "/providers", N_NAMES, NULL, drover_session_list, take_providers);
}

static void
take_holder(const Step *step, const DroverReadReply *reply)
{
    keep_number(step->reading->locked, step->names[IMAGE], reply->stat.czxid);
}

static void
take_lock(const Step *step, const DroverReadReply *reply)
{
    const char *holder = reply->n_children > 0 ? drover_lock_find_holder(reply->children) : NULL;

    if (holder != NULL)
        ask_child(step, holder, N_NAMES, drover_session_exists, take_holder);
}

static void
take_builds(const Step *step, const DroverReadReply *reply)
{
    for (guint i = 0; i < reply->n_children; i++)
        if (strcmp(reply->children[i], "lock") == 0)
            ask_child(step, "lock", N_NAMES, drover_session_list, take_lock);
        else
            ask_child(step, reply->children[i], BUILD, drover_session_get, take_build);
}

static void
take_request(const Step *step, const DroverReadReply *reply)
{
    json_object_set_new(image_of(step), "requested", json_integer(reply->stat.ctime / 1000));
}

static void
take_pause(const Step *step, const DroverReadReply *reply)
{
    json_object_set_new(image_of(step), "paused", json_true());
}

static void
take_images(const Step *step, const DroverReadReply *reply)
{
    for (guint i = 0; i < reply->n_children; i++) {
        const char *name = reply->children[i];
        Step image = {.reading = step->reading, .names = {(char *)name}};
        g_autofree char *path = g_strconcat(DROVER_IMAGES_PATH "/", name, NULL);

        image.path = path;
        json_object_set_new(step->reading->images, name,
                            json_pack("{s:b, s:n, s:b, s:{}}", "paused", FALSE, "requested",
                                      "building", FALSE, "builds"));
        ask(&image, "/pause", N_NAMES, NULL, drover_session_exists, take_pause);
        ask(&image, "/request-build", N_NAMES, NULL, drover_session_exists, take_request);
        ask(&image, "/builds", N_NAMES, NULL, drover_session_list, take_builds);
    }
}

DroverImageReading *
drover_image_reading_begin(DroverSession *session, DroverImageReadingFunc done, gpointer user_data)
{
    DroverImageReading *reading = g_new0(DroverImageReading, 1);
    Step top = {.reading = reading, .path = (char *)DROVER_IMAGES_PATH};

    reading->session = session;
    reading->done = done;
    reading->user_data = user_data;
    reading->images = json_object();
    reading->newest = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    reading->locked = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    ask(&top, "", N_NAMES, NULL, drover_session_list, take_images);
    return reading;
}

void
drover_image_reading_cancel(DroverImageReading *reading)
{
    reading->done = NULL;
}
