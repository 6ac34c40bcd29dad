#include "command/socket.h"

#include <errno.h>
#include <fcntl.h>
#include <gio/gunixsocketaddress.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/error.h"

#define BACKLOG 128

/* GLib would cut a path that is too long. */
static GSocketAddress *
address_of(const char *path, GError **error)
{
    if (strlen(path) < sizeof(((struct sockaddr_un *)NULL)->sun_path))
        return g_unix_socket_address_new(path);
    g_set_error(error, DROVER_ERROR, DROVER_ERROR_FAILED,
                "the socket path %s is longer than the %zu bytes that the system allows", path,
                sizeof(((struct sockaddr_un *)NULL)->sun_path) - 1);
    return NULL;
}

static GSocket *
socket_new(GError **error)
{
    GSocket *socket =
        g_socket_new(G_SOCKET_FAMILY_UNIX, G_SOCKET_TYPE_STREAM, G_SOCKET_PROTOCOL_DEFAULT, error);

    if (socket != NULL)
        g_socket_set_blocking(socket, FALSE);
    return socket;
}

/* ---- Connecting ---- */

static DroverErrorCode
code_of(const GError *problem)
{
    if (g_error_matches(problem, G_IO_ERROR, G_IO_ERROR_NOT_FOUND) ||
        g_error_matches(problem, G_IO_ERROR, G_IO_ERROR_CONNECTION_REFUSED))
        return DROVER_ERROR_NOT_FOUND;
    if (g_error_matches(problem, G_IO_ERROR, G_IO_ERROR_WOULD_BLOCK) ||
        g_error_matches(problem, G_IO_ERROR, G_IO_ERROR_PENDING))
        return DROVER_ERROR_BUSY;
    return DROVER_ERROR_FAILED;
}

GSocket *
drover_command_connect(const char *path, GError **error)
{
    g_autoptr(GSocketAddress) address = address_of(path, error);
    g_autoptr(GSocket) socket = address != NULL ? socket_new(error) : NULL;
    g_autoptr(GError) problem = NULL;

    if (socket == NULL)
        return NULL;
    if (g_socket_connect(socket, address, NULL, &problem))
        return g_steal_pointer(&socket);
    g_set_error(error, DROVER_ERROR, code_of(problem), "%s: %s", path, problem->message);
    return NULL;
}

/* ---- Listening ---- */

static gboolean
refuse(const char *path, const char *why, GError **error)
{
    g_set_error(error, DROVER_ERROR, DROVER_ERROR_BUSY, "%s %s", path, why);
    return FALSE;
}

/* Removes a socket that nobody listens at any more. */
static gboolean
make_way(const char *path, GError **error)
{
    g_autoptr(GSocket) other = NULL;
    g_autoptr(GError) problem = NULL;
    GStatBuf found;

    if (g_lstat(path, &found) != 0)
        return TRUE;
    if (!S_ISSOCK(found.st_mode))
        return refuse(path, "exists, and is no socket", error);
    other = drover_command_connect(path, &problem);
    if (other != NULL || !g_error_matches(problem, DROVER_ERROR, DROVER_ERROR_NOT_FOUND))
        return refuse(path, "is another program's: somebody listens there", error);
    g_unlink(path);
    return TRUE;
}

/* From its first moment on for nobody else: nobody can connect before it listens. */
static gboolean
bind_and_listen(GSocket *socket, GSocketAddress *address, const char *path, GError **error)
{
    if (!g_socket_bind(socket, address, FALSE, error))
        return FALSE;
    g_socket_set_listen_backlog(socket, BACKLOG);
    if (g_chmod(path, 0600) == 0)
        return g_socket_listen(socket, error);
    g_set_error(error, DROVER_ERROR, DROVER_ERROR_FAILED, "%s: %s", path, g_strerror(errno));
    return FALSE;
}

/* Two programs that start at once must not take each other's socket for a dead one. */
static int
lock_folder(const char *path, GError **error)
{
    g_autofree char *folder = g_path_get_dirname(path);
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd >= 0 && flock(fd, LOCK_EX) == 0)
        return fd;
    g_set_error(error, DROVER_ERROR, DROVER_ERROR_FAILED, "%s: %s", folder, g_strerror(errno));
    if (fd >= 0)
        close(fd);
    return -1;
}

GSocket *
drover_command_listen(const char *path, GError **error)
{
    g_autoptr(GSocketAddress) address = address_of(path, error);
    g_autoptr(GSocket) socket = address != NULL ? socket_new(error) : NULL;
    int folder = socket != NULL ? lock_folder(path, error) : -1;
    gboolean listens;

    if (folder < 0)
        return NULL;
    listens = make_way(path, error) && bind_and_listen(socket, address, path, error);
    close(folder);
    return listens ? g_steal_pointer(&socket) : NULL;
}
