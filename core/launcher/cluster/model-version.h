/*
 * Which form of records everybody in the cluster can read: the smallest model version (`model_api`)
 * of all registered components and of this process.
 *
 *     launchers, pools, builders ─► smallest ─► who writes a later form asks first
 *
 * During an upgrade old and new processes run in one cluster. Something that is written in a form
 * of version N is written in the former way for as long as drover_model_version_minimum() < N, and
 * what was read is kept with every field that this process does not know (see record.h). Version 0
 * is the only one so far. Core loop only.
 */
#pragma once

#include "launcher/cluster/cluster.h"

typedef struct _DroverModelVersion DroverModelVersion;

/* `own`: what this process writes. The log tells when the smallest changes; a fall is an error. */
DroverModelVersion *drover_model_version_new(DroverCluster *cluster, gint64 own);
/* Before the cluster. */
void drover_model_version_free(DroverModelVersion *model);

/* The registered pools have changed, or the cluster has become complete. */
void drover_model_version_note_pools(DroverModelVersion *model);

/* While the registry is not known as a whole, 0, which everybody can read. */
gint64 drover_model_version_minimum(const DroverModelVersion *model);
