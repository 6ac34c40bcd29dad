#include "zk/relay-trust.h"

#include "base/error.h"

struct _DroverZkTrust {
    GTlsCertificate *certificate;
    GTlsDatabase *own;    /* the configured CA */
    GTlsDatabase *system; /* or NULL: the system trusts nobody */
    char *certificate_path, *key_path, *ca_path;
    gboolean any_hostname;
};

/* ---- Files ---- */

/* GnuTLS does not say which file was bad, nor why it could not be read. */
static gboolean
check_readable(const char *option, const char *path, GError **error)
{
    g_autoptr(GMappedFile) file = NULL;
    g_autoptr(GError) reason = NULL;

    file = g_mapped_file_new(path, FALSE, &reason);
    if (file != NULL)
        return TRUE;
    g_set_error(error, DROVER_ERROR, DROVER_ERROR_CONFIG, "zookeeper-tls: %s: %s", option,
                reason->message);
    return FALSE;
}

/* Takes `reason` over. */
static gboolean
refuse_file(const char *option, const char *path, GError *reason, GError **error)
{
    g_set_error(error, DROVER_ERROR, DROVER_ERROR_CONFIG, "zookeeper-tls: %s: %s: %s", option, path,
                reason->message);
    g_error_free(reason);
    return FALSE;
}

static gboolean
load_certificate(DroverZkTrust *trust, const DroverZkTls *tls, GError **error)
{
    g_autoptr(GTlsCertificate) without_key = NULL;
    GError *reason = NULL;

    if (!check_readable("cert", tls->cert, error) || !check_readable("key", tls->key, error))
        return FALSE;
    without_key = g_tls_certificate_new_from_file(tls->cert, &reason);
    if (without_key == NULL)
        return refuse_file("cert", tls->cert, reason, error);
    trust->certificate = g_tls_certificate_new_from_files(tls->cert, tls->key, &reason);
    if (trust->certificate == NULL)
        return refuse_file("key", tls->key, reason, error);
    trust->certificate_path = g_strdup(tls->cert);
    trust->key_path = g_strdup(tls->key);
    return TRUE;
}

static void
free_certificates(gpointer certificates)
{
    g_list_free_full(certificates, g_object_unref);
}

static gboolean
load_ca(DroverZkTrust *trust, const DroverZkTls *tls, GError **error)
{
    GError *reason = NULL;
    GList *certificates;

    if (!check_readable("ca", tls->ca, error))
        return FALSE;
    trust->ca_path = g_canonicalize_filename(tls->ca, NULL);
    certificates = g_tls_certificate_list_new_from_file(trust->ca_path, &reason);
    if (certificates == NULL && reason == NULL)
        reason = g_error_new(G_TLS_ERROR, G_TLS_ERROR_BAD_CERTIFICATE,
                             "No PEM-encoded certificate found");
    free_certificates(certificates);
    if (reason == NULL)
        trust->own = g_tls_file_database_new(trust->ca_path, &reason);
    return trust->own != NULL || refuse_file("ca", tls->ca, reason, error);
}

DroverZkTrust *
drover_zk_trust_new(const DroverZkTls *tls, GError **error)
{
    GTlsBackend *backend = g_tls_backend_get_default();
    DroverZkTrust *trust;

    if (!g_tls_backend_supports_tls(backend)) {
        g_set_error(error, DROVER_ERROR, DROVER_ERROR_UNSUPPORTED,
                    "zookeeper-tls needs GLib's TLS module: install the package glib-networking");
        return NULL;
    }
    trust = g_new0(DroverZkTrust, 1);
    trust->any_hostname = tls->any_hostname;
    trust->system = g_tls_backend_get_default_database(backend);
    if (!load_certificate(trust, tls, error) || !load_ca(trust, tls, error)) {
        drover_zk_trust_free(trust);
        return NULL;
    }
    return trust;
}

void
drover_zk_trust_free(DroverZkTrust *trust)
{
    if (trust == NULL)
        return;
    g_clear_object(&trust->certificate);
    g_clear_object(&trust->own);
    g_clear_object(&trust->system);
    g_free(trust->certificate_path);
    g_free(trust->key_path);
    g_free(trust->ca_path);
    g_free(trust);
}

const char *
drover_zk_trust_certificate_path(const DroverZkTrust *trust)
{
    return trust->certificate_path;
}

const char *
drover_zk_trust_key_path(const DroverZkTrust *trust)
{
    return trust->key_path;
}

/* ---- Judging a server ---- */

static void append_separated(GString *text, const char *separator, const char *format, ...)
    G_GNUC_PRINTF(3, 4);

static void
append_separated(GString *text, const char *separator, const char *format, ...)
{
    va_list arguments;

    if (text->len > 0)
        g_string_append(text, separator);
    va_start(arguments, format);
    g_string_append_vprintf(text, format, arguments);
    va_end(arguments);
}

/* "zk1.example.com, 192.0.2.1 (subject CN=zk1)" */
static char *
names_of(GTlsCertificate *certificate)
{
    g_autoptr(GPtrArray) names = g_tls_certificate_get_dns_names(certificate);
    g_autoptr(GPtrArray) addresses = g_tls_certificate_get_ip_addresses(certificate);
    g_autofree char *subject = g_tls_certificate_get_subject_name(certificate);
    g_autoptr(GString) text = g_string_new(NULL);

    for (guint i = 0; names != NULL && i < names->len; i++) {
        gsize length;
        const char *name = g_bytes_get_data(names->pdata[i], &length);

        append_separated(text, ", ", "%.*s", (int)length, name);
    }
    for (guint i = 0; addresses != NULL && i < addresses->len; i++) {
        g_autofree char *address = g_inet_address_to_string(addresses->pdata[i]);

        append_separated(text, ", ", "%s", address);
    }
    append_separated(text, " ", "(subject %s)", subject != NULL ? subject : "unknown");
    return g_string_free(g_steal_pointer(&text), FALSE);
}

/* The chain may also lead to a CA that the system trusts. */
static GTlsCertificateFlags
look_at_system(DroverZkTrust *trust, GTlsCertificate *certificate, GTlsCertificateFlags problems)
{
    GTlsCertificateFlags other;

    if ((problems & G_TLS_CERTIFICATE_UNKNOWN_CA) == 0 || trust->system == NULL)
        return problems;
    other = g_tls_database_verify_chain(trust->system, certificate,
                                        G_TLS_DATABASE_PURPOSE_AUTHENTICATE_SERVER, NULL, NULL,
                                        G_TLS_DATABASE_VERIFY_NONE, NULL, NULL);
    if ((other & G_TLS_CERTIFICATE_UNKNOWN_CA) != 0)
        return problems | other;
    return other | (problems & G_TLS_CERTIFICATE_BAD_IDENTITY);
}

static const struct {
    GTlsCertificateFlags flag;
    const char *text;
} problem_texts[] = {
    {G_TLS_CERTIFICATE_EXPIRED, "it has expired"},
    {G_TLS_CERTIFICATE_NOT_ACTIVATED, "it is not valid yet"},
    {G_TLS_CERTIFICATE_REVOKED, "it has been revoked"},
    {G_TLS_CERTIFICATE_INSECURE, "it is made with an algorithm that is not secure"},
    {G_TLS_CERTIFICATE_GENERIC_ERROR, "it is not valid"},
};

static char *
describe(DroverZkTrust *trust, GTlsCertificate *certificate, GTlsCertificateFlags problems,
         const char *host)
{
    g_autoptr(GString) text = g_string_new(NULL);

    if ((problems & G_TLS_CERTIFICATE_UNKNOWN_CA) != 0)
        append_separated(text, "; ",
                         "it is signed neither by the CA in %s nor by one of the system",
                         trust->ca_path);
    for (gsize i = 0; i < G_N_ELEMENTS(problem_texts); i++) {
        if ((problems & problem_texts[i].flag) != 0)
            append_separated(text, "; ", "%s", problem_texts[i].text);
    }
    if ((problems & G_TLS_CERTIFICATE_BAD_IDENTITY) != 0) {
        g_autofree char *names = names_of(certificate);

        append_separated(text, "; ",
                         "it is for %s and not for %s; if that is meant to be, turn the check off "
                         "with \"zookeeper-tls: verify-hostname: false\"",
                         names, host);
    }
    return g_string_free(g_steal_pointer(&text), FALSE);
}

/*
 * What the certificate is compared with. An address is no name: it must not be sent as the name of
 * the server wanted (RFC 6066, section 3), which GLib does for a GNetworkAddress.
 */
static GSocketConnectable *
identity_of(const char *host, guint16 port)
{
    GSocketAddress *address = g_inet_socket_address_new_from_string(host, port);

    return address != NULL ? G_SOCKET_CONNECTABLE(address) : g_network_address_new(host, port);
}

static char *
identity_text(GSocketConnectable *identity)
{
    if (G_IS_NETWORK_ADDRESS(identity))
        return g_strdup(g_network_address_get_hostname(G_NETWORK_ADDRESS(identity)));
    return g_inet_address_to_string(
        g_inet_socket_address_get_address(G_INET_SOCKET_ADDRESS(identity)));
}

static char *
refusal(DroverZkTrust *trust, GTlsConnection *connection, GTlsCertificate *certificate,
        GTlsCertificateFlags problems)
{
    g_autofree char *host = NULL;

    if (certificate == NULL)
        return g_strdup("it has none");
    problems = look_at_system(trust, certificate, problems);
    if (trust->any_hostname)
        problems &= ~(GTlsCertificateFlags)G_TLS_CERTIFICATE_BAD_IDENTITY;
    if (problems == G_TLS_CERTIFICATE_NO_FLAGS)
        return NULL;
    host = identity_text(
        g_tls_client_connection_get_server_identity(G_TLS_CLIENT_CONNECTION(connection)));
    return describe(trust, certificate, problems, host);
}

char *
drover_zk_trust_refusal(DroverZkTrust *trust, GTlsConnection *connection)
{
    return refusal(trust, connection, g_tls_connection_get_peer_certificate(connection),
                   g_tls_connection_get_peer_certificate_errors(connection));
}

/* Only called for a certificate that the configured CA and the name alone do not vouch for. */
static gboolean
accept_certificate(GTlsConnection *connection, GTlsCertificate *certificate,
                   GTlsCertificateFlags problems, gpointer user_data)
{
    g_autofree char *reason = refusal(user_data, connection, certificate, problems);

    return reason == NULL;
}

GTlsConnection *
drover_zk_trust_wrap(DroverZkTrust *trust, GSocketConnection *base, const char *host, guint16 port,
                     GError **error)
{
    g_autoptr(GSocketConnectable) identity = identity_of(host, port);
    GIOStream *stream = g_tls_client_connection_new(G_IO_STREAM(base), identity, error);
    GTlsConnection *connection;

    if (stream == NULL)
        return NULL;
    connection = G_TLS_CONNECTION(stream);
    g_tls_connection_set_database(connection, trust->own);
    g_tls_connection_set_certificate(connection, trust->certificate);
    /* ZooKeeper's protocol tells itself whether a message is whole. */
    g_tls_connection_set_require_close_notify(connection, FALSE);
    g_signal_connect(connection, "accept-certificate", G_CALLBACK(accept_certificate), trust);
    return connection;
}
