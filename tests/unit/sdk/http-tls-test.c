/* Whom the client trusts, what it shows of itself, and proxies. */
#include <jansson.h>
#include <string.h>

#include "http-fixture.h"
#include "support/certificates.h"

typedef struct {
    HttpFixture fixture;
    TestAuthority *authority, *stranger;
    HttpServer server; /* of api.example.org, asks for a certificate of the client */
    HttpServer local;  /* of 127.0.0.1 */
} Secure;

static void
issue(TestAuthority *authority, const char *name, const char *alternative_names)
{
    const TestCertificateRequest request = {.name = name, .alternative_names = alternative_names};
    g_autoptr(GError) error = NULL;

    test_authority_issue(authority, &request, &error);
    g_assert_no_error(error);
}

static void
begin(Secure *secure)
{
    const char *server_arguments[7], *local_arguments[5];

    http_fixture_begin(&secure->fixture);
    drover_http_set_number(secure->fixture.http, DROVER_HTTP_TRIES, 1);
    secure->authority = test_authority_new("Test authority", NULL);
    secure->stranger = test_authority_new("Somebody else", NULL);
    issue(secure->authority, "server", "DNS:api.example.org");
    issue(secure->authority, "local", "IP:127.0.0.1");
    issue(secure->authority, "client", NULL);
    memcpy(server_arguments,
           (const char *[]){"--certificate", test_authority_issued(secure->authority, "server"),
                            "--key", test_authority_key(secure->authority, "server"), "--clients",
                            test_authority_certificate(secure->authority), NULL},
           sizeof(server_arguments));
    memcpy(local_arguments,
           (const char *[]){"--certificate", test_authority_issued(secure->authority, "local"),
                            "--key", test_authority_key(secure->authority, "local"), NULL},
           sizeof(local_arguments));
    http_server_start(&secure->server, server_arguments);
    http_server_start(&secure->local, local_arguments);
}

static void
end(Secure *secure)
{
    http_server_stop(&secure->server);
    http_server_stop(&secure->local);
    test_authority_free(secure->authority);
    test_authority_free(secure->stranger);
    http_fixture_end(&secure->fixture);
}

static struct drover_http_request *
request_of(Secure *secure, const HttpServer *server)
{
    g_autofree char *url = g_strdup_printf("https://127.0.0.1:%u/echo", server->port);

    return drover_http_request_new(secure->fixture.http, "GET", url);
}

static int
make(Secure *secure, const HttpServer *server)
{
    struct drover_http_request *request = request_of(secure, server);
    int failure;

    http_fixture_make(request);
    failure = drover_http_failure(request);
    if (failure != 0)
        g_test_message("%s", drover_http_message(request));
    drover_http_request_free(request);
    return failure;
}

static char *
content(const char *path)
{
    char *text = NULL;

    g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
    return text;
}

static void
test_trust(void)
{
    Secure secure;
    struct drover_http *http;
    g_autofree char *ca = NULL;

    begin(&secure);
    http = secure.fixture.http;
    ca = content(test_authority_certificate(secure.authority));
    g_assert_cmpint(make(&secure, &secure.local), ==, DROVER_FAILURE_OTHER);
    drover_http_set_text(http, DROVER_HTTP_CA_FILE, test_authority_certificate(secure.stranger));
    g_assert_cmpint(make(&secure, &secure.local), ==, DROVER_FAILURE_OTHER);
    drover_http_set_text(http, DROVER_HTTP_CA_FILE, test_authority_certificate(secure.authority));
    g_assert_cmpint(make(&secure, &secure.local), ==, 0);
    drover_http_set_text(http, DROVER_HTTP_CA_FILE, NULL);
    drover_http_set_text(http, DROVER_HTTP_CA_TEXT, ca);
    g_assert_cmpint(make(&secure, &secure.local), ==, 0);
    drover_http_set_text(http, DROVER_HTTP_CA_TEXT, NULL);
    drover_http_set_number(http, DROVER_HTTP_VERIFY, 0);
    g_assert_cmpint(make(&secure, &secure.local), ==, 0);
    drover_http_set_number(http, DROVER_HTTP_VERIFY, 1);
    drover_http_set_text(http, DROVER_HTTP_CA_FILE, "/nowhere");
    g_assert_cmpint(make(&secure, &secure.local), ==, DROVER_FAILURE_OTHER);
    end(&secure);
}

static void
set_client_files(Secure *secure)
{
    struct drover_http *http = secure->fixture.http;

    drover_http_set_text(http, DROVER_HTTP_CERTIFICATE_FILE,
                         test_authority_issued(secure->authority, "client"));
    drover_http_set_text(http, DROVER_HTTP_KEY_FILE,
                         test_authority_key(secure->authority, "client"));
}

static void
set_client_texts(Secure *secure)
{
    struct drover_http *http = secure->fixture.http;
    g_autofree char *certificate = content(test_authority_issued(secure->authority, "client"));
    g_autofree char *key = content(test_authority_key(secure->authority, "client"));

    drover_http_set_text(http, DROVER_HTTP_CERTIFICATE_FILE, NULL);
    drover_http_set_text(http, DROVER_HTTP_KEY_FILE, NULL);
    drover_http_set_text(http, DROVER_HTTP_CERTIFICATE_TEXT, certificate);
    drover_http_set_text(http, DROVER_HTTP_KEY_TEXT, key);
}

/* The server is reached under one name and certified under another. */
static void
test_server_name_and_client_certificate(void)
{
    Secure secure;
    struct drover_http *http;
    struct drover_http_request *request;
    g_autofree char *host = NULL;
    json_t *echo;

    begin(&secure);
    http = secure.fixture.http;
    drover_http_set_text(http, DROVER_HTTP_CA_FILE, test_authority_certificate(secure.authority));
    set_client_files(&secure);
    g_assert_cmpint(make(&secure, &secure.server), ==, DROVER_FAILURE_OTHER);
    drover_http_set_text(http, DROVER_HTTP_SERVER_NAME, "api.example.org");
    g_assert_cmpint(make(&secure, &secure.server), ==, 0);
    set_client_texts(&secure);
    request = request_of(&secure, &secure.server);
    http_fixture_make(request);
    g_assert_cmpint(drover_http_failure(request), ==, 0);
    echo = json_loads(drover_http_body(request, NULL), 0, NULL);
    host = g_strdup_printf("127.0.0.1:%u", secure.server.port);
    g_assert_cmpstr(json_string_value(json_object_get(json_object_get(echo, "headers"), "host")),
                    ==, host);
    json_decref(echo);
    drover_http_request_free(request);
    drover_http_set_text(http, DROVER_HTTP_CERTIFICATE_TEXT, NULL);
    drover_http_set_text(http, DROVER_HTTP_KEY_TEXT, NULL);
    g_assert_cmpint(make(&secure, &secure.server), ==, DROVER_FAILURE_OTHER);
    end(&secure);
}

static void
test_proxy(void)
{
    Secure secure;
    struct drover_http *http;
    g_autofree char *proxy = NULL, *plain = NULL;

    begin(&secure);
    http = secure.fixture.http;
    proxy = g_strdup_printf("http://127.0.0.1:%u", secure.fixture.server.port);
    drover_http_set_text(http, DROVER_HTTP_PROXY, proxy);
    plain = http_fixture_get(&secure.fixture, "/echo");
    g_assert_nonnull(strstr(plain, "\"proxied\": true"));
    drover_http_set_text(http, DROVER_HTTP_CA_FILE, test_authority_certificate(secure.authority));
    g_assert_cmpint(make(&secure, &secure.local), ==, 0);
    drover_http_set_text(http, DROVER_HTTP_PROXY, "");
    g_assert_cmpuint(http_fixture_count(&secure.fixture, "connect"), ==, 1);
    drover_http_set_text(http, DROVER_HTTP_PROXY, proxy);
    drover_http_set_text(http, DROVER_HTTP_NO_PROXY, "127.0.0.1");
    g_free(plain);
    plain = http_fixture_get(&secure.fixture, "/echo");
    g_assert_nonnull(strstr(plain, "\"proxied\": false"));
    end(&secure);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_unsetenv("http_proxy");
    g_unsetenv("https_proxy");
    g_unsetenv("no_proxy");
    g_test_add_func("/http/trust", test_trust);
    g_test_add_func("/http/server-name-and-client-certificate",
                    test_server_name_and_client_certificate);
    g_test_add_func("/http/proxy", test_proxy);
    return g_test_run();
}
