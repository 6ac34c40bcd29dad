/*
 * The static driver as the launcher loads and runs it, against a real SSH server and against one
 * that misbehaves on command. Case numbers are those of the specifications of the node scan (H) and
 * of the static driver (ST).
 */
#include "driver/host.h"
#include "driver/runner.h"

#include <drover/host.h>

#include "support/sshd.h"
#include "support/tcp-server.h"
#include "support/wait.h"

#include <string.h>

enum { LONGEST_WAIT = 30000 };
/* The specification's second, on a busy machine; by itself the peer would go on for long. */
#define SOON (5 * G_TIME_SPAN_SECOND)

static TestSshd *usual_sshd;

/* ---- A provider with one pool ---- */

typedef struct {
    DroverDriverHost *host;
    DroverRunner *runner;
    const GPtrArray *machines;
    gboolean open, closed;
} Provider;

static void
note_open(DroverRunner *runner, const GPtrArray *machines, const GError *error, gpointer user_data)
{
    Provider *provider = user_data;

    g_assert_no_error(error);
    provider->machines = machines;
    provider->open = TRUE;
}

static void
note_closed(gpointer user_data)
{
    Provider *provider = user_data;

    provider->closed = TRUE;
}

/* Takes `machines`, the list under `nodes:`, over. */
static Provider *
provider_new(struct drover_value *machines)
{
    Provider *provider = g_new0(Provider, 1);
    const char *const directories[] = {DROVER_BUILD_DIR "/drivers", NULL};
    struct drover_value *config = drover_value_new_map();
    struct drover_value *pools = drover_value_new_list();
    struct drover_value *pool = drover_value_new_map();
    const struct drover_driver *driver;
    g_autoptr(GError) error = NULL;

    drover_value_set(pool, "name", drover_value_new_string("main"));
    drover_value_set(pool, "nodes", machines);
    drover_value_append(pools, pool);
    drover_value_set(config, "pools", pools);

    provider->host = drover_driver_host_new(directories);
    driver = drover_driver_host_find(provider->host, "static", &error);
    g_assert_no_error(error);
    provider->runner = drover_runner_new(driver, "static-provider", config);
    drover_value_free(config);
    drover_runner_open(provider->runner, note_open, provider);
    g_assert_true(test_wait_for(&provider->open, LONGEST_WAIT));
    return provider;
}

static void
provider_free(Provider *provider)
{
    drover_runner_close(provider->runner, TRUE, note_closed, provider);
    g_assert_true(test_wait_for(&provider->closed, LONGEST_WAIT));
    drover_driver_host_free(provider->host);
    g_free(provider);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Provider, provider_free)

/* A machine's section as the configuration's checker hands it over, with some defaults. */
static struct drover_value *
machine_new(const char *name, guint16 port, const char *connection_type)
{
    struct drover_value *machine = drover_value_new_map();

    drover_value_set(machine, "name", drover_value_new_string(name));
    drover_value_set(machine, "username", drover_value_new_string("zuul"));
    drover_value_set(machine, "connection-port", drover_value_new_integer(port));
    drover_value_set(machine, "connection-type", drover_value_new_string(connection_type));
    drover_value_set(machine, "python-path", drover_value_new_string("auto"));
    drover_value_set(machine, "host-key", drover_value_new_list());
    drover_value_set(machine, "host-key-checking", drover_value_new_boolean(TRUE));
    drover_value_set(machine, "timeout", drover_value_new_integer(20));
    return machine;
}

static void
add_host_key(struct drover_value *machine, const char *key)
{
    struct drover_value *keys = drover_value_copy(drover_value_get(machine, "host-key"));

    drover_value_append(keys, drover_value_new_string(key));
    drover_value_set(machine, "host-key", keys);
}

static struct drover_value *
list_of_one(struct drover_value *machine)
{
    struct drover_value *list = drover_value_new_list();

    drover_value_append(list, machine);
    return list;
}

/* ---- A task and its result ---- */

typedef struct {
    DroverTask *task;
    gboolean done, ok;
    enum drover_failure failure;
    char *message;
    json_t *fields;
    gint64 begun, ended;
} Visit;

static void
note_result(const DroverTaskResult *result, gpointer user_data)
{
    Visit *visit = user_data;

    visit->ended = g_get_monotonic_time();
    visit->done = TRUE;
    visit->ok = result->ok;
    visit->failure = result->failure;
    visit->message = g_strdup(result->message);
    visit->fields = json_deep_copy(result->fields);
}

static void
visit_free(Visit *visit)
{
    g_free(visit->message);
    json_decref(visit->fields);
    g_free(visit);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Visit, visit_free)

static Visit *
visit_begin(Provider *provider, DroverTaskKind kind, guint machine_index)
{
    const DroverMachine *machine = provider->machines->pdata[machine_index];
    const DroverTaskInput input = {.pool = machine->pool, .label_config = machine->config};
    Visit *visit = g_new0(Visit, 1);

    visit->begun = g_get_monotonic_time();
    visit->task = drover_runner_submit(provider->runner, kind, &input, note_result, NULL, visit);
    return visit;
}

static Visit *
visit_machine(Provider *provider, DroverTaskKind kind)
{
    Visit *visit = visit_begin(provider, kind, 0);

    g_assert_true(test_wait_for(&visit->done, LONGEST_WAIT));
    return visit;
}

static void
assert_field(const Visit *visit, const char *name, const char *expected)
{
    g_assert_cmpstr(json_string_value(json_object_get(visit->fields, name)), ==, expected);
}

/* `keys` as they stand in the record: no list is as good as an empty one. */
static void
assert_registered(const Visit *visit, const char *const *keys)
{
    json_t *found = json_object_get(visit->fields, "host_keys");

    g_assert_cmpstr(visit->message, ==, NULL);
    g_assert_true(visit->ok);
    for (guint i = 0; keys[i] != NULL; i++)
        g_assert_cmpstr(json_string_value(json_array_get(found, i)), ==, keys[i]);
    g_assert_cmpuint(json_array_size(found), ==, g_strv_length((char **)keys));
}

static void
assert_failed(const Visit *visit, enum drover_failure failure, const char *text)
{
    g_assert_false(visit->ok);
    g_assert_cmpint(visit->failure, ==, failure);
    if (strstr(visit->message, text) == NULL)
        g_error("\"%s\" is not in \"%s\"", text, visit->message);
}

static TestTcpServer *
start_tcp_server(const char *command)
{
    g_autoptr(GError) error = NULL;
    TestTcpServer *server = test_tcp_server_start("127.0.0.1", &error);

    g_assert_no_error(error);
    test_tcp_server_command(server, "%s", command);
    return server;
}

/* ---- Machines with SSH ---- */

static void
test_inventory(void)
{
    struct drover_value *machines = drover_value_new_list();
    struct drover_value *two_slots = machine_new("one.example.org", 22, "ssh");
    g_autoptr(Provider) provider = NULL;
    const DroverMachine *machine;

    drover_value_set(two_slots, "max-parallel-jobs", drover_value_new_integer(2));
    drover_value_append(machines, two_slots);
    drover_value_append(machines, machine_new("two.example.org", 5986, "winrm"));
    provider = provider_new(machines);

    g_assert_cmpuint(provider->machines->len, ==, 2);
    machine = provider->machines->pdata[0];
    g_assert_cmpstr(machine->pool, ==, "main");
    g_assert_cmpuint(machine->slots, ==, 2);
    g_assert_cmpstr(drover_value_get_string(machine->config, "name", NULL), ==, "one.example.org");
    machine = provider->machines->pdata[1];
    g_assert_cmpuint(machine->slots, ==, 1);
}

static void
test_no_key_configured(void)
{
    guint16 port = test_sshd_port(usual_sshd);
    g_autoptr(Provider) provider = provider_new(list_of_one(machine_new("127.0.0.1", port, "ssh")));
    g_autoptr(Visit) visit = visit_machine(provider, DROVER_TASK_SLOT_REGISTER);

    assert_registered(visit, test_sshd_keys(usual_sshd));
    assert_field(visit, "external_id", "127.0.0.1");
    assert_field(visit, "hostname", "127.0.0.1");
    assert_field(visit, "interface_ip", "127.0.0.1");
    assert_field(visit, "public_ipv4", "127.0.0.1");
    assert_field(visit, "public_ipv6", NULL);
    assert_field(visit, "username", "zuul");
    assert_field(visit, "connection_type", "ssh");
    assert_field(visit, "python_path", "auto");
    g_assert_cmpint(json_integer_value(json_object_get(visit->fields, "connection_port")), ==,
                    port);
    g_assert_null(json_object_get(visit->fields, "shell_type"));
}

static void
test_network_device(void)
{
    struct drover_value *machine =
        machine_new("127.0.0.1", test_sshd_port(usual_sshd), "network_cli");
    g_autoptr(Provider) provider = NULL;
    g_autoptr(Visit) visit = NULL;

    drover_value_set(machine, "shell-type", drover_value_new_string("sh"));
    drover_value_set(machine, "username", drover_value_new_string("admin"));
    provider = provider_new(list_of_one(machine));
    visit = visit_machine(provider, DROVER_TASK_SLOT_REGISTER);
    assert_registered(visit, test_sshd_keys(usual_sshd));
    assert_field(visit, "connection_type", "network_cli");
    assert_field(visit, "shell_type", "sh");
    assert_field(visit, "username", "admin");
}

static void
test_one_key_configured(void)
{
    struct drover_value *machine = machine_new("127.0.0.1", test_sshd_port(usual_sshd), "ssh");
    g_autoptr(Provider) provider = NULL;
    g_autoptr(Visit) visit = NULL;

    add_host_key(machine, test_sshd_keys(usual_sshd)[1]);
    provider = provider_new(list_of_one(machine));
    visit = visit_machine(provider, DROVER_TASK_SLOT_REGISTER);
    assert_registered(visit, test_sshd_keys(usual_sshd));
}

static void
test_foreign_key_configured(void)
{
    const char *const *keys = test_sshd_keys(usual_sshd);
    guint16 port = test_sshd_port(usual_sshd);
    struct drover_value *machine = machine_new("127.0.0.1", port, "ssh");
    g_autofree char *expected =
        g_strdup_printf("host key mismatches (%s, %s, %s)", keys[0], keys[1], keys[2]);
    g_autoptr(Provider) provider = NULL;
    g_autoptr(Visit) visit = NULL;

    add_host_key(machine, keys[0]);
    add_host_key(machine, "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGZvcmVpZ24ga2V5IG9mIGFub3RoZXI=");
    provider = provider_new(list_of_one(machine));
    visit = visit_machine(provider, DROVER_TASK_SLOT_REGISTER);
    assert_failed(visit, DROVER_FAILURE_UNREACHABLE, expected);
}

static void
test_address_of_ipv6(void)
{
    static const char *const types[] = {"ed25519", NULL};
    g_autoptr(GError) error = NULL;
    g_autoptr(TestSshd) sshd = test_sshd_new("::1", types, NULL, &error);
    g_autoptr(Provider) provider = NULL;
    g_autoptr(Visit) visit = NULL;

    g_assert_no_error(error);
    if (!test_sshd_start(sshd, NULL)) {
        g_test_skip("this machine has no IPv6");
        return;
    }
    provider = provider_new(list_of_one(machine_new("::1", test_sshd_port(sshd), "ssh")));
    visit = visit_machine(provider, DROVER_TASK_SLOT_REGISTER);
    assert_registered(visit, test_sshd_keys(sshd));
    assert_field(visit, "public_ipv6", "::1");
    assert_field(visit, "public_ipv4", NULL);
}

static void
test_name_unknown(void)
{
    g_autoptr(Provider) provider =
        provider_new(list_of_one(machine_new("no-such-machine.invalid", 22, "ssh")));
    g_autoptr(Visit) visit = visit_machine(provider, DROVER_TASK_SLOT_REGISTER);

    assert_failed(visit, DROVER_FAILURE_UNREACHABLE, "the name cannot be resolved");
}

/* ---- Machines that do not answer ---- */

static void
test_down(void)
{
    g_autoptr(TestTcpServer) server = start_tcp_server("refuse");
    struct drover_value *machine =
        machine_new("fake-host-1.localhost", test_tcp_server_port(server), "ssh");
    g_autoptr(Provider) provider = NULL;
    g_autoptr(Visit) visit = NULL;

    drover_value_set(machine, "timeout", drover_value_new_integer(1));
    provider = provider_new(list_of_one(machine));
    visit = visit_machine(provider, DROVER_TASK_SLOT_REGISTER);
    assert_failed(visit, DROVER_FAILURE_TIMEOUT, "not reached within 1 s: ");
    g_assert_cmpint(visit->ended - visit->begun, >=, G_TIME_SPAN_SECOND);
}

static void
test_down_and_unchecked(void)
{
    g_autoptr(TestTcpServer) server = start_tcp_server("silent");
    struct drover_value *machine = machine_new("127.0.0.1", test_tcp_server_port(server), "ssh");
    g_autoptr(Provider) provider = NULL;
    g_autoptr(Visit) registered = NULL;
    g_autoptr(Visit) checked = NULL;

    drover_value_set(machine, "host-key-checking", drover_value_new_boolean(FALSE));
    add_host_key(machine, "ssh-rsa X");
    provider = provider_new(list_of_one(machine));
    registered = visit_machine(provider, DROVER_TASK_SLOT_REGISTER);
    assert_registered(registered, (const char *[]){"ssh-rsa X", NULL});
    assert_field(registered, "public_ipv4", "127.0.0.1");
    checked = visit_machine(provider, DROVER_TASK_SLOT_CHECK);
    assert_registered(checked, (const char *[]){NULL});
    /* The server tells what it accepts before it answers the next command. */
    test_tcp_server_command(server, "refuse");
    g_assert_cmpuint(test_tcp_server_count(server, "accepted"), ==, 0);
}

static void
test_windows(gconstpointer data)
{
    gboolean checking = GPOINTER_TO_INT(data);
    g_autoptr(TestTcpServer) server = start_tcp_server("silent");
    struct drover_value *machine = machine_new("127.0.0.1", test_tcp_server_port(server), "winrm");
    g_autoptr(Provider) provider = NULL;
    g_autoptr(Visit) open = NULL;
    g_autoptr(Visit) closed = NULL;

    drover_value_set(machine, "host-key-checking", drover_value_new_boolean(checking));
    drover_value_set(machine, "timeout", drover_value_new_integer(1));
    add_host_key(machine, "ssh-rsa X");
    provider = provider_new(list_of_one(machine));
    open = visit_machine(provider, DROVER_TASK_SLOT_REGISTER);
    assert_registered(open, (const char *[]){NULL});
    assert_field(open, "connection_type", "winrm");
    test_tcp_server_wait(server, "accepted", 1);
    test_tcp_server_command(server, "refuse");
    closed = visit_machine(provider, DROVER_TASK_SLOT_REGISTER);
    assert_failed(closed, DROVER_FAILURE_TIMEOUT, "not reached within 1 s");
}

static void
test_check(void)
{
    g_autoptr(TestTcpServer) server = start_tcp_server("silent");
    struct drover_value *machine = machine_new("127.0.0.1", test_tcp_server_port(server), "ssh");
    g_autoptr(Provider) provider = NULL;
    g_autoptr(Visit) alive = NULL;
    g_autoptr(Visit) dead = NULL;

    drover_value_set(machine, "timeout", drover_value_new_integer(1));
    add_host_key(machine, "ssh-rsa X");
    provider = provider_new(list_of_one(machine));
    alive = visit_machine(provider, DROVER_TASK_SLOT_CHECK);
    assert_registered(alive, (const char *[]){NULL});
    test_tcp_server_wait(server, "closed", 1);
    test_tcp_server_command(server, "refuse");
    dead = visit_machine(provider, DROVER_TASK_SLOT_CHECK);
    assert_failed(dead, DROVER_FAILURE_TIMEOUT, "not reached within 1 s");
}

static void
test_silent_machines_beside_a_good_one(void)
{
    enum { SILENT = 50 };
    g_autoptr(TestTcpServer) server = start_tcp_server("deaf");
    struct drover_value *machines = drover_value_new_list();
    g_autoptr(GPtrArray) visits = g_ptr_array_new_with_free_func((GDestroyNotify)visit_free);
    g_autoptr(Provider) provider = NULL;
    Visit *good;
    gint64 begun;

    for (guint i = 0; i < SILENT; i++) {
        struct drover_value *machine =
            machine_new("127.0.0.1", test_tcp_server_port(server), "ssh");

        drover_value_set(machine, "timeout", drover_value_new_integer(2));
        drover_value_append(machines, machine);
    }
    drover_value_append(machines, machine_new("127.0.0.1", test_sshd_port(usual_sshd), "ssh"));
    provider = provider_new(machines);
    begun = g_get_monotonic_time();
    for (guint i = 0; i <= SILENT; i++)
        g_ptr_array_add(visits, visit_begin(provider, DROVER_TASK_SLOT_REGISTER, i));
    good = visits->pdata[SILENT];
    for (guint i = 0; i <= SILENT; i++) {
        Visit *visit = visits->pdata[i];

        g_assert_true(test_wait_for(&visit->done, LONGEST_WAIT));
        if (visit != good)
            assert_failed(visit, DROVER_FAILURE_TIMEOUT, "not reached within 2 s");
    }
    assert_registered(good, test_sshd_keys(usual_sshd));
    g_assert_cmpint(g_get_monotonic_time() - begun, <, 15 * G_TIME_SPAN_SECOND);
}

static void
test_cancelled(void)
{
    g_autoptr(TestTcpServer) server = start_tcp_server("silent");
    g_autoptr(Provider) provider =
        provider_new(list_of_one(machine_new("127.0.0.1", test_tcp_server_port(server), "ssh")));
    g_autoptr(Visit) visit = visit_begin(provider, DROVER_TASK_SLOT_REGISTER, 0);
    gint64 cancelled;

    test_tcp_server_wait(server, "accepted", 1);
    cancelled = g_get_monotonic_time();
    drover_task_cancel(visit->task);
    test_tcp_server_wait(server, "closed", 1);
    g_assert_true(test_wait_for(&visit->done, LONGEST_WAIT));
    g_assert_cmpint(g_get_monotonic_time() - cancelled, <, SOON);
    g_assert_false(visit->ok);
}

/* The provider is closed while a machine is visited. */
static void
test_closed_meanwhile(void)
{
    g_autoptr(TestTcpServer) server = start_tcp_server("silent");
    Provider *provider =
        provider_new(list_of_one(machine_new("127.0.0.1", test_tcp_server_port(server), "ssh")));
    g_autoptr(Visit) visit = visit_begin(provider, DROVER_TASK_SLOT_REGISTER, 0);

    test_tcp_server_wait(server, "accepted", 1);
    provider_free(provider);
    g_assert_true(visit->done);
    g_assert_false(visit->ok);
    test_tcp_server_wait(server, "closed", 1);
}

int
main(int argc, char **argv)
{
    static const char *const usual_types[] = {"ed25519", "ecdsa-256", "rsa-2048", NULL};
    g_autoptr(GError) error = NULL;
    int status;

    g_test_init(&argc, &argv, NULL);
    usual_sshd = test_sshd_new("127.0.0.1", usual_types, NULL, &error);
    g_assert_no_error(error);
    test_sshd_start(usual_sshd, &error);
    g_assert_no_error(error);
    g_test_add_func("/static/inventory", test_inventory);
    g_test_add_func("/static/H-21-ST-22-no-key-configured", test_no_key_configured);
    g_test_add_func("/static/H-02-network-device", test_network_device);
    g_test_add_func("/static/H-22-one-key-configured", test_one_key_configured);
    g_test_add_func("/static/H-23-ST-21-foreign-key-configured", test_foreign_key_configured);
    g_test_add_func("/static/H-16-address-of-ipv6", test_address_of_ipv6);
    g_test_add_func("/static/ST-09-name-unknown", test_name_unknown);
    g_test_add_func("/static/ST-24-H-32-down", test_down);
    g_test_add_func("/static/H-05-H-24-ST-23-down-and-unchecked", test_down_and_unchecked);
    g_test_add_data_func("/static/H-25-windows", GINT_TO_POINTER(TRUE), test_windows);
    g_test_add_data_func("/static/H-25-windows-unchecked", GINT_TO_POINTER(FALSE), test_windows);
    g_test_add_func("/static/check", test_check);
    g_test_add_func("/static/H-28-silent-machines-beside-a-good-one",
                    test_silent_machines_beside_a_good_one);
    g_test_add_func("/static/H-18-cancelled", test_cancelled);
    g_test_add_func("/static/closed-meanwhile", test_closed_meanwhile);
    status = g_test_run();
    test_sshd_free(usual_sshd);
    return status;
}
