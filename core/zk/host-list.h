/* Lists of servers as the client library wants them: "a:1,b:2". */
#pragma once

#include "zk/session.h"

/*
 * Addresses that are written already, NULL-terminated. After a failure the library goes on by two,
 * so of an even number it would never try half: the first is then repeated. Free with g_free.
 */
char *drover_host_list_join(const char *const *hosts);

/* IPv6 literals are put in brackets. Free with g_free. */
char *drover_host_list(const DroverSessionServer *servers, guint n_servers);
