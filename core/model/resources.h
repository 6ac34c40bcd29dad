/*
 * Amounts of resources by name: cores, instances, ram (MiB), and whatever a cloud or an operator
 * names. What a set does not name counts as its default: 0 in a cost, INFINITY in a limit.
 */
#pragma once

#include <glib.h>
#include <jansson.h>

typedef struct _DroverResources DroverResources;

DroverResources *drover_resources_new(double otherwise);
/* The numbers of a JSON object; NULL reads as empty. In a limit a negative number means none. */
DroverResources *drover_resources_from_json(const json_t *object, double otherwise);
DroverResources *drover_resources_copy(const DroverResources *resources);
/* To be shared by those who do not change it any more. NULL is allowed. */
DroverResources *drover_resources_ref(const DroverResources *resources);
void drover_resources_unref(DroverResources *resources);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DroverResources, drover_resources_unref)

double drover_resources_get(const DroverResources *resources, const char *name);
void drover_resources_set(DroverResources *resources, const char *name, double amount);

/* Over the names of both; each side gives its default for those that only the other has. */
void drover_resources_add(DroverResources *resources, const DroverResources *more);
void drover_resources_subtract(DroverResources *resources, const DroverResources *less);

/* The name of a resource of which there is less than nothing; NULL: it fits. */
const char *drover_resources_find_negative(const DroverResources *resources);

/* What is named and finite, as a JSON object; whole numbers as integers. New reference. */
json_t *drover_resources_json(const DroverResources *resources);
/* "cores 4, ram 8192", or "nothing" or "no limit". Free with g_free. */
char *drover_resources_text(const DroverResources *resources);
