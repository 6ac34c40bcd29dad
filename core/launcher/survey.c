#include "launcher/survey.h"

#include <unistd.h>

#include "launcher/cluster/host-name.h"
#include "launcher/survey-private.h"

#define ELECTION_PATH  "/nodepool/elections/stats"
#define RESEND_SECONDS 60
#define OWN_TICKS      10 /* from one sending of what is about this process to the next */
#define COMPONENT      "launcher"

/* ---- This process ---- */

static void
export_states(const DroverSurvey *survey)
{
    static const char *const states[] = {"initializing", "running", "paused", "stopped"};
    const char *state = drover_launcher_state(survey->launcher);

    for (guint i = 0; i < G_N_ELEMENTS(states); i++)
        drover_metrics_set(survey->telemetry->metrics, DROVER_FAMILY_COMPONENT_STATE,
                           DROVER_LABELS(COMPONENT, states[i]), g_str_equal(state, states[i]));
}

static void
export_cache(const DroverSurvey *survey, const char *name, const DroverCache *cache)
{
    DroverMetrics *metrics = survey->telemetry->metrics;

    drover_metrics_set(metrics, DROVER_FAMILY_ZK_EVENT_QUEUE, DROVER_LABELS(name),
                       drover_cache_reads(cache));
    drover_metrics_set(metrics, DROVER_FAMILY_ZK_OBJECTS, DROVER_LABELS(name),
                       drover_cache_size(cache));
}

void
drover_survey_refresh(DroverSurvey *survey)
{
    DroverLauncher *launcher = survey->launcher;
    DroverMetrics *metrics = survey->telemetry->metrics;
    const DroverSessionCounters *counters = drover_session_counters(launcher->session);
    gboolean connected = drover_session_state(launcher->session) == DROVER_SESSION_CONNECTED;

    export_states(survey);
    export_cache(survey, "node", drover_cluster_nodes(launcher->cluster));
    export_cache(survey, "request", drover_cluster_request_cache(launcher->cluster));
    drover_metrics_set(metrics, DROVER_FAMILY_ZK_CONNECTED, DROVER_NO_LABELS, connected);
    drover_metrics_set(metrics, DROVER_FAMILY_ZK_PENDING, DROVER_NO_LABELS,
                       (double)counters->pending);
    drover_metrics_set(metrics, DROVER_FAMILY_ZK_SESSION_LOSSES, DROVER_NO_LABELS,
                       (double)(MAX(counters->sessions, 1) - 1));
    drover_metrics_set(metrics, DROVER_FAMILY_STATS_LEADER, DROVER_NO_LABELS, survey->leads);
}

static void
send_queue(DroverStatsd *statsd, const char *cache, gint64 events, gint64 reads)
{
    drover_statsd_gauge(statsd, events, "nodepool.launcher", drover_host_name(), "zk", cache,
                        "event_queue", NULL);
    drover_statsd_gauge(statsd, reads, "nodepool.launcher", drover_host_name(), "zk", cache,
                        "playback_queue", NULL);
}

static void
send_queues(const DroverSurvey *survey)
{
    const DroverLauncher *launcher = survey->launcher;
    const DroverSessionCounters *counters = drover_session_counters(launcher->session);
    DroverStatsd *statsd = survey->telemetry->statsd;
    gint64 waiting = (gint64)counters->waiting;

    drover_statsd_gauge(statsd, (gint64)counters->pending, "nodepool.launcher", drover_host_name(),
                        "zk.client.connection_queue", NULL);
    send_queue(statsd, "node_cache", waiting,
               drover_cache_reads(drover_cluster_nodes(launcher->cluster)));
    send_queue(statsd, "request_cache", waiting,
               drover_cache_reads(drover_cluster_request_cache(launcher->cluster)));
    send_queue(statsd, "image_cache", waiting, 0);
}

/* ---- The election ---- */

static void
on_elected(DroverLock *lock, DroverLockOutcome outcome, gpointer user_data)
{
    ((DroverSurvey *)user_data)->waiting = FALSE;
}

/* TRUE while this launcher leads. */
static gboolean
stand(DroverSurvey *survey)
{
    DroverSession *session = survey->launcher->session;

    if (drover_lock_is_held(survey->lock))
        return TRUE;
    if (survey->leads)
        drover_survey_forget_cluster(survey);
    if (!survey->waiting && drover_session_state(session) == DROVER_SESSION_CONNECTED) {
        survey->waiting = TRUE;
        drover_lock_acquire(survey->lock, DROVER_LOCK_WAIT_FOREVER, on_elected, survey);
    }
    return FALSE;
}

/* ---- Each second ---- */

static void
survey_cluster(DroverSurvey *survey, gboolean begins)
{
    DroverCluster *cluster = survey->launcher->cluster;
    guint64 changes = drover_cluster_changes(cluster);
    gint64 now = g_get_monotonic_time();

    if (!drover_cluster_is_complete(cluster) ||
        (!begins && changes == survey->changes &&
         now - survey->counted < RESEND_SECONDS * G_USEC_PER_SEC))
        return;
    survey->changes = changes;
    survey->counted = now;
    drover_survey_count_cluster(survey);
}

static gboolean
on_tick(gpointer user_data)
{
    DroverSurvey *survey = user_data;
    gboolean led = survey->leads, due = survey->ticks++ % OWN_TICKS == 0;
    gint64 now = g_get_monotonic_time();

    drover_metrics_observe(survey->telemetry->metrics, DROVER_FAMILY_LOOP_LAG, DROVER_NO_LABELS,
                           (double)MAX(now - survey->due, 0) / G_USEC_PER_SEC);
    survey->due = now + G_USEC_PER_SEC;
    if (survey->launcher->stopping)
        return G_SOURCE_CONTINUE;
    survey->leads = stand(survey);
    if (survey->leads)
        survey_cluster(survey, !led || survey->counted == 0);
    drover_survey_count_own(survey);
    if (survey->telemetry->statsd != NULL) {
        drover_survey_send_own(survey, due);
        if (due)
            send_queues(survey);
    }
    return G_SOURCE_CONTINUE;
}

/* ---- Life ---- */

DroverSurvey *
drover_survey_new(DroverLauncher *launcher)
{
    DroverSurvey *survey = g_new0(DroverSurvey, 1);
    g_autofree char *identifier = g_strdup_printf("%s-%ld", drover_host_name(), (long)getpid());
    g_autofree char *model_api = g_strdup_printf("%d", DROVER_MODEL_API);

    survey->launcher = launcher;
    survey->telemetry = launcher->parts.telemetry;
    survey->lock = drover_lock_new(launcher->session, ELECTION_PATH, TRUE, identifier);
    survey->sent = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    survey->due = g_get_monotonic_time() + G_USEC_PER_SEC;
    survey->timer = g_timeout_add(1000, on_tick, survey);
    drover_metrics_set(survey->telemetry->metrics, DROVER_FAMILY_BUILD_INFO,
                       DROVER_LABELS(DROVER_VERSION, COMPONENT, model_api), 1);
    return survey;
}

void
drover_survey_free(DroverSurvey *survey)
{
    if (survey == NULL)
        return;
    g_source_remove(survey->timer);
    drover_lock_free(survey->lock);
    g_hash_table_unref(survey->sent);
    g_free(survey->own);
    g_free(survey);
}
