/*
 * A node request: /nodepool/requests/<priority>-<sequence>. See record.h.
 */
#pragma once

#include "model/record.h"

#define DROVER_REQUESTS_PATH      "/nodepool/requests"
#define DROVER_REQUEST_LOCKS_PATH "/nodepool/requests-lock"

/* The requestor of standby nodes (min-ready): served last, and never worth waiting for. */
#define DROVER_STANDBY_REQUESTOR "NodePool:min-ready"

typedef enum {
    DROVER_REQUEST_REQUESTED,
    DROVER_REQUEST_PENDING,
    DROVER_REQUEST_FULFILLED,
    DROVER_REQUEST_FAILED,
    DROVER_REQUEST_UNKNOWN,
} DroverRequestState;

typedef struct {
    grefcount references;
    char *id;
    char *priority; /* the part before the '-', "100" */
    gint64 sequence;
    DroverRequestState state;
    double state_time, created_time; /* seconds since the epoch; 0: unknown */
    char **labels;                   /* wanted, with repetition, in order; never NULL */
    char **nodes;                    /* of a fulfilled request, in the order of labels */
    char **declined_by;              /* launcher ids */
    gboolean reuse;                  /* ready nodes may be used */
    char *requestor, *provider, *event_id, *tenant_name; /* NULL when unset */
    gint64 relative_priority;
    GBytes *record;
    gint32 version;
} DroverRequest;

/* NULL with DROVER_ERROR_MALFORMED when it is no request record or the id has not the form. */
DroverRequest *drover_request_decode(const char *id, GBytes *data, gint32 version, GError **error);
DroverRequest *drover_request_ref(DroverRequest *request);
void drover_request_unref(DroverRequest *request);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DroverRequest, drover_request_unref)

/* The record as a JSON object with every field present, to be changed. */
json_t *drover_request_record(const DroverRequest *request);
/* A new request's record, state requested. */
json_t *drover_request_new_record(const char *const *labels, const char *requestor, gboolean reuse);
void drover_request_record_set_state(json_t *record, DroverRequestState state);

const char *drover_request_state_name(DroverRequestState state);
gboolean drover_request_is_declined_by(const DroverRequest *request, const char *launcher_id);

/* The order in which requests are served: priority, relative priority, sequence. */
int drover_request_compare(const DroverRequest *a, const DroverRequest *b);

/* Paths; free with g_free. */
char *drover_request_path(const char *id);
char *drover_request_lock_path(const char *id);
