/*
 * drover/driver.h - what a Drover driver is made of.
 *
 * A driver is a shared object that makes, finds, lists and removes machines of one kind of cloud.
 * It exports one function, drover_driver_entry(), which returns a constant table of what it is
 * called, which options it takes and what it can do. Everything else it needs it calls from
 * libdrover-sdk. It never learns about ZooKeeper, node requests or locks.
 *
 *     #include <drover/driver.h>
 *
 *     static enum drover_step create(void *self, struct drover_operation *op) { ... }
 *     static enum drover_step delete(void *self, struct drover_operation *op) { ... }
 *
 *     static const struct drover_driver driver = {
 *         DROVER_DRIVER_HEADER,
 *         .name = "mycloud", .version = "1.0", .licence = "Apache-2.0",
 *         .description = "machines of My Cloud",
 *         .capabilities = DROVER_CAN_MACHINES,
 *         .options = options,
 *         .machine_create = create, .machine_delete = delete,
 *     };
 *     DROVER_DRIVER(driver)
 *
 * Promise: a driver built against this header loads in every later host of the same ABI major. A
 * driver built against a newer minor loads too when it uses nothing newer. The tables begin with
 * their size; a shorter one is completed with zeros, a longer one's tail is ignored.
 *
 * Threads: each provider of the configuration has one thread of its own. Every function of the
 * table is called on that thread, so a driver needs no locks and may block; it then holds up its
 * own provider only. Functions of the SDK are called on that thread too, except those marked "any
 * thread".
 *
 * Files: descriptors may be above 1,023, so select() cannot be used; poll() can.
 *
 * Memory: who allocates frees. A string handed over in either direction is valid until the call
 * returns, unless its comment says longer. Times are milliseconds, monotonic.
 */
#ifndef DROVER_DRIVER_H
#define DROVER_DRIVER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DROVER_ABI_MAJOR 1
#define DROVER_ABI_MINOR 1

#if defined(__GNUC__)
#define DROVER_PRINTF(text, first) __attribute__((format(printf, text, first)))
#define DROVER_EXPORT              __attribute__((visibility("default")))
#else
#define DROVER_PRINTF(text, first)
#define DROVER_EXPORT
#endif

struct drover_provider;  /* one entry under `providers:`, as the host sees it */
struct drover_operation; /* one piece of work that the host asked for */
struct drover_inventory; /* receives the machines that exist already */
struct drover_report;    /* receives what is wrong with a configuration */
struct drover_value;     /* one value of the configuration */

/* ------------------------------------------------------------------------------------------
 * Options: what may stand under a provider that names this driver
 *
 * The host checks a configuration against this table alone, without loading a cloud library or
 * opening a connection, and reports file, line and column. `drover driver info` and the reference
 * documentation are made from it. The common options (name, driver, priority, max-concurrency,
 * pools[].name, pools[].max-servers, pools[].priority, pools[].node-attributes) are the host's and
 * are not repeated here.
 * ------------------------------------------------------------------------------------------ */

enum drover_option_type {
    DROVER_OPTION_STRING = 1,
    DROVER_OPTION_INTEGER, /* signed 64 bit */
    DROVER_OPTION_NUMBER,  /* integer or real */
    DROVER_OPTION_BOOLEAN,
    DROVER_OPTION_STRINGS, /* a list of strings; a single string is a list of one */
    DROVER_OPTION_MAP,     /* its members are described by longer paths */
    DROVER_OPTION_LIST,    /* of maps; path ends in "[]" */
    DROVER_OPTION_ANY,     /* any YAML value, not looked into */
};

enum drover_option_flags {
    DROVER_OPTION_REQUIRED = 1 << 0,
    DROVER_OPTION_SECRET = 1 << 1, /* never shown: not in logs, dumps or errors */
    DROVER_OPTION_SPLIT = 1 << 2,  /* STRINGS: each string is split at white space */
    /* Convertible types load with a warning: a number or boolean where a string is wanted, a number
     * in quotes, and what Python takes as true or false. See also `unique`. */
    DROVER_OPTION_LENIENT = 1 << 3,
    DROVER_OPTION_DEPRECATED = 1 << 4, /* accepted with a warning */
    /* Its strings may say {request.tenant_name} and the like. What an operation sees of its label
     * has these filled in. */
    DROVER_OPTION_TEMPLATE = 1 << 5,
};

struct drover_option {
    /*
     * Where it stands below the provider, for instance "boot-timeout", "pools[].max-cores",
     * "pools[].nodes[].host-key". A last part "*" stands for every key not named otherwise. A list
     * or map is declared before its members.
     */
    const char *path;
    enum drover_option_type type;
    uint32_t flags;       /* of drover_option_flags */
    const char *fallback; /* the default, as YAML text; NULL: none */
    /* "connection-type=winrm: 5986": other default beside that sibling */
    const char *fallback_when;
    const char *allowed; /* "a|b|c", or "1..65535" (either end may be missing); NULL: anything */
    /* "labels" or "diskimages": each string names such a top-level entry. Any other text: one of
     * the provider's own list of that name, for instance "cloud-images". The labels that a pool
     * offers are all those that its options refer to. */
    const char *refers_to;
    /* LIST: members that together tell an entry from all others of the provider, "name,port"; two
     * of the same are an error. With DROVER_OPTION_LENIENT, from the others of the same list; the
     * last one counts then, with a warning. */
    const char *unique;
    const char *old_name; /* former name of the last part, accepted with a warning */
    const char *help;     /* one sentence */
};

/* Reading the checked configuration, defaults filled in. Values live as long as their provider. */

enum drover_value_type {
    DROVER_VALUE_NULL,
    DROVER_VALUE_BOOLEAN,
    DROVER_VALUE_INTEGER,
    DROVER_VALUE_NUMBER,
    DROVER_VALUE_STRING,
    DROVER_VALUE_LIST,
    DROVER_VALUE_MAP,
};

/*
 * The provider's whole section, a map. The host adds what is said elsewhere: "diskimage-settings",
 * for each disk image that the provider refers to a map of its username, python-path and
 * shell-type; and "driver-settings", what stands for the driver under `drivers:`.
 */
DROVER_EXPORT const struct drover_value *
drover_provider_config(const struct drover_provider *provider);

/* A member of a map; NULL when the map is NULL or has no such member or the member is null. */
DROVER_EXPORT const struct drover_value *drover_value_get(const struct drover_value *map,
                                                          const char *key);
/* Items of a list, or members of a map in the order of the file; 0 for anything else. */
DROVER_EXPORT size_t drover_value_length(const struct drover_value *value);
DROVER_EXPORT const struct drover_value *drover_value_item(const struct drover_value *value,
                                                           size_t index);
/* The key of a map's member; NULL for a list or beyond the end. */
DROVER_EXPORT const char *drover_value_key(const struct drover_value *map, size_t index);

/* A member's plain value; `otherwise` when it is absent or of another type. */
DROVER_EXPORT const char *drover_value_get_string(const struct drover_value *map, const char *key,
                                                  const char *otherwise);
DROVER_EXPORT int64_t drover_value_get_integer(const struct drover_value *map, const char *key,
                                               int64_t otherwise);
DROVER_EXPORT double drover_value_get_number(const struct drover_value *map, const char *key,
                                             double otherwise);
DROVER_EXPORT int drover_value_get_boolean(const struct drover_value *map, const char *key,
                                           int otherwise);
/* A value itself; NULL, or `otherwise`, when it is of another type. */
DROVER_EXPORT const char *drover_value_string(const struct drover_value *value);
DROVER_EXPORT int64_t drover_value_integer(const struct drover_value *value, int64_t otherwise);
DROVER_EXPORT double drover_value_number(const struct drover_value *value, double otherwise);
DROVER_EXPORT int drover_value_boolean(const struct drover_value *value, int otherwise);
/* NULL reads as DROVER_VALUE_NULL. */
DROVER_EXPORT enum drover_value_type drover_value_type(const struct drover_value *value);
/* Any value with all that is in it as JSON text, to be freed with free(); never NULL. */
DROVER_EXPORT char *drover_value_json(const struct drover_value *value);

/* ------------------------------------------------------------------------------------------
 * Failures
 * ------------------------------------------------------------------------------------------ */

enum drover_failure {
    DROVER_FAILURE_OTHER = 1,    /* counts as an attempt, tried again */
    DROVER_FAILURE_QUOTA,        /* the account is full: wait until quota allows */
    DROVER_FAILURE_CAPACITY,     /* the cloud is full for now: try again, perhaps elsewhere */
    DROVER_FAILURE_NOT_FOUND,    /* the object does not exist; a delete is then done */
    DROVER_FAILURE_PERMANENT,    /* this label can never work as configured */
    DROVER_FAILURE_AUTH,         /* the cloud refuses the credentials */
    DROVER_FAILURE_RATE_LIMITED, /* asked too often; see drover_operation_retry_after() */
    DROVER_FAILURE_TIMEOUT,      /* no answer, or not reached, in time */
    DROVER_FAILURE_UNREACHABLE,  /* the machine does not answer, or is not the one expected */
    DROVER_FAILURE_BROKEN,       /* the cloud made the machine and says that it does not work */
    DROVER_FAILURE_NO_ADDRESS,   /* the machine has no address that can be used */
};

/* ------------------------------------------------------------------------------------------
 * Operations
 *
 * Each thing the host asks for is an operation: a state machine that the host steps on the
 * provider's thread until it is done. A simple driver does all its work, blocking, in one step and
 * returns DROVER_DONE or DROVER_FAILED. A better one starts something, says when it wants to be
 * called again, and returns DROVER_RUNNING.
 *
 * A step that is called without need must do no harm. After DROVER_DONE or DROVER_FAILED the
 * operation is not stepped again, and the state set with drover_operation_set_state() is freed.
 * The handle is dead then and never given out again: the functions below ignore it, or answer with
 * NULL or 0, so that a late wake or answer does no harm.
 * ------------------------------------------------------------------------------------------ */

enum drover_step {
    DROVER_RUNNING = 1, /* call again at the time asked for, or when woken */
    DROVER_DONE,
    DROVER_FAILED, /* after drover_operation_fail() */
};

/* What the operation is about. Strings live as long as the operation; NULL where it has none. */
DROVER_EXPORT const char *drover_operation_node_id(const struct drover_operation *op);
DROVER_EXPORT const char *drover_operation_external_id(const struct drover_operation *op);
DROVER_EXPORT const char *drover_operation_pool(const struct drover_operation *op);
DROVER_EXPORT const char *drover_operation_label(const struct drover_operation *op);
/* The configuration of the pool, and of the label in it; NULL where there is none. */
DROVER_EXPORT const struct drover_value *
drover_operation_pool_config(const struct drover_operation *op);
DROVER_EXPORT const struct drover_value *
drover_operation_label_config(const struct drover_operation *op);
/* Any other input by its name (each table function documents its own); NULL when not given. */
DROVER_EXPORT const char *drover_operation_input(const struct drover_operation *op,
                                                 const char *name);
/* 1 when the host no longer wants the result: clean up, then end as failed. */
DROVER_EXPORT int drover_operation_cancelled(const struct drover_operation *op);

/* The driver's own state. `release` (may be NULL) is called when the operation has ended. */
DROVER_EXPORT void drover_operation_set_state(struct drover_operation *op, void *state,
                                              void (*release)(void *state));
DROVER_EXPORT void *drover_operation_state(const struct drover_operation *op);

/*
 * When to step again: after so many milliseconds (the latest call counts; DROVER_WHEN_WOKEN: not
 * before it is woken), or as soon as possible. Any thread may wake an operation, at any time. One
 * that runs on without having said when is stepped after a second.
 */
#define DROVER_WHEN_WOKEN UINT32_MAX
DROVER_EXPORT void drover_operation_call_after(struct drover_operation *op, uint32_t milliseconds);
DROVER_EXPORT void drover_operation_wake(struct drover_operation *op);

/* What it is doing, one stable word or two ("waiting for volume"), and how far: shown to operators,
 * logged when it changes. */
DROVER_EXPORT void drover_operation_set_status(struct drover_operation *op, const char *status);
DROVER_EXPORT void drover_operation_set_progress(struct drover_operation *op, uint64_t done,
                                                 uint64_t total);

/*
 * Results. The names are those of the node record: external_id, hostname, interface_ip,
 * public_ipv4, public_ipv6, private_ipv4, private_ipv6, az, region, host_id, cloud, image_id,
 * connection_type, username, python_path, shell_type (strings); connection_port, slot (integers);
 * and, as the text of any JSON value, external_id, driver_data, node_attributes, connection_port.
 * Items of a listing take name, tags and size too. Others are refused with a warning. NULL is not
 * the same as never set: it takes away what the label or image would say.
 *
 * An external_id is handed to the host at once, before the operation ends, so that a machine is
 * never lost. It may be set again when more is known, say with a volume added to the server: it is
 * then a JSON object.
 */
DROVER_EXPORT void drover_operation_set_string(struct drover_operation *op, const char *name,
                                               const char *value);
DROVER_EXPORT void drover_operation_set_integer(struct drover_operation *op, const char *name,
                                                int64_t value);
DROVER_EXPORT void drover_operation_set_json(struct drover_operation *op, const char *name,
                                             const char *text);
/* One host key, "<type> <base64>"; called once for each. */
DROVER_EXPORT void drover_operation_add_host_key(struct drover_operation *op, const char *key);
/*
 * An amount of a resource: cores, instances, ram (MiB), volumes, volume-gb or a name of the
 * cloud's. For limits INFINITY means none.
 */
DROVER_EXPORT void drover_operation_set_resource(struct drover_operation *op, const char *name,
                                                 double amount);
/*
 * Listings: starts a new item; the following set_ calls are about it. `id` is the cloud's id,
 * `kind` the driver's word for it ("server", "volume", "image").
 */
DROVER_EXPORT void drover_operation_add_item(struct drover_operation *op, const char *kind,
                                             const char *id);
/* Text of any length: a console log. */
DROVER_EXPORT void drover_operation_append_text(struct drover_operation *op, const char *text,
                                                size_t length);

/* Ends the operation: `return drover_operation_fail(op, DROVER_FAILURE_QUOTA, "...", ...);` The
 * text is one sentence for people; it never holds a secret. */
DROVER_EXPORT enum drover_step drover_operation_fail(struct drover_operation *op,
                                                     enum drover_failure failure,
                                                     const char *format, ...) DROVER_PRINTF(3, 4);
/* With DROVER_FAILURE_RATE_LIMITED: when the cloud wants to be asked again. More than ten minutes
 * count as ten. */
DROVER_EXPORT void drover_operation_retry_after(struct drover_operation *op, uint32_t milliseconds);

/* ------------------------------------------------------------------------------------------
 * Inventory: machines that exist already
 * ------------------------------------------------------------------------------------------ */

/*
 * Adds a machine. `config` is its own section of the configuration (its labels, and the members
 * name, username and connection-port that tell machines apart, are read from there by the host);
 * `slots` is how many jobs may use it at once.
 */
DROVER_EXPORT void drover_inventory_add(struct drover_inventory *inventory, const char *pool,
                                        const struct drover_value *config, uint32_t slots);

/* ------------------------------------------------------------------------------------------
 * Backing: machines of other providers, since 1.1
 *
 * A driver with DROVER_CAN_BACKING cuts a machine of another provider, the backing node, into
 * slots, each a node of its own. These functions only say what is wanted. What comes of it is said
 * by backing_event(); so is what becomes of the backing nodes and slots of the same provider in
 * other processes. Each may be called on the provider's thread, at any time.
 * ------------------------------------------------------------------------------------------ */

/*
 * Asks for a machine that has the label. `ticket` is the driver's own number for it, never used
 * twice. `user_data` is a JSON object that is kept with the node; the host adds "owner". When there
 * is a machine it is this provider's at once, until it is released: READY follows, or FAILED.
 */
DROVER_EXPORT void drover_backing_request(struct drover_provider *provider, uint64_t ticket,
                                          const char *label, const char *user_data);
/* It is not wanted any more; nothing more is said of the ticket. */
DROVER_EXPORT void drover_backing_withdraw(struct drover_provider *provider, uint64_t ticket);
/* Keeps another user data with a backing node. */
DROVER_EXPORT void drover_backing_annotate(struct drover_provider *provider,
                                           const char *backing_node, const char *user_data);
/* Gives a backing node back: GONE follows, or KEPT when a slot of it is in use. */
DROVER_EXPORT void drover_backing_release(struct drover_provider *provider,
                                          const char *backing_node);
/*
 * Gives the slot to a node of this provider that is being made. It is written down before ASSIGNED
 * follows, and nobody else can have the same slot then; or REFUSED follows.
 */
DROVER_EXPORT void drover_backing_assign(struct drover_provider *provider, const char *node_id,
                                         const char *backing_node, uint32_t slot);

enum drover_backing_event {
    DROVER_BACKING_LISTED = 1, /* all that there was before the provider started was said */
    DROVER_BACKING_NODE,       /* a backing node of this provider: "backing_node", "user_data",
                                  and "fields" as of READY; again when the user data changed */
    DROVER_BACKING_SLOT,       /* a slot is in use: "backing_node", "slot", "node" that has it */
    DROVER_BACKING_FREE,       /* the record of a "node" with a slot is gone */
    DROVER_BACKING_GONE,       /* "backing_node" is not this provider's any more */
    DROVER_BACKING_READY,      /* "ticket", "backing_node" and its "fields": a map of what there is
                                  of interface_ip, public_ipv4, public_ipv6, private_ipv4, az,
                                  region, cloud, username, python_path, shell_type,
                                  connection_type (strings), connection_port, host_keys (list) and
                                  attributes (map) */
    DROVER_BACKING_FAILED,     /* "ticket", "reason": there will be no machine */
    DROVER_BACKING_ASSIGNED,   /* "node", "backing_node", "slot" */
    DROVER_BACKING_REFUSED,    /* the same; what stands in the way was said before */
    DROVER_BACKING_KEPT,       /* "backing_node" */
};

/* ------------------------------------------------------------------------------------------
 * Checking a configuration beyond its options
 * ------------------------------------------------------------------------------------------ */

/* One mistake, a sentence for people; the host adds file, line and column of `where`, which is the
 * value that is wrong, or the map that lacks something. */
DROVER_EXPORT void drover_report_error(struct drover_report *report,
                                       const struct drover_value *where, const char *format, ...)
    DROVER_PRINTF(3, 4);
DROVER_EXPORT void drover_report_warning(struct drover_report *report,
                                         const struct drover_value *where, const char *format, ...)
    DROVER_PRINTF(3, 4);

/* ------------------------------------------------------------------------------------------
 * Host services
 * ------------------------------------------------------------------------------------------ */

enum drover_log_level {
    DROVER_DEBUG = 1,
    DROVER_INFO,
    DROVER_WARNING,
    DROVER_ERR,
};

/* One line in the host's log, bound to the provider, and to the operation's node. Any thread. */
DROVER_EXPORT void drover_provider_log(const struct drover_provider *provider,
                                       enum drover_log_level level, const char *format, ...)
    DROVER_PRINTF(3, 4);
DROVER_EXPORT void drover_operation_log(const struct drover_operation *op,
                                        enum drover_log_level level, const char *format, ...)
    DROVER_PRINTF(3, 4);

DROVER_EXPORT const char *drover_provider_name(const struct drover_provider *provider);
/* Why provider_open() failed; the text never holds a secret. Returns -1 to be returned. */
DROVER_EXPORT int drover_provider_fail(struct drover_provider *provider,
                                       enum drover_failure failure, const char *format, ...)
    DROVER_PRINTF(3, 4);

/*
 * Since 1.1. What the driver has removed at the cloud by itself, since nobody used it any more: it
 * is counted with the leaked resources that the host had removed by resource_delete(), which the
 * host counts itself. `what` is the metric's word for them, in the plural ("ports", "floatingips"):
 * 1 to 40 of a-z, 0-9, "-" and "_", the first one a letter; one of the few words that the driver
 * has. `count` is how many, at most 1000000; of 0 nothing is said. Anything else is left out, with
 * a warning in the log. Any thread, until provider_close() returns.
 */
DROVER_EXPORT void drover_provider_cleaned(const struct drover_provider *provider, const char *what,
                                           uint32_t count);

/* Monotonic milliseconds. Any thread. */
DROVER_EXPORT int64_t drover_now(void);

/* ------------------------------------------------------------------------------------------
 * The table
 * ------------------------------------------------------------------------------------------ */

enum drover_capability {
    DROVER_CAN_MACHINES = 1 << 0,  /* machine_create, machine_delete */
    DROVER_CAN_INVENTORY = 1 << 1, /* inventory_list, slot_register, slot_check */
    DROVER_CAN_IMAGES = 1 << 2,    /* image_upload, image_delete, image_list */
    DROVER_CAN_QUOTA = 1 << 3,     /* quota_limits, quota_label, quota_usage */
    DROVER_CAN_RESOURCES = 1 << 4, /* resource_list, resource_delete */
    DROVER_CAN_CONSOLE = 1 << 5,   /* machine_console */
    DROVER_CAN_BACKING = 1 << 6,   /* backing_event; since 1.1, see above */
    DROVER_MAY_BLOCK = 1 << 7,     /* its steps take long: the host does not wonder about them */
};

struct drover_driver {
    /* Filled in by DROVER_DRIVER_HEADER. */
    uint32_t size;
    uint16_t abi_major, abi_minor;
    uint32_t option_size; /* of one struct drover_option */
    uint32_t reserved;

    const char *name;        /* as in `driver: name`; equals the file name without .so */
    const char *version;     /* of the driver */
    const char *description; /* one line */
    const char *licence;     /* SPDX identifier */
    uint64_t capabilities;   /* of drover_capability */
    const struct drover_option *options; /* ends with an entry whose path is NULL */

    /*
     * What the options cannot say ("the label names a cloud image that the provider does not
     * have"). `config` is the provider's whole section. No network. May be NULL.
     */
    void (*config_check)(const struct drover_value *config, struct drover_report *report);

    /*
     * A provider's life. open() checks what can be checked without the network and makes the
     * driver's own object, which is handed to every other function; it returns 0, or -1 after
     * drover_provider_fail(). start() may begin background work. idle() is said before a newer
     * configuration of the same provider starts: nothing may be written or begun for it any more
     * but what is asked for. stop() says that nothing new will be asked. close() frees; no
     * operation is left by then. All but open() may be NULL.
     */
    int (*provider_open)(struct drover_provider *provider, void **self);
    void (*provider_start)(void *self);
    void (*provider_idle)(void *self);
    void (*provider_stop)(void *self);
    void (*provider_close)(void *self);

    /* For all operations; each may be NULL. */

    /* The host wants the operation to end; it is stepped until it does. */
    void (*operation_cancel)(void *self, struct drover_operation *op);
    /* What another process needs to go on, as text that the host frees with free(), at most 64 KiB,
     * without secrets; NULL: cannot be taken up. Called after each step. */
    char *(*operation_save)(void *self, struct drover_operation *op);
    /* Restores the state that operation_save() wrote; 0, or -1 when it makes no sense any more.
     * Steps go on from there. */
    int (*operation_resume)(void *self, struct drover_operation *op, const char *saved);

    /*
     * Machines. create: inputs node id, pool, label, "hostname", "image" (the external id of an
     * image that the host uploaded), "az", "tags" (JSON object of strings that the machine must
     * carry from the first call on); results external_id as soon as known, addresses, connection,
     * resources. delete: input external id; NOT_FOUND is success. console:
     * input external id; result text.
     */
    enum drover_step (*machine_create)(void *self, struct drover_operation *op);
    enum drover_step (*machine_delete)(void *self, struct drover_operation *op);
    enum drover_step (*machine_console)(void *self, struct drover_operation *op);
    /*
     * Each may be NULL. label_ready: is what the label needs there (its cloud image), so that a
     * machine could be made if there were room; DONE: yes. zone_list: one item for each
     * availability zone, its id the name. scan_failed: the machine was made and did not answer.
     */
    enum drover_step (*label_ready)(void *self, struct drover_operation *op);
    enum drover_step (*zone_list)(void *self, struct drover_operation *op);
    void (*scan_failed)(void *self, const char *label, const char *external_id);

    /*
     * Inventory. list: adds every machine; called after open. register: reaches the machine and
     * sets its record's fields (host keys, address); the machine's section is
     * drover_operation_label_config(). check: is the machine alive, just before it is given away;
     * same input, no result.
     */
    int (*inventory_list)(void *self, struct drover_inventory *inventory);
    enum drover_step (*slot_register)(void *self, struct drover_operation *op);
    enum drover_step (*slot_check)(void *self, struct drover_operation *op);

    /*
     * Quota, results as resources. limits: of the account. label: cost of one machine of a label.
     * usage: one item for each instance that exists, with its own cost and its "tags" string.
     */
    enum drover_step (*quota_limits)(void *self, struct drover_operation *op);
    enum drover_step (*quota_label)(void *self, struct drover_operation *op);
    enum drover_step (*quota_usage)(void *self, struct drover_operation *op);

    /* Leaks. list: one item for each resource with its "tags" string. delete: inputs external id
     * and "kind". */
    enum drover_step (*resource_list)(void *self, struct drover_operation *op);
    enum drover_step (*resource_delete)(void *self, struct drover_operation *op);

    /*
     * Images. upload: inputs "path", "format", "name", "sha256", "md5", "metadata" (JSON object of
     * strings); result external_id. delete: input external id. list: one item for each image with
     * its "tags" string.
     */
    enum drover_step (*image_upload)(void *self, struct drover_operation *op);
    enum drover_step (*image_delete)(void *self, struct drover_operation *op);
    enum drover_step (*image_list)(void *self, struct drover_operation *op);

    /* News, each may be NULL. A node's record is gone; a ready node was given to a request. */
    void (*node_deleted)(void *self, const char *node_id);
    void (*node_reused)(void *self, const char *node_id, const char *request_id);

    /* Since 1.1. What came of backing, and its news: `facts` are what the event says, a map that is
     * valid until the call returns. Events that a driver does not know are to be passed over. */
    void (*backing_event)(void *self, enum drover_backing_event event,
                          const struct drover_value *facts);
};

#define DROVER_DRIVER_HEADER                                                                       \
    .size = sizeof(struct drover_driver), .abi_major = DROVER_ABI_MAJOR,                           \
    .abi_minor = DROVER_ABI_MINOR, .option_size = sizeof(struct drover_option)

/* The one symbol that a driver exports. */
#define DROVER_DRIVER(table)                                                                       \
    DROVER_EXPORT const struct drover_driver *drover_driver_entry(void);                           \
    const struct drover_driver *drover_driver_entry(void)                                          \
    {                                                                                              \
        return &(table);                                                                           \
    }

#ifdef __cplusplus
}
#endif

#endif
