/*
 * Records of nodes and requests, and options, for tests: made from JSON text in which ' stands
 * for ".
 */
#pragma once

#include <drover/host.h>

#include "model/node.h"
#include "model/request.h"

/* Fails the test when the text is no record. */
DroverNode *test_node_new(const char *id, const char *json);
DroverRequest *test_request_new(const char *id, const char *json);
json_t *test_json_new(const char *json);
/* Free with drover_value_free. */
struct drover_value *test_values_new(const char *json);
