/* What is sent to log in, and what is made of the answers. */
#include "sample.h"

#include "credentials.h"
#include "endpoint.h"

static void
check_request(const char *entry, const char *expected)
{
    struct settings *settings = sample_settings(entry);

    sample_check(credentials_request(settings), expected);
    settings_free(settings);
}

static void
test_password(void)
{
    check_request("{'auth': {'username': 'u', 'password': 'p', 'user_domain_name': 'D', "
                  "'project_name': 'n', 'project_domain_id': 'd'}}",
                  "{'auth': {'identity': {'methods': ['password'], 'password': {'user': "
                  "{'name': 'u', 'domain': {'name': 'D'}, 'password': 'p'}}}, "
                  "'scope': {'project': {'name': 'n', 'domain': {'id': 'd'}}}}}");
    check_request("{'auth_type': 'v3password', 'auth': {'user_id': 'i', 'password': 'p', "
                  "'system_scope': 'all'}}",
                  "{'auth': {'identity': {'methods': ['password'], 'password': {'user': "
                  "{'id': 'i', 'password': 'p'}}}, 'scope': {'system': {'all': true}}}}");
}

static void
test_application_credential(void)
{
    check_request("{'auth_type': 'v3applicationcredential', 'auth': {"
                  "'application_credential_id': 'i', 'application_credential_secret': 's', "
                  "'project_id': 'ignored'}}",
                  "{'auth': {'identity': {'methods': ['application_credential'], "
                  "'application_credential': {'id': 'i', 'secret': 's'}}}}");
}

static void
test_token(void)
{
    check_request("{'auth_type': 'token', 'auth': {'token': 't', 'project_id': 'x'}}",
                  "{'auth': {'identity': {'methods': ['token'], 'token': {'id': 't'}}, "
                  "'scope': {'project': {'id': 'x'}}}}");
}

static void
check_v3_url(const char *auth_url, const char *versions, const char *expected)
{
    json_t *answer = versions != NULL ? sample_json(versions) : NULL;
    g_autofree char *url = credentials_v3_url(auth_url, answer);

    g_assert_cmpstr(url, ==, expected);
    json_decref(answer);
}

static void
test_versions(void)
{
    check_v3_url("http://k/v3/", NULL, "http://k/v3");
    check_v3_url("http://k/identity", NULL, "http://k/identity/v3");
    check_v3_url("http://k",
                 "{'versions': {'values': [{'id': 'v3.14', "
                 "'links': [{'rel': 'self', 'href': 'http://k/x/v3/'}]}]}}",
                 "http://k/x/v3");
    check_v3_url("http://k",
                 "{'versions': [{'id': 'v2.0', 'links': [{'rel': 'self', 'href': 'http://k/2'}]}, "
                 "{'id': 'v3.14', 'links': [{'rel': 'describedby', 'href': 'http://d'}, "
                 "{'rel': 'self', 'href': 'http://k/3'}]}]}",
                 "http://k/3");
    check_v3_url("http://k", "{'versions': []}", "http://k/v3");
    check_v3_url("http://k", "{'versions': [{'id': 3, 'links': null}, null]}", "http://k/v3");
    check_v3_url("http://k/v2.0", NULL, NULL);
    g_assert_cmpint(credentials_time("2026-12-01T06:29:01.000000Z"), ==,
                    G_GINT64_CONSTANT(1796106541) * G_USEC_PER_SEC);
    g_assert_cmpint(credentials_time("soon"), ==, 0);
}

static void
check_life(const char *text, int64_t least, int64_t most)
{
    json_t *token = sample_json(text);

    g_assert_cmpint(credentials_life(token), >=, least);
    g_assert_cmpint(credentials_life(token), <=, most);
    json_decref(token);
}

/* Neither is our clock asked where the cloud's tells all, nor does a token end before it begins. */
static void
test_life(void)
{
    check_life("{'issued_at': '1999-12-31T23:00:00.000000Z', "
               "'expires_at': '2000-01-01T00:00:00.000000Z'}",
               3600000, 3600000);
    check_life("{'issued_at': '2999-01-01T00:00:00Z', 'expires_at': '2000-01-01T00:00:00Z'}", 0, 0);
    check_life("{'expires_at': '2999-01-01T00:00:00Z'}", 1, INT64_MAX);
    check_life("{'expires_at': '2000-01-01T00:00:00Z'}", 0, 0);
    check_life("{'expires_at': 17, 'issued_at': null}", 0, 0);
    check_life("{}", 0, 0);
}

/* ---- Endpoints ---- */

static void
check_endpoint(const char *entry, enum service service, const char *expected)
{
    struct settings *settings = sample_settings(entry);
    json_t *catalog = sample_json(
        "[{'type': 'network', 'name': 'neutron', 'endpoints': ["
        "  {'interface': 'public', 'region': 'one', 'url': 'http://n1'},"
        "  {'interface': 'internal', 'region': 'one', 'url': 'http://i1/'},"
        "  {'interface': 'public', 'region': 'two', 'region_id': 'two', 'url': 'http://n2'}]},"
        " {'type': 'image', 'endpoints': ["
        "  {'interface': 'public', 'region': 'one', 'url': 'http://g/v2.15/'}]},"
        " {'type': 'volumev3', 'endpoints': ["
        "  {'interface': 'public', 'region': 'one', 'url': 'http://v/v3/pp'}]}]");
    g_autofree char *url = endpoint_find(settings, catalog, service, "pp");

    g_assert_cmpstr(url, ==, expected);
    json_decref(catalog);
    settings_free(settings);
}

static void
test_endpoints(void)
{
    check_endpoint("{}", SERVICE_NETWORK, "http://n1/v2.0");
    check_endpoint("{'region_name': 'two'}", SERVICE_NETWORK, "http://n2/v2.0");
    check_endpoint("{'interface': 'internal'}", SERVICE_NETWORK, "http://i1/v2.0");
    check_endpoint("{'network_service_name': 'other'}", SERVICE_NETWORK, NULL);
    check_endpoint("{'has_network': false}", SERVICE_NETWORK, NULL);
    check_endpoint("{}", SERVICE_IMAGE, "http://g/v2.15");
    check_endpoint("{}", SERVICE_VOLUME, "http://v/v3/pp");
    check_endpoint("{}", SERVICE_COMPUTE, NULL);
    check_endpoint("{'compute_endpoint_override': 'http://o/v2.1/%(project_id)s'}", SERVICE_COMPUTE,
                   "http://o/v2.1/pp");
}

static void
check_compute(const char *url, const char *base, const char *versions)
{
    g_autofree char *found_versions = NULL;
    g_autofree char *found = endpoint_of_compute(url, &found_versions);

    g_assert_cmpstr(found, ==, base);
    g_assert_cmpstr(found_versions, ==, versions);
}

static void
check_microversion(const char *entry, int expected)
{
    g_autoptr(GError) error = NULL;
    struct settings *settings = sample_settings(entry);
    json_t *answer = sample_json("{'version': {'version': '2.93', 'min_version': '2.1'}}");

    g_assert_cmpint(endpoint_choose_microversion(settings, answer, &error), ==, expected);
    g_assert_true((error != NULL) == (expected < 0));
    if (error != NULL)
        g_assert_nonnull(strstr(error->message, "2.1 to 2.93"));
    json_decref(answer);
    settings_free(settings);
}

static void
test_compute(void)
{
    check_compute("http://n/v2.1", "http://n/v2.1", "http://n/v2.1/");
    check_compute("http://n/v2.1/pp", "http://n/v2.1/pp", "http://n/v2.1/");
    check_compute("http://n/compute/v2/pp", "http://n/compute/v2.1", "http://n/compute/v2.1/");
    check_compute("http://n", "http://n/v2.1", "http://n/v2.1/");
    check_compute("http://n/v2.0/pp", "http://n/v2.1", "http://n/v2.1/");
    check_compute("https://v2.example/v2-lab/nova", "https://v2.example/v2-lab/nova/v2.1",
                  "https://v2.example/v2-lab/nova/v2.1/");
    check_compute("https://v2.1.example/x/v2.1/pp", "https://v2.1.example/x/v2.1/pp",
                  "https://v2.1.example/x/v2.1/");
    check_microversion("{}", 93);
    check_microversion("{'compute_default_microversion': '2.30'}", 30);
    check_microversion("{'compute_default_microversion': '2.95'}", -1);
}

static void
check_version(const char *text, const char *expected)
{
    json_t *answer = sample_json(text);

    g_assert_cmpstr(json_string_value(json_object_get(endpoint_version(answer), "version")), ==,
                    expected);
    json_decref(answer);
}

static void
test_version(void)
{
    check_version("{'version': {'version': '2.93'}}", "2.93");
    check_version("{'versions': [{'id': 'v2.0', 'version': ''}, {'id': 'v2.1', "
                  "'version': '2.90'}]}",
                  "2.90");
    check_version("{'version': '2.93'}", NULL);
    check_version("{'versions': {'id': 'v2.1'}}", NULL);
    check_version("[]", NULL);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/openstack/login/password", test_password);
    g_test_add_func("/openstack/login/OS-07-application-credential", test_application_credential);
    g_test_add_func("/openstack/login/token", test_token);
    g_test_add_func("/openstack/login/versions", test_versions);
    g_test_add_func("/openstack/login/F-31-life-of-a-token", test_life);
    g_test_add_func("/openstack/login/compute-versions", test_version);
    g_test_add_func("/openstack/login/OS-12-endpoints", test_endpoints);
    g_test_add_func("/openstack/login/compute", test_compute);
    return g_test_run();
}
