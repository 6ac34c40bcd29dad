/* What serve.c and serve-operation.c share. Not for other files. */
#pragma once

#include "driver/frames.h"
#include "driver/table.h"
#include "driver/transport.h"

/* A byte more than what the launcher takes of one text, so that it sees which is too long. */
#define DROVER_SERVE_MOST_TEXT (64 * 1024 + 1)

typedef struct {
    DroverFrames *frames;
    GMainLoop *loop;
    void *file; /* the driver, loaded until the process ends */
    DroverDriverTable *table;
    struct drover_provider *provider;
    struct drover_value *config;
    GPtrArray *values; /* see drover_transport_number() */
    json_t *problem;
    void *self;
    gboolean open;
    GHashTable *operations; /* number -> ServeOperation */
} Serve;

/* Takes the frame over. Any thread. */
void drover_serve_send(Serve *serve, json_t *frame);
/* The beginning of a text as a JSON string; null for NULL. */
json_t *drover_serve_text(const char *text);

/* Loads the driver that the frame names, if none is loaded yet. NULL: done; else the answer. */
json_t *drover_serve_load(Serve *serve, const json_t *frame);

/* ---- serve-check.c ---- */

json_t *drover_serve_check(Serve *serve, const json_t *frame);

/* ---- serve-operation.c: orders, and the answer to each ---- */

json_t *drover_serve_begin(Serve *serve, const json_t *frame);
json_t *drover_serve_step(Serve *serve, const json_t *frame);
json_t *drover_serve_cancel(Serve *serve, const json_t *frame);
json_t *drover_serve_end(Serve *serve, const json_t *frame);
void drover_serve_operation_free(gpointer operation);
