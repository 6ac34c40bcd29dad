/*
 * What an earlier process of this session had locked is taken up by the pools. What none of them
 * takes up, because its pool or provider is not configured any more, or there is nothing to go on
 * from, is unlocked here, so that the ordinary cleaning finds it.
 */
#pragma once

#include "launcher/parts.h"

typedef struct _DroverInheritance DroverInheritance;

/* Whether somebody in this process works on the node or request of that id. */
typedef gboolean (*DroverInheritanceInUse)(const char *id, gpointer user_data);

/* Begins at once; does nothing in a session that this process began. */
DroverInheritance *drover_inheritance_new(DroverParts *parts, DroverInheritanceInUse in_use,
                                          gpointer user_data);
void drover_inheritance_free(DroverInheritance *inheritance);
