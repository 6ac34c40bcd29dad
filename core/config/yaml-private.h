/* Making nodes; for compose.c. */
#pragma once

#include "config/yaml.h"

/* A node with one reference and nothing in it; a list has its items, a map its members. */
DroverYaml *drover_yaml_new(DroverYamlType type, guint line, guint column);
/* drover_yaml_unref() as a GDestroyNotify. */
void drover_yaml_destroy(gpointer node);

/* Takes a reference to `value`. */
DroverYamlMember *drover_yaml_member_new(const char *key, gboolean is_text, guint line,
                                         guint column, DroverYaml *value);
void drover_yaml_member_free(gpointer member);
