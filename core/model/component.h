/*
 * A component of the cluster: /nodepool/components/<kind>/<hostname><sequence>. See record.h.
 */
#pragma once

#include "model/record.h"

#define DROVER_COMPONENTS_PATH "/nodepool/components"
/*
 * Each pool of Drover tells here, in an ephemeral znode of its own, what it decided last about the
 * requests that are there:
 *
 *     {"launcher": id, "provider": .., "pool": .., "left_out": how many more it decided about,
 *      "limits": {"pool": {resource: most}, "provider": {...}}, what is limited at all,
 *      "requests": [{"id": .., "verdict": .., "reason": .., "since": seconds since the epoch}]}
 */
#define DROVER_DECISIONS_PATH "/drover/decisions"
/* The latest form of records that this version can write; see launcher/cluster/model-version.h. */
#define DROVER_MODEL_API 0

typedef struct {
    char *hostname, *kind, *state, *version;
    gint64 model_api;
    /* Of a pool; NULL or empty for others. */
    char *id; /* launcher id: what `declined_by` is compared with */
    char *name, *provider_name;
    char **supported_labels;
    gint64 priority; /* smaller is preferred */
    gboolean paused;
    char *problem; /* why the provider is unhealthy; NULL: it is not */
} DroverComponent;

/* NULL with DROVER_ERROR_MALFORMED. Extra keys do no harm. */
DroverComponent *drover_component_decode(GBytes *data, GError **error);
void drover_component_free(DroverComponent *component);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DroverComponent, drover_component_free)

/* The znode's data, of what is set in the component. */
GBytes *drover_component_encode(const DroverComponent *component);

/* TRUE when the pool supports all of the labels. */
gboolean drover_component_supports(const DroverComponent *component, const char *const *labels);
