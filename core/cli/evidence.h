/*
 * What ZooKeeper has to say about who decides: the registered pools, what they published of their
 * decisions, and who holds a lock.
 */
#pragma once

#include "cli/store.h"
#include "model/component.h"

typedef struct {
    GPtrArray *pools;     /* of DroverComponent: each launcher id once */
    GHashTable *boards;   /* launcher id -> json_t, what a pool published of its decisions */
    GHashTable *sessions; /* session id, gint64 -> who has it, text */
    guint launchers;
} DroverEvidence;

/* NULL with the error of a read. */
DroverEvidence *drover_evidence_read(DroverStore *store, GError **error);
void drover_evidence_free(DroverEvidence *evidence);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DroverEvidence, drover_evidence_free)

/*
 * What the pool decided about the request, or NULL. `left_out`: there may be something that it did
 * not publish. Borrowed.
 */
const json_t *drover_evidence_verdict(const DroverEvidence *evidence, const char *launcher_id,
                                      const char *request_id, gboolean *left_out);

/*
 * Who holds the lock in a lock directory, in words; `holder` is NULL when nobody does. FALSE with
 * the error of a read. Free with g_free.
 */
gboolean drover_evidence_find_holder(const DroverEvidence *evidence, DroverStore *store,
                                     const char *directory, char **holder, GError **error);
