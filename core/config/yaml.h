/*
 * YAML text as a tree of nodes that know their place in the file. Anchors, aliases and merge keys
 * are resolved; of a key given twice the last one stands.
 */
#pragma once

#include "config/report.h"
#include "config/scalar.h"
#include "config/substitute.h"

typedef enum {
    DROVER_YAML_NULL,
    DROVER_YAML_BOOLEAN,
    DROVER_YAML_INTEGER,
    DROVER_YAML_BIG_INTEGER, /* beyond 64 bits */
    DROVER_YAML_NUMBER,
    DROVER_YAML_STRING,
    DROVER_YAML_TIMESTAMP,
    DROVER_YAML_LIST,
    DROVER_YAML_MAP,
    DROVER_YAML_INVALID, /* reported already; to be passed over */
} DroverYamlType;

/* Counted references, one thread. Never changes once it is made. */
typedef struct _DroverYaml DroverYaml;

typedef struct {
    char *key;          /* its text */
    gboolean is_text;   /* the key is a string, not a number or boolean */
    gboolean merged;    /* came in by a merge key */
    guint line, column; /* of the key */
    DroverYaml *value;
} DroverYamlMember;

struct _DroverYaml {
    DroverYamlType type;
    guint line, column; /* from 1; 0 for text that is in no file */
    char *text;         /* a scalar as it is written; a string's value */
    gboolean boolean;
    gint64 integer;
    double number;      /* also of integers */
    GPtrArray *items;   /* of DroverYaml; a list's */
    GPtrArray *members; /* of DroverYamlMember; a map's, each key once */
    guint64 weight;     /* how many nodes it has when every alias is written out */
};

typedef enum {
    DROVER_YAML_OK,
    DROVER_YAML_EMPTY,  /* no document, or null */
    DROVER_YAML_BROKEN, /* reported */
} DroverYamlResult;

/* Parses one document. `*root` is set with OK only. */
DroverYamlResult drover_yaml_parse(const DroverSubstitution *text, const DroverConfigSource *source,
                                   DroverYaml **root);

/*
 * Parses text that is in no file, such as a default. Its nodes have place 0. NULL when it is not
 * YAML; "" is a null.
 */
DroverYaml *drover_yaml_parse_text(const char *text);

DroverYaml *drover_yaml_ref(DroverYaml *node);
void drover_yaml_unref(DroverYaml *node);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DroverYaml, drover_yaml_unref)

/* A member of a map; NULL when it has none or is no map. */
const DroverYamlMember *drover_yaml_member(const DroverYaml *map, const char *key);
const DroverYaml *drover_yaml_get(const DroverYaml *map, const char *key);

/* The text of a scalar as JSON and Python would have it, a number in its plain form. */
char *drover_yaml_plain_text(const DroverYaml *scalar);
