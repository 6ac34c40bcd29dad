/*
 * Tables of struct drover_option as a tree, which the checker walks beside the file's tree.
 */
#pragma once

#include "config/yaml.h"

/* Flags of the host's own tables, beside those of enum drover_option_flags. */
enum {
    DROVER_OPTION_OR_INTEGER = 1 << 16, /* STRING: an integer is as good */
    DROVER_OPTION_LIST_ONLY = 1 << 17,  /* STRINGS: a single string is not a list of one */
};

typedef struct _DroverSchema DroverSchema;

/* Which tree an entry of a list is checked against; `entry` is a map. */
typedef DroverSchema *(*DroverSchemaChooser)(const DroverYaml *entry, gpointer user_data);

/* What came of an entry; `good` when nothing was wrong with it. */
typedef void (*DroverSchemaChecked)(const struct drover_value *entry, gboolean good,
                                    gpointer user_data);

struct _DroverSchema {
    char *name; /* the last part of the path, without "[]"; "*" for any other key */
    enum drover_option_type type;
    guint flags;                                       /* SECRET is handed down to the members */
    const char *allowed, *refers_to, *old_name, *help; /* the table's own strings */
    char **choices;                                    /* the words of `allowed`, or NULL */
    double minimum, maximum;                           /* the range of `allowed`, or infinite */
    char **unique;                                     /* NULL: entries need not differ */
    DroverYaml *fallback;                              /* the default, or NULL */
    char *when, *when_value;                           /* a sibling and its value ... */
    DroverYaml *when_fallback;                         /* ... beside which this is the default */
    GPtrArray *members;          /* of DroverSchema, in the order of the tables */
    DroverSchema *others;        /* for members that are not named; or NULL */
    gboolean open;               /* members that are not named are taken as they are */
    DroverSchemaChooser choose;  /* LIST: instead of `members`; or NULL */
    DroverSchemaChecked checked; /* LIST: told of each entry; or NULL */
    gpointer choose_data;        /* of both */
};

/* An empty map. */
DroverSchema *drover_schema_new(void);
void drover_schema_free(DroverSchema *schema);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DroverSchema, drover_schema_free)

/*
 * Adds the options of a table that ends with a NULL path, those whose path begins with `prefix`
 * ("providers[].", or ""), without it. `size` is what one entry of the table takes up, which in a
 * driver's table may differ from this program's. The table's strings have to live as long as the
 * tree. Returns FALSE with an error when a default cannot be read; the rest is added all the same.
 */
gboolean drover_schema_add(DroverSchema *schema, const struct drover_option *options, gsize size,
                           const char *prefix, GError **error);

/* The member for a key, `others` if there is one; NULL when the key is not known. */
const DroverSchema *drover_schema_member(const DroverSchema *schema, const char *key);

/*
 * The strings of all options below `value` that refer to `target` ("labels"), each once, in the
 * order of the file. Free with g_strfreev.
 */
char **drover_schema_references(const DroverSchema *schema, const struct drover_value *value,
                                const char *target);
