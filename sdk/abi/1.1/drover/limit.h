/*
 * drover/limit.h - calls to a cloud no more often than so many a second.
 *
 * A limiter hands out turns, counted from start to start: the first at once, the others in the
 * order in which they were asked for, each an interval after the one before. With a burst, turns
 * that nobody took are made up for later. Nobody waits in a step: a turn is a call back on the
 * thread's main context. One limiter a provider is usual; a driver may have more, say a slower one
 * for calls that change something. drover/http.h asks for its turns by itself.
 *
 * Threads: all functions of one limiter are called on the provider's thread.
 */
#ifndef DROVER_LIMIT_H
#define DROVER_LIMIT_H

#include <drover/driver.h>

#ifdef __cplusplus
extern "C" {
#endif

struct drover_limiter;
struct drover_turn;

/* 0 or less: no limit. */
DROVER_EXPORT struct drover_limiter *drover_limiter_new(double calls_per_second);
/* Since 1.1. How many turns may come at once after a time in which nobody asked: 1, unless set, to
 * 1000. */
DROVER_EXPORT void drover_limiter_set_burst(struct drover_limiter *limiter, unsigned turns);
/* Requests that still use it keep it. NULL is allowed. */
DROVER_EXPORT void drover_limiter_free(struct drover_limiter *limiter);

/*
 * Asks for a turn. `turn` is called once, never before this returns; the handle is valid until
 * then.
 */
DROVER_EXPORT struct drover_turn *drover_limiter_ask(struct drover_limiter *limiter,
                                                     void (*turn)(void *data), void *data);
/* Gives a turn up that has not come yet. */
DROVER_EXPORT void drover_limiter_leave(struct drover_limiter *limiter, struct drover_turn *turn);

/* For drivers that block: sleeps until it is the caller's turn. */
DROVER_EXPORT void drover_limiter_wait(struct drover_limiter *limiter);

/* Nobody's turn comes earlier than in so many milliseconds: the cloud said that it is too much. */
DROVER_EXPORT void drover_limiter_hold(struct drover_limiter *limiter, uint32_t milliseconds);

#ifdef __cplusplus
}
#endif

#endif
