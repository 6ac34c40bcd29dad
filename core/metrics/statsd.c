#include "metrics/statsd.h"

#include <gio/gio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"

#define DEFAULT_HOST     "localhost"
#define DEFAULT_PORT     8125
#define DATAGRAM_LIMIT   512 /* a datagram stays below it, unless a single line is longer */
#define MOST_WAITING     1000
#define RESOLVE_SECONDS  60
#define RETRY_SECONDS    5
#define BREAKING_LETTERS ":|@\n\r\t "

struct _DroverStatsd {
    char *host;
    guint16 port;
    int fd;         /* connected; -1: the address is not known yet */
    GQueue waiting; /* of text: lines, or what has to stay together */
    guint flush_source, resolve_timer, retry_timer;
    GCancellable *resolving; /* or NULL */
};

/* ---- Keys ---- */

static void
append_part(GString *key, const char *part)
{
    gsize start = key->len;

    g_string_append(key, part);
    for (char *at = key->str + start; *at != '\0'; at++)
        if (strchr(BREAKING_LETTERS, *at) != NULL)
            *at = '_';
}

static char *
join_parts(const char *first, va_list parts)
{
    GString *key = g_string_new(NULL);

    for (const char *part = first; part != NULL; part = va_arg(parts, const char *)) {
        if (part != first)
            g_string_append_c(key, '.');
        append_part(key, part);
    }
    return g_string_free(key, FALSE);
}

char *
drover_statsd_key(const char *first, ...)
{
    va_list parts;
    char *key;

    va_start(parts, first);
    key = join_parts(first, parts);
    va_end(parts);
    return key;
}

char *
drover_statsd_flat(const char *name)
{
    return g_strdelimit(g_strdup(name), ".:", '_');
}

/* ---- The server ---- */

static void look_up(DroverStatsd *statsd);

static gboolean
on_retry(gpointer user_data)
{
    DroverStatsd *statsd = user_data;

    statsd->retry_timer = 0;
    look_up(statsd);
    return G_SOURCE_REMOVE;
}

/* The server may be elsewhere now. */
static void
look_up_soon(DroverStatsd *statsd)
{
    if (statsd->retry_timer == 0)
        statsd->retry_timer = g_timeout_add_seconds(RETRY_SECONDS, on_retry, statsd);
}

static void
use_address(DroverStatsd *statsd, GInetAddress *address)
{
    g_autoptr(GSocketAddress) place = g_inet_socket_address_new(address, statsd->port);
    struct sockaddr_storage native;
    gssize size = g_socket_address_get_native_size(place);
    int fd;

    if (!g_socket_address_to_native(place, &native, sizeof native, NULL))
        return;
    fd = socket(native.ss_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    if (connect(fd, (const struct sockaddr *)&native, (socklen_t)size) != 0) {
        close(fd);
        return;
    }
    if (statsd->fd >= 0)
        close(statsd->fd);
    statsd->fd = fd;
    drover_statsd_flush(statsd);
}

/* Nodepool sends over IPv4 only, so that is where servers listen whose name has both. */
static GInetAddress *
choose_address(GList *addresses)
{
    for (GList *at = addresses; at != NULL; at = at->next)
        if (g_inet_address_get_family(at->data) == G_SOCKET_FAMILY_IPV4)
            return at->data;
    return addresses->data;
}

static void
on_looked_up(GObject *source, GAsyncResult *result, gpointer user_data)
{
    g_autoptr(GError) error = NULL;
    GList *addresses = g_resolver_lookup_by_name_finish(G_RESOLVER(source), result, &error);
    DroverStatsd *statsd = user_data;

    /* It is freed already. */
    if (g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
        return;
    g_clear_object(&statsd->resolving);
    if (addresses != NULL)
        use_address(statsd, choose_address(addresses));
    else
        look_up_soon(statsd);
    g_resolver_free_addresses(addresses);
}

static void
look_up(DroverStatsd *statsd)
{
    g_autoptr(GInetAddress) literal = g_inet_address_new_from_string(statsd->host);
    g_autoptr(GResolver) resolver = NULL;

    if (literal != NULL) {
        use_address(statsd, literal);
        return;
    }
    if (statsd->resolving != NULL)
        return;
    resolver = g_resolver_get_default();
    statsd->resolving = g_cancellable_new();
    g_resolver_lookup_by_name_async(resolver, statsd->host, statsd->resolving, on_looked_up,
                                    statsd);
}

static gboolean
on_resolve_again(gpointer user_data)
{
    look_up(user_data);
    return G_SOURCE_CONTINUE;
}

/* ---- Sending ---- */

static void
send_datagram(DroverStatsd *statsd, const GString *datagram)
{
    if (datagram->len > 0 && send(statsd->fd, datagram->str, datagram->len, MSG_NOSIGNAL) < 0)
        look_up_soon(statsd);
}

void
drover_statsd_flush(DroverStatsd *statsd)
{
    g_autoptr(GString) datagram = NULL;
    char *lines;

    if (statsd == NULL || statsd->fd < 0)
        return;
    datagram = g_string_new(NULL);
    while ((lines = g_queue_pop_head(&statsd->waiting)) != NULL) {
        if (datagram->len > 0 && datagram->len + 1 + strlen(lines) >= DATAGRAM_LIMIT) {
            send_datagram(statsd, datagram);
            g_string_truncate(datagram, 0);
        }
        if (datagram->len > 0)
            g_string_append_c(datagram, '\n');
        g_string_append(datagram, lines);
        g_free(lines);
    }
    send_datagram(statsd, datagram);
}

static gboolean
on_flush(gpointer user_data)
{
    DroverStatsd *statsd = user_data;

    statsd->flush_source = 0;
    drover_statsd_flush(statsd);
    return G_SOURCE_REMOVE;
}

static void
add_lines(DroverStatsd *statsd, char *lines)
{
    g_queue_push_tail(&statsd->waiting, lines);
    /* As long as nobody knows where to send it, the newest is worth most. */
    while (g_queue_get_length(&statsd->waiting) > MOST_WAITING && statsd->fd < 0)
        g_free(g_queue_pop_head(&statsd->waiting));
    if (statsd->flush_source == 0)
        statsd->flush_source = g_idle_add(on_flush, statsd);
}

void
drover_statsd_count_key(DroverStatsd *statsd, const char *key, gint64 amount)
{
    if (statsd != NULL)
        add_lines(statsd, g_strdup_printf("%s:%" G_GINT64_FORMAT "|c", key, amount));
}

/* A sign would mean a change, so a negative value starts from 0. */
void
drover_statsd_gauge_key(DroverStatsd *statsd, const char *key, gint64 value)
{
    if (statsd == NULL)
        return;
    if (value < 0)
        add_lines(statsd, g_strdup_printf("%s:0|g\n%s:%" G_GINT64_FORMAT "|g", key, key, value));
    else
        add_lines(statsd, g_strdup_printf("%s:%" G_GINT64_FORMAT "|g", key, value));
}

void
drover_statsd_time_key(DroverStatsd *statsd, const char *key, gint64 value)
{
    if (statsd != NULL)
        add_lines(statsd, g_strdup_printf("%s:%" G_GINT64_FORMAT ".000000|ms", key, value));
}

typedef void (*SendFunc)(DroverStatsd *statsd, const char *key, gint64 value);

static void
send_parts(DroverStatsd *statsd, SendFunc send_key, gint64 value, va_list parts)
{
    g_autofree char *key = join_parts(va_arg(parts, const char *), parts);

    send_key(statsd, key, value);
}

/* Keys of a sender that is switched off are not even put together. */
#define DEFINE_SEND(name)                                                                          \
    void drover_statsd_##name(DroverStatsd *statsd, gint64 value, ...)                             \
    {                                                                                              \
        va_list parts;                                                                             \
                                                                                                   \
        if (statsd == NULL)                                                                        \
            return;                                                                                \
        va_start(parts, value);                                                                    \
        send_parts(statsd, drover_statsd_##name##_key, value, parts);                              \
        va_end(parts);                                                                             \
    }
DEFINE_SEND(count)
DEFINE_SEND(gauge)
DEFINE_SEND(time)

/* ---- Life ---- */

DroverStatsd *
drover_statsd_new(const char *host, guint16 port)
{
    DroverStatsd *statsd = g_new0(DroverStatsd, 1);

    statsd->host = g_strdup(host);
    statsd->port = port;
    statsd->fd = -1;
    g_queue_init(&statsd->waiting);
    statsd->resolve_timer = g_timeout_add_seconds(RESOLVE_SECONDS, on_resolve_again, statsd);
    look_up(statsd);
    return statsd;
}

static gboolean
is_set(const char *value)
{
    return value != NULL && *value != '\0';
}

DroverStatsd *
drover_statsd_new_from_environment(void)
{
    const char *host = g_getenv("STATSD_HOST"), *port = g_getenv("STATSD_PORT");
    guint64 number = DEFAULT_PORT;

    if (!is_set(host) && !is_set(port))
        return NULL;
    if (is_set(port) && !g_ascii_string_to_unsigned(port, 10, 1, G_MAXUINT16, &number, NULL)) {
        drover_log_for(DROVER_LOG_WARNING, "NodePool",
                       "STATSD_PORT is no port: %s; nothing is sent", port);
        return NULL;
    }
    return drover_statsd_new(is_set(host) ? host : DEFAULT_HOST, (guint16)number);
}

void
drover_statsd_free(DroverStatsd *statsd)
{
    if (statsd == NULL)
        return;
    drover_statsd_flush(statsd);
    g_clear_handle_id(&statsd->flush_source, g_source_remove);
    g_clear_handle_id(&statsd->resolve_timer, g_source_remove);
    g_clear_handle_id(&statsd->retry_timer, g_source_remove);
    if (statsd->resolving != NULL)
        g_cancellable_cancel(statsd->resolving);
    g_clear_object(&statsd->resolving);
    g_queue_clear_full(&statsd->waiting, g_free);
    if (statsd->fd >= 0)
        close(statsd->fd);
    g_free(statsd->host);
    g_free(statsd);
}
