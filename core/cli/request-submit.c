/* drover request submit */
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/request-view.h"

#define EXIT_NOT_FULFILLED 1

typedef struct {
    char **labels;
    int count, timeout;
    char *tenant, *provider;
    int priority;
    gboolean wait;
} Wish;

/* ---- Submitting ---- */

static char *
requestor(void)
{
    return g_strdup_printf("drover:%s@%s", g_get_user_name(), g_get_host_name());
}

static GBytes *
request_data(const Wish *wish)
{
    g_autoptr(GPtrArray) labels = g_ptr_array_new();
    g_autofree char *owner = requestor();
    g_autoptr(json_t) record = NULL;

    for (int i = 0; i < wish->count; i++)
        for (char **label = wish->labels; *label != NULL; label++)
            g_ptr_array_add(labels, *label);
    g_ptr_array_add(labels, NULL);
    record = drover_request_new_record((const char *const *)labels->pdata, owner, TRUE);
    json_object_set(record, "created_time", json_object_get(record, "state_time"));
    json_object_set_new(record, "requestor_data", json_object());
    drover_record_set_string(record, "tenant_name", wish->tenant);
    drover_record_set_string(record, "provider", wish->provider);
    return drover_record_bytes(record);
}

/* The new request's id; NULL after a message. */
static char *
submit(DroverCli *cli, const Wish *wish)
{
    g_autoptr(GBytes) data = request_data(wish);
    g_autofree char *path = g_strdup_printf(DROVER_REQUESTS_PATH "/%03d-", wish->priority);
    DroverChange *change;
    DroverChangeOutcome outcome;
    char *id = NULL;

    drover_session_ensure(drover_store_session(cli->store), DROVER_REQUESTS_PATH, NULL, NULL);
    change = drover_change_new(drover_store_session(cli->store));
    drover_change_create(change, path, data, ZOO_SEQUENCE);
    outcome = drover_store_commit(cli->store, change, &id);
    if (id == NULL)
        drover_cli_fail(cli, "the request was not stored: %s", drover_change_outcome_name(outcome));
    return id;
}

/* ---- Waiting ---- */

typedef struct {
    DroverCli *cli;
    const char *id;
    char *path;
    gboolean terminal;
    gint64 started;
    gboolean changed, ended;
    char *shown; /* the state that was printed last */
} Waiting;

static void
on_event(const char *path, int type, gpointer user_data)
{
    ((Waiting *)user_data)->changed = TRUE;
}

static void
on_seen(const DroverReadReply *reply, gpointer user_data)
{
    *(gboolean *)user_data = TRUE;
}

/* A watch on the request's next change, set before it is read. */
static void
watch(Waiting *waiting)
{
    gboolean seen = FALSE;

    waiting->changed = FALSE;
    drover_session_exists(drover_store_session(waiting->cli->store), waiting->path, TRUE, on_seen,
                          &seen);
    drover_store_wait(waiting->cli->store, &seen, -1);
}

static void
show_progress(Waiting *waiting, const char *state)
{
    gint64 seconds = (g_get_monotonic_time() - waiting->started) / G_USEC_PER_SEC;

    if (waiting->cli->json)
        return;
    if (waiting->terminal)
        fprintf(stderr, "\r\033[Krequest %s: %s, %" G_GINT64_FORMAT " s", waiting->id, state,
                seconds);
    else if (g_strcmp0(state, waiting->shown) != 0)
        fprintf(stderr, "request %s: %s\n", waiting->id, state);
    g_free(waiting->shown);
    waiting->shown = g_strdup(state);
}

static gboolean
is_over(const DroverRequest *request)
{
    return request == NULL || request->state == DROVER_REQUEST_FULFILLED ||
           request->state == DROVER_REQUEST_FAILED;
}

/* The request as it is at the end; NULL when it is gone or it took too long. */
static DroverRequest *
wait_for_end(Waiting *waiting, int timeout)
{
    static const DroverSessionObserver observer = {.event = on_event};
    gint64 deadline = timeout > 0 ? waiting->started + timeout * G_TIME_SPAN_SECOND : G_MAXINT64;
    DroverSession *session = drover_store_session(waiting->cli->store);
    guint id = drover_session_add_observer(session, waiting->path, &observer, waiting);
    DroverRequest *request = NULL;

    for (;;) {
        g_clear_pointer(&request, drover_request_unref);
        watch(waiting);
        request = drover_request_read(waiting->cli->store, waiting->id);
        show_progress(waiting,
                      request != NULL ? drover_request_state_name(request->state) : "gone");
        if (is_over(request) || g_get_monotonic_time() >= deadline)
            break;
        /* Once a second for the eye, and for a connection that came back. */
        drover_store_wait(waiting->cli->store, &waiting->changed,
                          MIN(deadline, g_get_monotonic_time() + G_USEC_PER_SEC));
    }
    drover_session_remove(session, id);
    if (waiting->terminal && !waiting->cli->json)
        fputc('\n', stderr);
    g_clear_pointer(&waiting->shown, g_free);
    return request;
}

static int
wait_and_show(DroverCli *cli, const char *id, int timeout)
{
    Waiting waiting = {.cli = cli,
                       .id = id,
                       .path = drover_request_path(id),
                       .terminal = isatty(STDERR_FILENO),
                       .started = g_get_monotonic_time()};
    g_autoptr(DroverRequest) request = wait_for_end(&waiting, timeout);
    int status = 0;

    g_free(waiting.path);
    if (request == NULL) {
        status = drover_cli_fail(cli, "request %s was deleted by somebody", id);
    } else if (!is_over(request)) {
        status = drover_cli_fail(cli,
                                 "request %s is still %s after %d s; it stays, see "
                                 "%s request show %s",
                                 id, drover_request_state_name(request->state), timeout,
                                 cli->program, id);
    } else {
        drover_request_print(cli, request);
        status = request->state == DROVER_REQUEST_FULFILLED ? 0 : EXIT_NOT_FULFILLED;
    }
    return status;
}

int
drover_command_request_submit(DroverCli *cli, int argc, char **argv)
{
    Wish wish = {.count = 1, .priority = 200};
    const GOptionEntry entries[] = {
        {"label", 'L', 0, G_OPTION_ARG_STRING_ARRAY, &wish.labels,
         "What kind of machine; may be given several times", "LABEL"},
        {"count", 'n', 0, G_OPTION_ARG_INT, &wish.count, "How many of each (1)", "N"},
        {"wait", 'w', 0, G_OPTION_ARG_NONE, &wish.wait, "Wait until the machines are ready", NULL},
        {"timeout", 0, 0, G_OPTION_ARG_INT, &wish.timeout, "Wait no longer than this", "SECONDS"},
        {"tenant", 0, 0, G_OPTION_ARG_STRING, &wish.tenant, "On whose account", "NAME"},
        {"provider", 0, 0, G_OPTION_ARG_STRING, &wish.provider, "Preferably from", "NAME"},
        {"priority", 0, 0, G_OPTION_ARG_INT, &wish.priority, "100 high, 200 normal, 300 low (200)",
         "N"},
        G_OPTION_ENTRY_NULL,
    };
    g_autofree char *id = NULL;
    int status;

    if (!drover_cli_parse(cli, &argc, &argv, entries, "", 0, &status)) {
        /* said already */
    } else if (wish.labels == NULL || wish.count < 1 || wish.priority < 0 || wish.priority > 999) {
        fprintf(stderr, "%s request submit: error: %s\n", cli->program,
                wish.labels == NULL ? "the following arguments are required: --label"
                                    : "--count is at least 1, --priority from 0 to 999");
        status = 2;
    } else if (drover_cli_store(cli) == NULL || (id = submit(cli, &wish)) == NULL) {
        status = 1;
    } else if (wish.wait) {
        status = wait_and_show(cli, id, wish.timeout);
    } else if (cli->json) {
        drover_cli_print_json(json_pack("{s:s, s:s}", "id", id, "state", "requested"));
    } else {
        printf("Submitted request %s\nWatch it with: %s request show %s\n", id, cli->program, id);
    }
    g_strfreev(wish.labels);
    g_free(wish.tenant);
    g_free(wish.provider);
    return status;
}
