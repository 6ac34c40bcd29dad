#include "list.h"

#include "call.h"
#include "work.h"

#include <drover/cache.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MOST_PAGES 1000

struct list {
    struct cloud *cloud;
    const char *name, *key;
    uint32_t interval;
    struct drover_cache *cache;
    int64_t expired; /* when list_expire() was called last */

    /* The fetch under way. */
    struct drover_http_request *call;
    json_t *items;
    json_t *keys; /* of the items, an object: a cloud may name one twice */
    unsigned pages;
};

/* ---- Fetching ---- */

static void ask_for_page(struct list *list, const char *marker);

static void
end_fetch(struct list *list)
{
    drover_http_request_free(list->call);
    json_decref(list->items);
    json_decref(list->keys);
    list->call = NULL;
    list->items = list->keys = NULL;
}

static void
fail_fetch(struct list *list, enum drover_failure failure, const char *reason)
{
    char *message = NULL;

    if (asprintf(&message, "the list of %s: %s", list->name, reason) < 0)
        abort();
    end_fetch(list);
    drover_cache_failed(list->cache, failure, message);
    free(message);
}

/* 0, or -1 when there is no sense in the page. */
static int
add_page(struct list *list, const json_t *page)
{
    size_t index;
    json_t *item;

    if (!json_is_array(page))
        return -1;
    json_array_foreach(page, index, item)
    {
        const char *key = json_string_value(json_object_get(item, list->key));

        if (key == NULL)
            return -1;
        if (json_object_get(list->keys, key) == NULL)
            json_array_append(list->items, item);
        json_object_set_new(list->keys, key, json_true());
    }
    return 0;
}

static void
take_page(struct list *list)
{
    json_t *answer = call_answer(list->call);
    const char *next = json_string_value(json_object_get(answer, "next"));

    if (add_page(list, json_object_get(answer, list->name)) != 0)
        fail_fetch(list, DROVER_FAILURE_OTHER, "the answer makes no sense");
    else if (next != NULL && ++list->pages == MOST_PAGES)
        fail_fetch(list, DROVER_FAILURE_OTHER, "it has no end");
    else if (next != NULL)
        ask_for_page(list, next);
    else {
        json_t *items = json_incref(list->items);

        end_fetch(list);
        drover_cache_fetched(list->cache, items);
    }
    json_decref(answer);
}

static void
on_page(struct drover_http_request *call, void *data)
{
    struct list *list = data;
    char *message;

    if (call_failure(call) == 0) {
        take_page(list);
        return;
    }
    message = call_message(call);
    fail_fetch(list, (enum drover_failure)call_failure(call), message);
    free(message);
}

static void
ask_for_page(struct list *list, const char *marker)
{
    char path[64];

    snprintf(path, sizeof path, "/%s", list->name);
    drover_http_request_free(list->call);
    list->call = call_new(list->cloud, "GET", path, NULL);
    if (marker != NULL)
        drover_http_request_add_query(list->call, "marker", marker);
    if (!list->cloud->blocks) {
        drover_http_request_start(list->call, on_page, list);
        return;
    }
    drover_http_request_run(list->call);
    on_page(list->call, list);
}

static void
fetch(struct drover_cache *cache, void *data)
{
    struct list *list = data;

    list->items = json_array();
    list->keys = json_object();
    list->pages = 0;
    ask_for_page(list, NULL);
}

/* ---- Life ---- */

static void
release_items(void *items)
{
    json_decref(items);
}

struct list *
list_new(struct cloud *cloud, const char *name, const char *key, uint32_t milliseconds)
{
    struct list *list = work_allocate(sizeof *list);

    list->cloud = cloud;
    list->name = name;
    list->key = key;
    list->interval = milliseconds;
    list->cache = drover_cache_new(milliseconds, fetch, release_items, list);
    return list;
}

void
list_free(struct list *list)
{
    end_fetch(list);
    drover_cache_free(list->cache);
    free(list);
}

/* ---- Looking ---- */

/* Until the cache wakes the operation, or simply for some time. */
static enum drover_step
wait_in_style(const struct list *list, struct drover_operation *op)
{
    struct timespec pause = {.tv_sec = list->interval / 1000,
                             .tv_nsec = (long)(list->interval % 1000) * 1000000};

    if (list->cloud->blocks)
        nanosleep(&pause, NULL);
    else
        drover_operation_call_after(op, DROVER_WHEN_WOKEN);
    return DROVER_RUNNING;
}

enum drover_step
list_get(struct list *list, struct drover_operation *op, const json_t **items)
{
    const void *value;

    switch (drover_cache_get(list->cache, op, &value)) {
    case DROVER_CACHE_VALUE:
        *items = value;
        return DROVER_DONE;
    case DROVER_CACHE_WAIT:
        return wait_in_style(list, op);
    case DROVER_CACHE_FAILED:
        break;
    }
    return drover_operation_fail(op, drover_cache_failure(list->cache), "%s",
                                 drover_cache_message(list->cache));
}

struct beginning {
    struct work work;
    int64_t time;
};

/* When the operation was stepped first. */
static int64_t
beginning(struct drover_operation *op)
{
    struct beginning *beginning = drover_operation_state(op);

    if (beginning == NULL) {
        beginning = work_allocate(sizeof *beginning);
        beginning->time = drover_now();
        drover_operation_set_state(op, beginning, free);
    }
    return beginning->time;
}

enum drover_step
list_get_after(struct list *list, struct drover_operation *op, int64_t time, const json_t **items)
{
    enum drover_step step = list_get(list, op, items);

    if (step == DROVER_DONE && drover_cache_time(list->cache) < time)
        return list_wait(list, op);
    return step;
}

enum drover_step
list_get_recent(struct list *list, struct drover_operation *op, const json_t **items)
{
    int64_t oldest = beginning(op) - list->interval;

    return list_get_after(list, op, list->expired > oldest ? list->expired : oldest, items);
}

json_t *
list_find(const json_t *items, const char *member, const char *text)
{
    size_t index;
    json_t *item;

    json_array_foreach(items, index, item)
    {
        const char *found = json_string_value(json_object_get(item, member));

        if (found != NULL && strcmp(found, text) == 0)
            return item;
    }
    return NULL;
}

enum drover_step
list_wait(struct list *list, struct drover_operation *op)
{
    drover_cache_wait(list->cache, op);
    return wait_in_style(list, op);
}

int
list_is_after(const struct list *list, int64_t time)
{
    return drover_cache_time(list->cache) > time;
}

void
list_expire(struct list *list)
{
    list->expired = drover_now();
    drover_cache_expire(list->cache);
}
