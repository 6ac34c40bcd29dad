/*
 * What the relay shows to servers, and which servers it trusts. Made on any thread, then only read.
 */
#pragma once

#include <gio/gio.h>

#include "zk/relay.h"

typedef struct _DroverZkTrust DroverZkTrust;

DroverZkTrust *drover_zk_trust_new(const DroverZkTls *tls, GError **error);
void drover_zk_trust_free(DroverZkTrust *trust);

/*
 * TLS, not begun yet, over a connection to a server. The handshake fails with a certificate that is
 * not trusted.
 */
GTlsConnection *drover_zk_trust_wrap(DroverZkTrust *trust, GSocketConnection *base,
                                     const char *host, guint16 port, GError **error);

/*
 * Why a server's certificate is not trusted, for a log message; or NULL when it is. To be asked
 * again after a handshake: one that resumes an earlier TLS session does not look at the
 * certificate.
 */
char *drover_zk_trust_refusal(DroverZkTrust *trust, GTlsConnection *connection);

/* The files of what the relay shows to servers, for messages. */
const char *drover_zk_trust_certificate_path(const DroverZkTrust *trust);
const char *drover_zk_trust_key_path(const DroverZkTrust *trust);
