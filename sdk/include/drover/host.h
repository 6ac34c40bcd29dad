/*
 * drover/host.h - the other side of drover/driver.h: what a program that runs drivers needs (the
 * launcher, the builder, drover-driver-check). Drivers do not include it, and it is not part of
 * the ABI promise: a host is built together with the libdrover-sdk that it runs with.
 */
#ifndef DROVER_HOST_H
#define DROVER_HOST_H

#include <drover/driver.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------------------
 * Values of the configuration. A container owns what was put into it.
 * ------------------------------------------------------------------------------------------ */

enum drover_value_type {
    DROVER_VALUE_NULL,
    DROVER_VALUE_BOOLEAN,
    DROVER_VALUE_INTEGER,
    DROVER_VALUE_NUMBER,
    DROVER_VALUE_STRING,
    DROVER_VALUE_LIST,
    DROVER_VALUE_MAP,
};

DROVER_EXPORT struct drover_value *drover_value_new_null(void);
DROVER_EXPORT struct drover_value *drover_value_new_boolean(int value);
DROVER_EXPORT struct drover_value *drover_value_new_integer(int64_t value);
DROVER_EXPORT struct drover_value *drover_value_new_number(double value);
DROVER_EXPORT struct drover_value *drover_value_new_string(const char *value);
DROVER_EXPORT struct drover_value *drover_value_new_list(void);
DROVER_EXPORT struct drover_value *drover_value_new_map(void);
DROVER_EXPORT void drover_value_free(struct drover_value *value);

/* Takes `value` over. An earlier member of the same key is replaced in its place. */
DROVER_EXPORT void drover_value_set(struct drover_value *map, const char *key,
                                    struct drover_value *value);
DROVER_EXPORT void drover_value_append(struct drover_value *list, struct drover_value *value);

/* Where it stood in the configuration, counted from 1; 0 when it came from a default. */
DROVER_EXPORT void drover_value_set_place(struct drover_value *value, unsigned line,
                                          unsigned column);
DROVER_EXPORT unsigned drover_value_line(const struct drover_value *value);
DROVER_EXPORT unsigned drover_value_column(const struct drover_value *value);

DROVER_EXPORT enum drover_value_type drover_value_type(const struct drover_value *value);
DROVER_EXPORT struct drover_value *drover_value_copy(const struct drover_value *value);
/* By content: order of map members and places do not matter, order of lists does. */
DROVER_EXPORT int drover_value_equal(const struct drover_value *a, const struct drover_value *b);

#ifdef __cplusplus
}
#endif

#endif
