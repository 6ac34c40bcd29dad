/*
 * YAML, and with it JSON, as jansson's values. Plain text is a boolean ("yes" and "off" too, as in
 * YAML 1.1), null, or stays text: versions like 2.90 and numeric passwords must not become numbers.
 */
#ifndef OPENSTACK_YAML_JSON_H
#define OPENSTACK_YAML_JSON_H

#include <glib.h>
#include <jansson.h>

/* The file's first document, an object for an empty file. A new reference; NULL with an error,
 * G_FILE_ERROR when it cannot be read, whose text has no part of the contents. */
json_t *yaml_load(const char *path, GError **error);
json_t *yaml_parse(const char *text, gsize length, GError **error);

#endif
