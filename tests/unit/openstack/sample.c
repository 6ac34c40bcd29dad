#include "sample.h"

#include "options.h"

/* ---- Values ---- */

json_t *
sample_json(const char *text)
{
    g_autofree char *quoted = g_strdelimit(g_strdup(text), "'", '"');
    json_error_t error;
    json_t *value = json_loads(quoted, JSON_DECODE_ANY, &error);

    if (value == NULL)
        g_error("%s: %s", quoted, error.text);
    return value;
}

static struct drover_value *
value_of(const json_t *json)
{
    struct drover_value *value;
    const char *key;
    size_t index;
    json_t *item;

    switch (json_typeof(json)) {
    case JSON_OBJECT:
        value = drover_value_new_map();
        json_object_foreach((json_t *)json, key, item)
        {
            drover_value_set(value, key, value_of(item));
        }
        return value;
    case JSON_ARRAY:
        value = drover_value_new_list();
        json_array_foreach((json_t *)json, index, item)
        {
            drover_value_append(value, value_of(item));
        }
        return value;
    case JSON_STRING:
        return drover_value_new_string(json_string_value(json));
    case JSON_INTEGER:
        return drover_value_new_integer(json_integer_value(json));
    case JSON_REAL:
        return drover_value_new_number(json_real_value(json));
    case JSON_NULL:
        return drover_value_new_null();
    default:
        return drover_value_new_boolean(json_is_true(json));
    }
}

struct drover_value *
sample_value(const char *text)
{
    json_t *json = sample_json(text);
    struct drover_value *value = value_of(json);

    json_decref(json);
    return value;
}

void
sample_check(json_t *found, const char *expected)
{
    json_t *wanted = sample_json(expected);
    char *text = json_dumps(found, JSON_ENCODE_ANY);

    if (!json_equal(found, wanted))
        g_error("%s instead of %s", text, expected);
    free(text);
    json_decref(wanted);
    json_decref(found);
}

/* ---- Clouds ---- */

struct settings *
sample_settings(const char *entry)
{
    g_autoptr(GError) error = NULL;
    json_t *all = json_pack("{s:{s:o}}", "clouds", "c", sample_json(entry));
    struct settings *settings = settings_new(all, "c", NULL, &error);

    g_assert_no_error(error);
    json_decref(all);
    return settings;
}

static void
ignore_log(void *data, enum drover_log_level level, const char *text)
{
}

static void
ignore_failure(void *data, enum drover_failure failure, const char *text)
{
}

struct cloud *
sample_cloud(const char *config, const char *entry)
{
    static const struct drover_provider_host host = {.log = ignore_log, .fail = ignore_failure};
    struct cloud *cloud = g_new0(struct cloud, 1);
    struct drover_value *values = sample_value(config);

    cloud->config = values;
    cloud->settings = sample_settings(entry);
    cloud->provider = drover_host_provider_new("p", values, &host, NULL);
    return cloud;
}

void
sample_cloud_free(struct cloud *cloud)
{
    drover_host_provider_free(cloud->provider);
    drover_value_free((struct drover_value *)cloud->config);
    settings_free(cloud->settings);
    g_free(cloud);
}

/* ---- Operations: what they say is of no interest ---- */

static void
ignore(void *data)
{
}

static void
ignore_text(void *data, const char *text)
{
}

static void
ignore_progress(void *data, uint64_t done, uint64_t total)
{
}

static void
ignore_time(void *data, uint32_t milliseconds)
{
}

static void
ignore_string(void *data, const char *name, const char *value)
{
}

static void
ignore_integer(void *data, const char *name, int64_t value)
{
}

static void
ignore_amount(void *data, const char *name, double amount)
{
}

static void
ignore_bytes(void *data, const char *text, size_t length)
{
}

struct drover_operation *
sample_operation(struct cloud *cloud, const char *label)
{
    static const struct drover_operation_host host = {
        .released = ignore,
        .log = ignore_log,
        .wake = ignore,
        .set_status = ignore_text,
        .set_progress = ignore_progress,
        .call_after = ignore_time,
        .set_string = ignore_string,
        .set_integer = ignore_integer,
        .set_json = ignore_string,
        .add_host_key = ignore_text,
        .set_resource = ignore_amount,
        .add_item = ignore_string,
        .append_text = ignore_bytes,
        .fail = ignore_failure,
        .retry_after = ignore_time,
    };
    const struct drover_value *pool =
        drover_value_item(drover_value_get(cloud->config, "pools"), 0);
    struct drover_operation_input input = {
        .node_id = "0000000007",
        .pool = "main",
        .label = label,
        .pool_config = pool,
        .label_config = options_find(pool, "labels", label),
        .inputs = (const char *const[]){"hostname", "np0000000007", "tags",
                                        "{\"nodepool_node_id\": \"0000000007\"}", NULL},
    };

    return drover_host_operation_new(&input, &host, NULL);
}
