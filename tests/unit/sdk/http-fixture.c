#include "http-fixture.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "support/process.h"
#include "support/wait.h"

#define LIMIT_MILLISECONDS 30000

/* ---- The server ---- */

void
http_server_start(HttpServer *server, const char *const *arguments)
{
    g_autoptr(GPtrArray) argv = g_ptr_array_new();
    g_autoptr(GError) error = NULL;
    char line[64] = "";
    gsize length = 0;
    guint port = 0;

    g_ptr_array_add(argv, (gpointer) "/usr/bin/python3");
    g_ptr_array_add(argv, (gpointer)(DROVER_SOURCE_DIR "/tests/unit/sdk/http-server.py"));
    for (; arguments != NULL && *arguments != NULL; arguments++)
        g_ptr_array_add(argv, (gpointer)*arguments);
    g_ptr_array_add(argv, NULL);
    test_process_start_with_pipes((const char *const *)argv->pdata, &server->input, &server->output,
                                  &server->pid, &error);
    g_assert_no_error(error);
    while (strchr(line, '\n') == NULL && length < sizeof(line) - 1) {
        g_assert_cmpint(read(server->output, line + length, 1), ==, 1);
        length++;
    }
    g_assert_cmpint(sscanf(line, "port %u", &port), ==, 1);
    server->port = (guint16)port;
}

void
http_server_stop(HttpServer *server)
{
    close(server->input);
    close(server->output);
    test_process_end(&server->pid, SIGKILL);
}

/* ---- The client ---- */

static void
on_log(void *data, enum drover_log_level level, const char *text)
{
    g_assert_cmpint(level, ==, DROVER_DEBUG);
    g_string_append_printf(((HttpFixture *)data)->log, "%s\n", text);
}

static void
on_fail(void *data, enum drover_failure failure, const char *text)
{
    g_assert_not_reached();
}

void
http_fixture_begin(HttpFixture *fixture)
{
    static const struct drover_provider_host host = {.log = on_log, .fail = on_fail};

    *fixture = (HttpFixture){.log = g_string_new(NULL)};
    http_server_start(&fixture->server, NULL);
    fixture->config = drover_value_new_map();
    fixture->provider = drover_host_provider_new("cloud", fixture->config, &host, fixture);
    fixture->http = drover_http_new(fixture->provider);
    drover_http_set_number(fixture->http, DROVER_HTTP_PAUSE, 10);
}

void
http_fixture_end(HttpFixture *fixture)
{
    drover_http_free(fixture->http);
    drover_host_provider_free(fixture->provider);
    drover_value_free(fixture->config);
    http_server_stop(&fixture->server);
    g_string_free(fixture->log, TRUE);
}

struct drover_http_request *
http_fixture_request(HttpFixture *fixture, const char *method, const char *path)
{
    g_autofree char *url = g_strdup_printf("http://127.0.0.1:%u%s", fixture->server.port, path);

    return drover_http_request_new(fixture->http, method, url);
}

static gboolean
is_done(gpointer request)
{
    return drover_http_request_is_done(request);
}

void
http_fixture_wait(const struct drover_http_request *request)
{
    g_assert_true(test_wait_until(is_done, (gpointer)request, LIMIT_MILLISECONDS));
}

void
http_fixture_make(struct drover_http_request *request)
{
    drover_http_request_start(request, NULL, NULL);
    g_assert_false(drover_http_request_is_done(request));
    http_fixture_wait(request);
}

char *
http_fixture_get(HttpFixture *fixture, const char *path)
{
    struct drover_http_request *request = http_fixture_request(fixture, "GET", path);
    char *body;

    http_fixture_make(request);
    g_assert_cmpint(drover_http_failure(request), ==, 0);
    body = g_strdup(drover_http_body(request, NULL));
    drover_http_request_free(request);
    return body;
}

guint
http_fixture_count(HttpFixture *fixture, const char *key)
{
    g_autofree char *path = g_strdup_printf("/count/%s", key);
    g_autofree char *count = http_fixture_get(fixture, path);

    return (guint)g_ascii_strtoull(count, NULL, 10);
}
