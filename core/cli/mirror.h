/*
 * What is in ZooKeeper, kept current as long as it changes: nodes, node requests, what pools
 * published of their decisions, and the pools themselves. Everything is on the main loop.
 */
#pragma once

#include "cli/store.h"
#include "model/component.h"
#include "model/node.h"
#include "model/request.h"
#include "zk/cache.h"

typedef struct _DroverMirror DroverMirror;

typedef enum {
    DROVER_MIRROR_NODES,    /* of DroverNode */
    DROVER_MIRROR_REQUESTS, /* of DroverRequest */
    DROVER_MIRROR_BOARDS,   /* of json_t, see DROVER_DECISIONS_PATH */
    DROVER_MIRROR_POOLS,    /* of DroverComponent */
    DROVER_MIRROR_PARTS,
} DroverMirrorPart;

typedef struct {
    /*
     * After a change; either is NULL when there is or was none. Objects are those of the part.
     * Also while what is there is read for the first time. May be NULL.
     */
    void (*changed)(DroverMirrorPart part, const char *name, gpointer old, gpointer now,
                    gpointer user_data);
    /* All parts are complete, for the first time or again. May be NULL. */
    void (*complete)(gpointer user_data);
} DroverMirrorListener;

/* The listener is copied. */
DroverMirror *drover_mirror_new(DroverStore *store, const DroverMirrorListener *listener,
                                gpointer user_data);
/* Before the store is closed. */
void drover_mirror_free(DroverMirror *mirror);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DroverMirror, drover_mirror_free)

const DroverCache *drover_mirror_cache(const DroverMirror *mirror, DroverMirrorPart part);
gboolean drover_mirror_is_complete(const DroverMirror *mirror);

/* What a pool decided last about the request, as `verdict` says ("serve", ...); any pool, or any
 * verdict, for NULL. Borrowed, until the next change. `board` may be NULL. */
const json_t *drover_mirror_find_verdict(const DroverMirror *mirror, const char *launcher_id,
                                         const char *request_id, const char *verdict,
                                         const json_t **board);
