/*
 * What an earlier process of this session had locked is taken up by the pools. What none of them
 * takes up, because its pool or provider is not configured any more, or there is nothing to go on
 * from, is unlocked here, so that the ordinary cleaning finds it. Nodes that this launcher had just
 * begun to make are removed: there is no machine yet.
 */
#pragma once

#include "launcher/provider/parts.h"

typedef struct _DroverInheritance DroverInheritance;

typedef struct {
    /* Whether somebody in this process works on the node or request of that id. */
    gboolean (*in_use)(const char *id, gpointer user_data);
    /* Whether the id is that of a pool of this launcher. */
    gboolean (*is_own)(const char *launcher_id, gpointer user_data);
    /* A lock was given up: there is something to be cleaned. */
    void (*given_up)(gpointer user_data);
} DroverInheritanceHooks;

/* Begins at once; does nothing in a session that this process began. */
DroverInheritance *drover_inheritance_new(DroverParts *parts, const DroverInheritanceHooks *hooks,
                                          gpointer user_data);
void drover_inheritance_free(DroverInheritance *inheritance);
