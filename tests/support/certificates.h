/*
 * Certificates for tests, made with the openssl command: EC keys (made at once), PEM, valid for a
 * day or not at all.
 */
#pragma once

#include <glib.h>

/* A certificate authority that keeps its files in a folder of its own. */
typedef struct _TestAuthority TestAuthority;

TestAuthority *test_authority_new(const char *common_name, GError **error);
const char *test_authority_certificate(TestAuthority *authority); /* path */

typedef struct {
    const char *name;              /* of the files: NAME.pem and NAME-key.pem */
    const char *common_name;       /* the name itself when NULL */
    const char *alternative_names; /* "DNS:localhost,IP:127.0.0.1", or NULL for none */
    gboolean is_expired;           /* its last day was yesterday */
} TestCertificateRequest;

/* Makes a key and a certificate, for servers and clients alike. */
gboolean test_authority_issue(TestAuthority *authority, const TestCertificateRequest *request,
                              GError **error);

/* The paths of what was issued under a name; valid as long as the authority. */
const char *test_authority_issued(TestAuthority *authority, const char *name);
const char *test_authority_key(TestAuthority *authority, const char *name);

/* Another path in the authority's folder, for files a test makes; valid as long as the authority.
 */
const char *test_authority_path(TestAuthority *authority, const char *file);

void test_authority_free(TestAuthority *authority); /* removes its files */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TestAuthority, test_authority_free)
