/*
 * Node requests over HTTP, for programs that do not speak to ZooKeeper: submit, show, wait, give
 * back; openapi.json describes it. Each client shows a token of the configuration, and has to do
 * with its own requests only. Without tokens there is nothing here.
 */
#pragma once

#include "http/server.h"
#include "launcher/launcher.h"

#define DROVER_API_METHODS "GET, HEAD, POST, DELETE"

typedef struct _DroverApi DroverApi;

DroverApi *drover_api_new(DroverLauncher *launcher);
/* Before the server whose requests it answers: those that wait are answered. */
void drover_api_free(DroverApi *api);

/* Whether the path is the API's. */
gboolean drover_api_has(const char *path);
void drover_api_answer(DroverApi *api, DroverHttpExchange *exchange);
