#include "launcher/cluster/host-name.h"

#include <glib.h>
#include <netdb.h>
#include <sys/socket.h>

const char *
drover_host_name(void)
{
    return g_get_host_name();
}

static char *
look_up_fqdn(void)
{
    const struct addrinfo hints = {.ai_flags = AI_CANONNAME, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    char *name;

    if (getaddrinfo(g_get_host_name(), NULL, &hints, &found) != 0)
        return g_strdup(g_get_host_name());
    name = g_strdup(found->ai_canonname != NULL ? found->ai_canonname : g_get_host_name());
    freeaddrinfo(found);
    return name;
}

const char *
drover_host_fqdn(void)
{
    static gsize once;
    static char *name;

    if (g_once_init_enter(&once)) {
        name = look_up_fqdn();
        g_once_init_leave(&once, 1);
    }
    return name;
}
