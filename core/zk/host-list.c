#include "zk/host-list.h"

#include <string.h>

char *
drover_host_list_join(const char *const *hosts)
{
    guint n = g_strv_length((char **)hosts);
    g_autofree char *list = g_strjoinv(",", (char **)hosts);

    if (n == 0 || n % 2 == 1)
        return g_steal_pointer(&list);
    return g_strconcat(list, ",", hosts[0], NULL);
}

char *
drover_host_list(const DroverSessionServer *servers, guint n_servers)
{
    g_auto(GStrv) hosts = g_new0(char *, n_servers + 1);

    for (guint i = 0; i < n_servers; i++)
        hosts[i] = g_strdup_printf(strchr(servers[i].host, ':') != NULL ? "[%s]:%u" : "%s:%u",
                                   servers[i].host, servers[i].port);
    return drover_host_list_join((const char *const *)hosts);
}
