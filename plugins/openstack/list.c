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
/* Failures with so long between them are not one failure that goes on. */
#define LULL_MILLISECONDS 60000
/* How long something that was not there is believed not to be there, and a whole service. */
#define MISSING_MILLISECONDS 30000
#define ABSENT_MILLISECONDS  300000

static const struct form {
    enum service service;
    const char *path, *member;
    const char *query; /* of the first page, whole; NULL: none */
    uint32_t lifetime;
    gboolean own;      /* an administrator sees those of other projects too */
    gboolean optional; /* not all clouds have it */
    const char *name;  /* the member that tells one from the others */
} forms[LISTS] = {
    [LIST_FLAVORS] = {SERVICE_COMPUTE, "/flavors/detail", "flavors", NULL, FOR_EVER, FALSE, FALSE,
                      "id"},
    [LIST_ZONES] = {SERVICE_COMPUTE, "/os-availability-zone", "availabilityZoneInfo", NULL,
                    FOR_EVER, FALSE, TRUE, "zoneName"},
    [LIST_IMAGES] = {SERVICE_IMAGE, "/images", "images", "limit=1000", FOR_EVER, FALSE, FALSE,
                     "id"},
    [LIST_NETWORKS] = {SERVICE_NETWORK, "/networks", "networks", NULL, FOR_EVER, FALSE, TRUE, "id"},
    [LIST_SUBNETS] = {SERVICE_NETWORK, "/subnets", "subnets", NULL, FOR_EVER, FALSE, TRUE, "id"},
    [LIST_ROUTERS] = {SERVICE_NETWORK, "/routers", "routers", NULL, FOR_EVER, FALSE, TRUE, "id"},
    [LIST_SERVERS] = {SERVICE_COMPUTE, "/servers/detail", "servers", NULL, A_SECOND, FALSE, FALSE,
                      "id"},
    [LIST_VOLUMES] = {SERVICE_VOLUME, "/volumes/detail", "volumes", NULL, A_SECOND, FALSE, TRUE,
                      "id"},
    [LIST_FLOATING_IPS] = {SERVICE_NETWORK, "/floatingips", "floatingips", NULL, A_SECOND, TRUE,
                           TRUE, "id"},
    [LIST_DOWN_PORTS] = {SERVICE_NETWORK, "/ports", "ports", "status=DOWN", A_SECOND, TRUE, TRUE,
                         "id"},
    [LIST_OWN_IMAGES] = {SERVICE_IMAGE, "/images", "images", NULL, A_SECOND, FALSE, TRUE, "id"},
    [LIST_PRIVATE_IMAGES] = {SERVICE_IMAGE, "/images", "images", "visibility=private&limit=1000",
                             A_SECOND, FALSE, FALSE, "id"},
};

struct list {
    struct cloud *cloud;
    enum list_kind kind;
    const struct form *form;
    struct drover_cache *cache;
    int64_t failing; /* since when; 0: it is not */
    int64_t failed;  /* when it did last */
    gboolean absent; /* the cloud has said that it has no such things at all */

    /* The fetch under way. */
    struct call *call;
    int64_t began;
    json_t *items;
    GHashTable *names; /* of the items, a set */
    GHashTable *seen;  /* queries of pages, a set */
    gboolean began_anew;
};

/* ---- Fetching ---- */

static void ask_for_page(struct list *list, const char *query);

static void
end_fetch(struct list *list)
{
    call_free(list->call);
    list->call = NULL;
    g_hash_table_remove_all(list->names);
    g_clear_pointer(&list->items, json_decref);
    g_hash_table_remove_all(list->seen);
}

static void
fail_fetch(struct list *list, enum drover_failure failure, const char *reason)
{
    g_autofree char *message = g_strdup_printf("the list of %s: %s", list->form->member, reason);

    if (list->failing == 0 || list->began > list->failed + LULL_MILLISECONDS) {
        list->failing = drover_now();
        drover_provider_log(list->cloud->provider, DROVER_WARNING, "%s", message);
    }
    list->failed = drover_now();
    end_fetch(list);
    drover_cache_failed(list->cache, failure, message);
}

/* The address in a header like <address>; rel="next". Free with g_free(); NULL: there is none. */
static char *
link_in_header(const char *header)
{
    g_autoptr(GRegex) form = g_regex_new("<([^>]*)>;[^,]*rel=\"?next\"?", 0, 0, NULL);
    g_autoptr(GMatchInfo) match = NULL;

    return header != NULL && g_regex_match(form, header, 0, &match) ? g_match_info_fetch(match, 1)
                                                                    : NULL;
}

/* What is said of the next page in the answer itself; NULL: nothing. */
static const json_t *
link_in_answer(const struct list *list, const json_t *answer)
{
    g_autofree char *member = g_strconcat(list->form->member, "_links", NULL);
    const json_t *links = json_object_get(answer, member), *next = json_object_get(answer, "next");
    size_t index;
    json_t *link;

    if (links != NULL && !json_is_array(links) && !json_is_null(links))
        return links;
    json_array_foreach((json_t *)links, index, link)
    {
        if (g_strcmp0(list_text(link, "rel"), "next") == 0)
            return json_object_get(link, "href") != NULL ? json_object_get(link, "href") : link;
    }
    return json_is_null(next) ? NULL : next;
}

/*
 * The query of the link to the next page, as any of the services gives it: only the query counts,
 * since behind a proxy services do not know their own address. Free with g_free(); NULL: it is the
 * last page. FALSE: there is a link that leads nowhere, and the list would end in the middle.
 */
static gboolean
find_next(const struct list *list, const json_t *answer, char **query)
{
    const json_t *said = link_in_answer(list, answer);
    g_autofree char *link = said != NULL ? g_strdup(json_string_value(said))
                                         : link_in_header(call_header(list->call, "Link"));
    const char *mark = link != NULL ? strchr(link, '?') : NULL;

    *query = mark != NULL ? g_strdup(mark + 1) : NULL;
    return *query != NULL || (said == NULL && link == NULL);
}

static void
take_all(struct list *list, gboolean absent)
{
    json_t *items = json_incref(list->items);

    list->failing = 0;
    list->absent = absent;
    end_fetch(list);
    drover_cache_fetched(list->cache, items);
}

/* What has no name cannot be told from others, and a list without it would be another one. FALSE
 * when there is such a thing. What pages show twice, since it has moved, is there once. */
static gboolean
add_page(struct list *list, const json_t *page)
{
    size_t index;
    json_t *item;

    json_array_foreach((json_t *)page, index, item)
    {
        const char *name = list_text(item, list->form->name);

        if (name == NULL || *name == '\0')
            return FALSE;
        if (g_hash_table_contains(list->names, name))
            continue;
        json_array_append(list->items, item);
        g_hash_table_add(list->names, (char *)name); /* lives as long as the item */
    }
    return json_is_array(page);
}

static void
take_page(struct list *list)
{
    const json_t *answer = call_answer(list->call);
    g_autofree char *next = NULL;

    if (!find_next(list, answer, &next) ||
        !add_page(list, json_object_get(answer, list->form->member)))
        fail_fetch(list, DROVER_FAILURE_OTHER, "the answer makes no sense");
    else if (next == NULL)
        take_all(list, FALSE);
    else if (g_hash_table_contains(list->seen, next))
        fail_fetch(list, DROVER_FAILURE_OTHER, "a page leads back to one before it");
    else if (g_hash_table_size(list->seen) >= MOST_PAGES)
        fail_fetch(list, DROVER_FAILURE_OTHER, "it has no end");
    else
        ask_for_page(list, next);
}

static void
begin(struct list *list)
{
    g_hash_table_remove_all(list->seen);
    g_hash_table_remove_all(list->names);
    json_decref(list->items);
    list->items = json_array();
    ask_for_page(list, NULL);
}

static gboolean
is_first_page(const struct list *list)
{
    return g_hash_table_size(list->seen) == 0;
}

/* What the page before ended with was deleted meanwhile: services say 400 or 404 to that. */
static gboolean
has_lost_its_place(const struct list *list)
{
    int status = call_status(list->call);

    return !is_first_page(list) && (status == 400 || status == 404);
}

/* Whether the cloud just does not have such things. */
static gboolean
is_absent(const struct list *list)
{
    int status = call_status(list->call);

    if (!list->form->optional || !is_first_page(list))
        return FALSE;
    if (list->kind == LIST_ZONES)
        return status == 403 || status == 404;
    return status == 404 || call_has_no_service(list->call);
}

/* Not that what an operation is about is not there: it would take that for its success. */
static enum drover_failure
meaning_of(const struct call *call)
{
    if (call_has_no_service(call))
        return DROVER_FAILURE_PERMANENT;
    return call_found_nothing(call) ? DROVER_FAILURE_OTHER
                                    : (enum drover_failure)call_failure(call);
}

static void
on_page(struct call *call, void *data)
{
    struct list *list = data;

    if (call_failure(call) == 0) {
        take_page(list);
    } else if (has_lost_its_place(list) && !list->began_anew) {
        list->began_anew = TRUE;
        begin(list);
    } else if (is_absent(list)) {
        take_all(list, TRUE);
    } else {
        fail_fetch(list, meaning_of(call), call_message(call));
    }
}

static void
ask_for_page(struct list *list, const char *query)
{
    call_free(list->call);
    list->call = call_new(list->cloud, list->form->service, "GET", list->form->path, NULL);
    call_set_shared(list->call);
    if (query != NULL) {
        g_hash_table_add(list->seen, g_strdup(query));
        call_set_query(list->call, query);
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
    list->began = drover_now();
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
    list->names = g_hash_table_new(g_str_hash, g_str_equal);
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
    g_hash_table_unref(list->names);
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

/* A service that answers nobody knows what for a moment must not be missing for ever. */
static void
doubt_absence(struct cloud *cloud, enum list_kind kind)
{
    const struct list *list = cloud->lists[kind];

    if (list->absent && list->call == NULL &&
        !list_is_since(cloud, kind, drover_now() - ABSENT_MILLISECONDS))
        list_expire(cloud, kind);
}

/* As list_get(), but the operation is not failed. */
static enum drover_step
look(struct cloud *cloud, enum list_kind kind, struct drover_operation *op, const json_t **items)
{
    const void *value = NULL;

    *items = NULL;
    doubt_absence(cloud, kind);
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

/* The step in which a list was looked at, unless that is older. */
static enum drover_step
if_since(enum drover_step step, struct cloud *cloud, enum list_kind kind,
         struct drover_operation *op, int64_t time, const json_t *items)
{
    if (step != DROVER_DONE || items == NULL || list_is_since(cloud, kind, time))
        return step;
    return list_wait(cloud, kind, op);
}

enum drover_step
list_await_after(struct cloud *cloud, enum list_kind kind, struct drover_operation *op,
                 int64_t time, const json_t **items)
{
    enum drover_step step = list_await(cloud, kind, op, items);

    return if_since(step, cloud, kind, op, time, *items);
}

enum drover_step
list_get_after(struct cloud *cloud, enum list_kind kind, struct drover_operation *op, int64_t time,
               const json_t **items)
{
    enum drover_step step = list_get(cloud, kind, op, items);

    return if_since(step, cloud, kind, op, time, *items);
}

enum drover_step
list_get_after_if_any(struct cloud *cloud, enum list_kind kind, struct drover_operation *op,
                      int64_t time, const json_t **items)
{
    enum drover_step step = list_get_if_any(cloud, kind, op, items);

    return if_since(step, cloud, kind, op, time, *items);
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

const char *
list_id(const json_t *item)
{
    const char *id = list_text(item, "id");

    return id != NULL && *id != '\0' ? id : NULL;
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
