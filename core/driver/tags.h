/*
 * The tags that every machine and image of ours carries at its cloud, by which leaked ones are
 * found. The names are Nodepool's: each of the two recognises what the other made.
 */
#pragma once

#include "base/json.h"

#define DROVER_TAG_BUILD    "nodepool_build_id"
#define DROVER_TAG_NODE     "nodepool_node_id"
#define DROVER_TAG_POOL     "nodepool_pool_name"
#define DROVER_TAG_PROVIDER "nodepool_provider_name"
#define DROVER_TAG_UPLOAD   "nodepool_upload_id"

/* An item's tags, "{...}"; an empty object for anything else. Never NULL; new reference. */
json_t *drover_tags_parse(const char *text);
/* Free with g_free. */
char *drover_tags_of_node(const char *node_id, const char *pool, const char *provider);
