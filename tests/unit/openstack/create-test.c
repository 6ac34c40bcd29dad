/* What Nova is asked to make. */
#include "sample.h"

#include "server.h"

#define CONFIG                                                                                     \
    "{'diskimages': [{'name': 'img', 'config-drive': true}],"                                      \
    " 'cloud-images': [{'name': 'cloudy', 'config-drive': false}],"                                \
    " 'pools': [{'name': 'main', 'security-groups': ['fake-sg'], 'labels': ["                      \
    "  {'name': 'l', 'diskimage': 'img', 'key-name': 'k', 'userdata': '#cloud-config\\n{}\\n',"    \
    "   'instance-properties': {'n': 5, 'yes': true, 'nodepool_node_id': 'mine'},"                 \
    "   'dynamic-instance-properties': {'n': 'six'}},"                                             \
    "  {'name': 'volume', 'cloud-image': 'cloudy', 'boot-from-volume': true,"                      \
    "   'volume-size': 10}]}]}"

static void
check(const char *label, struct server_parts *parts, const char *expected)
{
    struct cloud *cloud = sample_cloud(CONFIG, "{}");
    struct drover_operation *op = sample_operation(cloud, label);

    sample_check(server_description(cloud, op, parts), expected);
    drover_host_operation_free(op);
    sample_cloud_free(cloud);
}

static void
test_body(void)
{
    json_t *networks = sample_json("[{'uuid': 'b'}, {'uuid': 'c'}]");
    struct server_parts parts = {
        .flavor_id = "f", .image_id = "i", .zone = "az1", .networks = networks};

    check("l", &parts,
          "{'server': {'name': 'np0000000007', 'flavorRef': 'f', 'imageRef': 'i', 'min_count': 1, "
          "'max_count': 1, 'key_name': 'k', 'availability_zone': 'az1', 'config_drive': true, "
          "'security_groups': [{'name': 'fake-sg'}], 'user_data': 'I2Nsb3VkLWNvbmZpZwp7fQo=', "
          "'networks': [{'uuid': 'b'}, {'uuid': 'c'}], 'metadata': {'groups': 'p,img,l', "
          "'n': 'six', 'yes': 'true', 'nodepool_node_id': '0000000007'}}}");
    json_decref(networks);
}

static void
test_volume(void)
{
    struct server_parts parts = {.flavor_id = "f", .image_id = "i"};

    check("volume", &parts,
          "{'server': {'name': 'np0000000007', 'flavorRef': 'f', 'imageRef': '', 'min_count': 1, "
          "'max_count': 1, 'security_groups': [{'name': 'fake-sg'}], "
          "'metadata': {'groups': 'p,cloudy,volume', 'nodepool_node_id': '0000000007'}, "
          "'block_device_mapping_v2': [{'boot_index': '0', 'uuid': 'i', 'source_type': 'image', "
          "'destination_type': 'volume', 'volume_size': '10', 'delete_on_termination': true}]}}");
}

static void
test_ownership(void)
{
    struct cloud *cloud = sample_cloud(CONFIG, "{}");
    struct drover_operation *op = sample_operation(cloud, "l");
    json_t *own = sample_json("{'id': 's', 'name': 'np0000000007', 'status': 'BUILD', 'metadata': {"
                              "'nodepool_node_id': '0000000007', 'nodepool_provider_name': 'p'}}");
    json_t *partial = sample_json("{'id': 's', 'status': 'UNKNOWN'}");

    g_assert_true(server_is_of_node(cloud, op, own));
    g_assert_false(server_is_partial(own));
    g_assert_true(server_is_partial(partial));
    g_assert_false(server_is_of_node(cloud, op, partial));
    json_object_set_new(own, "OS-EXT-STS:task_state", json_string("deleting"));
    g_assert_false(server_is_of_node(cloud, op, own));
    json_object_set_new(own, "status", json_string("SOFT_DELETED"));
    g_assert_false(server_exists(own));
    json_decref(own);
    json_decref(partial);
    drover_host_operation_free(op);
    sample_cloud_free(cloud);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/openstack/create/OS-16-OS-17-OS-19-OS-21-OS-69-body", test_body);
    g_test_add_func("/openstack/create/OS-22-volume", test_volume);
    g_test_add_func("/openstack/create/OS-49-ownership", test_ownership);
    return g_test_run();
}
