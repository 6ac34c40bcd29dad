/*
 * The objects of the cloud that an operation is about, and the external id that names them: a plain
 * text for one object, else a JSON object {"server", "address", "volume"}.
 */
#ifndef TESTCLOUD_OBJECTS_H
#define TESTCLOUD_OBJECTS_H

#include <jansson.h>

#include "cloud.h"

/* Those of a node in the order in which they are made. */
enum object_kind {
    OBJECT_SERVER,
    OBJECT_ADDRESS,
    OBJECT_VOLUME,
    OBJECT_IMAGE,
    OBJECT_KINDS,
};

struct object_form {
    const char *member;     /* of the external id */
    const char *answer;     /* the member of the cloud's answers */
    const char *resource;   /* its kind as a resource; the one word that Nodepool has for machines
                               of every cloud is "instance" */
    const char *collection; /* of the cloud, "/volumes" */
};
extern const struct object_form object_forms[OBJECT_KINDS];

struct objects {
    char *ids[OBJECT_KINDS];
    int plain; /* the external id is the server's */
};

/* The list of all objects of a kind. */
struct list *objects_list(const struct cloud *cloud, enum object_kind kind);

void objects_clear(struct objects *objects);
void objects_set(struct objects *objects, enum object_kind kind, const char *id);
void objects_copy(struct objects *to, const struct objects *from);
int objects_are_none(const struct objects *objects);

/* 0, or -1 when it is no external id of ours: text, or JSON. Both may be NULL. */
int objects_read(struct objects *objects, const char *external_id);
int objects_read_json(struct objects *objects, const json_t *external_id);
/* As JSON, a text when it is plain; NULL: none. A new reference. */
json_t *objects_json(const struct objects *objects);
/* Tells the host. */
void objects_show(const struct objects *objects, struct drover_operation *op);

#endif
