/* What the launcher and a driver's process say to each other; see frames.h. */
#pragma once

#include <drover/host.h>
#include <glib.h>
#include <jansson.h>

/* The first frame names it; another one is refused. */
#define DROVER_TRANSPORT_VERSION 2
#define DROVER_TRANSPORT_FD      3
/* From the driver's process, and to it, where the whole configuration is in one. */
#define DROVER_TRANSPORT_MOST_SAID (2 * 1024 * 1024)
#define DROVER_TRANSPORT_MOST_TOLD (128 * 1024 * 1024)

/* The operations, in the order of their numbers, which both sides have from the same table. */
typedef enum drover_step (*DroverStepFunc)(void *self, struct drover_operation *op);
typedef struct {
    size_t offset; /* in struct drover_driver */
    const char *name;
    gboolean makes; /* doing it twice would make two of something */
} DroverOperationKind;

extern const DroverOperationKind drover_operation_kinds[];
extern const guint drover_n_operation_kinds;
DroverStepFunc drover_operation_function(const struct drover_driver *driver, guint kind);

/* A value with all that is in it; NULL is null. */
json_t *drover_transport_pack(const struct drover_value *value);
struct drover_value *drover_transport_unpack(const json_t *json);

/* Every value in the tree, each container before what is in it: so they have the same numbers on
 * both sides. */
GPtrArray *drover_transport_number(const struct drover_value *root);
