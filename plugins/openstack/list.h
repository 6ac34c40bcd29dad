/*
 * What the cloud has of one kind (servers, flavors, networks ...), fetched page by page, at most so
 * often, and shared by all operations of the provider.
 */
#ifndef OPENSTACK_LIST_H
#define OPENSTACK_LIST_H

#include "cloud.h"

struct list;

struct list *list_new(struct cloud *cloud, enum list_kind kind);
void list_free(struct list *list);

/*
 * DROVER_DONE: `items`, an array, is valid until the step ends. DROVER_RUNNING: the operation is
 * woken. DROVER_FAILED: the operation has been failed.
 */
enum drover_step list_get(struct cloud *cloud, enum list_kind kind, struct drover_operation *op,
                          const json_t **items);
/* The same, but a cloud that does not answer is waited for, some minutes at most. */
enum drover_step list_await(struct cloud *cloud, enum list_kind kind, struct drover_operation *op,
                            const json_t **items);
/* The same, but one that was asked for at that time or later. */
enum drover_step list_await_after(struct cloud *cloud, enum list_kind kind,
                                  struct drover_operation *op, int64_t time, const json_t **items);
/* As list_get(), but one that was asked for at that time or later. */
enum drover_step list_get_after(struct cloud *cloud, enum list_kind kind,
                                struct drover_operation *op, int64_t time, const json_t **items);
/* As these two, but where that fails there is no list: NULL. */
enum drover_step list_get_if_any(struct cloud *cloud, enum list_kind kind,
                                 struct drover_operation *op, const json_t **items);
enum drover_step list_get_after_if_any(struct cloud *cloud, enum list_kind kind,
                                       struct drover_operation *op, int64_t time,
                                       const json_t **items);

/* The item whose member is the text; NULL: there is none. */
const json_t *list_find(const json_t *items, const char *member, const char *text);
/* What an item says; NULL: no text. */
const char *list_text(const json_t *item, const char *member);
/* Its "id"; NULL: no text, or an empty one. */
const char *list_id(const json_t *item);

/* Goes on with the next list: the operation is woken. */
enum drover_step list_wait(struct cloud *cloud, enum list_kind kind, struct drover_operation *op);
/*
 * Something was not in the list. DROVER_RUNNING: the list is not new, and a newer one was asked
 * for, which wakes the operation. DROVER_DONE: it is new enough to believe that.
 */
enum drover_step list_look_again(struct cloud *cloud, enum list_kind kind,
                                 struct drover_operation *op);
/* Whether the present list was asked for at that time or later. */
gboolean list_is_since(const struct cloud *cloud, enum list_kind kind, int64_t time);
/* Something was changed. */
void list_expire(struct cloud *cloud, enum list_kind kind);

#endif
