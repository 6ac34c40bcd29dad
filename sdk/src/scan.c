#include <drover/scan.h>

#include "scan-try.h"

#include <string.h>

struct drover_scan {
    enum drover_scan_kind kind;
    char *host;
    guint16 port;
    guint limit, pause, connect_limit, handshake_limit;
    drover_scan_done done;
    void *done_data;
    drover_scan_log log;
    void *log_data;

    GSource *deadline;
    GSource *next_try;
    GCancellable *resolving;
    DroverTry *attempt;
    gint64 last_try;    /* when it began, monotonic microseconds; 0: there was none */
    guint key_type;     /* index of the type that is asked for */
    char *last_problem; /* of the last try to connect */

    GSocketAddress *socket_address;
    char *address;
    int family;
    GPtrArray *keys;
    int failure;
    char *message;
};

/*
 * In the order in which keys are reported. A type is asked for by the name of its signature
 * algorithm; an RSA key has three of those, and one that works is enough.
 */
static const char *const key_types[] = {
    "ssh-ed25519",
    "ecdsa-sha2-nistp256",
    "ecdsa-sha2-nistp384",
    "ecdsa-sha2-nistp521",
    "rsa-sha2-512",
    "rsa-sha2-256",
    "ssh-rsa",
};
#define ALL_KEY_TYPES                                                                              \
    "ssh-ed25519,ecdsa-sha2-nistp256,ecdsa-sha2-nistp384,ecdsa-sha2-nistp521,rsa-sha2-512,"        \
    "rsa-sha2-256,ssh-rsa"
#define RSA_PREFIX "ssh-rsa "

struct drover_scan *
drover_scan_new(enum drover_scan_kind kind, const char *host, uint16_t port)
{
    struct drover_scan *scan = g_new0(struct drover_scan, 1);

    scan->kind = kind;
    scan->host = g_strdup(host);
    scan->port = port;
    scan->limit = 60000;
    scan->pause = 1000;
    scan->connect_limit = 10000;
    scan->handshake_limit = 15000;
    scan->keys = g_ptr_array_new_with_free_func(g_free);
    return scan;
}

static GSource *
call_after(guint milliseconds, GSourceFunc function, struct drover_scan *scan)
{
    GSource *source = g_timeout_source_new(milliseconds);

    g_source_set_callback(source, function, scan, NULL);
    g_source_attach(source, g_main_context_get_thread_default());
    return source;
}

/* Everything that could still call back; sockets are closed. */
static void
end_work(struct drover_scan *scan)
{
    drover_clear_source(&scan->deadline);
    drover_clear_source(&scan->next_try);
    g_clear_pointer(&scan->attempt, drover_try_free);
    if (scan->resolving != NULL)
        g_cancellable_cancel(scan->resolving);
    g_clear_object(&scan->resolving);
}

void
drover_scan_free(struct drover_scan *scan)
{
    if (scan == NULL)
        return;
    end_work(scan);
    g_clear_object(&scan->socket_address);
    g_ptr_array_unref(scan->keys);
    g_free(scan->host);
    g_free(scan->last_problem);
    g_free(scan->address);
    g_free(scan->message);
    g_free(scan);
}

/* ---- The end ---- */

/* Tells the result. The scan may not exist any more afterwards. */
static void
finish(struct drover_scan *scan)
{
    end_work(scan);
    scan->done(scan, scan->done_data);
}

static void fail(struct drover_scan *scan, enum drover_failure failure, const char *format, ...)
    G_GNUC_PRINTF(3, 4);

static void
fail(struct drover_scan *scan, enum drover_failure failure, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    scan->message = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    scan->failure = (int)failure;
    g_ptr_array_set_size(scan->keys, 0);
    finish(scan);
}

static gboolean
limit_is_reached(gpointer user_data)
{
    struct drover_scan *scan = user_data;

    fail(scan, DROVER_FAILURE_TIMEOUT, "not reached within %.3g s%s%s", scan->limit / 1000.0,
         scan->last_problem != NULL ? ": " : "",
         scan->last_problem != NULL ? scan->last_problem : "");
    return G_SOURCE_REMOVE;
}

/* ---- Connections ---- */

static void
log_problem(struct drover_scan *scan, enum drover_log_level level, const char *subject,
            const char *text)
{
    g_autofree char *line = NULL;

    if (scan->log == NULL)
        return;
    line = g_strdup_printf("%s: %s", subject, text);
    scan->log(level, line, scan->log_data);
}

static void
start_try(struct drover_scan *scan, const char *types, DroverTryFunc done)
{
    DroverTryPlan plan = {
        .address = scan->socket_address,
        .key_types = types,
        .connect_limit = scan->connect_limit,
        .handshake_limit = scan->handshake_limit,
    };

    scan->last_try = g_get_monotonic_time();
    scan->attempt = drover_try_start(&plan, done, scan);
}

static void ask_for_key(struct drover_scan *scan);

static void
key_is_told(DroverTryOutcome outcome, const char *text, gpointer user_data)
{
    struct drover_scan *scan = user_data;

    g_clear_pointer(&scan->attempt, drover_try_free);
    if (outcome == DROVER_TRY_DONE)
        g_ptr_array_add(scan->keys, g_strdup(text));
    else if (outcome != DROVER_TRY_NO_COMMON_TYPE)
        log_problem(scan, DROVER_WARNING, key_types[scan->key_type], text);
    scan->key_type++;
    ask_for_key(scan);
}

static gboolean
is_needless(const struct drover_scan *scan, const char *type)
{
    guint count = scan->keys->len;
    const char *last = count > 0 ? scan->keys->pdata[count - 1] : "";

    return strstr(type, "rsa") != NULL && g_str_has_prefix(last, RSA_PREFIX);
}

/* The next key type that is worth asking for, or the end. */
static void
ask_for_key(struct drover_scan *scan)
{
    while (scan->key_type < G_N_ELEMENTS(key_types) && is_needless(scan, key_types[scan->key_type]))
        scan->key_type++;
    if (scan->key_type < G_N_ELEMENTS(key_types))
        start_try(scan, key_types[scan->key_type], key_is_told);
    else if (scan->keys->len == 0)
        fail(scan, DROVER_FAILURE_UNREACHABLE, "an SSH server answers but gave no host key");
    else
        finish(scan);
}

static gboolean begin_try(gpointer user_data);

static void
try_again(struct drover_scan *scan)
{
    gint64 passed = (g_get_monotonic_time() - scan->last_try) / 1000;
    guint wait = passed < scan->pause ? (guint)(scan->pause - passed) : 0;

    scan->next_try = call_after(wait, begin_try, scan);
}

static void
try_has_ended(DroverTryOutcome outcome, const char *text, gpointer user_data)
{
    struct drover_scan *scan = user_data;

    g_clear_pointer(&scan->attempt, drover_try_free);
    if (outcome != DROVER_TRY_DONE) {
        g_free(scan->last_problem);
        scan->last_problem = g_strdup(text);
        log_problem(scan, DROVER_DEBUG, "no connection", text);
        try_again(scan);
    } else if (scan->kind == DROVER_SCAN_HOST_KEYS) {
        g_clear_pointer(&scan->last_problem, g_free);
        ask_for_key(scan);
    } else {
        finish(scan);
    }
}

static gboolean
begin_try(gpointer user_data)
{
    struct drover_scan *scan = user_data;

    drover_clear_source(&scan->next_try);
    start_try(scan, scan->kind == DROVER_SCAN_HOST_KEYS ? ALL_KEY_TYPES : NULL, try_has_ended);
    return G_SOURCE_REMOVE;
}

/* ---- The address ---- */

static void
use_address(struct drover_scan *scan, GSocketAddress *address)
{
    GInetAddress *inet = g_inet_socket_address_get_address(G_INET_SOCKET_ADDRESS(address));

    scan->socket_address = g_object_ref(address);
    scan->address = g_inet_address_to_string(inet);
    scan->family = g_inet_address_get_family(inet) == G_SOCKET_FAMILY_IPV6 ? 6 : 4;
}

static void
go_on_with_address(struct drover_scan *scan)
{
    if (scan->kind == DROVER_SCAN_RESOLVE)
        finish(scan);
    else
        begin_try(scan);
}

static void
name_is_resolved(GObject *resolver, GAsyncResult *result, gpointer user_data)
{
    struct drover_scan *scan = user_data;
    g_autoptr(GError) error = NULL;
    g_autoptr(GSocketAddress) address = NULL;
    GList *found = g_resolver_lookup_by_name_finish(G_RESOLVER(resolver), result, &error);

    /* A cancelled scan does not exist any more. */
    if (g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
        return;
    g_clear_object(&scan->resolving);
    if (found == NULL) {
        fail(scan, DROVER_FAILURE_UNREACHABLE, "the name cannot be resolved: %s",
             error != NULL ? error->message : "no address");
        return;
    }
    address = g_inet_socket_address_new(found->data, scan->port);
    g_resolver_free_addresses(found);
    use_address(scan, address);
    go_on_with_address(scan);
}

static gboolean
literal_is_ready(gpointer user_data)
{
    struct drover_scan *scan = user_data;

    drover_clear_source(&scan->next_try);
    go_on_with_address(scan);
    return G_SOURCE_REMOVE;
}

void
drover_scan_start(struct drover_scan *scan, drover_scan_done done, void *data)
{
    g_autoptr(GSocketAddress) literal =
        g_inet_socket_address_new_from_string(scan->host, scan->port);
    g_autoptr(GResolver) resolver = NULL;

    scan->done = done;
    scan->done_data = data;
    scan->deadline = call_after(scan->limit, limit_is_reached, scan);
    if (literal != NULL) {
        use_address(scan, literal);
        scan->next_try = call_after(0, literal_is_ready, scan);
        return;
    }
    resolver = g_resolver_get_default();
    scan->resolving = g_cancellable_new();
    g_resolver_lookup_by_name_async(resolver, scan->host, scan->resolving, name_is_resolved, scan);
}

/* ---- Settings and results ---- */

void
drover_scan_set_limit(struct drover_scan *scan, uint32_t milliseconds)
{
    scan->limit = milliseconds;
}

void
drover_scan_set_pause(struct drover_scan *scan, uint32_t milliseconds)
{
    scan->pause = milliseconds;
}

void
drover_scan_set_try_limits(struct drover_scan *scan, uint32_t connect, uint32_t handshake)
{
    scan->connect_limit = connect;
    scan->handshake_limit = handshake;
}

void
drover_scan_set_log(struct drover_scan *scan, drover_scan_log log, void *data)
{
    scan->log = log;
    scan->log_data = data;
}

int
drover_scan_failure(const struct drover_scan *scan)
{
    return scan->failure;
}

const char *
drover_scan_message(const struct drover_scan *scan)
{
    return scan->message;
}

const char *
drover_scan_address(const struct drover_scan *scan)
{
    return scan->address;
}

int
drover_scan_address_family(const struct drover_scan *scan)
{
    return scan->family;
}

size_t
drover_scan_key_count(const struct drover_scan *scan)
{
    return scan->keys->len;
}

const char *
drover_scan_key(const struct drover_scan *scan, size_t index)
{
    return index < scan->keys->len ? scan->keys->pdata[index] : NULL;
}
