/*
 * A real SSH server (Debian's package openssh-server) as a child process, on a loopback port of its
 * own, with host keys made for it. It does not outlive the thread that started it.
 */
#pragma once

#include <glib.h>

typedef struct _TestSshd TestSshd;

/*
 * Makes the host keys, one of each type: "ed25519", "ecdsa-256", "ecdsa-384", "ecdsa-521",
 * "rsa-2048" and so on; the list ends with NULL. `address` is where it listens, "127.0.0.1" or
 * "::1". `config` is further lines of sshd_config, or NULL. The server does not run yet.
 */
TestSshd *test_sshd_new(const char *address, const char *const *key_types, const char *config,
                        GError **error);

/* Returns when it accepts connections. May be called again after a stop, port and keys remain. */
gboolean test_sshd_start(TestSshd *sshd, GError **error);
void test_sshd_stop(TestSshd *sshd);

guint16 test_sshd_port(const TestSshd *sshd);
/* "type base64" as in the .pub files, in the order of the types; ends with NULL. */
const char *const *test_sshd_keys(const TestSshd *sshd);
/* What it has logged since it was made. */
char *test_sshd_log(const TestSshd *sshd);

void test_sshd_free(TestSshd *sshd); /* NULL is allowed */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TestSshd, test_sshd_free)
