/*
 * The handler that speaks to systemd's journal in its own protocol: a datagram a message, a field a
 * line; a text with newlines has its length before it.
 */
#include "base/log-handler-private.h"

#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <syslog.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log-structured.h"

#define FIELD_PREFIX "DROVER_"

typedef struct {
    DroverLogHandler base;
    struct sockaddr_un address;
    int socket;
    int fd; /* for what the journal does not take, or -1 */
} Journal;

static const int priorities[] = {LOG_DEBUG, LOG_INFO, LOG_WARNING, LOG_ERR};

static void
add_field(GString *message, const char *prefix, const char *key, const char *value, gsize length)
{
    g_autofree char *name = g_strconcat(prefix, key, NULL);
    guint64 size = GUINT64_TO_LE((guint64)length);

    for (char *at = name; *at != '\0'; at++)
        *at = g_ascii_toupper(*at);
    g_string_append(message, name);
    if (memchr(value, '\n', length) == NULL) {
        g_string_append_c(message, '=');
    } else {
        g_string_append_c(message, '\n');
        g_string_append_len(message, (const char *)&size, sizeof(size));
    }
    g_string_append_len(message, value, (gssize)length);
    g_string_append_c(message, '\n');
}

static void
add_text(GString *message, const char *prefix, const char *key, const char *value)
{
    if (value != NULL)
        add_field(message, prefix, key, value, strlen(value));
}

static void
write_journal(DroverLogHandler *handler, const DroverLogRecord *record, const GString *text)
{
    Journal *journal = (Journal *)handler;
    g_autoptr(GString) message = g_string_new(NULL);
    char priority[4];

    g_snprintf(priority, sizeof(priority), "%d", priorities[record->level]);
    add_field(message, "", "MESSAGE", text->str, text->len - 1);
    add_text(message, "", "PRIORITY", priority);
    add_text(message, "", "SYSLOG_IDENTIFIER", g_get_prgname());
    add_text(message, FIELD_PREFIX, "LOGGER", record->logger);
    for (const DroverLogPart *part = drover_log_parts; part->key != NULL; part++)
        add_text(message, FIELD_PREFIX, part->key, drover_log_part(record->subject, part));
    if (sendto(journal->socket, message->str, message->len, MSG_NOSIGNAL,
               (const struct sockaddr *)&journal->address, sizeof(journal->address)) < 0 &&
        journal->fd >= 0)
        drover_log_write_all(journal->fd, text->str, text->len);
}

static void
clear_journal(DroverLogHandler *handler)
{
    close(((Journal *)handler)->socket);
}

DroverLogHandler *
drover_log_handler_new_journal(const char *path, int fd, GError **error)
{
    static const DroverLogHandlerClass class = {.write = write_journal, .clear = clear_journal};
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int own = -1;
    Journal *journal;

    if (g_strlcpy(address.sun_path, path, sizeof(address.sun_path)) < sizeof(address.sun_path))
        own = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (own < 0) {
        g_set_error(error, DROVER_ERROR, DROVER_ERROR_CONFIG, "%s cannot be a socket", path);
        return NULL;
    }
    journal = drover_log_handler_alloc(&class, sizeof(Journal));
    journal->address = address;
    journal->socket = own;
    journal->fd = fd;
    drover_log_handler_set_format(
        &journal->base, drover_log_format_new("%(name)s: %(message)s", NULL, FALSE, NULL));
    return &journal->base;
}
