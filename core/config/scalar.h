/*
 * What a plain scalar means: the YAML 1.1 rules of PyYAML's safe loader, which Nodepool reads its
 * configuration with.
 */
#pragma once

#include <glib.h>

typedef enum {
    DROVER_SCALAR_STRING,
    DROVER_SCALAR_NULL,
    DROVER_SCALAR_BOOLEAN,
    DROVER_SCALAR_INTEGER,
    DROVER_SCALAR_BIG_INTEGER, /* beyond 64 bits; `number` is near it */
    DROVER_SCALAR_NUMBER,
    DROVER_SCALAR_TIMESTAMP,
    DROVER_SCALAR_MERGE,   /* << */
    DROVER_SCALAR_VALUE,   /* = */
    DROVER_SCALAR_INVALID, /* has the form of an integer but no digits: 0x_ */
} DroverScalarType;

typedef struct {
    DroverScalarType type;
    gboolean boolean;
    gint64 integer;
    double number;
} DroverScalar;

/* Resolves plain text, UTF-8. */
void drover_scalar_resolve(const char *text, DroverScalar *scalar);

/* A number as Python writes it: "22.1", "1000.0", "1e+16", "inf". Free with g_free. */
char *drover_scalar_number_text(double number);
