/*
 * The free nodes of one pool: ready, nobody's, and not promised to a request of ours that is just
 * being served.
 */
#pragma once

#include "model/node.h"

typedef struct _DroverStock DroverStock;

DroverStock *drover_stock_new(const char *provider, const char *pool);
void drover_stock_free(DroverStock *stock);

/* A node changed, or is gone (NULL). Nodes of other pools are ignored. */
void drover_stock_note(DroverStock *stock, const char *id, const DroverNode *node);

/* How many nodes there are for each label: name -> GINT_TO_POINTER(n). Free with unref. */
GHashTable *drover_stock_count(const DroverStock *stock);

/* Promises the node that has been ready for the longest; NULL when there is none. New reference. */
DroverNode *drover_stock_reserve(DroverStock *stock, const char *label);
/* Takes the promise back. */
void drover_stock_release(DroverStock *stock, const char *id);

/* A node that somebody else has locked, or whose machine is dead, is not offered. */
void drover_stock_set_usable(DroverStock *stock, const char *id, gboolean usable);
/* Nothing that was found about any machine counts any more. */
void drover_stock_set_all_usable(DroverStock *stock);
