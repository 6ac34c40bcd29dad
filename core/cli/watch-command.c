/* drover watch */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/compare.h"
#include "cli/live.h"
#include "cli/transition.h"

static char *request_id, *node_id, *label, *provider, *state;
static gboolean as_text, with_current;

static const GOptionEntry options[] = {
    {"request", 0, 0, G_OPTION_ARG_STRING, &request_id, "Only this request, and its nodes", "ID"},
    {"node", 0, 0, G_OPTION_ARG_STRING, &node_id, "Only this node, and requests that have it",
     "ID"},
    {"label", 'L', 0, G_OPTION_ARG_STRING, &label, "Only what has this label", "LABEL"},
    {"provider", 0, 0, G_OPTION_ARG_STRING, &provider, "Only of this provider", "NAME"},
    {"state", 0, 0, G_OPTION_ARG_STRING, &state, "Only what comes to this state, or leaves it",
     "STATE"},
    {"current", 0, 0, G_OPTION_ARG_NONE, &with_current, "First tell what is there", NULL},
    {"text", 0, 0, G_OPTION_ARG_NONE, &as_text, "Text also when it is no terminal", NULL},
    G_OPTION_ENTRY_NULL,
};

typedef struct {
    DroverCli *cli;
    DroverLive *live;
    DroverMirror *mirror;
    gboolean nodes, requests; /* which are wanted */
    gboolean json, colours;
    gboolean begun;     /* what is there at first is known */
    gboolean suspended; /* a word about a lost connection was said */
} Watch;

/* ---- What is wanted ---- */

static gboolean
has_string(const json_t *transition, const char *key, const char *wanted)
{
    return wanted == NULL || g_strcmp0(drover_json_string(transition, key), wanted) == 0;
}

static gboolean
has_element(const json_t *transition, const char *key, const char *wanted)
{
    g_auto(GStrv) values = drover_json_strings(transition, key);

    return wanted == NULL || g_strv_contains((const char *const *)values, wanted);
}

static gboolean
has_state(const json_t *transition)
{
    const char *now = drover_json_string(transition, "new");

    return state == NULL || strcmp(now != NULL ? now : "gone", state) == 0 ||
           g_strcmp0(drover_json_string(transition, "old"), state) == 0;
}

static gboolean
is_wanted(const json_t *transition)
{
    gboolean of_node = g_strcmp0(drover_json_string(transition, "kind"), "node") == 0;

    return has_string(transition, "request", request_id) &&
           (of_node ? has_string(transition, "id", node_id)
                    : has_element(transition, "nodes", node_id)) &&
           has_element(transition, "labels", label) &&
           has_string(transition, "provider", provider) && has_state(transition);
}

/* ---- Telling ---- */

/* Takes it over; NULL is nothing. */
static void
tell(Watch *watch, json_t *transition)
{
    g_autoptr(json_t) owned = transition;
    g_autofree char *line = NULL, *text = NULL;

    if (owned == NULL || !is_wanted(owned))
        return;
    text = watch->json ? drover_json_text(owned) : drover_transition_text(owned, watch->colours);
    line = g_strconcat(text, "\n", NULL);
    drover_live_write(watch->live, line, strlen(line));
}

static json_t *
transition_of(const Watch *watch, DroverMirrorPart part, const char *name, gpointer old,
              gpointer now)
{
    if (part == DROVER_MIRROR_NODES && watch->nodes)
        return drover_transition_of_node(watch->mirror, name, old, now);
    if (part == DROVER_MIRROR_REQUESTS && watch->requests)
        return drover_transition_of_request(watch->mirror, name, old, now);
    return NULL;
}

static void
on_changed(DroverMirrorPart part, const char *name, gpointer old, gpointer now, gpointer user_data)
{
    Watch *watch = user_data;

    if (watch->begun)
        tell(watch, transition_of(watch, part, name, old, now));
}

/* Everything that is there, as if it had just come. */
static void
tell_current(Watch *watch, DroverMirrorPart part)
{
    const DroverCache *cache = drover_mirror_cache(watch->mirror, part);
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    DroverCacheIter iter;
    const char *name;
    gpointer object;

    drover_cache_iter_init(&iter, cache);
    while (drover_cache_iter_next(&iter, &name, &object))
        g_ptr_array_add(names, (gpointer)name);
    g_ptr_array_sort(names, drover_compare_strings);
    for (guint i = 0; i < names->len; i++) {
        object = drover_cache_lookup(cache, names->pdata[i]);
        tell(watch, transition_of(watch, part, names->pdata[i], NULL, object));
    }
}

/* ---- The connection ---- */

static void
on_complete(gpointer user_data)
{
    Watch *watch = user_data;

    if (watch->begun) {
        fprintf(stderr, "%s: connected again\n", watch->cli->program);
        watch->suspended = FALSE;
        return;
    }
    watch->begun = TRUE;
    fprintf(stderr, "%s: watching %u requests and %u nodes\n", watch->cli->program,
            drover_cache_size(drover_mirror_cache(watch->mirror, DROVER_MIRROR_REQUESTS)),
            drover_cache_size(drover_mirror_cache(watch->mirror, DROVER_MIRROR_NODES)));
    if (!with_current)
        return;
    tell_current(watch, DROVER_MIRROR_REQUESTS);
    tell_current(watch, DROVER_MIRROR_NODES);
}

static void
on_connection(DroverSessionState connection, gpointer user_data)
{
    Watch *watch = user_data;

    if (connection == DROVER_SESSION_CONNECTED || watch->suspended)
        return;
    watch->suspended = TRUE;
    fprintf(stderr, "%s: the connection to ZooKeeper is lost; waiting for it\n",
            watch->cli->program);
}

/* ---- The command ---- */

static const char *
find_mistake(const char *kind)
{
    static const char *const more[] = {"gone", DROVER_STATE_BROKEN, NULL};
    static const char *const kinds[] = {"requests", "nodes", NULL};

    if (kind != NULL && !g_strv_contains(kinds, kind))
        return "what is watched is \"requests\" or \"nodes\"";
    if (state == NULL || g_strv_contains(more, state))
        return NULL;
    for (DroverNodeState one = 0; one < DROVER_NODE_UNKNOWN; one++)
        if (strcmp(drover_node_state_name(one), state) == 0)
            return NULL;
    for (DroverRequestState one = 0; one < DROVER_REQUEST_UNKNOWN; one++)
        if (strcmp(drover_request_state_name(one), state) == 0)
            return NULL;
    return "--state: a state of a node (init, building, testing, ready, in-use, used, hold, "
           "deleting, failed, aborted, deleted), of a request (requested, pending, fulfilled, "
           "failed), gone or broken";
}

static int
run(DroverCli *cli, const char *kind)
{
    static const DroverMirrorListener listener = {.changed = on_changed, .complete = on_complete};
    gboolean terminal = isatty(STDOUT_FILENO);
    Watch watch = {
        .cli = cli,
        .nodes = kind == NULL || strcmp(kind, "nodes") == 0,
        .requests = kind == NULL || strcmp(kind, "requests") == 0,
        .json = cli->json || (!terminal && !as_text),
        .colours = drover_cli_has_colours(),
    };
    int status;

    watch.live = drover_live_new(cli, on_connection, &watch);
    watch.mirror = drover_mirror_new(cli->store, &listener, &watch);
    status = drover_live_run(watch.live);
    drover_mirror_free(watch.mirror);
    drover_live_free(watch.live);
    return status;
}

const DroverCommand drover_watch_command = {
    .name = "watch",
    .summary = "Tell of each change of a node or a request",
    .argument = "[requests|nodes]",
    .options = options,
    .find_mistake = find_mistake,
    .needs_store = TRUE,
    .run = run,
};
