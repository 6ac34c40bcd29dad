/*
 * What making a machine and uploading an image have in common: objects are asked for and waited
 * for, stage by stage; another process can take it up; when it is cancelled, what was made is
 * removed again.
 */
#ifndef TESTCLOUD_MAKING_H
#define TESTCLOUD_MAKING_H

#include "objects.h"
#include "work.h"

struct making;
struct removal;

/* A step, as of struct drover_driver. One that sets another stage is followed by it at once. */
typedef enum drover_step (*making_stage)(struct making *making, struct drover_operation *op);

/* The beginning of the operation's state. */
struct making {
    struct work work;
    struct cloud *cloud;
    making_stage stage;
    making_stage asked;     /* the stage that hears the name of what has just been made */
    struct objects objects; /* what was made */
    struct drover_http_request *call;
    int64_t resumed; /* when it was taken up; 0: it was not */

    /* After a cancel. */
    int64_t cancelled; /* when; 0: it was not */
    struct removal *removal;
};

/* `size`: of the whole state, which begins with a struct making and is freed with free(). */
void *making_new(size_t size, const struct work_kind *kind, struct cloud *cloud,
                 struct drover_operation *op);
enum drover_step making_run(struct making *making, struct drover_operation *op);

/* Goes on with `next`, in this step when it blocks, else when the call is done. */
enum drover_step making_call(struct making *making, struct drover_operation *op,
                             struct drover_http_request *call, making_stage next);
/*
 * "id" of the object of that kind in the answer; free with free(). NULL when there is none: the
 * operation was failed, or the answer is still to come, as `step` says.
 */
char *making_hear(struct making *making, struct drover_operation *op, enum object_kind kind,
                  enum drover_step *step);

#endif
