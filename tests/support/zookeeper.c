#include "support/zookeeper.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "support/process.h"

enum { START_ATTEMPTS = 5, START_SECONDS = 60, POLL_MICROSECONDS = 20000 };
/* Milliseconds that an answer may take. A server that starts may never answer the first commands.
 */
enum { COMMAND_LIMIT = 5000, COMMAND_LIMIT_AT_START = 250 };

/* Debian's zookeeper.jar names the jars it needs, but for those of Netty's TLS. */
#define JARS      "/usr/share/java/"
#define CLASSPATH JARS "zookeeper.jar:" JARS "netty-codec.jar:" JARS "slf4j-simple.jar"

struct _TestZookeeper {
    pid_t pid; /* 0: not running */
    guint16 port, tls_port;
    char *hosts;
    char *folder, *config_path, *log_path;
};

static char *
in_folder(const TestZookeeper *server, const char *name)
{
    return g_build_filename(server->folder, name, NULL);
}

/* ZooKeeper wants the key and its certificate in one file. */
static gboolean
write_key_store(const TestZookeeper *server, const TestZookeeperOptions *options, GError **error)
{
    g_autofree char *path = in_folder(server, "keystore.pem");
    g_autofree char *key = NULL;
    g_autofree char *cert = NULL;
    g_autofree char *both = NULL;

    if (!g_file_get_contents(options->tls_key, &key, NULL, error) ||
        !g_file_get_contents(options->tls_cert, &cert, NULL, error))
        return FALSE;
    both = g_strconcat(key, cert, NULL);
    return g_file_set_contents_full(path, both, -1, G_FILE_SET_CONTENTS_NONE, 0600, error);
}

static void
append_tls(GString *config, const TestZookeeper *server, const TestZookeeperOptions *options)
{
    g_string_append_printf(config,
                           "secureClientPort=%u\n"
                           "secureClientPortAddress=127.0.0.1\n"
                           "serverCnxnFactory=org.apache.zookeeper.server.NettyServerCnxnFactory\n"
                           "ssl.keyStore.location=%s/keystore.pem\n"
                           "ssl.trustStore.location=%s\n"
                           "ssl.hostnameVerification=false\n"
                           "ssl.clientAuth=need\n",
                           server->tls_port, server->folder, options->tls_ca);
}

static gboolean
write_config(TestZookeeper *server, const TestZookeeperOptions *options, GError **error)
{
    g_autoptr(GString) config = g_string_new(NULL);
    int tick = options->tick > 0 ? options->tick : 200;

    g_string_append_printf(config,
                           "tickTime=%d\n"
                           "minSessionTimeout=%d\n"
                           "maxSessionTimeout=60000\n"
                           "dataDir=%s/data\n"
                           "clientPort=%u\n"
                           "clientPortAddress=127.0.0.1\n"
                           "maxClientCnxns=0\n"
                           "admin.enableServer=false\n"
                           "4lw.commands.whitelist=*\n",
                           tick, 2 * tick, server->folder, server->port);
    if (options->tls_cert != NULL) {
        if (!write_key_store(server, options, error))
            return FALSE;
        append_tls(config, server, options);
    }
    if (options->config != NULL)
        g_string_append_printf(config, "%s\n", options->config);
    return g_file_set_contents(server->config_path, config->str, (gssize)config->len, error);
}

/* ---- Four-letter commands ---- */

static int
connect_to(guint16 port, int limit_ms)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    struct timeval limit = {.tv_sec = limit_ms / 1000, .tv_usec = limit_ms % 1000 * 1000};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0)
        return fd;
    close(fd);
    return -1;
}

static char *
ask(const TestZookeeper *server, const char *command, int limit_ms, GError **error)
{
    g_autoptr(GString) answer = g_string_new(NULL);
    char piece[4096];
    gssize n = -1;
    int fd = connect_to(server->port, limit_ms);

    if (fd >= 0 && send(fd, command, strlen(command), MSG_NOSIGNAL) == (gssize)strlen(command)) {
        while ((n = recv(fd, piece, sizeof piece, 0)) > 0)
            g_string_append_len(answer, piece, n);
    }
    if (n < 0) {
        g_set_error(error, G_FILE_ERROR, g_file_error_from_errno(errno),
                    "ZooKeeper at %s does not answer %s: %s", server->hosts, command,
                    g_strerror(errno));
    }
    if (fd >= 0)
        close(fd);
    return n < 0 ? NULL : g_string_free(g_steal_pointer(&answer), FALSE);
}

char *
test_zookeeper_command(const TestZookeeper *server, const char *command, GError **error)
{
    return ask(server, command, COMMAND_LIMIT, error);
}

/* ---- The process ---- */

static gboolean
is_serving(const TestZookeeper *server)
{
    g_autofree char *answer = ask(server, "srvr", COMMAND_LIMIT_AT_START, NULL);
    int fd;

    if (answer == NULL || strstr(answer, "Mode: ") == NULL)
        return FALSE;
    if (server->tls_port == 0)
        return TRUE;
    fd = connect_to(server->tls_port, COMMAND_LIMIT_AT_START);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static gboolean
wait_until_serving(TestZookeeper *server, GError **error)
{
    gint64 deadline = g_get_monotonic_time() + START_SECONDS * G_USEC_PER_SEC;
    g_autofree char *log = NULL;

    while (g_get_monotonic_time() < deadline && !test_process_has_ended(&server->pid)) {
        if (is_serving(server))
            return TRUE;
        g_usleep(POLL_MICROSECONDS); /* nothing tells us when a server begins to listen */
    }
    test_process_end(&server->pid, SIGKILL);
    g_file_get_contents(server->log_path, &log, NULL, NULL);
    g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_FAILED, "ZooKeeper at %s did not start: %.4000s",
                server->hosts, log != NULL ? log : "");
    return FALSE;
}

static gboolean
run(TestZookeeper *server, GError **error)
{
    g_autofree char *tmp = g_strconcat("-Djava.io.tmpdir=", server->folder, NULL);
    const char *const argv[] = {"java",
                                "-Xmx256m",
                                "-XX:TieredStopAtLevel=1",
                                "-XX:+UseSerialGC",
                                "-Xshare:auto",
                                "-XX:-UsePerfData",
                                tmp,
                                "-Dzookeeper.forceSync=no",
                                "-Dzookeeper.jmx.log4j.disable=true",
                                "-Dzookeeper.admin.enableServer=false",
                                "-Dio.netty.tryReflectionSetAccessible=false",
                                "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
                                "-cp",
                                CLASSPATH,
                                "org.apache.zookeeper.server.quorum.QuorumPeerMain",
                                server->config_path,
                                NULL};

    return test_process_start(argv, server->log_path, &server->pid, error) &&
           wait_until_serving(server, error);
}

static TestZookeeper *
try_start(const TestZookeeperOptions *options, GError **error)
{
    g_autoptr(TestZookeeper) server = g_new0(TestZookeeper, 1);

    server->folder = test_folder_make();
    server->config_path = in_folder(server, "zoo.cfg");
    server->log_path = in_folder(server, "log");
    server->port = test_free_port();
    if (options->tls_cert != NULL)
        server->tls_port = test_free_port();
    server->hosts = g_strdup_printf("127.0.0.1:%u", server->port);
    if (!write_config(server, options, error) || !run(server, error))
        return NULL;
    return g_steal_pointer(&server);
}

TestZookeeper *
test_zookeeper_start(const TestZookeeperOptions *options, GError **error)
{
    static const TestZookeeperOptions defaults;
    TestZookeeper *server;

    /* Somebody may take the port between its choice and its use. */
    for (int attempt = 0; attempt < START_ATTEMPTS; attempt++) {
        g_autoptr(GError) reason = NULL;

        server = try_start(options != NULL ? options : &defaults, &reason);
        if (server != NULL)
            return server;
        if (attempt == START_ATTEMPTS - 1 || strstr(reason->message, "BindException") == NULL) {
            g_propagate_error(error, g_steal_pointer(&reason));
            break;
        }
    }
    return NULL;
}

guint16
test_zookeeper_port(const TestZookeeper *server)
{
    return server->port;
}

guint16
test_zookeeper_tls_port(const TestZookeeper *server)
{
    return server->tls_port;
}

const char *
test_zookeeper_hosts(const TestZookeeper *server)
{
    return server->hosts;
}

void
test_zookeeper_stop(TestZookeeper *server)
{
    test_process_end(&server->pid, SIGTERM);
}

void
test_zookeeper_kill(TestZookeeper *server)
{
    test_process_end(&server->pid, SIGKILL);
}

gboolean
test_zookeeper_restart(TestZookeeper *server, GError **error)
{
    test_zookeeper_kill(server);
    return run(server, error);
}

void
test_zookeeper_pause(TestZookeeper *server)
{
    if (server->pid > 0)
        kill(server->pid, SIGSTOP);
}

void
test_zookeeper_resume(TestZookeeper *server)
{
    if (server->pid > 0)
        kill(server->pid, SIGCONT);
}

void
test_zookeeper_free(TestZookeeper *server)
{
    if (server == NULL)
        return;
    test_zookeeper_kill(server);
    test_folder_remove(server->folder);
    g_free(server->folder);
    g_free(server->config_path);
    g_free(server->log_path);
    g_free(server->hosts);
    g_free(server);
}
