/*
 * Transfers of libcurl on a GLib main context: sockets and timers become sources, nothing blocks.
 * Used on one thread.
 */
#pragma once

#include <curl/curl.h>
#include <glib.h>

typedef struct _HttpEngine HttpEngine;
typedef void (*HttpEngineDone)(CURLcode code, gpointer data);

HttpEngine *drover_http_engine_new(GMainContext *context);
void drover_http_engine_free(HttpEngine *engine);
GMainContext *drover_http_engine_context(const HttpEngine *engine);

/* Begins a transfer. The handle is out of the engine again when `done` is called. */
void drover_http_engine_add(HttpEngine *engine, CURL *easy, HttpEngineDone done, gpointer data);
/* Gives it up; `done` is not called. */
void drover_http_engine_remove(HttpEngine *engine, CURL *easy);
