/*
 * drover/host.h - the other side of drover/driver.h: what a program that runs drivers needs (the
 * launcher, the builder, drover-driver-check). Drivers do not include it, and it is not part of
 * the ABI promise: a host is built together with the libdrover-sdk that it runs with.
 */
#ifndef DROVER_HOST_H
#define DROVER_HOST_H

#include <drover/driver.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------------------
 * Values of the configuration. A container owns what was put into it.
 * ------------------------------------------------------------------------------------------ */

DROVER_EXPORT struct drover_value *drover_value_new_null(void);
DROVER_EXPORT struct drover_value *drover_value_new_boolean(int value);
DROVER_EXPORT struct drover_value *drover_value_new_integer(int64_t value);
DROVER_EXPORT struct drover_value *drover_value_new_number(double value);
DROVER_EXPORT struct drover_value *drover_value_new_string(const char *value);
DROVER_EXPORT struct drover_value *drover_value_new_list(void);
DROVER_EXPORT struct drover_value *drover_value_new_map(void);
DROVER_EXPORT void drover_value_free(struct drover_value *value);

/* Takes `value` over. An earlier member of the same key is replaced in its place. */
DROVER_EXPORT void drover_value_set(struct drover_value *map, const char *key,
                                    struct drover_value *value);
DROVER_EXPORT void drover_value_append(struct drover_value *list, struct drover_value *value);

/* Where it stood in the configuration, counted from 1; 0 when it came from a default. */
DROVER_EXPORT void drover_value_set_place(struct drover_value *value, unsigned line,
                                          unsigned column);
DROVER_EXPORT unsigned drover_value_line(const struct drover_value *value);
DROVER_EXPORT unsigned drover_value_column(const struct drover_value *value);

DROVER_EXPORT struct drover_value *drover_value_copy(const struct drover_value *value);
/* By content: order of map members and places do not matter, order of lists does. */
DROVER_EXPORT int drover_value_equal(const struct drover_value *a, const struct drover_value *b);

/* ------------------------------------------------------------------------------------------
 * Providers, operations, inventories: the handles that drivers are given
 *
 * A handle carries what the driver may ask for; what the driver says goes to the host's functions
 * at once, with the host's own pointer. Strings are valid until the call returns.
 * ------------------------------------------------------------------------------------------ */

/* None may be NULL. */
struct drover_operation_host {
    /* Nothing uses `data` any more. Any thread: a late wake or log may still be under way when the
     * operation is freed. */
    void (*released)(void *data);
    void (*log)(void *data, enum drover_log_level level, const char *text); /* any thread */
    void (*wake)(void *data);                                               /* any thread */
    void (*set_status)(void *data, const char *status);
    void (*set_progress)(void *data, uint64_t done, uint64_t total);
    void (*call_after)(void *data, uint32_t milliseconds);
    void (*set_string)(void *data, const char *name, const char *value);
    void (*set_integer)(void *data, const char *name, int64_t value);
    void (*set_json)(void *data, const char *name, const char *text);
    void (*add_host_key)(void *data, const char *key);
    void (*set_resource)(void *data, const char *name, double amount);
    void (*add_item)(void *data, const char *kind, const char *id);
    void (*append_text)(void *data, const char *text, size_t length);
    void (*fail)(void *data, enum drover_failure failure, const char *text);
    void (*retry_after)(void *data, uint32_t milliseconds);
};

/* Copied where it is pointers to strings; the configuration lives longer than the operation. */
struct drover_operation_input {
    const char *node_id, *external_id, *pool, *label;
    const struct drover_value *pool_config, *label_config;
    const char *const *inputs; /* name, value, ..., NULL; may be NULL */
};

DROVER_EXPORT struct drover_operation *
drover_host_operation_new(const struct drover_operation_input *input,
                          const struct drover_operation_host *host, void *data);
/* Releases the driver's state. What is said of the operation later is ignored. */
DROVER_EXPORT void drover_host_operation_free(struct drover_operation *op);
/* Any thread. */
DROVER_EXPORT void drover_host_operation_cancel(struct drover_operation *op);
/* Names each input. */
typedef void (*drover_host_input)(void *data, const char *name, const char *value);
DROVER_EXPORT void drover_host_operation_inputs(const struct drover_operation *op,
                                                drover_host_input each, void *data);

/* What a driver wants of its backing; strings are NULL where the call has none. */
struct drover_backing_call {
    enum {
        DROVER_BACKING_REQUEST,
        DROVER_BACKING_WITHDRAW,
        DROVER_BACKING_ANNOTATE,
        DROVER_BACKING_RELEASE,
        DROVER_BACKING_ASSIGN,
    } kind;
    uint64_t ticket;
    const char *label, *user_data, *backing_node, *node_id;
    uint32_t slot;
};

struct drover_provider_host {
    void (*log)(void *data, enum drover_log_level level, const char *text); /* any thread */
    void (*fail)(void *data, enum drover_failure failure, const char *text);
    /*
     * One try of a request to an API has ended: with this status, or 0 without an answer. `url` has
     * no values of its query. May be NULL. On the provider's thread.
     */
    void (*called)(void *data, const char *method, const char *url, int status,
                   int64_t milliseconds);
    /* What is wrong with the provider, one sentence, or NULL: nothing any more. May be NULL. On the
     * provider's thread. */
    void (*trouble)(void *data, const char *text);
    /* May be NULL: the host has no backing to offer. On the provider's thread. */
    void (*backing)(void *data, const struct drover_backing_call *call);
    /* What drover_provider_cleaned() was called with, whatever it is. May be NULL. Any thread. */
    void (*cleaned)(void *data, const char *what, uint32_t count);
    /* Nothing uses `data` any more; see struct drover_operation_host. May be NULL. */
    void (*released)(void *data);
};

/* The configuration lives longer than the provider. */
DROVER_EXPORT struct drover_provider *
drover_host_provider_new(const char *name, const struct drover_value *config,
                         const struct drover_provider_host *host, void *data);
DROVER_EXPORT void drover_host_provider_free(struct drover_provider *provider);
/* For one that stands for a driver elsewhere: passes on what happened there. */
DROVER_EXPORT void drover_host_provider_called(struct drover_provider *provider, const char *method,
                                               const char *url, int status, int64_t milliseconds);
DROVER_EXPORT void drover_host_provider_trouble(struct drover_provider *provider, const char *text);

typedef void (*drover_host_add_machine)(void *data, const char *pool,
                                        const struct drover_value *config, uint32_t slots);
DROVER_EXPORT struct drover_inventory *drover_host_inventory_new(drover_host_add_machine add,
                                                                 void *data);
DROVER_EXPORT void drover_host_inventory_free(struct drover_inventory *inventory);

/* `where` may be NULL. */
typedef void (*drover_host_add_mistake)(void *data, enum drover_log_level level,
                                        const struct drover_value *where, const char *text);
DROVER_EXPORT struct drover_report *drover_host_report_new(drover_host_add_mistake add, void *data);
DROVER_EXPORT void drover_host_report_free(struct drover_report *report);

#ifdef __cplusplus
}
#endif

#endif
