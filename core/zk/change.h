/*
 * A change is how Drover writes: one transaction that carries, besides the writes, the proof that
 * we may make them. There are two proofs:
 *
 *   hold    We hold the lock: the transaction checks that our contender still exists. A process
 *           that lost its session can therefore never write over its successor.
 *   claim   Nobody holds the lock or waits for it: the transaction creates the lock directory, or
 *           removes and re-creates it when it is there, which only an empty one allows. Lock, write
 *           and unlock happen in one step, and no contender is ever left behind.
 *
 * Records are written at the version that the decision was based on, which makes "read again under
 * the lock" part of the same step: a record that somebody changed meanwhile is a CONFLICT.
 */
#pragma once

#include "zk/lock.h"

typedef struct _DroverChange DroverChange;

typedef enum {
    DROVER_CHANGE_DONE,
    DROVER_CHANGE_BUSY,     /* a claimed lock is taken: look again when it is free */
    DROVER_CHANGE_CONFLICT, /* a record changed meanwhile: read it and decide again */
    DROVER_CHANGE_GONE,     /* a record does not exist any more */
    DROVER_CHANGE_UNFENCED, /* a lock that we held is not ours any more */
    DROVER_CHANGE_UNKNOWN,  /* connection lost: the caches will show whether it happened */
    DROVER_CHANGE_REFUSED,  /* the server refuses: permissions, size */
} DroverChangeOutcome;

typedef struct {
    DroverChangeOutcome outcome;
    const char *blamed; /* the path that stood in the way; NULL when done or unknown */
    int rc;
    const char *const
        *created; /* names that the server gave, in order of the creates; NULL-ended */
} DroverChangeResult;

typedef void (*DroverChangeFunc)(const DroverChangeResult *result, gpointer user_data);

DroverChange *drover_change_new(DroverSession *session);
void drover_change_free(DroverChange *change);

/*
 * Proofs. `present` says whether the lock directory is believed to exist; a mistake costs one more
 * round trip. A lock that is not held makes the change UNFENCED; its owner keeps it until the
 * change is done. When a release is UNKNOWN the lock may be gone or not: drover_lock_release() ends
 * it.
 */
void drover_change_claim(DroverChange *change, const char *lock_directory, gboolean present);
void drover_change_hold(DroverChange *change, DroverLock *lock);
/* Hold, and release with the same transaction. */
void drover_change_release(DroverChange *change, DroverLock *lock);

/* Writes. Version -1: any. */
void drover_change_create(DroverChange *change, const char *path, GBytes *data, int flags);
void drover_change_set(DroverChange *change, const char *path, GBytes *data, gint32 version);
void drover_change_delete(DroverChange *change, const char *path, gint32 version);
/* Only that the record is still what was read. */
void drover_change_expect(DroverChange *change, const char *path, gint32 version);
/* Claims the lock at <path>/lock and deletes both. */
void drover_change_delete_claimed(DroverChange *change, const char *path, gboolean present,
                                  gint32 version);

/* Takes the change over. `done` is called exactly once, never before this returns. */
void drover_change_commit(DroverChange *change, DroverChangeFunc done, gpointer user_data);

const char *drover_change_outcome_name(DroverChangeOutcome outcome);
