#include "model/connection.h"

DroverSessionServer *
drover_connection_servers(const DroverConfig *config)
{
    DroverSessionServer *servers = g_new0(DroverSessionServer, config->servers->len);

    for (guint i = 0; i < config->servers->len; i++) {
        const DroverServerConfig *server = config->servers->pdata[i];
        servers[i] = (DroverSessionServer){server->host, (guint16)server->port};
    }
    return servers;
}

DroverSessionOptions
drover_connection_options(const DroverConfig *config, const DroverSessionServer *servers)
{
    return (DroverSessionOptions){.servers = servers,
                                  .n_servers = config->servers->len,
                                  .chroot = config->chroot,
                                  .timeout = config->zookeeper_timeout,
                                  .digest = config->zookeeper_digest,
                                  .tls_cert = config->tls_cert,
                                  .tls_key = config->tls_key,
                                  .tls_ca = config->tls_ca,
                                  .tls_any_hostname = !config->tls_verify_hostname};
}
