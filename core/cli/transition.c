#include "cli/transition.h"

#include <math.h>
#include <string.h>

#include "cli/output.h"

/* ---- What all have in common ---- */

static const char *
state_without_record(const DroverMirror *mirror, DroverMirrorPart part, const char *id)
{
    return drover_cache_exists(drover_mirror_cache(mirror, part), id) ? DROVER_STATE_BROKEN : NULL;
}

/* The record says when its state began; of anything else the time is that of the message. */
static double
time_of(double old, double now)
{
    return now > 0 && now != old ? now : drover_record_now();
}

static json_t *
transition_new(const char *kind, const char *id, const char *old, const char *now, double time)
{
    return json_pack("{s:f, s:s, s:o, s:o, s:o, s:[], s:n, s:n, s:n, s:[], s:n, s:n}", "time", time,
                     "kind", kind, "id", drover_json_from_string(id), "old",
                     drover_json_from_string(old), "new", drover_json_from_string(now), "labels",
                     "provider", "pool", "request", "nodes", "by", "why");
}

static void
set_why(json_t *transition, char *why)
{
    drover_record_set_string(transition, "why", why);
    g_free(why);
}

/* ---- Nodes ---- */

static char *
why_node(const DroverNode *old, const DroverNode *now)
{
    const char *before = old != NULL ? old->allocated_to : NULL;
    g_autoptr(json_t) record = NULL;
    const char *comment;

    if (now == NULL)
        return NULL;
    if (now->state == DROVER_NODE_HOLD) {
        record = drover_node_record(now);
        comment = drover_json_string(record, "comment");
        return comment != NULL ? g_strdup(comment) : NULL;
    }
    if (g_strcmp0(before, now->allocated_to) == 0)
        return NULL;
    if (now->allocated_to != NULL)
        return g_strdup_printf("allocated to %s", now->allocated_to);
    return g_strdup_printf("no longer allocated to %s", before);
}

json_t *
drover_transition_of_node(const DroverMirror *mirror, const char *id, const DroverNode *old,
                          const DroverNode *now)
{
    const DroverNode *last = now != NULL ? now : old;
    const char *request = now != NULL ? now->allocated_to : NULL;
    json_t *transition;

    if (old != NULL && now != NULL && old->state == now->state &&
        g_strcmp0(old->allocated_to, now->allocated_to) == 0)
        return NULL;
    if (request == NULL && old != NULL)
        request = old->allocated_to;
    transition = transition_new(
        "node", id, old != NULL ? drover_node_state_name(old->state) : NULL,
        now != NULL ? drover_node_state_name(now->state)
                    : state_without_record(mirror, DROVER_MIRROR_NODES, id),
        time_of(old != NULL ? old->state_time : 0, now != NULL ? now->state_time : 0));
    json_object_set_new(transition, "labels",
                        drover_json_from_strings((const char *const *)last->labels));
    drover_record_set_string(transition, "provider", last->provider);
    drover_record_set_string(transition, "pool", last->pool);
    drover_record_set_string(transition, "request", request);
    drover_record_set_string(transition, "by", last->launcher);
    set_why(transition, why_node(old, now));
    return transition;
}

/* ---- Requests ---- */

static guint
count_declines(const DroverRequest *request)
{
    return request != NULL ? g_strv_length(request->declined_by) : 0;
}

static void
copy_string(json_t *transition, const char *to, const json_t *from, const char *key)
{
    if (drover_json_string(from, key) != NULL)
        json_object_set(transition, to, json_object_get(from, key));
}

/* What the pool that did it has published, which may be a moment late. */
static void
add_verdict(json_t *transition, const DroverMirror *mirror, const char *launcher_id,
            const char *verdict)
{
    const json_t *board = NULL;
    const json_t *found = drover_mirror_find_verdict(
        mirror, launcher_id, drover_json_string(transition, "id"), verdict, &board);

    if (found == NULL)
        return;
    copy_string(transition, "by", board, "launcher");
    copy_string(transition, "provider", board, "provider");
    copy_string(transition, "pool", board, "pool");
    copy_string(transition, "why", found, "reason");
}

static void
explain_decline(json_t *transition, const DroverMirror *mirror, const DroverRequest *now)
{
    const char *last = now->declined_by[g_strv_length(now->declined_by) - 1];

    drover_record_set_string(transition, "by", last);
    drover_record_set_string(transition, "why", "declined");
    add_verdict(transition, mirror, last, "decline");
}

static void
explain_fulfilment(json_t *transition, const DroverMirror *mirror, const DroverRequest *now)
{
    const DroverCache *nodes = drover_mirror_cache(mirror, DROVER_MIRROR_NODES);
    g_autofree char *ids = g_strjoinv(", ", now->nodes);
    const DroverNode *node =
        now->nodes[0] != NULL ? drover_cache_lookup(nodes, now->nodes[0]) : NULL;

    set_why(transition, g_strconcat("nodes ", ids, NULL));
    if (node == NULL)
        return;
    drover_record_set_string(transition, "provider", node->provider);
    drover_record_set_string(transition, "pool", node->pool);
    drover_record_set_string(transition, "by", node->launcher);
}

static void
explain_request(json_t *transition, const DroverMirror *mirror, const DroverRequest *old,
                const DroverRequest *now)
{
    if (now == NULL) {
        if (old->state == DROVER_REQUEST_REQUESTED || old->state == DROVER_REQUEST_PENDING)
            drover_record_set_string(transition, "why", "withdrawn");
    } else if (count_declines(now) > count_declines(old)) {
        explain_decline(transition, mirror, now);
    } else if (now->state == DROVER_REQUEST_FULFILLED) {
        explain_fulfilment(transition, mirror, now);
    } else if (now->state == DROVER_REQUEST_PENDING) {
        add_verdict(transition, mirror, NULL, "wait");
        add_verdict(transition, mirror, NULL, "serve");
    } else if (old == NULL) {
        drover_record_set_string(transition, "by", now->requestor);
    }
}

json_t *
drover_transition_of_request(const DroverMirror *mirror, const char *id, const DroverRequest *old,
                             const DroverRequest *now)
{
    const DroverRequest *last = now != NULL ? now : old;
    json_t *transition;

    if (old != NULL && now != NULL && old->state == now->state &&
        count_declines(now) <= count_declines(old))
        return NULL;
    transition = transition_new(
        "request", id, old != NULL ? drover_request_state_name(old->state) : NULL,
        now != NULL ? drover_request_state_name(now->state)
                    : state_without_record(mirror, DROVER_MIRROR_REQUESTS, id),
        time_of(old != NULL ? old->state_time : 0, now != NULL ? now->state_time : 0));
    json_object_set_new(transition, "labels",
                        drover_json_from_strings((const char *const *)last->labels));
    json_object_set_new(transition, "nodes",
                        drover_json_from_strings((const char *const *)last->nodes));
    drover_record_set_string(transition, "provider", last->provider);
    drover_record_set_string(transition, "request", id);
    explain_request(transition, mirror, old, now);
    return transition;
}

/* ---- As text ---- */

static const struct {
    const char *state, *code;
} colour_table[] = {
    {"ready", "\033[32m"},     {"fulfilled", "\033[32m"}, {"in-use", "\033[36m"},
    {"hold", "\033[35m"},      {"building", "\033[33m"},  {"pending", "\033[33m"},
    {"failed", "\033[31m"},    {"aborted", "\033[31m"},   {DROVER_STATE_BROKEN, "\033[31m"},
    {"requested", "\033[34m"},
};

static const char *
colour_of(const char *state)
{
    for (guint i = 0; i < G_N_ELEMENTS(colour_table); i++)
        if (strcmp(colour_table[i].state, state) == 0)
            return colour_table[i].code;
    return "\033[2m";
}

static char *
time_text(double time)
{
    g_autoptr(GDateTime) moment = g_date_time_new_from_unix_local((gint64)floor(time));
    g_autofree char *text = moment != NULL ? g_date_time_format(moment, "%Y-%m-%d %H:%M:%S") : NULL;

    return g_strdup_printf("%s.%03d", text != NULL ? text : "-", (int)(fmod(time, 1) * 1000));
}

/* Records hold text of many authors; all of it stays in the line. */
static void
append(GString *line, const char *before, const char *value)
{
    g_autofree char *text = value != NULL ? drover_cli_one_line(value) : NULL;

    if (text != NULL)
        g_string_append_printf(line, "%s%s", before, text);
}

static void
append_details(GString *line, const json_t *transition)
{
    g_auto(GStrv) labels = drover_json_strings(transition, "labels");
    g_autofree char *wanted = g_strjoinv(",", labels);
    gboolean of_node = g_strcmp0(drover_json_string(transition, "kind"), "node") == 0;
    const char *why = drover_json_string(transition, "why");
    const char *request = of_node ? drover_json_string(transition, "request") : NULL;

    append(line, "", wanted);
    append(line, " on ", drover_json_string(transition, "provider"));
    append(line, "/", drover_json_string(transition, "pool"));
    if (request != NULL && (why == NULL || strstr(why, request) == NULL))
        append(line, " for ", request);
    append(line, " by ", drover_json_string(transition, "by"));
    append(line, ": ", why);
}

char *
drover_transition_text(const json_t *transition, gboolean colours)
{
    g_autofree char *time = time_text(drover_json_real(transition, "time", 0));
    const char *old = drover_json_string(transition, "old");
    const char *now = drover_json_string(transition, "new");
    GString *line = g_string_new(time);

    append(line, " ", drover_json_string(transition, "kind"));
    g_string_append_printf(line, "%*s", (int)(MAX(strlen(time) + 9, line->len) - line->len), "");
    append(line, "", drover_json_string(transition, "id"));
    g_string_append_printf(line, "%*s", (int)(MAX(strlen(time) + 24, line->len) - line->len), "");
    g_string_append_printf(line, "%-9s -> ", old != NULL ? old : "-");
    if (colours)
        g_string_append(line, colour_of(now != NULL ? now : ""));
    g_string_append_printf(line, "%-9s", now != NULL ? now : "gone");
    g_string_append_printf(line, "%s  ", colours ? "\033[0m" : "");
    append_details(line, transition);
    return g_string_free(line, FALSE);
}
