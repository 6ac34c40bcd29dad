/*
 * Lists of the cloud (machines, images, flavors, zones), fetched page by page at most so often, and
 * shared by all operations of the provider.
 */
#ifndef TESTCLOUD_LIST_H
#define TESTCLOUD_LIST_H

#include <jansson.h>

#include "cloud.h"

struct list;

/* `key`: the member that tells the items apart, "id" or "name". */
struct list *list_new(struct cloud *cloud, const char *name, const char *key,
                      uint32_t milliseconds);
void list_free(struct list *list);

/*
 * DROVER_DONE: `items`, an array, is valid until the step ends. DROVER_RUNNING: the operation is
 * woken. DROVER_FAILED: the operation has been failed.
 */
enum drover_step list_get(struct list *list, struct drover_operation *op, const json_t **items);
/* The same, but one that was asked for at that time or later. */
enum drover_step list_get_after(struct list *list, struct drover_operation *op, int64_t time,
                                const json_t **items);
/*
 * The same, but never one that was old when the operation began: for operations that are rare, and
 * would else be given what was when the last one of them ran. Keeps the operation's state.
 */
enum drover_step list_get_recent(struct list *list, struct drover_operation *op,
                                 const json_t **items);
/* The item whose `member` is the text; NULL when there is none. */
json_t *list_find(const json_t *items, const char *member, const char *text);

/* Goes on with the next list: wakes the operation, or blocks until it is time. */
enum drover_step list_wait(struct list *list, struct drover_operation *op);
/* Whether the present list was asked for after that time. */
int list_is_after(const struct list *list, int64_t time);
/* Something was changed. */
void list_expire(struct list *list);

#endif
