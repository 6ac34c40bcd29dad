#include "list.h"

#include <drover/cache.h>
#include <string.h>

#include "call.h"
#include "session.h"

#define MOST_PAGES 10000
#define FOR_EVER   UINT32_MAX
#define A_SECOND   1000
/* How long a cloud that fails is waited for. */
#define PATIENCE_MILLISECONDS 300000
/* How long something that was not there is believed not to be there. */
#define MISSING_MILLISECONDS 30000

static const struct form {
    enum service service;
    const char *path, *member;
    const char *query; /* of the first page, whole; NULL: none */
    uint32_t lifetime;
    gboolean own;      /* an administrator sees those of other projects too */
    gboolean optional; /* not all clouds have it */
} forms[LISTS] = {
    [LIST_FLAVORS] = {SERVICE_COMPUTE, "/flavors/detail", "flavors", NULL, FOR_EVER, FALSE, FALSE},
    [LIST_ZONES] = {SERVICE_COMPUTE, "/os-availability-zone", "availabilityZoneInfo", NULL,
                    FOR_EVER, FALSE, TRUE},
    [LIST_IMAGES] = {SERVICE_IMAGE, "/images", "images", "limit=1000", FOR_EVER, FALSE, FALSE},
    [LIST_NETWORKS] = {SERVICE_NETWORK, "/networks", "networks", NULL, FOR_EVER, FALSE, TRUE},
    [LIST_SUBNETS] = {SERVICE_NETWORK, "/subnets", "subnets", NULL, FOR_EVER, FALSE, TRUE},
    [LIST_ROUTERS] = {SERVICE_NETWORK, "/routers", "routers", NULL, FOR_EVER, FALSE, TRUE},
    [LIST_SERVERS] = {SERVICE_COMPUTE, "/servers/detail", "servers", NULL, A_SECOND, FALSE, FALSE},
    [LIST_VOLUMES] = {SERVICE_VOLUME, "/volumes/detail", "volumes", NULL, A_SECOND, FALSE, TRUE},
    [LIST_FLOATING_IPS] = {SERVICE_NETWORK, "/floatingips", "floatingips", NULL, A_SECOND, TRUE,
                           TRUE},
    [LIST_DOWN_PORTS] = {SERVICE_NETWORK, "/ports", "ports", "status=DOWN", A_SECOND, TRUE, TRUE},
    [LIST_OWN_IMAGES] = {SERVICE_IMAGE, "/images", "images", NULL, A_SECOND, FALSE, TRUE},
    [LIST_PRIVATE_IMAGES] = {SERVICE_IMAGE, "/images", "images", "visibility=private&limit=1000",
                             A_SECOND, FALSE, FALSE},
};

struct list {
    struct cloud *cloud;
    enum list_kind kind;
    const struct form *form;
    struct drover_cache *cache;
    int64_t failing; /* since when; 0: it is not */

    /* The fetch under way. */
    struct call *call;
    json_t *items;
    GHashTable *seen; /* queries of pages, a set */
    gboolean began_anew;
};

/* ---- Fetching ---- */

static void ask_for_page(struct list *list, const char *query);

static void
end_fetch(struct list *list)
{
    call_free(list->call);
    list->call = NULL;
    g_clear_pointer(&list->items, json_decref);
    g_hash_table_remove_all(list->seen);
}

static void
fail_fetch(struct list *list, enum drover_failure failure, const char *reason)
{
    g_autofree char *message = g_strdup_printf("the list of %s: %s", list->form->member, reason);

    if (list->failing == 0) {
        list->failing = drover_now();
        drover_provider_log(list->cloud->provider, DROVER_WARNING, "%s", message);
    }
    end_fetch(list);
    drover_cache_failed(list->cache, failure, message);
}

/* The link to the next page, as any of the services gives it. Free with g_free(). */
static char *
next_link(const struct list *list, const json_t *answer)
{
    g_autofree char *member = g_strconcat(list->form->member, "_links", NULL);
    const char *header = call_header(list->call, "Link");
    size_t index;
    json_t *link;

    json_array_foreach(json_object_get(answer, member), index, link)
    {
        if (g_strcmp0(list_text(link, "rel"), "next") == 0)
            return g_strdup(list_text(link, "href"));
    }
    if (list_text(answer, "next") != NULL)
        return g_strdup(list_text(answer, "next"));
    if (header != NULL) {
        g_autoptr(GRegex) form = g_regex_new("<([^>]*)>;[^,]*rel=\"?next\"?", 0, 0, NULL);
        g_autoptr(GMatchInfo) match = NULL;

        if (g_regex_match(form, header, 0, &match))
            return g_match_info_fetch(match, 1);
    }
    return NULL;
}

static void
take_all(struct list *list)
{
    json_t *items = json_incref(list->items);

    list->failing = 0;
    end_fetch(list);
    drover_cache_fetched(list->cache, items);
}

/* Only the query of a link counts: behind a proxy, services do not know their own address. */
static void
take_page(struct list *list)
{
    const json_t *answer = call_answer(list->call);
    json_t *page = json_object_get(answer, list->form->member);
    g_autofree char *link = answer != NULL ? next_link(list, answer) : NULL;
    const char *query = link != NULL ? strchr(link, '?') : NULL;

    if (!json_is_array(page)) {
        fail_fetch(list, DROVER_FAILURE_OTHER, "the answer makes no sense");
        return;
    }
    json_array_extend(list->items, page);
    if (query == NULL)
        take_all(list);
    else if (g_hash_table_contains(list->seen, query + 1))
        fail_fetch(list, DROVER_FAILURE_OTHER, "a page leads back to one before it");
    else if (g_hash_table_size(list->seen) >= MOST_PAGES)
        fail_fetch(list, DROVER_FAILURE_OTHER, "it has no end");
    else
        ask_for_page(list, query + 1);
}

static void
begin(struct list *list)
{
    g_hash_table_remove_all(list->seen);
    json_decref(list->items);
    list->items = json_array();
    ask_for_page(list, NULL);
}

/* Whether the cloud just does not have such things. */
static gboolean
is_absent(const struct list *list)
{
    int status = call_status(list->call);

    if (!list->form->optional)
        return FALSE;
    if (list->kind == LIST_ZONES)
        return status == 403 || status == 404;
    return status == 404 ||
           (call_was_not_sent(list->call) && call_failure(list->call) == DROVER_FAILURE_NOT_FOUND);
}

static void
on_page(struct call *call, void *data)
{
    struct list *list = data;

    if (call_failure(call) == 0) {
        take_page(list);
    } else if (call_status(call) == 400 && g_hash_table_size(list->seen) > 0 && !list->began_anew) {
        /* What the last page ended with was deleted meanwhile. */
        list->began_anew = TRUE;
        begin(list);
    } else if (is_absent(list)) {
        take_all(list);
    } else {
        fail_fetch(list, (enum drover_failure)call_failure(call), call_message(call));
    }
}

static void
ask_for_page(struct list *list, const char *query)
{
    g_autofree char *copy = g_strdup(query);

    call_free(list->call);
    list->call = call_new(list->cloud, list->form->service, "GET", list->form->path, NULL);
    call_set_shared(list->call);
    if (copy != NULL) {
        g_hash_table_add(list->seen, g_strdup(copy));
        call_set_query(list->call, copy);
    } else if (list->kind == LIST_OWN_IMAGES) {
        call_add_query(list->call, "nodepool_provider_name",
                       drover_provider_name(list->cloud->provider));
        call_add_query(list->call, "limit", "1000");
    } else if (list->kind == LIST_DOWN_PORTS) {
        call_add_query(list->call, "status", "DOWN");
    } else if (list->form->query != NULL) {
        call_set_query(list->call, list->form->query);
    }
    if (list->form->own)
        call_set_own(list->call);
    call_start(list->call, on_page, list);
}

static void
fetch(struct drover_cache *cache, void *data)
{
    struct list *list = data;

    list->began_anew = FALSE;
    begin(list);
}

/* ---- Life ---- */

static void
release_items(void *items)
{
    json_decref(items);
}

struct list *
list_new(struct cloud *cloud, enum list_kind kind)
{
    struct list *list = g_new0(struct list, 1);

    list->cloud = cloud;
    list->kind = kind;
    list->form = &forms[kind];
    list->seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    list->cache = drover_cache_new(list->form->lifetime, fetch, release_items, list);
    return list;
}

void
list_free(struct list *list)
{
    if (list == NULL)
        return;
    end_fetch(list);
    g_hash_table_unref(list->seen);
    drover_cache_free(list->cache);
    g_free(list);
}

/* ---- Looking ---- */

static enum drover_step
wait_for(struct drover_operation *op)
{
    drover_operation_call_after(op, DROVER_WHEN_WOKEN);
    return DROVER_RUNNING;
}

static enum drover_step
fail_for(const struct list *list, struct drover_operation *op)
{
    return drover_operation_fail(op, drover_cache_failure(list->cache), "%s",
                                 drover_cache_message(list->cache));
}

/* As list_get(), but the operation is not failed. */
static enum drover_step
look(struct cloud *cloud, enum list_kind kind, struct drover_operation *op, const json_t **items)
{
    const void *value = NULL;

    *items = NULL;
    switch (drover_cache_get(cloud->lists[kind]->cache, op, &value)) {
    case DROVER_CACHE_VALUE:
        *items = value;
        return DROVER_DONE;
    case DROVER_CACHE_WAIT:
        return wait_for(op);
    case DROVER_CACHE_FAILED:
        break;
    }
    return DROVER_FAILED;
}

enum drover_step
list_get(struct cloud *cloud, enum list_kind kind, struct drover_operation *op,
         const json_t **items)
{
    enum drover_step step = look(cloud, kind, op, items);

    return step == DROVER_FAILED ? fail_for(cloud->lists[kind], op) : step;
}

enum drover_step
list_get_if_any(struct cloud *cloud, enum list_kind kind, struct drover_operation *op,
                const json_t **items)
{
    enum drover_step step = look(cloud, kind, op, items);

    return step == DROVER_FAILED ? DROVER_DONE : step;
}

static gboolean
is_worth_waiting(const struct list *list)
{
    enum drover_failure failure = drover_cache_failure(list->cache);

    return failure != DROVER_FAILURE_AUTH && failure != DROVER_FAILURE_PERMANENT &&
           failure != DROVER_FAILURE_NOT_FOUND &&
           drover_now() < list->failing + PATIENCE_MILLISECONDS;
}

enum drover_step
list_await(struct cloud *cloud, enum list_kind kind, struct drover_operation *op,
           const json_t **items)
{
    struct list *list = cloud->lists[kind];
    enum drover_step step = look(cloud, kind, op, items);

    if (step != DROVER_FAILED)
        return step;
    return is_worth_waiting(list) ? list_wait(cloud, kind, op) : fail_for(list, op);
}

enum drover_step
list_await_after(struct cloud *cloud, enum list_kind kind, struct drover_operation *op,
                 int64_t time, const json_t **items)
{
    enum drover_step step = list_await(cloud, kind, op, items);

    if (step != DROVER_DONE || list_is_since(cloud, kind, time))
        return step;
    return list_wait(cloud, kind, op);
}

enum drover_step
list_get_after(struct cloud *cloud, enum list_kind kind, struct drover_operation *op, int64_t time,
               const json_t **items)
{
    enum drover_step step = list_get(cloud, kind, op, items);

    if (step != DROVER_DONE || list_is_since(cloud, kind, time))
        return step;
    return list_wait(cloud, kind, op);
}

const json_t *
list_find(const json_t *items, const char *member, const char *text)
{
    size_t index;
    json_t *item;

    json_array_foreach((json_t *)items, index, item)
    {
        if (g_strcmp0(list_text(item, member), text) == 0)
            return item;
    }
    return NULL;
}

const char *
list_text(const json_t *item, const char *member)
{
    return json_string_value(json_object_get(item, member));
}

enum drover_step
list_wait(struct cloud *cloud, enum list_kind kind, struct drover_operation *op)
{
    drover_cache_wait(cloud->lists[kind]->cache, op);
    return wait_for(op);
}

enum drover_step
list_look_again(struct cloud *cloud, enum list_kind kind, struct drover_operation *op)
{
    if (list_is_since(cloud, kind, drover_now() - MISSING_MILLISECONDS))
        return DROVER_DONE;
    list_expire(cloud, kind);
    return list_wait(cloud, kind, op);
}

gboolean
list_is_since(const struct cloud *cloud, enum list_kind kind, int64_t time)
{
    return drover_cache_time(cloud->lists[kind]->cache) >= time;
}

void
list_expire(struct cloud *cloud, enum list_kind kind)
{
    drover_cache_expire(cloud->lists[kind]->cache);
}
