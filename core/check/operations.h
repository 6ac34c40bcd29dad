/* Operations of a driver that is under test, as the groups of checks need them. */
#pragma once

#include "check/bench.h"

/* What machines are made of: the label under test. */
typedef struct {
    const DroverPoolConfig *pool;
    const char *label;
    const struct drover_value *values;
} DroverCheckLabel;

/*
 * Loads driver and configuration, and opens the provider under its own name. NULL when that cannot
 * be; the current check has been told.
 */
DroverBench *drover_check_open(DroverSubject *subject);
/* Closes it, looks on for a while, and says what was wrong with it. */
void drover_check_close(DroverSubject *subject, DroverBench *bench);

/* FALSE when no label can be used; the current check is skipped then. */
gboolean drover_check_find_label(DroverSubject *subject, DroverCheckLabel *label);

/* Begins one, with a node id that no other has. */
DroverWork *drover_check_create(DroverSubject *subject, DroverBench *bench,
                                const DroverCheckLabel *label, const char *saved);
/* Deletes what the work has made, if anything, and says when that fails. */
void drover_check_remove(DroverSubject *subject, DroverBench *bench, DroverWork *work);
/* To its end: NOT_FOUND is as good as done. */
DroverWork *drover_check_delete(DroverSubject *subject, DroverBench *bench,
                                const char *external_id);
/* Whether an item is one of those that drover_check_create() asked for. */
gboolean drover_check_is_ours(const json_t *item);

/*
 * An operation without lasting effect: to its end, with needless steps, and cancelled after its
 * first step. Says what is wrong with it. NULL when the driver has no such function; the check is
 * skipped then. The answer of the first run.
 */
DroverWork *drover_check_try(DroverSubject *subject, DroverBench *bench, const char *function,
                             DroverWorkFunc step, const struct drover_operation_input *input);
/* Says it when the work failed, or the driver did something wrong. FALSE then. */
gboolean drover_check_judge(DroverSubject *subject, DroverBench *bench, const DroverWork *work);
