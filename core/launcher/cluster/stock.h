/*
 * The free nodes of one pool: ready, nobody's, and not promised to a request of ours that is just
 * being served.
 */
#pragma once

#include "model/node.h"

typedef struct _DroverStock DroverStock;

DroverStock *drover_stock_new(const char *provider, const char *pool);
DroverStock *drover_stock_ref(DroverStock *stock);
void drover_stock_unref(DroverStock *stock);

/* A node changed, or is gone (NULL). Nodes of other pools are ignored. */
void drover_stock_note(DroverStock *stock, const char *id, const DroverNode *node);

/* How many nodes there are for each label: name -> GINT_TO_POINTER(n). Free with unref. */
GHashTable *drover_stock_count(const DroverStock *stock);

/*
 * Promises the node that has been ready for the longest, in the zone if one is given; NULL when
 * there is none. New reference.
 */
DroverNode *drover_stock_reserve(DroverStock *stock, const char *label, const char *zone);
/* Takes the promise back. */
void drover_stock_release(DroverStock *stock, const char *id);

/* A node that somebody else has locked, or whose machine is dead, is not offered. */
void drover_stock_set_usable(DroverStock *stock, const char *id, gboolean usable);
/* Of those that are offered, the one that has been ready for the longest; NULL when there is none.
 */
const DroverNode *drover_stock_oldest(const DroverStock *stock);
/* Whether a node of the pool has begun to be deleted within so many seconds, or is about to: there
 * will be room. */
gboolean drover_stock_is_shrinking(const DroverStock *stock, guint seconds);
void drover_stock_set_shrinking(DroverStock *stock, gboolean about_to);
/* Nothing that was found about any machine counts any more. */
void drover_stock_set_all_usable(DroverStock *stock);
