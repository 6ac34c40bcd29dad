/* How to reach ZooKeeper: servers, path, TLS. */
#pragma once

#include "config/report.h"

/* Frees a DroverServerConfig. */
void drover_server_config_free(DroverServerConfig *server);

/*
 * Takes servers, chroot, TLS, digest and time-out from the checked values. What stands in the
 * secure file is used instead of what stands in the main one; `secure` may be NULL. Reports what is
 * missing and what does not fit.
 */
void drover_config_take_zookeeper(DroverConfig *config, const struct drover_value *values,
                                  const DroverConfigSource *source,
                                  const struct drover_value *secure,
                                  const DroverConfigSource *secure_source);
