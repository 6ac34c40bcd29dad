/*
 * The objects of the cloud that one node owns, and the external id that names them: a plain text
 * for a machine alone, else a JSON object {"server", "address", "volume"}.
 */
#ifndef TESTCLOUD_OBJECTS_H
#define TESTCLOUD_OBJECTS_H

#include <jansson.h>

#include "cloud.h"

/* In the order in which they are made. */
enum object_kind {
    OBJECT_SERVER,
    OBJECT_ADDRESS,
    OBJECT_VOLUME,
    OBJECT_KINDS,
};

struct object_form {
    const char *member;     /* of the external id */
    const char *kind;       /* of resources, and the member of the cloud's answers */
    const char *collection; /* of the cloud, "/volumes" */
};
extern const struct object_form object_forms[OBJECT_KINDS];

struct objects {
    char *ids[OBJECT_KINDS];
    int plain; /* the external id is the server's */
};

void objects_clear(struct objects *objects);
void objects_set(struct objects *objects, enum object_kind kind, const char *id);
int objects_are_none(const struct objects *objects);
/* 0, or -1 when the text is no external id of ours. */
int objects_read(struct objects *objects, const char *external_id);
/* NULL: none. Free with free(). */
char *objects_write(const struct objects *objects);
/* Tells the host. */
void objects_show(const struct objects *objects, struct drover_operation *op);

#endif
