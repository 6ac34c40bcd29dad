/* The handler that speaks to a syslog daemon, in the old form (RFC 3164). */
#include "base/log-handler-private.h"

#include <netdb.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <syslog.h>
#include <unistd.h>

#include "base/error.h"

typedef struct {
    DroverLogHandler base;
    struct sockaddr_storage address;
    socklen_t length;
    int facility;
    int fd; /* -1: not connected */
    gboolean stream;
} Syslog;

static const int severities[] = {LOG_DEBUG, LOG_INFO, LOG_WARNING, LOG_ERR};

static gboolean
connect_as(Syslog *syslog, int type)
{
    syslog->fd = socket(syslog->address.ss_family, type | SOCK_CLOEXEC, 0);
    syslog->stream = type == SOCK_STREAM;
    if (syslog->fd >= 0 &&
        connect(syslog->fd, (struct sockaddr *)&syslog->address, syslog->length) == 0)
        return TRUE;
    if (syslog->fd >= 0)
        close(syslog->fd);
    syslog->fd = -1;
    return FALSE;
}

static gboolean
is_connected(Syslog *syslog)
{
    return syslog->fd >= 0 || connect_as(syslog, SOCK_DGRAM) ||
           (syslog->address.ss_family == AF_UNIX && connect_as(syslog, SOCK_STREAM));
}

static void
write_syslog(DroverLogHandler *handler, const DroverLogRecord *record, const GString *text)
{
    Syslog *syslog = (Syslog *)handler;
    g_autofree char *message =
        g_strdup_printf("<%d>%.*s", (syslog->facility << 3) | severities[record->level],
                        (int)(text->len - 1), text->str);
    gsize length = strlen(message) + 1; /* with the 0, which ends a message of a stream */

    /* The daemon may have been restarted since the last message. */
    for (int tries = 0; tries < 2 && is_connected(syslog); tries++) {
        if (send(syslog->fd, message, length, MSG_NOSIGNAL) >= 0)
            return;
        close(syslog->fd);
        syslog->fd = -1;
    }
}

static void
clear_syslog(DroverLogHandler *handler)
{
    Syslog *syslog = (Syslog *)handler;

    if (syslog->fd >= 0)
        close(syslog->fd);
}

static gboolean
take_path(Syslog *syslog, const char *path, GError **error)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    if (g_strlcpy(address.sun_path, path, sizeof(address.sun_path)) >= sizeof(address.sun_path)) {
        g_set_error(error, DROVER_ERROR, DROVER_ERROR_CONFIG, "%s is too long for a socket", path);
        return FALSE;
    }
    memcpy(&syslog->address, &address, sizeof(address));
    syslog->length = sizeof(address);
    return TRUE;
}

static gboolean
take_host(Syslog *syslog, const char *host, guint16 port, GError **error)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_DGRAM};
    g_autofree char *service = g_strdup_printf("%u", port);
    struct addrinfo *found = NULL;
    int status = getaddrinfo(host, service, &hints, &found);

    if (status != 0) {
        g_set_error(error, DROVER_ERROR, DROVER_ERROR_CONFIG, "no address of %s: %s", host,
                    gai_strerror(status));
        return FALSE;
    }
    memcpy(&syslog->address, found->ai_addr, found->ai_addrlen);
    syslog->length = found->ai_addrlen;
    freeaddrinfo(found);
    return TRUE;
}

DroverLogHandler *
drover_log_handler_new_syslog(const char *path, const char *host, guint16 port, int facility,
                              GError **error)
{
    static const DroverLogHandlerClass class = {.write = write_syslog, .clear = clear_syslog};
    Syslog *syslog = drover_log_handler_alloc(&class, sizeof(Syslog));

    syslog->fd = -1;
    syslog->facility = facility;
    if (path != NULL ? take_path(syslog, path, error) : take_host(syslog, host, port, error))
        return &syslog->base;
    drover_log_handler_unref(&syslog->base);
    return NULL;
}
