/*
 * Records of nodes and requests for tests, made from JSON text in which ' stands for ".
 */
#pragma once

#include "model/node.h"
#include "model/request.h"

/* Fails the test when the text is no record. */
DroverNode *test_node_new(const char *id, const char *json);
DroverRequest *test_request_new(const char *id, const char *json);
