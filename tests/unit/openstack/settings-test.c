/* What is made of a cloud's entry in clouds.yaml. */
#include "sample.h"

#include "settings.h"

#define AUTH                                                                                       \
    "'auth': {'auth_url': 'http://k/v3', 'username': 'u', 'password': 'p', "                       \
    "'user_domain_id': 'default'}"

static json_t *
clouds(const char *text)
{
    return sample_json(text);
}

static void
check_refused(const char *all, const char *cloud, const char *region, const char *words)
{
    g_autoptr(GError) error = NULL;
    json_t *files = clouds(all);
    struct settings *settings = settings_new(files, cloud, region, &error);

    if (settings != NULL)
        g_assert_false(settings_check(settings, &error));
    g_assert_nonnull(error);
    if (strstr(error->message, words) == NULL)
        g_error("\"%s\" does not say \"%s\"", error->message, words);
    settings_free(settings);
    json_decref(files);
}

static void
test_unknown_cloud(void)
{
    check_refused("{'clouds': {'a': {}}}", "nope", NULL, "no cloud nope");
    check_refused("{}", "nope", NULL, "no cloud nope");
}

static void
test_regions(void)
{
    const char *all = "{'clouds': {'c': {" AUTH ", 'interface': 'public', 'regions': ['one', "
                      "{'name': 'two', 'values': {'interface': 'internal'}}]}}}";
    json_t *files = clouds(all);
    struct settings *first = settings_new(files, "c", NULL, NULL);
    struct settings *second = settings_new(files, "c", "two", NULL);
    g_autofree char *interface = settings_interface(second, SERVICE_COMPUTE);

    g_assert_cmpstr(first->region, ==, "one");
    g_assert_cmpstr(second->region, ==, "two");
    g_assert_cmpstr(interface, ==, "internal");
    g_assert_false(settings_equal(first, second));
    check_refused(all, "c", "three", "one, two");
    check_refused("{'clouds': {'c': {'region_name': 'x'}}}", "c", "y", "there are: x");
    settings_free(first);
    settings_free(second);
    json_decref(files);
}

static void
test_profile(void)
{
    json_t *files = clouds("{'public-clouds': {'v': {'auth': {'auth_url': 'http://v/v3'}, "
                           "'image-format': 'raw', 'interface': 'admin'}}, 'clouds': {"
                           "'c': {'profile': 'v', 'interface': 'internalURL', "
                           "'auth': {'username': 'u'}}, 'd': {'profile': 'w'}}}");
    struct settings *known = settings_new(files, "c", NULL, NULL);
    struct settings *unknown = settings_new(files, "d", NULL, NULL);
    g_autofree char *interface = settings_interface(known, SERVICE_IMAGE);

    g_assert_cmpstr(settings_auth(known, "auth_url"), ==, "http://v/v3");
    g_assert_cmpstr(settings_auth(known, "username"), ==, "u");
    g_assert_cmpstr(settings_text(known, "image_format"), ==, "raw");
    g_assert_cmpstr(interface, ==, "internal");
    g_assert_cmpuint(json_array_size(unknown->warnings), ==, 1);
    settings_free(known);
    settings_free(unknown);
    json_decref(files);
}

static void
test_templates(void)
{
    struct settings *settings =
        sample_settings("{'region_name': 'r1', 'auth': {'auth_url': 'http://{region_name}.x/v3', "
                        "'password': '{region_name}', 'username': '{nothing}'}}");

    g_assert_cmpstr(settings_auth(settings, "auth_url"), ==, "http://r1.x/v3");
    g_assert_cmpstr(settings_auth(settings, "password"), ==, "{region_name}");
    g_assert_cmpstr(settings_auth(settings, "username"), ==, "{nothing}");
    settings_free(settings);
}

static void
test_old_forms(void)
{
    struct settings *settings = sample_settings(
        "{'project_name': 'out', 'compute-endpoint': 'http://n', 'insecure': true, "
        "'volume_interface': 'admin', 'has_network': false, 'auth': {'tenant_id': 't', "
        "'username': 'u', 'domain_name': 'D', 'default_domain_id': 'X'}}");
    g_autofree char *interface = settings_interface(settings, SERVICE_VOLUME);

    g_assert_cmpstr(settings_auth(settings, "project_id"), ==, "t");
    g_assert_cmpstr(settings_auth(settings, "project_name"), ==, "out");
    g_assert_cmpstr(settings_auth(settings, "user_domain_name"), ==, "D");
    g_assert_cmpstr(settings_auth(settings, "project_domain_name"), ==, "D");
    g_assert_null(settings_auth(settings, "user_domain_id"));
    g_assert_cmpstr(settings_of_service(settings, SERVICE_COMPUTE, "endpoint"), ==, "http://n");
    g_assert_cmpstr(interface, ==, "admin");
    g_assert_false(settings_verify(settings));
    g_assert_false(settings_has_service(settings, SERVICE_NETWORK));
    g_assert_true(settings_has_service(settings, SERVICE_IMAGE));
    settings_free(settings);
}

static void
test_refused(void)
{
    check_refused("{'clouds': {'c': {'auth_type': 'v3oidcpassword', " AUTH "}}}", "c", NULL,
                  "v3applicationcredential");
    check_refused("{'clouds': {'c': {'image_api_use_tasks': true, " AUTH "}}}", "c", NULL,
                  "image_api_use_tasks");
    check_refused("{'clouds': {'c': {'floating_ip_source': 'nova', " AUTH "}}}", "c", NULL,
                  "floating_ip_source");
    check_refused("{'clouds': {'c': {'auth': {'auth_url': 'u', 'username': 'u'}}}}", "c", NULL,
                  "password is missing");
    check_refused("{'clouds': {'c': {'auth_type': 'v3applicationcredential', 'auth': {"
                  "'auth_url': 'u', 'application_credential_name': 'n', "
                  "'application_credential_secret': 's'}}}}",
                  "c", NULL, "needs username or user_id");
}

static void
test_networks(void)
{
    check_refused("{'clouds': {'c': {'external_network': 'x', 'networks': [{'name': 'a'}], " AUTH
                  "}}}",
                  "c", NULL, "old forms");
    check_refused("{'clouds': {'c': {'networks': [{'nat_source': true}], " AUTH "}}}", "c", NULL,
                  "no name");
    check_refused("{'clouds': {'c': {'networks': [{'name': 'a', 'nat_destination': true}, "
                  "{'name': 'b', 'nat_destination': true}], " AUTH "}}}",
                  "c", NULL, "more than one of its networks has nat_destination");
    check_refused("{'clouds': {'c': {'networks': [{'name': 'a', 'default_interface': true}, "
                  "{'name': 'b', 'default_interface': true}], " AUTH "}}}",
                  "c", NULL, "more than one of its networks has default_interface");
}

static void
test_missing_domain(void)
{
    check_refused("{'clouds': {'c': {'auth': {'auth_url': 'u', 'username': 'u', "
                  "'password': 'p'}}}}",
                  "c", NULL, "user_domain_name");
    check_refused("{'clouds': {'c': {'auth': {'auth_url': 'u', 'user_id': 'u', "
                  "'password': 'p', 'project_name': 'n'}}}}",
                  "c", NULL, "project_domain_name");
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/openstack/settings/OS-03-unknown-cloud", test_unknown_cloud);
    g_test_add_func("/openstack/settings/OS-04-regions", test_regions);
    g_test_add_func("/openstack/settings/profile", test_profile);
    g_test_add_func("/openstack/settings/templates", test_templates);
    g_test_add_func("/openstack/settings/old-forms", test_old_forms);
    g_test_add_func("/openstack/settings/OS-08-refused", test_refused);
    g_test_add_func("/openstack/settings/networks", test_networks);
    g_test_add_func("/openstack/settings/OS-72-missing-domain", test_missing_domain);
    return g_test_run();
}
