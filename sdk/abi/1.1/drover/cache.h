/*
 * drover/cache.h - one value that many operations look at, such as a cloud's list of machines, and
 * that is fetched at most so often.
 *
 *     static void fetch(struct drover_cache *cache, void *data) { begin to ask the cloud }
 *     ... when it has answered: drover_cache_fetched(cache, list);
 *
 *     switch (drover_cache_get(self->machines, op, &list)) {
 *     case DROVER_CACHE_WAIT:
 *         return DROVER_RUNNING; // woken when the first list is there
 *     case DROVER_CACHE_FAILED:
 *         return drover_operation_fail(op, drover_cache_failure(...), ...);
 *     case DROVER_CACHE_VALUE:
 *         if (!is_there(list, id)) {
 *             drover_cache_wait(self->machines, op); // woken by the next list
 *             return DROVER_RUNNING;
 *         }
 *     }
 *
 * A value that has become old is fetched again when somebody asks, and given out until the new one
 * is there: asking is quick. An object that is not in the list may have been made after the list
 * was: drover_cache_time() tells.
 *
 * Threads: all functions of one cache are called on the provider's thread.
 */
#ifndef DROVER_CACHE_H
#define DROVER_CACHE_H

#include <drover/driver.h>

#ifdef __cplusplus
extern "C" {
#endif

struct drover_cache;

/* Begins a fetch, which ends with drover_cache_fetched() or _failed(), at once or later. */
typedef void (*drover_cache_fetch)(struct drover_cache *cache, void *data);

/* A value gets old so long after it was asked for, and not before half of that time has passed
 * since it came. `release` frees a value; may be NULL. */
DROVER_EXPORT struct drover_cache *drover_cache_new(uint32_t milliseconds, drover_cache_fetch fetch,
                                                    void (*release)(void *value), void *data);
/* NULL is allowed. A fetch under way must not report any more. */
DROVER_EXPORT void drover_cache_free(struct drover_cache *cache);

/* The end of a fetch; the value is the cache's. */
DROVER_EXPORT void drover_cache_fetched(struct drover_cache *cache, void *value);
DROVER_EXPORT void drover_cache_failed(struct drover_cache *cache, enum drover_failure failure,
                                       const char *message);

enum drover_cache_answer {
    DROVER_CACHE_VALUE = 1, /* `value` is set; valid until the step returns */
    DROVER_CACHE_WAIT,      /* nothing yet; the operation is woken */
    DROVER_CACHE_FAILED,    /* the last fetch; said once. The next begins a second later at most */
};

/* `op` may be NULL: nobody is woken. */
DROVER_EXPORT enum drover_cache_answer
drover_cache_get(struct drover_cache *cache, struct drover_operation *op, const void **value);
/* Valid until the next fetch. */
DROVER_EXPORT enum drover_failure drover_cache_failure(const struct drover_cache *cache);
DROVER_EXPORT const char *drover_cache_message(const struct drover_cache *cache);

/* Wakes the operation after the next fetch, which begins as soon as the value is old. */
DROVER_EXPORT void drover_cache_wait(struct drover_cache *cache, struct drover_operation *op);
/* The value is old from now on, also one that is just being fetched: something was changed. */
DROVER_EXPORT void drover_cache_expire(struct drover_cache *cache);
/* When the fetch of the present value began, as drover_now(); 0 without a value. */
DROVER_EXPORT int64_t drover_cache_time(const struct drover_cache *cache);

#ifdef __cplusplus
}
#endif

#endif
