#include "openstack.h"

#include "support/process.h"

static char *folder;

/* The cloud's address is only known once it runs. */
static void
write_clouds(void)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *path = g_build_filename(folder, "clouds.yaml", NULL);
    g_autofree char *text = g_strdup_printf("clouds:\n"
                                            "  fake:\n"
                                            "    auth:\n"
                                            "      auth_url: %s/identity\n"
                                            "      username: drover\n"
                                            "      password: password-of-the-test\n"
                                            "      project_name: drover\n"
                                            "      user_domain_id: default\n"
                                            "      project_domain_id: default\n"
                                            "    disable_vendor_agent: {vm_mode: hvm}\n",
                                            cloud_url());

    g_file_set_contents(path, text, -1, &error);
    g_assert_no_error(error);
    g_setenv("OS_CLIENT_CONFIG_FILE", path, TRUE);
}

static json_t *
provider(void)
{
    write_clouds();
    return json_pack("{s:s, s:f, s:[{s:s}]}", "cloud", "fake", "rate", 0.001, "cloud-images",
                     "name", "plain");
}

int
openstack_run_tests(int argc, char **argv, const CloudTest *tests)
{
    static const CloudKind kind = {
        .program = "fake_openstack",
        .driver = "openstack",
        .directory = "drivers",
        .provider = provider,
        .label = "'name': 'l', 'cloud-image': 'plain', 'flavor-name': 'small'",
    };
    int status;

    folder = test_folder_make();
    status = cloud_run_tests_with(&kind, argc, argv, tests);
    test_folder_remove(folder);
    g_free(folder);
    return status;
}

int
openstack_run_tests_with_image(int argc, char **argv, const CloudTest *tests, ImageFile *file)
{
    int status;

    image_file_make(file, "image.qcow2", G_CHECKSUM_MD5);
    status = openstack_run_tests(argc, argv, tests);
    image_file_remove(file);
    return status;
}

char *
openstack_first(const char *collection, const char *member)
{
    json_t *state = cloud_ask("state");
    const json_t *first = json_array_get(json_object_get(state, collection), 0);
    char *text = g_strdup(json_string_value(json_object_get(first, member)));

    json_decref(state);
    return text;
}

void
openstack_assert_understood(void)
{
    json_t *state = cloud_ask("state");
    const json_t *complaints = json_object_get(state, "complaints");

    if (json_array_size(complaints) > 0)
        g_error("%s", json_string_value(json_array_get(complaints, 0)));
    json_decref(state);
}
