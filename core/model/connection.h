/* The session that a configuration asks for: the same for each of the programs. */
#pragma once

#include "config/config.h"
#include "zk/session.h"

/* As many as config->servers has; free with g_free. The names are the configuration's. */
DroverSessionServer *drover_connection_servers(const DroverConfig *config);

/*
 * What the configuration says about ZooKeeper, with these servers, which have to outlive the
 * options. Strings are the configuration's. The rest is the caller's to fill in.
 */
DroverSessionOptions drover_connection_options(const DroverConfig *config,
                                               const DroverSessionServer *servers);
