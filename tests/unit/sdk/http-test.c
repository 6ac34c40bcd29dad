/* Requests that work, and servers that do not. */
#include <glib/gstdio.h>
#include <jansson.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "http-fixture.h"

/* ---- What arrives at the server ---- */

typedef struct {
    json_t *root;
} Echo;

static Echo
read_echo(const struct drover_http_request *request)
{
    Echo echo;

    g_assert_cmpint(drover_http_failure(request), ==, 0);
    g_assert_cmpint(drover_http_status(request), ==, 200);
    echo.root = json_loads(drover_http_body(request, NULL), 0, NULL);
    g_assert_nonnull(echo.root);
    return echo;
}

static const char *
echoed(const Echo *echo, const char *name)
{
    return json_string_value(json_object_get(echo->root, name));
}

static const char *
echoed_header(const Echo *echo, const char *name)
{
    return json_string_value(json_object_get(json_object_get(echo->root, "headers"), name));
}

static void
test_get(void)
{
    HttpFixture fixture;
    struct drover_http_request *request;
    size_t length = 0;
    Echo echo;

    http_fixture_begin(&fixture);
    request = http_fixture_request(&fixture, "GET", "/echo/a%2Fb");
    drover_http_request_add_query(request, "name", "a b&c=\303\244");
    drover_http_request_add_query(request, "marker", "");
    drover_http_request_set_header(request, "X-First", "1");
    drover_http_request_set_header(request, "x-first", "2");
    drover_http_request_set_header(request, "X-Empty", "");
    drover_http_request_set_header(request, "X-None", "1");
    drover_http_request_set_header(request, "X-None", NULL);
    http_fixture_make(request);
    echo = read_echo(request);
    g_assert_cmpstr(echoed(&echo, "method"), ==, "GET");
    g_assert_cmpstr(echoed(&echo, "path"), ==, "/echo/a%2Fb?name=a%20b%26c%3D%C3%A4&marker=");
    g_assert_cmpstr(echoed_header(&echo, "x-first"), ==, "2");
    g_assert_cmpstr(echoed_header(&echo, "x-empty"), ==, "");
    g_assert_null(echoed_header(&echo, "x-none"));
    g_assert_null(echoed_header(&echo, "content-type"));
    g_assert_cmpstr(echoed_header(&echo, "user-agent"), ==, "drover");
    g_assert_cmpstr(drover_http_header(request, "CONTENT-type"), ==, "application/json");
    g_assert_null(drover_http_header(request, "X-Nothing"));
    g_assert_null(drover_http_message(request));
    g_assert_cmpuint(strlen(drover_http_body(request, &length)), ==, length);
    g_assert_cmpuint(drover_http_tries(request), ==, 1);
    json_decref(echo.root);
    drover_http_request_free(request);
    http_fixture_end(&fixture);
}

typedef void (*Fill)(struct drover_http_request *request);

static void
fill_json(struct drover_http_request *request)
{
    drover_http_request_set_json(request, "{\"a\": 1}");
}

static void
fill_form(struct drover_http_request *request)
{
    drover_http_request_add_form(request, "Action", "RunInstances");
    drover_http_request_add_form(request, "UserData", "a+b =&");
}

static void
fill_bytes(struct drover_http_request *request)
{
    drover_http_request_set_body(request, NULL, "\1\377", 2);
}

static void
fill_nothing(struct drover_http_request *request)
{
}

static void
test_bodies(void)
{
    static const struct {
        const char *method;
        Fill fill;
        const char *type, *length, *body;
    } cases[] = {
        {"POST", fill_json, "application/json", "8", "{\"a\": 1}"},
        {"PATCH", fill_json, "application/json", "8", "{\"a\": 1}"},
        {"DELETE", fill_json, "application/json", "8", "{\"a\": 1}"},
        {"POST", fill_form, "application/x-www-form-urlencoded", "46",
         "Action=RunInstances&UserData=a%2Bb%20%3D%26"},
        {"PUT", fill_bytes, NULL, "2", NULL},
        {"POST", fill_nothing, NULL, "0", ""},
        {"DELETE", fill_nothing, NULL, NULL, ""},
    };
    HttpFixture fixture;

    http_fixture_begin(&fixture);
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct drover_http_request *request =
            http_fixture_request(&fixture, cases[i].method, "/echo");
        Echo echo;

        cases[i].fill(request);
        http_fixture_make(request);
        echo = read_echo(request);
        g_assert_cmpstr(echoed(&echo, "method"), ==, cases[i].method);
        g_assert_cmpstr(echoed_header(&echo, "content-type"), ==, cases[i].type);
        if (cases[i].body != NULL)
            g_assert_cmpstr(echoed(&echo, "body"), ==, cases[i].body);
        if (cases[i].fill == fill_bytes)
            g_assert_cmpuint(json_string_length(json_object_get(echo.root, "body")), ==, 3);
        else if (cases[i].length == NULL || *cases[i].length == '0')
            g_assert_cmpstr(echoed_header(&echo, "content-length"), ==, cases[i].length);
        g_assert_null(echoed_header(&echo, "expect"));
        json_decref(echo.root);
        drover_http_request_free(request);
    }
    http_fixture_end(&fixture);
}

static void
test_head(void)
{
    HttpFixture fixture;
    struct drover_http_request *request;

    http_fixture_begin(&fixture);
    request = http_fixture_request(&fixture, "HEAD", "/echo");
    http_fixture_make(request);
    g_assert_cmpint(drover_http_failure(request), ==, 0);
    g_assert_cmpstr(drover_http_body(request, NULL), ==, "");
    g_assert_cmpstr(drover_http_header(request, "content-type"), ==, "application/json");
    drover_http_request_free(request);
    http_fixture_end(&fixture);
}

/* A part of a file, also when it has to be sent once more. */
static void
test_file(void)
{
    g_autofree char *path = NULL;
    int fd = g_file_open_tmp("drover-test-XXXXXX", &path, NULL);
    HttpFixture fixture;
    struct drover_http_request *request;
    uint64_t sent = 0, received = 0;
    Echo echo;

    g_assert_cmpint(write(fd, "0123456789", 10), ==, 10);
    close(fd);
    http_fixture_begin(&fixture);
    request = http_fixture_request(&fixture, "PUT", "/fail/file/503/2");
    drover_http_request_set_file(request, "application/octet-stream", path, 3, 4);
    http_fixture_make(request);
    echo = read_echo(request);
    g_assert_cmpstr(echoed(&echo, "body"), ==, "3456");
    g_assert_cmpstr(echoed_header(&echo, "content-length"), ==, "4");
    g_assert_cmpuint(drover_http_tries(request), ==, 3);
    drover_http_progress(request, &sent, &received);
    g_assert_cmpuint(sent, ==, 4);
    g_assert_cmpuint(received, >, 0);
    json_decref(echo.root);
    drover_http_request_free(request);

    request = http_fixture_request(&fixture, "PUT", "/echo");
    drover_http_request_set_file(request, NULL, path, 8, UINT64_MAX);
    http_fixture_make(request);
    echo = read_echo(request);
    g_assert_cmpstr(echoed(&echo, "body"), ==, "89");
    json_decref(echo.root);
    drover_http_request_free(request);

    request = http_fixture_request(&fixture, "PUT", "/echo");
    drover_http_request_set_file(request, NULL, path, 11, 1);
    http_fixture_make(request);
    g_assert_nonnull(strstr(drover_http_message(request), "ends before"));
    drover_http_request_free(request);
    g_unlink(path);
    request = http_fixture_request(&fixture, "PUT", "/echo");
    drover_http_request_set_file(request, NULL, path, 0, 1);
    http_fixture_make(request);
    g_assert_cmpint(drover_http_failure(request), ==, DROVER_FAILURE_OTHER);
    g_assert_nonnull(strstr(drover_http_message(request), path));
    drover_http_request_free(request);
    http_fixture_end(&fixture);
}

/* ---- What answers mean ---- */

static void
test_statuses(void)
{
    static const struct {
        int status, failure;
    } cases[] = {
        {204, 0},
        {302, 0},
        {400, DROVER_FAILURE_OTHER},
        {401, DROVER_FAILURE_AUTH},
        {403, DROVER_FAILURE_AUTH},
        {404, DROVER_FAILURE_NOT_FOUND},
        {409, DROVER_FAILURE_OTHER},
        {410, DROVER_FAILURE_NOT_FOUND},
    };
    HttpFixture fixture;

    http_fixture_begin(&fixture);
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *path = g_strdup_printf("/status/%d?token=hidden", cases[i].status);
        g_autofree char *end = g_strdup_printf("?token: answered %d", cases[i].status);
        struct drover_http_request *request = http_fixture_request(&fixture, "GET", path);

        http_fixture_make(request);
        g_assert_cmpint(drover_http_status(request), ==, cases[i].status);
        g_assert_cmpint(drover_http_failure(request), ==, cases[i].failure);
        g_assert_cmpuint(drover_http_tries(request), ==, 1);
        if (cases[i].failure != 0) {
            g_assert_true(g_str_has_suffix(drover_http_message(request), end));
            g_assert_cmpstr(drover_http_body(request, NULL), ==, "as asked");
        }
        drover_http_request_free(request);
    }
    http_fixture_end(&fixture);
}

static void
test_odd_answer(void)
{
    HttpFixture fixture;
    struct drover_http_request *request;
    size_t length = 0;

    http_fixture_begin(&fixture);
    request = http_fixture_request(&fixture, "GET", "/odd");
    http_fixture_make(request);
    g_assert_cmpint(drover_http_failure(request), ==, 0);
    g_assert_cmpstr(drover_http_header(request, "x-twice"), ==, "2");
    g_assert_cmpstr(drover_http_header(request, "x-empty"), ==, "");
    g_assert_true(g_utf8_validate(drover_http_header(request, "x-bytes"), -1, NULL));
    g_assert_cmpmem(drover_http_body(request, &length), 3, "\0\377z", 3);
    g_assert_cmpuint(length, ==, 3);
    drover_http_request_free(request);
    request = http_fixture_request(&fixture, "GET", "/garbage");
    http_fixture_make(request);
    g_assert_cmpint(drover_http_failure(request), ==, DROVER_FAILURE_OTHER);
    g_assert_cmpint(drover_http_status(request), ==, 0);
    drover_http_request_free(request);
    http_fixture_end(&fixture);
}

/* Counted unpacked: a small answer can grow large. */
static void
test_body_limit(void)
{
    static const char *const too_large[] = {"/big/2000", "/zipped/2000", "/zipped/100000000"};
    HttpFixture fixture;

    http_fixture_begin(&fixture);
    drover_http_set_number(fixture.http, DROVER_HTTP_BODY_LIMIT, 1999);
    for (guint i = 0; i < G_N_ELEMENTS(too_large); i++) {
        struct drover_http_request *request = http_fixture_request(&fixture, "GET", too_large[i]);

        http_fixture_make(request);
        g_assert_cmpint(drover_http_failure(request), ==, DROVER_FAILURE_OTHER);
        g_assert_nonnull(strstr(drover_http_message(request), "more than 1999 bytes"));
        g_assert_cmpint(drover_http_status(request), ==, 0);
        g_assert_cmpuint(drover_http_tries(request), ==, 1);
        drover_http_request_free(request);
    }
    drover_http_set_number(fixture.http, DROVER_HTTP_BODY_LIMIT, 2000);
    g_free(http_fixture_get(&fixture, "/zipped/2000"));
    http_fixture_end(&fixture);
}

/* ---- Trying again ---- */

typedef struct {
    const char *method, *path;
    int idempotent; /* -1: as the method says */
    guint requests; /* that the server sees */
    int failure;    /* of the last; 0 */
} Repeated;

static const Repeated repeated[] = {
    {"GET", "/fail/a/503/2", -1, 3, 0},
    {"GET", "/fail/b/500/1", -1, 2, 0},
    {"GET", "/fail/c/429/4", -1, 5, 0},
    {"GET", "/fail/d/503/5", -1, 5, DROVER_FAILURE_OTHER},
    {"GET", "/fail/e/429/9", -1, 5, DROVER_FAILURE_RATE_LIMITED},
    {"GET", "/fail/f/501/9", -1, 1, DROVER_FAILURE_OTHER},
    {"PUT", "/fail/g/502/1", -1, 2, 0},
    {"DELETE", "/fail/h/504/1", -1, 2, 0},
    {"POST", "/fail/i/503/1", -1, 1, DROVER_FAILURE_OTHER},
    {"PATCH", "/fail/j/503/1", -1, 1, DROVER_FAILURE_OTHER},
    {"POST", "/fail/k/503/1", 1, 2, 0},
    {"GET", "/fail/l/503/1", 0, 1, DROVER_FAILURE_OTHER},
    {"GET", "/drop/m/2", -1, 3, 0},
    {"POST", "/drop/n/2", -1, 1, DROVER_FAILURE_OTHER},
    {"GET", "/half/o/2", -1, 3, 0},
    {"GET", "/half/p/9", -1, 5, DROVER_FAILURE_OTHER},
    {"POST", "/half/q/9", -1, 1, DROVER_FAILURE_OTHER},
};

static void
test_repeated(void)
{
    HttpFixture fixture;

    http_fixture_begin(&fixture);
    for (guint i = 0; i < G_N_ELEMENTS(repeated); i++) {
        const Repeated *wanted = &repeated[i];
        g_auto(GStrv) parts = g_strsplit(wanted->path, "/", -1);
        struct drover_http_request *request =
            http_fixture_request(&fixture, wanted->method, wanted->path);

        if (wanted->idempotent >= 0)
            drover_http_request_set_idempotent(request, wanted->idempotent);
        http_fixture_make(request);
        g_test_message("%s %s", wanted->method, wanted->path);
        g_assert_cmpint(drover_http_failure(request), ==, wanted->failure);
        /* A connection that was used before may be lost at any time, which counts for nothing. */
        if (!g_str_has_prefix(wanted->path, "/drop"))
            g_assert_cmpuint(drover_http_tries(request), ==, wanted->requests);
        g_assert_cmpuint(http_fixture_count(&fixture, parts[2]), ==, wanted->requests);
        if (wanted->failure != 0 && wanted->requests > 1)
            g_assert_nonnull(strstr(drover_http_message(request), "(5 tries)"));
        /* Half an answer is none. */
        if (wanted->failure != 0 && g_str_has_prefix(wanted->path, "/half"))
            g_assert_cmpstr(drover_http_body(request, NULL), ==, "");
        drover_http_request_free(request);
    }
    http_fixture_end(&fixture);
}

static void
test_retry_after(void)
{
    HttpFixture fixture;
    struct drover_http_request *request;
    gint64 begun = g_get_monotonic_time();

    http_fixture_begin(&fixture);
    request = http_fixture_request(&fixture, "GET", "/fail/a/503/1?retry=1");
    http_fixture_make(request);
    g_assert_cmpint(drover_http_failure(request), ==, 0);
    g_assert_cmpint(g_get_monotonic_time() - begun, >=, G_TIME_SPAN_SECOND);
    drover_http_request_free(request);
    /* Longer than the request may take: the driver is told when to come back. */
    request = http_fixture_request(&fixture, "GET", "/fail/b/503/1?retry=600");
    http_fixture_make(request);
    g_assert_cmpint(drover_http_failure(request), ==, DROVER_FAILURE_RATE_LIMITED);
    g_assert_cmpuint(drover_http_retry_after(request), ==, 600000);
    g_assert_cmpuint(drover_http_tries(request), ==, 1);
    drover_http_request_free(request);
    /* Nobody stays away for a day. */
    request = http_fixture_request(&fixture, "GET", "/fail/c/429/1?retry=86400");
    http_fixture_make(request);
    g_assert_cmpuint(drover_http_retry_after(request), ==, 600000);
    drover_http_request_free(request);
    http_fixture_end(&fixture);
}

typedef struct {
    guint calls;
} Prepared;

static int
sign(struct drover_http_request *request, unsigned attempt, void *data)
{
    Prepared *prepared = data;
    g_autofree char *value = g_strdup_printf("signature %u", attempt);

    drover_http_request_set_header(request, "Authorization", value);
    return ++prepared->calls > 3 ? -1 : 0;
}

static void
test_prepared_each_time(void)
{
    HttpFixture fixture;
    struct drover_http_request *request;
    Prepared prepared = {0};
    Echo echo;

    http_fixture_begin(&fixture);
    request = http_fixture_request(&fixture, "GET", "/fail/a/503/1");
    drover_http_request_set_prepare(request, sign, &prepared);
    http_fixture_make(request);
    echo = read_echo(request);
    g_assert_cmpstr(echoed_header(&echo, "authorization"), ==, "signature 2");
    json_decref(echo.root);
    drover_http_request_free(request);
    request = http_fixture_request(&fixture, "GET", "/fail/b/503/9");
    drover_http_request_set_prepare(request, sign, &prepared);
    http_fixture_make(request);
    g_assert_nonnull(strstr(drover_http_message(request), "could not prepare"));
    g_assert_cmpuint(http_fixture_count(&fixture, "b"), ==, 1);
    drover_http_request_free(request);
    http_fixture_end(&fixture);
}

/* ---- Time ---- */

static void
test_limits_of_time(void)
{
    static const struct {
        const char *path;
        enum drover_http_number setting;
        int64_t limit;
        guint tries;
    } cases[] = {
        {"/stall", DROVER_HTTP_TRY_LIMIT, 100, 2},    {"/pause", DROVER_HTTP_TRY_LIMIT, 100, 2},
        {"/stall", DROVER_HTTP_STALL_LIMIT, 1000, 1}, {"/pause", DROVER_HTTP_STALL_LIMIT, 1000, 1},
        {"/stall", DROVER_HTTP_LIMIT, 100, 1},
    };
    HttpFixture fixture;

    http_fixture_begin(&fixture);
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct drover_http_request *request = http_fixture_request(&fixture, "GET", cases[i].path);

        drover_http_request_set_number(request, cases[i].setting, cases[i].limit);
        drover_http_request_set_number(request, DROVER_HTTP_TRIES, cases[i].tries);
        http_fixture_make(request);
        g_assert_cmpint(drover_http_failure(request), ==, DROVER_FAILURE_TIMEOUT);
        g_assert_cmpint(drover_http_status(request), ==, 0);
        g_assert_cmpuint(drover_http_tries(request), ==, cases[i].tries);
        drover_http_request_free(request);
    }
    http_fixture_end(&fixture);
}

static void
never_done(struct drover_http_request *request, void *data)
{
    g_assert_not_reached();
}

static void
free_when_done(struct drover_http_request *request, void *data)
{
    *(gboolean *)data = TRUE;
    drover_http_request_free(request);
}

/* In every state, and from its own `done`; the client may go before its requests. */
static void
test_freed_at_any_time(void)
{
    HttpFixture fixture;
    struct drover_limiter *limiter = drover_limiter_new(0.001);
    struct drover_http_request *requests[5];
    gboolean done = FALSE;

    http_fixture_begin(&fixture);
    drover_http_request_free(NULL);
    drover_http_request_free(http_fixture_request(&fixture, "GET", "/echo"));
    drover_http_set_number(fixture.http, DROVER_HTTP_CONNECTIONS, 3);
    for (guint i = 0; i < G_N_ELEMENTS(requests); i++) {
        requests[i] = http_fixture_request(&fixture, "GET", i < 1 ? "/stall" : "/fail/a/503/99");
        drover_http_request_set_number(requests[i], DROVER_HTTP_PAUSE, i == 1 ? 60000 : 10);
        if (i == 2)
            drover_http_request_set_limiter(requests[i], limiter);
        drover_http_request_start(requests[i], never_done, NULL);
    }
    drover_limiter_free(limiter);
    for (guint i = 0; i < 20; i++)
        g_main_context_iteration(NULL, i < 5);
    for (guint i = 0; i < G_N_ELEMENTS(requests); i++)
        drover_http_request_free(requests[i]);
    requests[0] = http_fixture_request(&fixture, "GET", "/echo");
    drover_http_free(g_steal_pointer(&fixture.http));
    drover_http_request_start(requests[0], free_when_done, &done);
    while (!done)
        g_main_context_iteration(NULL, TRUE);
    http_fixture_end(&fixture);
}

/* ---- Many at once, and the rate ---- */

static void
test_places(void)
{
    HttpFixture fixture;
    struct drover_http_request *requests[50];

    http_fixture_begin(&fixture);
    drover_http_set_number(fixture.http, DROVER_HTTP_CONNECTIONS, 3);
    for (guint i = 0; i < G_N_ELEMENTS(requests); i++) {
        requests[i] = http_fixture_request(&fixture, "GET", i % 2 ? "/echo" : "/fail/a/503/10");
        drover_http_request_set_number(requests[i], DROVER_HTTP_TRIES, 20);
        drover_http_request_start(requests[i], NULL, NULL);
    }
    for (guint i = 0; i < G_N_ELEMENTS(requests); i++) {
        http_fixture_wait(requests[i]);
        g_assert_cmpint(drover_http_failure(requests[i]), ==, 0);
        drover_http_request_free(requests[i]);
    }
    http_fixture_end(&fixture);
}

static void
test_rate(void)
{
    HttpFixture fixture;
    struct drover_limiter *limiter = drover_limiter_new(20);
    struct drover_http_request *requests[5];
    json_t *times;
    gint64 begun = g_get_monotonic_time();

    http_fixture_begin(&fixture);
    drover_http_set_limiter(fixture.http, limiter);
    drover_limiter_free(limiter);
    for (guint i = 0; i < G_N_ELEMENTS(requests); i++) {
        requests[i] = http_fixture_request(&fixture, "GET", "/times/a");
        drover_http_request_start(requests[i], NULL, NULL);
    }
    for (guint i = 0; i < G_N_ELEMENTS(requests); i++)
        http_fixture_wait(requests[i]);
    g_assert_cmpint(g_get_monotonic_time() - begun, >=, 4 * 50 * G_TIME_SPAN_MILLISECOND);
    times = json_loads(drover_http_body(requests[4], NULL), 0, NULL);
    g_assert_cmpuint(json_array_size(times), ==, 4);
    json_decref(times);
    for (guint i = 0; i < G_N_ELEMENTS(requests); i++)
        drover_http_request_free(requests[i]);
    http_fixture_end(&fixture);
}

/* F-13: one that is told to come later holds up the others of the provider too. */
static void
test_rate_is_lowered_for_all(void)
{
    HttpFixture fixture;
    struct drover_limiter *limiter = drover_limiter_new(1000);
    struct drover_http_request *first, *second;
    gint64 begun;

    http_fixture_begin(&fixture);
    drover_http_set_limiter(fixture.http, limiter);
    first = http_fixture_request(&fixture, "GET", "/fail/a/429/1?retry=1");
    drover_http_request_set_number(first, DROVER_HTTP_TRIES, 1);
    http_fixture_make(first);
    g_assert_cmpint(drover_http_failure(first), ==, DROVER_FAILURE_RATE_LIMITED);
    begun = g_get_monotonic_time();
    second = http_fixture_request(&fixture, "GET", "/echo");
    http_fixture_make(second);
    g_assert_cmpint(g_get_monotonic_time() - begun, >=, 900 * G_TIME_SPAN_MILLISECOND);
    drover_http_request_free(first);
    drover_http_request_free(second);
    drover_limiter_free(limiter);
    http_fixture_end(&fixture);
}

/* ---- Blocking, mistakes, the log ---- */

static void
test_blocking(void)
{
    HttpFixture fixture;
    struct drover_limiter *limiter = drover_limiter_new(100);
    struct drover_http_request *request;

    http_fixture_begin(&fixture);
    drover_http_set_limiter(fixture.http, limiter);
    request = http_fixture_request(&fixture, "GET", "/fail/a/503/2");
    g_assert_cmpint(drover_http_request_run(request), ==, 0);
    g_assert_cmpuint(drover_http_tries(request), ==, 3);
    drover_http_request_free(request);
    request = http_fixture_request(&fixture, "GET", "/status/404");
    g_assert_cmpint(drover_http_request_run(request), ==, DROVER_FAILURE_NOT_FOUND);
    drover_http_request_free(request);
    drover_limiter_free(limiter);
    http_fixture_end(&fixture);
}

static void
test_mistakes(void)
{
    HttpFixture fixture;
    struct drover_http_request *request;
    char *escaped = drover_http_escape("a/b \303\244~");

    g_assert_cmpstr(escaped, ==, "a%2Fb%20%C3%A4~");
    free(escaped);
    http_fixture_begin(&fixture);
    request = http_fixture_request(&fixture, "GET", "/echo");
    drover_http_request_set_header(request, "X-Token", "secret\r\nX-More: 1");
    http_fixture_make(request);
    g_assert_nonnull(strstr(drover_http_message(request), "X-Token has a line break"));
    g_assert_null(strstr(drover_http_message(request), "secret"));
    drover_http_request_free(request);
    request = drover_http_request_new(fixture.http, "GET", "nonsense://user:secret@x y/");
    http_fixture_make(request);
    g_assert_cmpint(drover_http_failure(request), ==, DROVER_FAILURE_OTHER);
    g_assert_null(strstr(drover_http_message(request), "secret"));
    drover_http_request_free(request);
    request = drover_http_request_new(fixture.http, "GET", "file:///etc/passwd");
    http_fixture_make(request);
    g_assert_cmpint(drover_http_failure(request), ==, DROVER_FAILURE_OTHER);
    drover_http_request_free(request);
    g_assert_cmpint(drover_http_set_number(fixture.http, (enum drover_http_number)99, 1), ==, -1);
    g_assert_cmpint(drover_http_set_number(fixture.http, DROVER_HTTP_TRIES, -1), ==, -1);
    g_assert_cmpint(drover_http_set_text(fixture.http, (enum drover_http_text)99, ""), ==, -1);
    http_fixture_end(&fixture);
}

static void
test_log_has_no_secrets(void)
{
    static const char *const secrets[] = {"token-in-header", "token-in-query",   "token-in-body",
                                          "token-in-answer", "cookie-in-answer", "password",
                                          "in-request-body"};
    HttpFixture fixture;
    g_autofree char *url = NULL;
    struct drover_http_request *request;

    http_fixture_begin(&fixture);
    drover_http_set_number(fixture.http, DROVER_HTTP_TRACE, 1);
    url = g_strdup_printf("http://user:password@127.0.0.1:%u/secret?bare", fixture.server.port);
    request = drover_http_request_new(fixture.http, "POST", url);
    drover_http_request_add_query(request, "X-Amz-Signature", "token-in-query");
    drover_http_request_set_header(request, "X-Auth-Token", "token-in-header");
    drover_http_request_set_header(request, "Accept", "application/json");
    drover_http_request_set_json(request, "{\"adminPass\": \"in-request-body\"}");
    http_fixture_make(request);
    g_assert_cmpint(drover_http_failure(request), ==, 0);
    for (guint i = 0; i < G_N_ELEMENTS(secrets); i++)
        g_assert_null(strstr(fixture.log->str, secrets[i]));
    g_assert_nonnull(strstr(fixture.log->str, "> X-Auth-Token: ..."));
    g_assert_nonnull(strstr(fixture.log->str, "> Accept: application/json"));
    g_assert_nonnull(strstr(fixture.log->str, "< X-Subject-Token: ..."));
    g_assert_nonnull(strstr(fixture.log->str, "< X-Request-Id: req-1"));
    g_assert_nonnull(strstr(fixture.log->str, "/secret?...&X-Amz-Signature: 200, 13 bytes"));
    drover_http_request_free(request);
    http_fixture_end(&fixture);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_unsetenv("http_proxy");
    g_unsetenv("https_proxy");
    g_test_add_func("/http/get", test_get);
    g_test_add_func("/http/bodies", test_bodies);
    g_test_add_func("/http/head", test_head);
    g_test_add_func("/http/file", test_file);
    g_test_add_func("/http/statuses", test_statuses);
    g_test_add_func("/http/odd-answer", test_odd_answer);
    g_test_add_func("/http/body-limit", test_body_limit);
    g_test_add_func("/http/repeated", test_repeated);
    g_test_add_func("/http/retry-after", test_retry_after);
    g_test_add_func("/http/prepared-each-time", test_prepared_each_time);
    g_test_add_func("/http/limits-of-time", test_limits_of_time);
    g_test_add_func("/http/freed-at-any-time", test_freed_at_any_time);
    g_test_add_func("/http/places", test_places);
    g_test_add_func("/http/rate", test_rate);
    g_test_add_func("/http/F-13-rate-is-lowered-for-all", test_rate_is_lowered_for_all);
    g_test_add_func("/http/blocking", test_blocking);
    g_test_add_func("/http/mistakes", test_mistakes);
    g_test_add_func("/http/log-has-no-secrets", test_log_has_no_secrets);
    return g_test_run();
}
