#include "cli/image-rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/json.h"

typedef void (*BuildFunc)(json_t *rows, const char *image, const char *build, const json_t *object,
                          const json_t *image_object);

static gint
compare_ages(gconstpointer a, gconstpointer b, gpointer builds)
{
    const json_t *left = json_object_get(json_object_get(builds, a), "record");
    const json_t *right = json_object_get(json_object_get(builds, b), "record");
    double difference =
        drover_json_real(right, "state_time", 0) - drover_json_real(left, "state_time", 0);

    return (difference > 0) - (difference < 0);
}

/* Calls for every build. */
static json_t *
rows_of_builds(const json_t *images, DroverBuildOrder order, BuildFunc add)
{
    g_autoptr(GList) names = drover_json_sorted_keys(images);
    json_t *rows = json_array();

    for (GList *name = names; name != NULL; name = name->next) {
        const json_t *image = json_object_get(images, name->data);
        json_t *builds = json_object_get(image, "builds");
        g_autoptr(GList) ids = drover_json_sorted_keys(builds);

        if (order == DROVER_BUILDS_NEWEST_FIRST)
            ids = g_list_sort_with_data(ids, compare_ages, builds);
        for (GList *id = ids; id != NULL; id = id->next)
            add(rows, name->data, id->data, json_object_get(builds, id->data), image);
    }
    return rows;
}

/* A time is a whole number of seconds. */
static json_t *
time_value(const json_t *record)
{
    return json_integer((json_int_t)drover_json_real(record, "state_time", 0));
}

static json_t *
value_of(const json_t *record, const char *key)
{
    json_t *value = json_object_get(record, key);

    return value != NULL ? json_incref(value) : json_null();
}

static int
compare_uploads(const void *a, const void *b)
{
    const json_t *left = *(json_t *const *)a, *right = *(json_t *const *)b;
    int order = strcmp(drover_json_string(left, "provider"), drover_json_string(right, "provider"));

    return order != 0 ? order
                      : strcmp(drover_json_string(left, "id"), drover_json_string(right, "id"));
}

static void
add_uploads(json_t *rows, const char *image, const char *build, const json_t *object,
            const json_t *image_object)
{
    g_autoptr(GPtrArray) uploads = g_ptr_array_new();
    json_t *upload;
    size_t k;

    json_array_foreach(json_object_get(object, "uploads"), k, upload)
    {
        if (json_is_object(json_object_get(upload, "record")))
            g_ptr_array_add(uploads, upload);
    }
    g_ptr_array_sort(uploads, compare_uploads);
    for (guint i = 0; i < uploads->len; i++) {
        const json_t *one = uploads->pdata[i], *record = json_object_get(one, "record");

        json_array_append_new(rows,
                              json_pack("{s:s, s:O, s:O, s:s, s:o, s:o, s:o, s:o}", "id", build,
                                        "upload_id", json_object_get(one, "id"), "provider",
                                        json_object_get(one, "provider"), "image", image,
                                        "external_name", value_of(record, "external_name"),
                                        "external_id", value_of(record, "external_id"), "state",
                                        value_of(record, "state"), "age", time_value(record)));
    }
}

json_t *
drover_upload_rows(const json_t *images, DroverBuildOrder order)
{
    return rows_of_builds(images, order, add_uploads);
}

/* One string in the record, joined by commas. */
static json_t *
formats_value(const json_t *record)
{
    const char *text = drover_json_string(record, "formats");
    g_auto(GStrv) formats = NULL;

    if (text == NULL || *text == '\0')
        return json_array();
    formats = g_strsplit(text, ",", -1);
    qsort(formats, g_strv_length(formats), sizeof *formats, drover_compare_strings);
    return drover_json_from_strings((const char *const *)formats);
}

static void
add_build(json_t *rows, const char *image, const char *build, const json_t *object,
          const json_t *image_object)
{
    const json_t *record = json_object_get(object, "record");
    g_autofree char *id = g_strconcat(image, "-", build, NULL);
    gboolean paused = drover_json_boolean(image_object, "paused", FALSE);

    if (!json_is_object(record))
        return;
    json_array_append_new(
        rows, json_pack("{s:s, s:s, s:o, s:o, s:o, s:o}", "id", id, "image", image, "builder",
                        value_of(record, "builder"), "formats", formats_value(record), "state",
                        paused ? json_string("paused") : value_of(record, "state"), "age",
                        time_value(record)));
}

json_t *
drover_build_rows(const json_t *images, DroverBuildOrder order)
{
    return rows_of_builds(images, order, add_build);
}

static const char *
request_state(const json_t *image)
{
    return drover_json_boolean(image, "building", FALSE) ? "building" : "pending";
}

json_t *
drover_image_status_rows(const json_t *images)
{
    g_autoptr(GList) names = drover_json_sorted_keys(images);
    json_t *rows = json_array();

    for (GList *name = names; name != NULL; name = name->next) {
        const json_t *image = json_object_get(images, name->data);
        json_t *requested = json_object_get(image, "requested");
        const char *state = json_is_null(requested) ? NULL : request_state(image);

        json_array_append_new(rows, json_pack("{s:s, s:O, s:o, s:O}", "image", name->data, "paused",
                                              json_object_get(image, "paused"), "build_request",
                                              drover_json_from_string(state), "build_request_age",
                                              requested));
    }
    return rows;
}

json_t *
drover_build_request_rows(const json_t *images)
{
    g_autoptr(GList) names = drover_json_sorted_keys(images);
    json_t *rows = json_array();

    for (GList *name = names; name != NULL; name = name->next) {
        const json_t *image = json_object_get(images, name->data);
        json_t *requested = json_object_get(image, "requested");

        if (!json_is_null(requested))
            json_array_append_new(rows, json_pack("{s:s, s:s, s:O}", "image", name->data, "state",
                                                  request_state(image), "age", requested));
    }
    return rows;
}

/* ---- Columns ---- */

const DroverColumn drover_upload_columns[] = {{"id", "Build ID", FALSE},
                                              {"upload_id", "Upload ID", FALSE},
                                              {"provider", "Provider", FALSE},
                                              {"image", "Image", FALSE},
                                              {"external_name", "Provider Image Name", FALSE},
                                              {"external_id", "Provider Image ID", FALSE},
                                              {"state", "State", FALSE},
                                              {"age", "Age", TRUE},
                                              {NULL, NULL, FALSE}};
const DroverColumn drover_build_columns[] = {{"id", "ID", FALSE},
                                             {"image", "Image", FALSE},
                                             {"builder", "Builder", FALSE},
                                             {"formats", "Formats", FALSE},
                                             {"state", "State", FALSE},
                                             {"age", "Age", TRUE},
                                             {NULL, NULL, FALSE}};
const DroverColumn drover_image_status_columns[] = {
    {"image", "Image", FALSE},
    {"paused", "Paused", FALSE},
    {"build_request", "Build Request", FALSE},
    {"build_request_age", "Build Request Age", TRUE},
    {NULL, NULL, FALSE}};
const DroverColumn drover_build_request_columns[] = {{"image", "Image", FALSE},
                                                     {"state", "State", FALSE},
                                                     {"age", "Age", TRUE},
                                                     {NULL, NULL, FALSE}};
