/*
 * A provider of the test cloud: what all of its operations share.
 */
#ifndef TESTCLOUD_CLOUD_H
#define TESTCLOUD_CLOUD_H

#include <drover/http.h>

struct list;

struct cloud {
    struct drover_provider *provider;
    const struct drover_value *config;
    const char *url, *token;
    int blocks;  /* the style is "blocking" */
    int resumes; /* operations can be taken up */
    struct drover_http *http;
    struct list *machines, *addresses, *volumes, *images, *flavors, *zones;
};

#endif
