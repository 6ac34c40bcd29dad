/*
 * The error domain of the core. A code says what the caller can do about it, the message is a
 * sentence for a person: what failed, on which object, what to do.
 */
#pragma once

#include <glib.h>

#define DROVER_ERROR (drover_error_quark())
GQuark drover_error_quark(void);

typedef enum {
    DROVER_ERROR_FAILED,      /* nothing more specific is known */
    DROVER_ERROR_CONFIG,      /* the configuration has to be corrected */
    DROVER_ERROR_NOT_FOUND,   /* the object does not exist (any more) */
    DROVER_ERROR_BUSY,        /* somebody else holds it; try again later */
    DROVER_ERROR_CONFLICT,    /* it changed meanwhile; look again */
    DROVER_ERROR_LOST,        /* the session or connection it rested on is gone */
    DROVER_ERROR_TIMEOUT,     /* no answer in the time allowed */
    DROVER_ERROR_MALFORMED,   /* data that does not have the form it must have */
    DROVER_ERROR_UNSUPPORTED, /* this build, driver or cluster cannot do it */
} DroverErrorCode;
