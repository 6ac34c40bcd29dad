/*
 * Metrics and probes of a launcher: /metrics, /health/live, /health/ready, /health/status. Anything
 * else is not found, so that a probe with a wrong path fails. Answered by the core loop itself: one
 * that hangs does not look alive.
 */
#pragma once

#include "http/server.h"
#include "launcher/launcher.h"
#include "web/traffic.h"

typedef struct {
    DroverLauncher *launcher;
    const DroverListeners *listeners;
} DroverProbes;

/* A DroverHttpHandler; the data is the DroverProbes. */
void drover_probes_answer(DroverHttpExchange *exchange, gpointer probes);
