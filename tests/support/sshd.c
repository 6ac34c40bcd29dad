#include "support/sshd.h"

#include "support/process.h"

#include <gio/gio.h>
#include <signal.h>
#include <sys/stat.h>

#define PROGRAM "/usr/sbin/sshd"

struct _TestSshd {
    char *folder;
    char *address;
    guint16 port;
    char **keys;
    pid_t pid;
};

static char *
path_of(const TestSshd *sshd, const char *name)
{
    return g_build_filename(sshd->folder, name, NULL);
}

/* The first two fields of a .pub file. */
static char *
read_public_key(const char *path, GError **error)
{
    g_autofree char *public_path = g_strconcat(path, ".pub", NULL);
    g_autofree char *text = NULL;
    g_auto(GStrv) fields = NULL;

    if (!g_file_get_contents(public_path, &text, NULL, error))
        return NULL;
    fields = g_strsplit(text, " ", 3);
    return g_strdup_printf("%s %s", fields[0], g_strchomp(fields[1]));
}

/* Makes a key in the file of the type's name, and returns its public half. */
static char *
make_key(const TestSshd *sshd, const char *type, GError **error)
{
    g_autofree char *path = path_of(sshd, type);
    g_auto(GStrv) parts = g_strsplit(type, "-", 2);
    const char *bits = parts[1] != NULL ? parts[1] : "256";
    const char *const argv[] = {"ssh-keygen", "-q", "-N", "",   "-C", "a comment", "-t",
                                parts[0],     "-b", bits, "-f", path, NULL};

    if (!test_process_run(argv, error))
        return NULL;
    return read_public_key(path, error);
}

static gboolean
make_keys(TestSshd *sshd, const char *const *key_types, GString *config, GError **error)
{
    g_autoptr(GStrvBuilder) keys = g_strv_builder_new();

    for (; *key_types != NULL; key_types++) {
        g_autofree char *key = make_key(sshd, *key_types, error);

        if (key == NULL)
            return FALSE;
        g_strv_builder_add(keys, key);
        g_string_append_printf(config, "HostKey %s/%s\n", sshd->folder, *key_types);
    }
    sshd->keys = g_strv_builder_end(keys);
    return TRUE;
}

TestSshd *
test_sshd_new(const char *address, const char *const *key_types, const char *config, GError **error)
{
    g_autoptr(TestSshd) sshd = g_new0(TestSshd, 1);
    g_autoptr(GString) text = g_string_new(NULL);
    g_autofree char *config_path = NULL;

    sshd->folder = test_folder_make();
    sshd->address = g_strdup(address);
    sshd->port = test_free_port();
    g_string_append_printf(text,
                           "ListenAddress %s\nPort %u\nPidFile none\nUsePAM no\n"
                           "MaxStartups 1000\nAuthorizedKeysFile none\n%s\n",
                           address, sshd->port, config != NULL ? config : "");
    config_path = path_of(sshd, "sshd_config");
    if (!make_keys(sshd, key_types, text, error) ||
        !g_file_set_contents(config_path, text->str, -1, error))
        return NULL;
    return g_steal_pointer(&sshd);
}

static gboolean
accepts_connections(const TestSshd *sshd)
{
    g_autoptr(GSocketClient) client = g_socket_client_new();
    g_autoptr(GSocketConnectable) address = g_network_address_new(sshd->address, sshd->port);
    g_autoptr(GSocketConnection) connection = NULL;

    g_socket_client_set_enable_proxy(client, FALSE);
    connection = g_socket_client_connect(client, address, NULL, NULL);
    return connection != NULL;
}

static gboolean
wait_for_start(TestSshd *sshd, GError **error)
{
    gint64 deadline = g_get_monotonic_time() + 20 * G_TIME_SPAN_SECOND;

    while (!accepts_connections(sshd)) {
        if (test_process_has_ended(&sshd->pid) || g_get_monotonic_time() > deadline) {
            g_autofree char *log = test_sshd_log(sshd);

            g_set_error(error, G_IO_ERROR, G_IO_ERROR_FAILED, "sshd does not answer: %s", log);
            return FALSE;
        }
        g_usleep(5000);
    }
    return TRUE;
}

gboolean
test_sshd_start(TestSshd *sshd, GError **error)
{
    g_autofree char *config = path_of(sshd, "sshd_config");
    g_autofree char *log = path_of(sshd, "log");
    const char *const argv[] = {PROGRAM, "-D", "-e", "-f", config, NULL};

    /* Where sshd confines its unprivileged half; made by the service file otherwise. */
    mkdir("/run/sshd", 0755);
    return test_process_start(argv, log, &sshd->pid, error) && wait_for_start(sshd, error);
}

void
test_sshd_stop(TestSshd *sshd)
{
    test_process_end(&sshd->pid, SIGTERM);
}

guint16
test_sshd_port(const TestSshd *sshd)
{
    return sshd->port;
}

const char *const *
test_sshd_keys(const TestSshd *sshd)
{
    return (const char *const *)sshd->keys;
}

char *
test_sshd_log(const TestSshd *sshd)
{
    g_autofree char *path = path_of(sshd, "log");
    char *text = NULL;

    return g_file_get_contents(path, &text, NULL, NULL) ? text : g_strdup("");
}

void
test_sshd_free(TestSshd *sshd)
{
    if (sshd == NULL)
        return;
    test_sshd_stop(sshd);
    test_folder_remove(sshd->folder);
    g_free(sshd->folder);
    g_free(sshd->address);
    g_strfreev(sshd->keys);
    g_free(sshd);
}
