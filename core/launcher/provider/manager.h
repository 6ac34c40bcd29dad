/*
 * A manager looks after one provider of the configuration: its driver's runner, what the driver
 * says of its cloud or, for a driver with an inventory, its registrar. When the configuration of a
 * provider changes, a new object is made and the old one retires: it begins nothing more, finishes
 * the launches and deletions under way, and is gone.
 *
 *     starting ─► running ─► retired
 *        ▲  └──► failed (tried again, at growing intervals)
 *        └──────────┘
 */
#pragma once

#include "driver/host.h"
#include "launcher/provider/backing.h"
#include "launcher/provider/facts.h"
#include "launcher/provider/parts.h"
#include "launcher/provider/registrar.h"

typedef struct _DroverManager DroverManager;

typedef struct {
    /* The provider started, or failed to; it became unhealthy, or healthy again. */
    void (*changed)(DroverManager *manager, gpointer user_data);
    /* Something became known, or ended, after which the pools may decide otherwise. */
    void (*woken)(gpointer user_data);
    /* A driver's thread was started; it has ended, which may be long after its manager retired. */
    void (*runner_began)(gpointer user_data);
    void (*runner_ended)(gpointer user_data);
} DroverManagerHooks;

DroverManager *drover_manager_new(DroverParts *parts, DroverDriverHost *drivers,
                                  DroverConfig *config, const DroverProviderConfig *own,
                                  guint sync_interval, const DroverManagerHooks *hooks,
                                  gpointer user_data);
/* Frees the object when its work has ended; its runner ends when its tasks have. */
void drover_manager_retire(DroverManager *manager);
/* The same values in a newer configuration. */
void drover_manager_set_config(DroverManager *manager, DroverConfig *config,
                               const DroverProviderConfig *own);

const char *drover_manager_name(const DroverManager *manager);
const DroverProviderConfig *drover_manager_config(const DroverManager *manager);
gboolean drover_manager_is_running(const DroverManager *manager);
/* Why it is not running: one sentence, or NULL. */
const char *drover_manager_problem(const DroverManager *manager);
/* Why it is unhealthy, running or not: its driver does not come back. One sentence, or NULL. */
const char *drover_manager_illness(const DroverManager *manager);
/* Its nodes are machines that exist already: nothing is launched or deleted at a cloud. */
gboolean drover_manager_has_inventory(const DroverManager *manager);

/* ---- Of a running provider ---- */

DroverParts *drover_manager_parts(const DroverManager *manager);
const struct drover_driver *drover_manager_driver(const DroverManager *manager);
DroverRunner *drover_manager_runner(const DroverManager *manager);
/* What the runner works with: as long as it runs. Equal to drover_manager_config() unless retired.
 */
const DroverProviderConfig *drover_manager_runner_config(const DroverManager *manager);
/* NULL for a driver with an inventory. */
DroverFacts *drover_manager_facts(const DroverManager *manager);
/* NULL for a driver that asks for no nodes of other providers. */
DroverBacking *drover_manager_backing(const DroverManager *manager);

/* ---- Work under way: it keeps the runner from being closed ---- */

typedef enum {
    DROVER_WORK_LAUNCH,   /* counts for max-concurrency */
    DROVER_WORK_SERVING,  /* of a request, before or without a launch: counts, too */
    DROVER_WORK_DELETION, /* does not count */
} DroverWorkKind;

/*
 * `drop` ends the work and removes it: at once, or when what it has just begun is undone; called
 * again, at once in any case. NULL: who has it ends it.
 */
void drover_manager_add_work(DroverManager *manager, DroverWorkKind kind, GDestroyNotify drop,
                             gpointer work);
/* The manager may be gone when this returns. */
void drover_manager_remove_work(DroverManager *manager, gpointer work);
/* Of all managers: the locks are lost, or the launcher stops. */
void drover_parts_drop_work(DroverParts *parts);

/* How many count for max-concurrency. */
guint drover_manager_active(const DroverManager *manager);

/* ---- */

void drover_manager_step(DroverManager *manager);
/* Looks for what is leaked at the cloud. */
void drover_manager_clean_leaks(DroverManager *manager);
/* A node changed, or is gone (NULL). Those of other providers are ignored. */
void drover_manager_note_node(DroverManager *manager, const char *id, const DroverNode *node);
/* News of a node of this provider. */
void drover_manager_node_deleted(DroverManager *manager, const DroverNode *node);
void drover_manager_deregister(DroverManager *manager, const DroverNode *node);

/*
 * Asks whether the machine of a ready node is alive. NULL when it is not in the inventory any more;
 * else `done` is called once. Only for providers with an inventory.
 */
DroverTask *drover_manager_check_node(DroverManager *manager, const DroverNode *node,
                                      DroverTaskFunc done, gpointer user_data);
