/* What is exported of the HTTP listeners themselves. */
#pragma once

#include "http/server.h"
#include "metrics/registry.h"

/* The listeners of a launcher; NULL: it has not got it. */
typedef struct {
    DroverHttpServer *metrics, *status;
} DroverListeners;

/* Appends the families drover_http_*, as they are now. */
void drover_traffic_write(const DroverListeners *listeners, DroverExposition form, GString *text);
