/*
 * A page for people: providers and pools with what they use, machines by state, requests that wait
 * and why. A static page (page.html) is fed by server-sent events, one each second at most and only
 * with what has changed, see overview-state.h.
 */
#pragma once

#include "http/server.h"
#include "launcher/launcher.h"

typedef struct _DroverOverview DroverOverview;

DroverOverview *drover_overview_new(DroverLauncher *launcher);
/* After the server: no stream is left. */
void drover_overview_free(DroverOverview *overview);

/* FALSE: the path is not the page's. */
gboolean drover_overview_answer(DroverOverview *overview, DroverHttpExchange *exchange);
