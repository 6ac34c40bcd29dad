#include "create.h"

#include <string.h>

#include "boot.h"
#include "cleaning.h"
#include "fault.h"
#include "flavor.h"
#include "image.h"
#include "list.h"
#include "network.h"
#include "removal.h"
#include "server.h"

/* How long the answer is waited for that has the id of a server not wanted any more, and how long
 * it may take to remove it. What is left then has tags by which the host finds it. */
#define HEAR_MILLISECONDS  2000
#define CLEAN_MILLISECONDS 5000
/* Nova may still be at work on a create whose answer was lost. When it takes longer than that,
 * there are two servers in the end, of which one goes. */
#define DOUBT_MILLISECONDS 5000
#define MOST_DOUBTS        5

struct creation {
    struct work work;
    char *zone;
    gboolean zone_chosen;
    gboolean asked_anew; /* after a refusal, with all that was known looked up again */
    int64_t asked;       /* when the server was asked for, or this process took the work up */
    char *server;        /* its id */
    gboolean taken_up;
    gboolean may_have_twin; /* another create may have been heard */
    GHashTable *twins;      /* ids of those that were removed, a set; NULL: none */
    unsigned doubts;        /* creates without an answer */
    struct work *boot;
    struct work *removal;
};

static enum drover_step ask(struct work *work, struct drover_operation *op);
static enum drover_step seek(struct work *work, struct drover_operation *op);
static enum drover_step follow_boot(struct work *work, struct drover_operation *op);
static enum drover_step remove_twins(struct work *work, struct drover_operation *op);

/* ---- The server is there ---- */

static void
take(struct creation *creation, struct drover_operation *op, const char *id)
{
    creation->server = g_strdup(id);
    drover_operation_set_string(op, "external_id", id);
    drover_operation_log(op, DROVER_INFO, "Server %s is made", id);
    creation->work.stage = follow_boot;
}

static enum drover_step
follow_boot(struct work *work, struct drover_operation *op)
{
    struct creation *creation = (struct creation *)work;
    enum drover_step step;

    if (creation->boot == NULL)
        creation->boot = boot_new(work->cloud, creation->server, creation->taken_up);
    step = work_run(creation->boot, op);
    if (step != DROVER_DONE || !creation->may_have_twin)
        return step;
    work->stage = remove_twins;
    return DROVER_RUNNING;
}

/* ---- Another server of the node, made by a create that was not known to be heard ---- */

/* Of the node's, but not the one that it has now. */
static const json_t *
find_own(const struct creation *creation, const struct drover_operation *op, const json_t *servers)
{
    size_t index;
    json_t *server;

    json_array_foreach((json_t *)servers, index, server)
    {
        const char *id = list_text(server, "id");

        if (id != NULL && server_is_of_node(creation->work.cloud, op, server) &&
            g_strcmp0(id, creation->server) != 0 &&
            (creation->twins == NULL || !g_hash_table_contains(creation->twins, id)))
            return server;
    }
    return NULL;
}

/* That it is still there does no harm to the machine that is ready. */
static enum drover_step
twin_removed(struct work *work, struct drover_operation *op)
{
    if (!call_is_done(work->call))
        return DROVER_RUNNING;
    if (call_failure(work->call) != 0 && !call_found_nothing(work->call))
        drover_operation_log(op, DROVER_WARNING, "It is deleted later, for now that failed: %s",
                             call_message(work->call));
    work->stage = remove_twins;
    return DROVER_RUNNING;
}

/* Nobody else would, as long as the node is there. */
static enum drover_step
remove_twins(struct work *work, struct drover_operation *op)
{
    struct creation *creation = (struct creation *)work;
    const json_t *servers, *twin;
    const char *id;
    g_autofree char *path = NULL;
    enum drover_step step = list_get_if_any(work->cloud, LIST_SERVERS, op, &servers);

    if (step != DROVER_DONE)
        return step;
    twin = find_own(creation, op, servers);
    if (twin == NULL)
        return DROVER_DONE;
    id = list_text(twin, "id");
    drover_operation_log(op, DROVER_WARNING, "Server %s was made for the same node, it is deleted",
                         id);
    if (creation->twins == NULL)
        creation->twins = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_hash_table_add(creation->twins, g_strdup(id));
    cleaning_note_server(work->cloud->cleaning, id);
    path = call_path("/servers", id, "");
    return work_call(work, op, call_new(work->cloud, SERVICE_COMPUTE, "DELETE", path, NULL),
                     twin_removed);
}

/* ---- Refusals ---- */

/* Zones, images, flavors or networks may have changed since they were looked up. */
static enum drover_step
ask_anew(struct creation *creation, struct drover_operation *op)
{
    drover_operation_log(op, DROVER_INFO,
                         "What is known of the cloud may be out of date, it is looked up again: %s",
                         call_message(creation->work.call));
    creation->asked_anew = TRUE;
    creation->zone_chosen = FALSE;
    creation->work.stage = ask;
    return DROVER_RUNNING;
}

/* A create that the cloud may have heard although there was no answer must not be repeated before
 * it is known that it was not. */
static gboolean
is_in_doubt(const struct call *call)
{
    int status = call_status(call);

    return (status == 0 || status == 502 || status == 504) &&
           call_failure(call) != DROVER_FAILURE_AUTH &&
           call_failure(call) != DROVER_FAILURE_PERMANENT &&
           call_failure(call) != DROVER_FAILURE_NOT_FOUND;
}

static void
doubt(struct creation *creation)
{
    creation->may_have_twin = TRUE;
    creation->asked = drover_now() + DOUBT_MILLISECONDS;
    creation->work.stage = seek;
}

/* FALSE: there was doubt too often already. */
static gboolean
doubt_again(struct creation *creation, struct drover_operation *op, const char *why)
{
    if (creation->doubts++ >= MOST_DOUBTS)
        return FALSE;
    drover_operation_log(op, DROVER_WARNING, "It is not known whether a server was made: %s", why);
    doubt(creation);
    return TRUE;
}

/* An image that is gone may have a successor, unless the configuration names it by its id. */
static enum drover_failure
meaning_of_refusal(const struct work *work, const struct drover_operation *op)
{
    int status = call_status(work->call);
    enum drover_failure failure = fault_of_create(status, call_words(work->call),
                                                  (enum drover_failure)call_failure(work->call));

    return status == 400 && failure == DROVER_FAILURE_NOT_FOUND && image_is_fixed(work->cloud, op)
               ? DROVER_FAILURE_PERMANENT
               : failure;
}

static enum drover_step
refused(struct creation *creation, struct drover_operation *op)
{
    struct work *work = &creation->work;

    if (is_in_doubt(work->call) && doubt_again(creation, op, call_message(work->call)))
        return DROVER_RUNNING;
    if (call_status(work->call) == 400)
        cloud_forget(work->cloud);
    if (call_status(work->call) == 400 && !creation->asked_anew)
        return ask_anew(creation, op);
    return call_fail_as(work->call, op, meaning_of_refusal(work, op));
}

/* ---- Asking for it ---- */

static enum drover_step
asked(struct work *work, struct drover_operation *op)
{
    struct creation *creation = (struct creation *)work;
    static const char nonsense[] = "the cloud's answer makes no sense";
    const char *id;

    if (!call_is_done(work->call))
        return DROVER_RUNNING;
    if (call_failure(work->call) != 0)
        return refused(creation, op);
    id = list_id(json_object_get(call_answer(work->call), "server"));
    if (id != NULL)
        take(creation, op, id);
    else if (!doubt_again(creation, op, nonsense))
        return drover_operation_fail(op, DROVER_FAILURE_OTHER, "%s", nonsense);
    return DROVER_RUNNING;
}

/* ---- Its zone ---- */

static gboolean
is_available(const json_t *zone)
{
    return json_is_true(json_object_get(json_object_get(zone, "zoneState"), "available"));
}

/* In place of one that there is not any more, the same for all that were to be in that: the
 * machines of a request stay together. */
static const json_t *
zone_instead_of(const json_t *zones, const char *lost)
{
    const json_t *chosen = NULL;
    g_autofree char *most = NULL;
    size_t index;
    json_t *zone;

    json_array_foreach((json_t *)zones, index, zone)
    {
        g_autofree char *both = g_strconcat(lost, "/", list_text(zone, "zoneName"), NULL);
        g_autofree char *weight = g_compute_checksum_for_string(G_CHECKSUM_SHA256, both, -1);

        if (!is_available(zone) || g_strcmp0(weight, most) <= 0)
            continue;
        chosen = zone;
        g_free(most);
        most = g_steal_pointer(&weight);
    }
    return chosen;
}

/* The host's, unless the cloud has said meanwhile that it has others. */
static enum drover_step
choose_zone(struct creation *creation, struct drover_operation *op)
{
    const struct drover_value *own =
        drover_value_get(drover_operation_pool_config(op), "availability-zones");
    const char *zone = drover_operation_input(op, "az");
    const json_t *zones = NULL;

    if (creation->asked_anew && zone != NULL && drover_value_length(own) == 0) {
        enum drover_step step = list_get_if_any(creation->work.cloud, LIST_ZONES, op, &zones);

        if (step != DROVER_DONE)
            return step;
        if (zones != NULL && !is_available(list_find(zones, "zoneName", zone)))
            zone = list_text(zone_instead_of(zones, zone), "zoneName");
    }
    g_free(creation->zone);
    creation->zone = g_strdup(zone);
    creation->zone_chosen = TRUE;
    return DROVER_DONE;
}

/* After a refusal, not before everything was looked up again. */
static enum drover_step
wait_for_lists(struct creation *creation, struct drover_operation *op)
{
    static const enum list_kind kinds[] = {LIST_FLAVORS, LIST_ZONES, LIST_IMAGES, LIST_NETWORKS};

    for (gsize i = 0; creation->asked_anew && i < G_N_ELEMENTS(kinds); i++) {
        const json_t *items;
        enum drover_step step;

        if (list_is_since(creation->work.cloud, kinds[i], creation->asked) ||
            !list_is_since(creation->work.cloud, kinds[i], 1))
            continue;
        step = list_get_if_any(creation->work.cloud, kinds[i], op, &items);
        if (step == DROVER_DONE && items != NULL)
            step = list_wait(creation->work.cloud, kinds[i], op);
        if (step != DROVER_DONE)
            return step;
    }
    return DROVER_DONE;
}

/* Everything is looked up in the same step that sends it, so that nothing becomes invalid. */
static enum drover_step
ask(struct work *work, struct drover_operation *op)
{
    struct creation *creation = (struct creation *)work;
    struct server_parts parts = {.networks = NULL};
    enum drover_step step = wait_for_lists(creation, op);
    g_autofree char *image = NULL;
    const json_t *flavor;
    json_t *body;

    if (step != DROVER_DONE)
        return step;
    drover_operation_set_status(op, "looking up");
    if (!creation->zone_chosen && (step = choose_zone(creation, op)) != DROVER_DONE)
        return step;
    image = image_of_label(work->cloud, op, &step);
    if (image == NULL)
        return step;
    /* The networks tell last that the version of Nova is known, the flavors make it so. */
    flavor = flavor_of_label(work->cloud, op, &step);
    if (flavor == NULL ||
        (step = network_of_label(work->cloud, op, &parts.networks)) != DROVER_DONE)
        return step;
    parts.flavor_id = list_text(flavor, "id");
    parts.image_id = image;
    parts.zone = creation->zone;
    body = server_description(work->cloud, op, &parts);
    json_decref(parts.networks);
    creation->asked = drover_now();
    drover_operation_set_status(op, "asking");
    return work_call(work, op, call_new(work->cloud, SERVICE_COMPUTE, "POST", "/servers", body),
                     asked);
}

/* ---- A server that there may be already ---- */

/* When the cloud had heard the question, the server is in its list. */
static enum drover_step
seek(struct work *work, struct drover_operation *op)
{
    struct creation *creation = (struct creation *)work;
    const json_t *servers, *server;
    enum drover_step step =
        list_await_after(work->cloud, LIST_SERVERS, op, creation->asked, &servers);

    if (step != DROVER_DONE)
        return step;
    server = find_own(creation, op, servers);
    if (server != NULL)
        take(creation, op, list_text(server, "id"));
    else
        work->stage = ask;
    return DROVER_RUNNING;
}

/* ---- Not wanted any more ---- */

static enum drover_step
remove_server(struct work *work, struct drover_operation *op)
{
    struct creation *creation = (struct creation *)work;
    int64_t left = work_left(work, CLEAN_MILLISECONDS);
    enum drover_step step;

    if (left <= 0)
        return drover_operation_fail(op, DROVER_FAILURE_OTHER,
                                     "cancelled: not all was removed in time");
    if (creation->removal == NULL)
        creation->removal =
            removal_new(work->cloud, creation->server, boot_floating_ip(creation->boot));
    step = work_run(creation->removal, op);
    if (step == DROVER_RUNNING)
        drover_operation_call_after(op, (uint32_t)left);
    if (step == DROVER_DONE)
        return drover_operation_fail(op, DROVER_FAILURE_OTHER, "cancelled");
    return step;
}

/* What is asked for now could be made when all that there is was removed already. */
static gboolean
must_hear_first(const struct creation *creation, struct drover_operation *op)
{
    int64_t left = work_left(&creation->work, HEAR_MILLISECONDS);
    gboolean asks = creation->server != NULL
                        ? boot_asks_for_floating_ip(creation->boot)
                        : creation->work.call != NULL && !call_is_done(creation->work.call);

    if (!asks || left <= 0)
        return FALSE;
    drover_operation_call_after(op, (uint32_t)left);
    return TRUE;
}

static enum drover_step
cancelled(struct work *work, struct drover_operation *op)
{
    struct creation *creation = (struct creation *)work;
    const char *id;

    if (must_hear_first(creation, op))
        return DROVER_RUNNING;
    if (creation->server == NULL && work->call != NULL && call_is_done(work->call) &&
        call_failure(work->call) == 0) {
        id = list_id(json_object_get(call_answer(work->call), "server"));
        if (id != NULL)
            take(creation, op, id);
    }
    if (creation->server == NULL)
        return drover_operation_fail(op, DROVER_FAILURE_OTHER, "cancelled");
    work->stage = remove_server;
    return DROVER_RUNNING;
}

/* ---- As work ---- */

static void
clear(struct work *work)
{
    struct creation *creation = (struct creation *)work;

    work_free(creation->boot);
    work_free(creation->removal);
    g_free(creation->zone);
    g_free(creation->server);
    if (creation->twins != NULL)
        g_hash_table_unref(creation->twins);
}

static json_t *
save(const struct work *work)
{
    const struct creation *creation = (const struct creation *)work;

    return json_pack("{s:s*}", "server", creation->server);
}

static gboolean
resume(struct work *work, struct drover_operation *op, const json_t *saved)
{
    struct creation *creation = (struct creation *)work;
    const char *server = list_text(saved, "server");

    creation->taken_up = TRUE;
    if (server != NULL)
        take(creation, op, server);
    else
        doubt(creation);
    return TRUE;
}

const struct work_kind creation_kind = {.name = "create",
                                        .size = sizeof(struct creation),
                                        .first = ask,
                                        .cancelled = cancelled,
                                        .save = save,
                                        .resume = resume,
                                        .clear = clear};

enum drover_step
create_step(struct cloud *cloud, struct drover_operation *op)
{
    return work_step(cloud, op, &creation_kind);
}
