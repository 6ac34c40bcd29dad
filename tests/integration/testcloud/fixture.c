#include "fixture.h"

#include <drover/host.h>
#include <drover/http.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "support/process.h"
#include "support/wait.h"

#define TOKEN "token-of-the-test"

/* "'a': 1" as JSON; the braces may be missing. */
static json_t *
read_json(const char *text)
{
    g_autoptr(GString) json = g_string_new(text != NULL ? text : "");
    json_error_t error;
    json_t *value;

    g_string_replace(json, "'", "\"", 0);
    if (json->str[0] != '{') {
        g_string_prepend_c(json, '{');
        g_string_append_c(json, '}');
    }
    value = json_loads(json->str, 0, &error);
    if (value == NULL)
        g_error("%s: %s", json->str, error.text);
    return value;
}

/* ---- The cloud ---- */

static json_t *
testcloud_provider(void)
{
    return json_pack("{s:s, s:s, s:f, s:i, s:[{s:s, s:s, s:s, s:s, s:i}]}", "url", cloud_url(),
                     "token", TOKEN, "list-interval", 0.05, "call-tries", 3, "cloud-images", "name",
                     "plain", "username", "zuul", "python-path", "auto", "connection-type", "ssh",
                     "connection-port", 22);
}

static const CloudKind testcloud = {
    .program = "fake_cloud",
    .driver = "testcloud",
    .directory = "test-drivers",
    .provider = testcloud_provider,
    .label = "'name': 'l', 'cloud-image': 'plain', 'flavor': 'small'",
};
static const CloudKind *cloud_kind = &testcloud;

static struct {
    pid_t pid;
    int input;
    char *url;
    struct drover_http *http;
    json_int_t mark; /* requests of earlier tests */
} cloud;

static void
start(void)
{
    g_autofree char *program =
        g_build_filename(DROVER_SOURCE_DIR "/tests/support", cloud_kind->program, NULL);
    const char *const argv[] = {"/usr/bin/python3", "-B", program, NULL};
    g_autoptr(GError) error = NULL;
    unsigned port = 0;
    FILE *output;
    int fd;

    test_process_start_with_pipes(argv, &cloud.input, &fd, &cloud.pid, &error);
    g_assert_no_error(error);
    output = fdopen(fd, "r");
    g_assert_cmpint(fscanf(output, "port %u", &port), ==, 1);
    fclose(output);
    cloud.url = g_strdup_printf("http://127.0.0.1:%u", port);
    cloud.http = drover_http_new(NULL);
}

void
cloud_use(const CloudKind *kind, const char *url)
{
    if (kind != NULL)
        cloud_kind = kind;
    cloud.url = g_strdup(url);
}

static void
stop(void)
{
    close(cloud.input);
    test_process_end(&cloud.pid, SIGTERM);
    drover_http_free(cloud.http);
    g_free(cloud.url);
}

static void
run_test(gconstpointer data)
{
    const CloudTest *test = data;
    json_t *log;

    cloud_tell("reset", "%s", "");
    log = cloud_ask("log");
    cloud.mark = json_integer_value(json_object_get(log, "next"));
    json_decref(log);
    test->function(test->data);
}

int
cloud_run_tests_with(const CloudKind *kind, int argc, char **argv, const CloudTest *tests)
{
    int status;

    cloud_kind = kind;
    g_test_init(&argc, &argv, NULL);
    start();
    for (const CloudTest *test = tests; test->path != NULL; test++)
        g_test_add_data_func(test->path, test, run_test);
    status = g_test_run();
    stop();
    return status;
}

int
cloud_run_tests(int argc, char **argv, const CloudTest *tests)
{
    return cloud_run_tests_with(&testcloud, argc, argv, tests);
}

const char *
cloud_url(void)
{
    return cloud.url;
}

static json_t *
call(const char *method, const char *path, const json_t *body)
{
    g_autofree char *url = g_strconcat(cloud.url, "/", path, NULL);
    struct drover_http_request *request = drover_http_request_new(cloud.http, method, url);
    json_t *answer;

    drover_http_request_set_header(request, "X-Token", TOKEN);
    if (body != NULL) {
        char *text = json_dumps(body, 0);

        drover_http_request_set_json(request, text);
        free(text);
    }
    if (drover_http_request_run(request) != 0)
        g_error("%s: %s", drover_http_message(request), drover_http_body(request, NULL));
    answer = json_loads(drover_http_body(request, NULL), 0, NULL);
    drover_http_request_free(request);
    return answer;
}

void
cloud_tell(const char *name, const char *format, ...)
{
    g_autofree char *path = g_strconcat("control/", name, NULL);
    g_autofree char *text = NULL;
    json_t *body;
    va_list arguments;

    va_start(arguments, format);
    text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    body = read_json(text);
    json_decref(call("POST", path, body));
    json_decref(body);
}

void
cloud_make(const char *collection, const char *text)
{
    json_t *body = read_json(text);

    json_decref(call("POST", collection, body));
    json_decref(body);
}

void
cloud_fault(const char *rule)
{
    cloud_tell("faults", "'faults': [{%s}]", rule);
}

json_t *
cloud_ask(const char *name)
{
    g_autofree char *path = g_strconcat("control/", name, NULL);

    return call("GET", path, NULL);
}

guint
cloud_count(const char *what)
{
    json_t *state = cloud_ask("state");
    guint count = (guint)json_array_size(json_object_get(state, what));

    json_decref(state);
    return count;
}

static guint
count_requests(const char *method, const char *path, gboolean carried_out)
{
    g_autofree char *name = g_strdup_printf("log?since=%" JSON_INTEGER_FORMAT, cloud.mark);
    json_t *answer = cloud_ask(name);
    guint count = 0;
    size_t index;
    json_t *entry;

    json_array_foreach(json_object_get(answer, "log"), index, entry) count +=
        g_str_equal(json_string_value(json_object_get(entry, "method")), method) &&
        g_str_has_prefix(json_string_value(json_object_get(entry, "path")), path) &&
        !(carried_out && json_is_null(json_object_get(entry, "status")));
    json_decref(answer);
    return count;
}

guint
cloud_requests(const char *method, const char *path)
{
    return count_requests(method, path, FALSE);
}

static void
wait_requests(const char *method, const char *path, guint count, gboolean carried_out)
{
    gint64 deadline = g_get_monotonic_time() + LONGEST_WAIT * G_TIME_SPAN_MILLISECOND;

    while (count_requests(method, path, carried_out) < count) {
        g_assert_cmpint(g_get_monotonic_time(), <, deadline);
        while (g_main_context_iteration(NULL, FALSE))
            ;
    }
}

void
cloud_wait_requests(const char *method, const char *path, guint count)
{
    wait_requests(method, path, count, FALSE);
}

void
cloud_wait_carried_out(const char *method, const char *path)
{
    wait_requests(method, path, 1, TRUE);
}

void
cloud_assert_empty(void)
{
    static const char *const collections[] = {"machines", "volumes", "addresses", "images"};

    for (guint i = 0; i < G_N_ELEMENTS(collections); i++)
        g_assert_cmpuint(cloud_count(collections[i]), ==, 0);
}

/* ---- The provider ---- */

static struct drover_value *
value_of(const json_t *json)
{
    struct drover_value *value;
    const char *key;
    size_t index;
    json_t *member;

    switch (json_typeof(json)) {
    case JSON_OBJECT:
        value = drover_value_new_map();
        json_object_foreach((json_t *)json, key, member)
        {
            drover_value_set(value, key, value_of(member));
        }
        return value;
    case JSON_ARRAY:
        value = drover_value_new_list();
        json_array_foreach(json, index, member)
        {
            drover_value_append(value, value_of(member));
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

/* The provider's section, as the configuration's checker hands it over. */
static struct drover_value *
config_new(const char *options, const char *label)
{
    json_t *over = read_json(options);
    json_t *of_label = read_json(label);
    json_t *usual = cloud_kind->provider();
    json_t *section_label = read_json(cloud_kind->label);
    struct drover_value *config;

    json_object_update(section_label, of_label);
    json_object_set_new(usual, "pools",
                        json_pack("[{s:s, s:[o]}]", "name", "main", "labels", section_label));
    json_object_update(usual, over);
    config = value_of(usual);
    json_decref(usual);
    json_decref(over);
    json_decref(of_label);
    return config;
}

static void
note_open(DroverRunner *runner, const GPtrArray *machines, const GError *error, gpointer user_data)
{
    Provider *provider = user_data;

    g_assert_no_error(error);
    provider->open = TRUE;
}

static void
note_closed(gpointer user_data)
{
    Provider *provider = user_data;

    provider->closed = TRUE;
}

Provider *
provider_open(const char *options, const char *label)
{
    g_autofree char *directory = g_build_filename(DROVER_BUILD_DIR, cloud_kind->directory, NULL);
    const char *const directories[] = {directory, NULL};
    Provider *provider = g_new0(Provider, 1);
    const struct drover_driver *driver;
    g_autoptr(GError) error = NULL;

    provider->host = drover_driver_host_new(directories);
    driver = drover_driver_host_find(provider->host, cloud_kind->driver, &error);
    g_assert_no_error(error);
    provider->config = config_new(options, label);
    provider->runner = drover_runner_new(driver, "p1", provider->config);
    drover_runner_open(provider->runner, note_open, provider);
    g_assert_true(test_wait_for(&provider->open, LONGEST_WAIT));
    return provider;
}

void
provider_close(Provider *provider)
{
    drover_runner_close(provider->runner, TRUE, note_closed, provider);
    g_assert_true(test_wait_for(&provider->closed, LONGEST_WAIT));
    drover_driver_host_free(provider->host);
    drover_value_free(provider->config);
    g_free(provider);
}

/* ---- Work ---- */

static void
note_done(const DroverTaskResult *result, gpointer user_data)
{
    Work *work = user_data;

    drover_task_progress(work->task, &work->progress_done, &work->progress_total);
    work->task = NULL;
    work->ok = result->ok;
    work->failure = result->failure;
    work->message = g_strdup(result->message);
    work->retry_after = result->retry_after;
    work->fields = json_deep_copy(result->fields);
    work->resources = json_deep_copy(result->resources);
    for (guint i = 0; i < result->items->len; i++)
        json_array_append_new(work->items, json_deep_copy(result->items->pdata[i]));
    work->text = g_strdup(result->text);
    work->done = TRUE;
}

static void
note_id(const char *external_id, gpointer user_data)
{
    Work *work = user_data;

    g_ptr_array_add(work->ids, g_strdup(external_id));
}

static void
note_saved(const char *saved, gpointer user_data)
{
    Work *work = user_data;

    g_ptr_array_add(work->saved, g_strdup(saved));
}

void
work_free(Work *work)
{
    if (work->task != NULL)
        drover_task_cancel(work->task);
    work_wait(work);
    json_decref(work->fields);
    json_decref(work->resources);
    json_decref(work->items);
    g_ptr_array_unref(work->ids);
    g_ptr_array_unref(work->saved);
    g_free(work->message);
    g_free(work->text);
    g_free(work);
}

Work *
work_begin_with(Provider *provider, DroverTaskKind kind, const char *external_id,
                const char *const *inputs, const char *saved)
{
    const struct drover_value *pool =
        drover_value_item(drover_value_get(provider->config, "pools"), 0);
    static const char *const usual[] = {
        "hostname", "np0000000001",
        "az",       "az1",
        "tags",     "{\"nodepool_node_id\": \"0000000001\", \"nodepool_provider_name\": \"p1\"}",
        NULL};
    const DroverTaskInput input = {
        .node_id = "0000000001",
        .external_id = external_id,
        .pool = "main",
        .label = "l",
        .pool_config = pool,
        .label_config = drover_value_item(drover_value_get(pool, "labels"), 0),
        .inputs = inputs != NULL ? inputs : usual,
        .saved = saved,
        .saved_changed = note_saved,
    };
    Work *work = g_new0(Work, 1);

    work->ids = g_ptr_array_new_with_free_func(g_free);
    work->saved = g_ptr_array_new_with_free_func(g_free);
    work->items = json_array();
    work->task = drover_runner_submit(provider->runner, kind, &input, note_done, note_id, work);
    return work;
}

Work *
work_begin(Provider *provider, DroverTaskKind kind, const char *external_id)
{
    return work_begin_with(provider, kind, external_id, NULL, NULL);
}

void
work_wait(Work *work)
{
    g_assert_true(test_wait_for(&work->done, LONGEST_WAIT));
}

Work *
work_run(Provider *provider, DroverTaskKind kind, const char *external_id)
{
    Work *work = work_begin(provider, kind, external_id);

    work_wait(work);
    return work;
}

const char *
work_id(const Work *work)
{
    return work->ids->len > 0 ? work->ids->pdata[work->ids->len - 1] : NULL;
}

typedef struct {
    const Work *work;
    guint count;
} Wanted;

static gboolean
has_ids(gpointer user_data)
{
    const Wanted *wanted = user_data;

    return wanted->work->done || wanted->work->ids->len >= wanted->count;
}

const char *
work_wait_id(Work *work, guint count)
{
    Wanted wanted = {.work = work, .count = count};

    g_assert_true(test_wait_until(has_ids, &wanted, LONGEST_WAIT));
    g_assert_cmpuint(work->ids->len, >=, count);
    return work_id(work);
}

void
assert_done(const Work *work)
{
    g_assert_cmpstr(work->message, ==, NULL);
    g_assert_true(work->ok);
}

void
remove_resource(Provider *provider, const char *kind, const char *id)
{
    const char *const inputs[] = {"kind", kind, NULL};
    g_autoptr(Work) removal =
        work_begin_with(provider, DROVER_TASK_RESOURCE_DELETE, id, inputs, NULL);

    work_wait(removal);
    assert_done(removal);
}

void
assert_failed(const Work *work, enum drover_failure failure, const char *text)
{
    g_assert_false(work->ok);
    g_test_message("%s", work->message);
    g_assert_null(strstr(work->message, TOKEN));
    if (strstr(work->message, text) == NULL)
        g_error("\"%s\" is not in \"%s\"", text, work->message);
    g_assert_cmpint(work->failure, ==, failure);
}

void
assert_field(const Work *work, const char *name, const char *expected)
{
    g_assert_cmpstr(json_string_value(json_object_get(work->fields, name)), ==, expected);
}
