/* What this host is called in ZooKeeper: as gethostname() says, and fully qualified. */
#pragma once

const char *drover_host_name(void);
const char *drover_host_fqdn(void);
