/* What addresses of APIs are called in metrics. */
#include "launcher/telemetry/api-name.h"

/* Address, service, operation. */
static const char *const samples[][3] = {
    {"http://c:8774/v2.1/servers/detail?limit", "compute", "servers_detail"},
    {"http://c:8774/v2.1/servers", "compute", "servers"},
    {"http://c:8774/v2.1/0123456789abcdef0123456789abcdef/servers/1", "compute", "server"},
    {"https://c/compute/v2.1/servers/1/os-security-groups", "compute", "server_os-security-groups"},
    {"https://c/compute/v2.1/servers/1/os-volume_attachments/2", "compute",
     "server_os-volume_attachment"},
    {"https://c/identity/v3/auth/tokens", "identity", "tokens"},
    {"https://c:5000/v3", "identity", "discovery"},
    {"https://c:9696/v2.0/floatingips/7", "network", "floatingip"},
    {"https://c/networking/v2.0/ports", "network", "ports"},
    {"https://c/volume/v3/AUTH_x/volumes/7", "block-storage", "volume"},
    {"https://c/image", "image", "discovery"},
    {"http://127.0.0.1:4711/machines/m-7", "", "machine"},
    {"https://ec2.example.org/", "", "discovery"},
    {"no address", "", "discovery"},
};

static void
test_name(gconstpointer data)
{
    const char *const *sample = data;
    g_auto(DroverApiName) name = drover_api_name(sample[0]);

    g_assert_cmpstr(name.service, ==, sample[1]);
    g_assert_cmpstr(name.operation, ==, sample[2]);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(samples); i++) {
        g_autofree char *path = g_strdup_printf("/launcher/api-name/%02u", i);

        g_test_add_data_func(path, samples[i], test_name);
    }
    return g_test_run();
}
