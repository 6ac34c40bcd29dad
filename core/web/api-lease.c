#include "web/api-lease.h"

#include <string.h>

#include "base/log.h"
#include "cli/request-view.h"
#include "web/api-order.h"
#include "zk/cache.h"
#include "zk/operation.h"

#define LOGGER  "WebApp"
#define DATA    "requestor_data"
#define UNTIL   "lease_until"
#define ROOT    "/drover/leases"
#define RENEWED "until"
#define PERIOD  5 /* seconds */

struct _DroverApiLeases {
    DroverCluster *cluster;
    DroverCache *renewed; /* request id -> double */
    guint timer;
};

/* ---- Records ---- */

void
drover_api_lease_begin(json_t *record, const DroverTokenConfig *client)
{
    if (client->lease > 0)
        json_object_set_new(record, DATA,
                            json_pack("{s:f}", UNTIL, drover_record_now() + (double)client->lease));
}

static gpointer
decode(const char *id, GBytes *data, gint32 version, gpointer leases)
{
    gsize length;
    const char *text = g_bytes_get_data(data, &length);
    g_autoptr(json_t) record = drover_json_parse_object(text, length, NULL);
    double until = drover_json_real(record, RENEWED, 0);

    return record != NULL ? g_memdup2(&until, sizeof(until)) : NULL;
}

static double
renewed_until(const DroverApiLeases *leases, const char *id)
{
    const double *until = drover_cache_lookup(leases->renewed, id);

    return until != NULL ? *until : 0;
}

/* 0: it has no lease. */
static double
until_of(const DroverApiLeases *leases, const DroverRequest *request)
{
    g_autoptr(json_t) record = NULL;
    double until;

    if (request->requestor == NULL || !g_str_has_prefix(request->requestor, DROVER_API_REQUESTOR))
        return 0;
    record = drover_request_record(request);
    until = drover_json_real(json_object_get(record, DATA), UNTIL, 0);
    return until > 0 ? MAX(until, renewed_until(leases, request->id)) : 0;
}

/* ---- Writing ---- */

static void
on_written(const DroverChangeResult *result, gpointer what)
{
    if (result->outcome != DROVER_CHANGE_DONE)
        drover_log_for(DROVER_LOG_DEBUG, LOGGER, "%s: %s", (const char *)what,
                       drover_change_outcome_name(result->outcome));
    g_free(what);
}

static char *
path_of(const char *id)
{
    return g_strconcat(ROOT "/", id, NULL);
}

static DroverChange *
change_of(const DroverApiLeases *leases)
{
    return drover_change_new(drover_cluster_session(leases->cluster));
}

/* Somebody else may have been faster; that is as good. */
static void
write_until(const DroverApiLeases *leases, const char *id, double until)
{
    g_autoptr(json_t) record = json_pack("{s:f}", RENEWED, until);
    g_autoptr(GBytes) data = drover_record_bytes(record);
    g_autofree char *path = path_of(id);
    DroverChange *change = change_of(leases);

    if (drover_cache_exists(leases->renewed, id)) {
        drover_change_set(change, path, data, -1);
    } else {
        drover_session_ensure(drover_cluster_session(leases->cluster), ROOT, NULL, NULL);
        drover_change_create(change, path, data, 0);
    }
    drover_change_commit(change, on_written, g_strdup_printf("Lease of request %s", id));
}

void
drover_api_lease_renew(DroverApiLeases *leases, const DroverRequest *request, gint64 seconds)
{
    double until = drover_record_now() + (double)seconds;
    double before = seconds > 0 ? until_of(leases, request) : 0;

    if (before > 0 && until - before >= (double)seconds / 3)
        write_until(leases, request->id, until);
}

void
drover_api_lease_give_back(const DroverApiLeases *leases, const DroverRequest *request,
                           DroverChangeFunc done, gpointer user_data)
{
    g_autoptr(GPtrArray) nodes = drover_api_nodes_of(leases->cluster, request);
    g_autofree char *path = path_of(request->id);
    DroverChange *change = change_of(leases);

    drover_request_give_back(change, request, nodes);
    if (drover_cache_exists(leases->renewed, request->id))
        drover_change_delete(change, path, -1);
    drover_change_commit(change, done, user_data);
}

/* ---- Ends ---- */

static void
on_given_back(const DroverChangeResult *result, gpointer id)
{
    if (result->outcome == DROVER_CHANGE_DONE)
        drover_log_for(DROVER_LOG_INFO, LOGGER,
                       "[node_request: %s] Its client has not asked for longer than its lease: "
                       "given back",
                       (const char *)id);
    else
        drover_log_for(DROVER_LOG_DEBUG, LOGGER, "[node_request: %s] Lease not ended: %s",
                       (const char *)id, drover_change_outcome_name(result->outcome));
    g_free(id);
}

static void
end_leases(DroverApiLeases *leases)
{
    const GPtrArray *requests = drover_cluster_requests(leases->cluster);

    for (guint i = 0; i < requests->len; i++) {
        const DroverRequest *request = requests->pdata[i];
        double until = until_of(leases, request);

        if (until > 0 && until < drover_record_now())
            drover_api_lease_give_back(leases, request, on_given_back, g_strdup(request->id));
    }
}

/* Of requests that have ended in another way. */
static void
clear_leases(DroverApiLeases *leases)
{
    DroverCacheIter iter;
    const char *id;
    gpointer until;

    drover_cache_iter_init(&iter, leases->renewed);
    while (drover_cache_iter_next(&iter, &id, &until)) {
        g_autofree char *path = path_of(id);
        DroverChange *change;

        if (*(const double *)until > drover_record_now() ||
            drover_cluster_request(leases->cluster, id) != NULL)
            continue;
        change = change_of(leases);
        drover_change_delete(change, path, -1);
        drover_change_commit(change, on_written, g_strdup_printf("Old lease %s", id));
    }
}

static gboolean
on_time(gpointer user_data)
{
    DroverApiLeases *leases = user_data;

    if (!drover_cluster_is_complete(leases->cluster) || !drover_cache_is_complete(leases->renewed))
        return G_SOURCE_CONTINUE;
    end_leases(leases);
    clear_leases(leases);
    return G_SOURCE_CONTINUE;
}

/* ---- Life ---- */

DroverApiLeases *
drover_api_leases_new(DroverCluster *cluster)
{
    static const DroverCacheClass klass = {.decode = decode, .free = g_free};
    DroverApiLeases *leases = g_new0(DroverApiLeases, 1);

    leases->cluster = cluster;
    leases->renewed = drover_cache_new(drover_cluster_session(cluster), ROOT, &klass, leases);
    leases->timer = g_timeout_add_seconds(PERIOD, on_time, leases);
    return leases;
}

void
drover_api_leases_free(DroverApiLeases *leases)
{
    g_source_remove(leases->timer);
    drover_cache_free(leases->renewed);
    g_free(leases);
}
