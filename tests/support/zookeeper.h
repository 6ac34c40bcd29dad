/*
 * A real ZooKeeper server (Debian's packages `zookeeper` and a JRE) as a child process, alone on
 * its own loopback ports, with a temporary data folder. It starts in about a second and answers
 * when test_zookeeper_start() returns. It does not outlive the thread that started it.
 */
#pragma once

#include <glib.h>

typedef struct _TestZookeeper TestZookeeper;

typedef struct {
    /*
     * Milliseconds, 200 when 0. The shortest session is two ticks; sessions are ended on whole
     * ticks. The longest session is a minute, whatever the tick.
     */
    int tick;
    /*
     * PEM files, or all NULL: listen on a second port with TLS as well, and ask clients there for a
     * certificate of this CA. The key must be PKCS#8, as openssl writes it today.
     */
    const char *tls_cert, *tls_key, *tls_ca;
    const char *config; /* further lines of zoo.cfg, or NULL */
} TestZookeeperOptions;

/* `options` may be NULL. */
TestZookeeper *test_zookeeper_start(const TestZookeeperOptions *options, GError **error);

guint16 test_zookeeper_port(const TestZookeeper *server);
guint16 test_zookeeper_tls_port(const TestZookeeper *server);  /* 0 without TLS */
const char *test_zookeeper_hosts(const TestZookeeper *server); /* "127.0.0.1:port" */

void test_zookeeper_stop(TestZookeeper *server); /* SIGTERM, waits for the end */
void test_zookeeper_kill(TestZookeeper *server); /* SIGKILL */
/* Kills it if it runs and starts it again with the same ports and data; waits until it answers. */
gboolean test_zookeeper_restart(TestZookeeper *server, GError **error);
void test_zookeeper_pause(TestZookeeper *server); /* SIGSTOP: connections stay, nothing answers */
void test_zookeeper_resume(TestZookeeper *server);

/* The answer to a four-letter command, such as "srvr", "cons", "dump", "wchp"; or NULL. */
char *test_zookeeper_command(const TestZookeeper *server, const char *command, GError **error);

void test_zookeeper_free(TestZookeeper *server); /* also ends the process and removes its data */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TestZookeeper, test_zookeeper_free)
