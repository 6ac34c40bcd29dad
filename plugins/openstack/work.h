/*
 * What the state of an operation that makes calls begins with: it goes on stage by stage, another
 * process can take it up, and it cleans up when it is cancelled.
 */
#ifndef OPENSTACK_WORK_H
#define OPENSTACK_WORK_H

#include "call.h"

struct work;

/* A step, as of struct drover_driver. One that sets another stage is followed by it at once. */
typedef enum drover_step (*work_stage)(struct work *work, struct drover_operation *op);

/* The state of every operation begins with one, also where it is of no further use. */
struct work {
    const struct work_kind *kind; /* NULL: cannot be saved, and is quickly begun anew */
    struct cloud *cloud;
    work_stage stage;
    struct call *call;
    int64_t cancelled; /* when; 0: it was not */
    /* While it pauses. */
    int64_t until;
    work_stage next;
};

struct work_kind {
    const char *name; /* as it stands in what is saved */
    gsize size;       /* of the state, which begins with a struct work */
    work_stage first;
    /* The stage of one that was cancelled; ends as failed. NULL: it ends at once. */
    work_stage cancelled;
    /* What is needed to go on; NULL: it is begun anew. A new reference. */
    json_t *(*save)(const struct work *work);
    /* Sets the stage to go on with. FALSE: there is no sense in what was saved. */
    gboolean (*resume)(struct work *work, struct drover_operation *op, const json_t *saved);
    /* Frees what the state has of its own. May be NULL. */
    void (*clear)(struct work *work);
};

/* As struct drover_driver's functions: begins work of the kind, or goes on with it. */
enum drover_step work_step(struct cloud *cloud, struct drover_operation *op,
                           const struct work_kind *kind);
/* Within other work: freed with work_free(). */
void *work_new(struct cloud *cloud, const struct work_kind *kind);
void work_free(void *work);
enum drover_step work_run(struct work *work, struct drover_operation *op);

/* Goes on with `next` when the call is done. */
enum drover_step work_call(struct work *work, struct drover_operation *op, struct call *call,
                           work_stage next);
/* Goes on with `next` after so many milliseconds. */
enum drover_step work_pause(struct work *work, struct drover_operation *op, int64_t milliseconds,
                            work_stage next);
/* Milliseconds that are left of so many since the work was cancelled. */
int64_t work_left(const struct work *work, int64_t milliseconds);

/* struct drover_driver's. */
char *work_save(void *self, struct drover_operation *op);
int work_resume(void *self, struct drover_operation *op, const char *saved);

#endif
