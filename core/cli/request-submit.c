/* drover request submit */
#include <glib-unix.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "cli/command.h"
#include "cli/request-view.h"

#define MOST_NODES       1000
#define POSITION_SECONDS 5

static char **labels;
static int count = 1, timeout, priority = 200;
static char *tenant, *provider;
static gboolean waits;

static const GOptionEntry options[] = {
    {"label", 'L', 0, G_OPTION_ARG_STRING_ARRAY, &labels,
     "What kind of machine; may be given several times", "LABEL"},
    {"count", 'n', 0, G_OPTION_ARG_INT, &count, "How many of each (1)", "N"},
    {"wait", 'w', 0, G_OPTION_ARG_NONE, &waits, "Wait until the machines are ready", NULL},
    {"timeout", 0, 0, G_OPTION_ARG_INT, &timeout, "Wait no longer than this (for ever)", "SECONDS"},
    {"tenant", 0, 0, G_OPTION_ARG_STRING, &tenant, "On whose account", "NAME"},
    {"provider", 0, 0, G_OPTION_ARG_STRING, &provider, "Preferably from", "NAME"},
    {"priority", 0, 0, G_OPTION_ARG_INT, &priority, "100 high, 200 normal, 300 low (200)", "N"},
    G_OPTION_ENTRY_NULL,
};

/* ---- Submitting ---- */

static json_t *
new_record(void)
{
    g_autofree char *owner = g_strdup_printf("drover:%s@%s", g_get_user_name(), g_get_host_name());
    g_autoptr(GPtrArray) wanted = g_ptr_array_new();
    json_t *record;

    for (int i = 0; i < count; i++)
        for (char **label = labels; *label != NULL; label++)
            g_ptr_array_add(wanted, *label);
    g_ptr_array_add(wanted, NULL);
    record = drover_request_new_record((const char *const *)wanted->pdata, owner, TRUE);
    json_object_set(record, "created_time", json_object_get(record, "state_time"));
    json_object_set_new(record, "requestor_data", json_object());
    drover_record_set_string(record, "tenant_name", tenant);
    drover_record_set_string(record, "provider", provider);
    return record;
}

/*
 * The answer to the creation was lost: whether there is a request with our event id; then `id` is
 * its name. FALSE when nobody can tell.
 */
static gboolean
find_own(DroverStore *store, const char *event_id, char **id, GError **error)
{
    g_autoptr(GPtrArray) requests = NULL;

    drover_store_catch_up(store, DROVER_REQUESTS_PATH);
    requests = drover_requests_read_all(store, error);
    for (guint i = 0; requests != NULL && i < requests->len && *id == NULL; i++) {
        const DroverRequest *request = requests->pdata[i];

        if (g_strcmp0(request->event_id, event_id) == 0)
            *id = g_strdup(request->id);
    }
    return requests != NULL;
}

static DroverChangeOutcome
create(DroverStore *store, GBytes *data, char **id)
{
    DroverSession *session = drover_store_session(store);
    g_autofree char *path = g_strdup_printf(DROVER_REQUESTS_PATH "/%03d-", priority);
    DroverChange *change = drover_change_new(session);

    drover_session_ensure(session, DROVER_REQUESTS_PATH, NULL, NULL);
    drover_change_create(change, path, data, ZOO_SEQUENCE);
    return drover_store_commit(store, change, id);
}

/* The new request's id; NULL after a message. What did not reach the server is sent again. */
static char *
submit(DroverCli *cli)
{
    g_autoptr(json_t) record = new_record();
    g_autoptr(GBytes) data = drover_record_bytes(record);
    const char *event_id = drover_json_string(record, "event_id");
    DroverChangeOutcome outcome;
    char *id = NULL;

    do {
        g_autoptr(GError) error = NULL;

        outcome = create(cli->store, data, &id);
        if (outcome == DROVER_CHANGE_UNKNOWN && !find_own(cli->store, event_id, &id, &error)) {
            drover_cli_fail(cli, "the request may be stored or not: %s", error->message);
            return NULL;
        }
    } while (outcome == DROVER_CHANGE_UNKNOWN && id == NULL);
    if (id == NULL)
        drover_cli_fail(cli, "the request was not stored: %s", drover_change_outcome_name(outcome));
    return id;
}

/* ---- Waiting ---- */

typedef struct {
    DroverCli *cli;
    const char *id;
    gboolean terminal;
    gint64 started, position_time; /* monotonic, microseconds */
    guint position;                /* in the queue of requests; 0: not in it */
    gboolean stirred;              /* something has changed, or the process is to end */
    int signal;                    /* that is to end it, or 0 */
    DroverRequest *request;        /* as it was last seen */
    char *shown;                   /* what was printed last */
} Waiting;

static void
on_event(const char *path, int type, gpointer user_data)
{
    ((Waiting *)user_data)->stirred = TRUE;
}

/* Watches end with the session, and tell nothing while there is no connection. */
static void
on_state(DroverSession *session, DroverSessionState state, gpointer user_data)
{
    if (state == DROVER_SESSION_CONNECTED)
        ((Waiting *)user_data)->stirred = TRUE;
}

static gboolean
on_signal(Waiting *waiting, int number)
{
    if (waiting->signal != 0)
        _exit(128 + number);
    waiting->signal = number;
    waiting->stirred = TRUE;
    return G_SOURCE_CONTINUE;
}

static gboolean
on_interrupt(gpointer user_data)
{
    return on_signal(user_data, SIGINT);
}

static gboolean
on_terminate(gpointer user_data)
{
    return on_signal(user_data, SIGTERM);
}

static gboolean
is_over(const DroverRequest *request)
{
    return request->state == DROVER_REQUEST_FULFILLED || request->state == DROVER_REQUEST_FAILED;
}

static void
find_position(Waiting *waiting)
{
    waiting->position_time = g_get_monotonic_time();
    waiting->position = drover_request_position(waiting->cli->store, waiting->request);
}

static char *
progress(const Waiting *waiting)
{
    const char *state = drover_request_state_name(waiting->request->state);

    if (waiting->position == 0)
        return g_strdup_printf("request %s: %s", waiting->id, state);
    return g_strdup_printf("request %s: %s, number %u in the queue", waiting->id, state,
                           waiting->position);
}

/* One line that changes on a terminal; elsewhere a line for each change. */
static void
show_progress(Waiting *waiting)
{
    gint64 seconds = (g_get_monotonic_time() - waiting->started) / G_USEC_PER_SEC;
    g_autofree char *text = progress(waiting);

    if (waiting->cli->json)
        return;
    if (waiting->terminal)
        fprintf(stderr, "\r\033[K%s, %" G_GINT64_FORMAT " s", text, seconds);
    else if (g_strcmp0(text, waiting->shown) != 0)
        fprintf(stderr, "%s\n", text);
    g_free(waiting->shown);
    waiting->shown = g_steal_pointer(&text);
}

/* Reads the request, and watches it. FALSE when it cannot be read any more. */
static gboolean
look(Waiting *waiting, GError **error)
{
    waiting->stirred = FALSE;
    g_clear_pointer(&waiting->request, drover_request_unref);
    waiting->request =
        drover_request_read(waiting->cli->store, waiting->id, DROVER_READ_WATCH, error);
    if (waiting->request == NULL)
        return FALSE;
    find_position(waiting);
    return TRUE;
}

static gboolean
wait_for_end(Waiting *waiting, GError **error)
{
    gint64 deadline = timeout > 0 ? waiting->started + timeout * G_TIME_SPAN_SECOND : G_MAXINT64;

    if (!look(waiting, error))
        return FALSE;
    while (!is_over(waiting->request) && waiting->signal == 0 &&
           g_get_monotonic_time() < deadline) {
        gint64 next = waiting->position_time + POSITION_SECONDS * G_USEC_PER_SEC;

        show_progress(waiting);
        if (waiting->terminal)
            next = MIN(next, g_get_monotonic_time() + G_USEC_PER_SEC);
        drover_store_wait(waiting->cli->store, &waiting->stirred, MIN(deadline, next));
        if (waiting->stirred && waiting->signal == 0 && !look(waiting, error))
            return FALSE;
        if (g_get_monotonic_time() >= waiting->position_time + POSITION_SECONDS * G_USEC_PER_SEC)
            find_position(waiting);
    }
    show_progress(waiting);
    return TRUE;
}

/* Everything that may wake us. The ids are for the end. */
static gboolean
wait_with_sources(Waiting *waiting, GError **error)
{
    static const DroverSessionObserver observer = {.event = on_event};
    DroverSession *session = drover_store_session(waiting->cli->store);
    g_autofree char *path = drover_request_path(waiting->id);
    guint observing = drover_session_add_observer(session, path, &observer, waiting);
    guint listening = drover_session_add_listener(session, on_state, waiting);
    guint interrupt = g_unix_signal_add(SIGINT, on_interrupt, waiting);
    guint terminate = g_unix_signal_add(SIGTERM, on_terminate, waiting);
    gboolean done = wait_for_end(waiting, error);

    g_source_remove(interrupt);
    g_source_remove(terminate);
    drover_session_remove(session, listening);
    drover_session_remove(session, observing);
    if (waiting->terminal && !waiting->cli->json)
        fputc('\n', stderr);
    return done;
}

/* ---- The end ---- */

/* As Zuul does with a failed request; nobody else would. */
static void
delete_failed(DroverStore *store, const DroverRequest *request)
{
    g_autofree char *path = drover_request_path(request->id);
    DroverChange *change = drover_change_new(drover_store_session(store));

    drover_change_delete(change, path, request->version);
    drover_store_commit(store, change, NULL);
}

static int
finish(const Waiting *waiting)
{
    DroverCli *cli = waiting->cli;
    const char *state = drover_request_state_name(waiting->request->state);
    int status;

    if (is_over(waiting->request)) {
        status = drover_request_print(cli, waiting->request);
        if (waiting->request->state == DROVER_REQUEST_FULFILLED)
            return status;
        delete_failed(cli->store, waiting->request);
        return 1;
    }
    if (waiting->signal == 0)
        return drover_cli_fail(cli,
                               "request %s is still %s after %d s; it stays, see "
                               "%s request show %s",
                               waiting->id, state, timeout, cli->program, waiting->id);
    drover_cli_fail(cli, "request %s is %s and stays, see %s request show %s", waiting->id, state,
                    cli->program, waiting->id);
    return 128 + waiting->signal;
}

static int
wait_and_show(DroverCli *cli, const char *id)
{
    Waiting waiting = {
        .cli = cli, .id = id, .terminal = isatty(STDERR_FILENO), .started = g_get_monotonic_time()};
    g_autoptr(GError) error = NULL;
    int status;

    if (wait_with_sources(&waiting, &error))
        status = finish(&waiting);
    else if (g_error_matches(error, DROVER_ERROR, DROVER_ERROR_NOT_FOUND))
        status = drover_cli_fail(cli, "request %s was deleted by somebody", id);
    else
        status = drover_cli_fail(cli, "request %s: %s", id, error->message);
    g_clear_pointer(&waiting.request, drover_request_unref);
    g_free(waiting.shown);
    return status;
}

/* ---- The command ---- */

/* NULL when the options make sense. */
static const char *
find_mistake(const char *argument)
{
    if (labels == NULL)
        return "the following arguments are required: --label";
    if (count < 1 || (guint)count * g_strv_length(labels) > MOST_NODES)
        return "--count: at least 1 machine, and no more than 1000 in all";
    if (priority != 100 && priority != 200 && priority != 300)
        return "--priority: 100 (high), 200 (normal) or 300 (low)";
    if (timeout < 0 || (timeout > 0 && !waits))
        return "--timeout: seconds, together with --wait";
    return NULL;
}

static int
run(DroverCli *cli, const char *argument)
{
    g_autofree char *id = submit(cli);

    if (id == NULL)
        return 1;
    if (waits)
        return wait_and_show(cli, id);
    if (cli->json)
        drover_cli_print_json(json_pack("{s:s, s:s}", "id", id, "state", "requested"));
    else
        printf("Submitted request %s\nWatch it with: %s request show %s\n", id, cli->program, id);
    return 0;
}

const DroverCommand drover_request_submit_command = {
    .name = "request submit",
    .summary = "Ask for machines",
    .options = options,
    .find_mistake = find_mistake,
    .needs_store = TRUE,
    .run = run,
};
