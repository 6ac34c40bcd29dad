/* What task.c and task-answer.c share: the task itself. Not for other files. */
#pragma once

#include "driver/runner-private.h"

struct _DroverTask {
    gint references; /* atomic: the core's, the operation's, and one for each message */
    DroverRunner *runner;
    DroverTaskKind kind;
    DroverTaskFunc done;
    DroverTaskIdFunc id_known;
    DroverTaskSavedFunc saved_changed;
    gpointer user_data;
    char *node_id;
    char *resumed_from; /* what an earlier process saved; NULL: begin anew */

    /* The core loop's part. */
    char *status;

    /* The provider thread's part, and what it answers; the core loop's once it was delivered. */
    struct drover_operation *op; /* NULL once ended */
    gboolean stepping, step_again;
    gboolean said_when; /* during the present step */
    GSource *timer;
    char *external_id, *last_status, *saved; /* as last told to the core loop */
    json_t *fields, *resources;
    GPtrArray *items;
    GString *text;
    enum drover_failure failure; /* 0: none was set */
    char *message;
    gint64 retry_after;
    gsize said;        /* bytes, of all kinds */
    gboolean too_much; /* more than what is taken: it fails */

    gint woken; /* atomic: a step is on its way */
    _Atomic guint64 progress_done, progress_total;
};

/* What the driver says of the operation; the data is the task. */
extern const struct drover_operation_host drover_task_answers;

/* Calls `func` on the core loop, with a copy of the text. */
typedef void (*DroverTaskNoteFunc)(DroverTask *task, const char *text);
void drover_task_tell_core(DroverTask *task, DroverTaskNoteFunc func, const char *text);

/* Steps the task after so many milliseconds, DROVER_WHEN_WOKEN: not by itself. */
void drover_task_call_after(DroverTask *task, guint milliseconds);
/* Steps the task soon. Any thread. */
void drover_task_wake(DroverTask *task);
