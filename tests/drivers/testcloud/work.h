/*
 * What the state of every operation of this driver begins with, so that it can be saved whatever
 * the operation is about.
 */
#ifndef TESTCLOUD_WORK_H
#define TESTCLOUD_WORK_H

#include <jansson.h>

#include "cloud.h"

struct work {
    const struct work_kind *kind; /* NULL: cannot be saved, and is quickly begun anew */
};

/* A kind of operation that another process can take up. */
struct work_kind {
    const char *name; /* as it stands in what is saved */
    int cleans;       /* goes on for some time when it is cancelled, to remove what it has made */
    /* What is needed to go on; NULL: cannot be taken up as it stands now. A new reference. */
    json_t *(*save)(const struct work *work);
    /* Makes the operation's state of what was saved; 0, or -1 when that makes no sense. */
    int (*resume)(struct cloud *cloud, struct drover_operation *op, const json_t *saved);
};

/*
 * One step of an operation; all of them to the end when the style is blocking. One that is
 * cancelled and has nothing to clean ends at once.
 */
typedef enum drover_step (*work_step)(struct cloud *cloud, struct drover_operation *op);
enum drover_step work_run(struct cloud *cloud, struct drover_operation *op, work_step step);

/* struct drover_driver's. */
char *work_save(void *self, struct drover_operation *op);
int work_resume(void *self, struct drover_operation *op, const char *saved);

/* Zeroed; does not fail. */
void *work_allocate(size_t size);

#endif
