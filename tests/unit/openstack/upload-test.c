/* What Glance is told of an image, and whether it has what was sent. */
#include "sample.h"

#include "upload.h"

static void
test_description(void)
{
    struct settings *settings =
        sample_settings("{'disable_vendor_agent': {'vm-mode': 'hvm', 'xenapi_use_agent': false}}");
    struct drover_value *meta =
        sample_value("{'key': 'provider', 'n': 5, 'on': true, 'min_disk': '7', 'protected': true, "
                     "'nodepool_upload_id': 'mine', 'tags': ['a', 'b']}");
    json_t *metadata = sample_json("{'key': 'top', 'other': 'x', 'nodepool_build_id': 'b', "
                                   "'nodepool_upload_id': 'u', 'nodepool_provider_name': 'p'}");

    sample_check(upload_description("img-1", "qcow2", metadata, meta, settings),
                 "{'name': 'img-1', 'disk_format': 'qcow2', 'container_format': 'bare', "
                 "'visibility': 'private', 'key': 'provider', 'other': 'x', 'n': '5', "
                 "'on': 'True', 'min_disk': 7, 'protected': true, 'tags': ['a', 'b'], "
                 "'vm_mode': 'hvm', 'xenapi_use_agent': 'False', 'nodepool_build_id': 'b', "
                 "'nodepool_upload_id': 'u', "
                 "'nodepool_provider_name': 'p'}");
    json_decref(metadata);
    drover_value_free(meta);
    settings_free(settings);
}

static void
check_intact(const char *image, const char *md5, const char *sha256, gboolean expected)
{
    json_t *record = sample_json(image);

    g_assert_cmpint(upload_is_intact(record, md5, sha256), ==, expected);
    json_decref(record);
}

static void
test_checksums(void)
{
    check_intact("{'checksum': 'AB'}", "ab", NULL, TRUE);
    check_intact("{'checksum': 'cd'}", "ab", NULL, FALSE);
    check_intact("{'checksum': 'cd'}", NULL, NULL, TRUE);
    check_intact("{'checksum': null}", "ab", "ef", TRUE);
    check_intact("{'os_hash_algo': 'sha256', 'os_hash_value': 'ef'}", "ab", "ef", TRUE);
    check_intact("{'os_hash_algo': 'sha256', 'os_hash_value': 'xx'}", "ab", "ef", FALSE);
    check_intact("{'os_hash_algo': 'sha512', 'os_hash_value': 'xx'}", "ab", "ef", TRUE);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/openstack/upload/OS-60-description", test_description);
    g_test_add_func("/openstack/upload/OS-63-checksums", test_checksums);
    return g_test_run();
}
