/*
 * What an address of a cloud's API is about, without ids: few names, the same ones that Nodepool's
 * OpenStack library has in its statsd keys.
 *
 *     http://cloud:8774/v2.1/servers/detail      compute   servers_detail
 *     http://cloud/compute/v2.1/servers/4f1c...  compute   server
 *     http://cloud/identity/v3/auth/tokens       identity  tokens
 *     http://cloud/machines/7                              machine
 */
#pragma once

#include <glib.h>

typedef struct {
    char *service; /* never NULL; "" unless the address tells */
    char *operation;
} DroverApiName;

DroverApiName drover_api_name(const char *url);
void drover_api_name_clear(DroverApiName *name);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(DroverApiName, drover_api_name_clear)
