/*
 * Requests that nobody is left to fail: the last pool that could have served them disappeared when
 * all others had declined. A launcher that was killed and began anew leaves such ones, since its
 * former pools are registered until their session ends. Who is just being restarted gets time to
 * come back.
 */
#include "launcher/upkeep/cleaner-private.h"

#define PATIENCE 60 /* seconds since the last pool has declined */

static gboolean
have_all_declined(const GPtrArray *pools, const DroverRequest *request)
{
    for (guint i = 0; i < pools->len; i++) {
        const DroverComponent *pool = pools->pdata[i];

        if (pool->id != NULL && !drover_request_is_declined_by(request, pool->id))
            return FALSE;
    }
    /* An empty registry is not what it should be. */
    return pools->len > 0;
}

static gboolean
is_forsaken(const DroverCleaner *cleaner, const DroverRequest *request)
{
    return request->state == DROVER_REQUEST_REQUESTED && request->declined_by[0] != NULL &&
           drover_record_now() - request->state_time > PATIENCE &&
           have_all_declined(drover_cluster_pools(cleaner->cluster), request);
}

static void
on_failed(const DroverChangeResult *result, gpointer user_data)
{
    g_autoptr(DroverErrand) errand = user_data;
    DroverLogSubject subject = drover_errand_subject(errand);

    if (result->outcome == DROVER_CHANGE_DONE)
        drover_log(DROVER_LOG_INFO, &subject,
                   "Failed node request: all pools that are registered have declined it");
}

static void
fail(DroverErrand *errand)
{
    const DroverRequest *request = errand->request;
    g_autofree char *lock = drover_request_lock_path(request->id);
    g_autoptr(json_t) record = drover_request_record(request);
    g_autoptr(GBytes) data = NULL;
    DroverChange *change = drover_change_new(drover_errand_session(errand));

    drover_request_record_set_state(record, DROVER_REQUEST_FAILED);
    data = drover_record_bytes(record);
    drover_change_claim(change, lock, FALSE);
    drover_change_set(change, errand->path, data, request->version);
    drover_change_commit(change, on_failed, errand);
}

void
drover_clean_declined_requests(DroverCleaner *cleaner, const char *task)
{
    const GPtrArray *requests = drover_cluster_requests(cleaner->cluster);

    if (!drover_cluster_is_settled(cleaner->cluster))
        return;
    for (guint i = 0; i < requests->len; i++) {
        DroverRequest *request = requests->pdata[i];
        g_autofree char *path = drover_request_path(request->id);
        DroverErrand *errand = NULL;

        if (is_forsaken(cleaner, request))
            errand = drover_errand_new(cleaner, task, path);
        if (errand == NULL)
            continue;
        errand->request = drover_request_ref(request);
        fail(errand);
    }
}
