#include "launcher/request/room.h"

#include <math.h>
#include <string.h>

#include "launcher/provider/label.h"

static DroverRoom
unknown(char **reason, const char *what)
{
    *reason = g_strdup_printf("the provider has not told %s yet", what);
    return DROVER_ROOM_UNKNOWN;
}

/* `used` may be NULL: nothing is. */
static DroverRoom
compare(const char *whose, const DroverResources *limits, const DroverResources *used,
        const DroverResources *needed, char **reason)
{
    g_autoptr(DroverResources) left = drover_resources_copy(limits);
    const char *name;

    if (used != NULL)
        drover_resources_subtract(left, used);
    drover_resources_subtract(left, needed);
    name = drover_resources_find_negative(left);
    if (name == NULL)
        return DROVER_ROOM_FITS;
    *reason = g_strdup_printf("%s: %.15g more %s needed, %.15g used, limit %.15g", whose,
                              drover_resources_get(needed, name), name,
                              used != NULL ? drover_resources_get(used, name) : 0.0,
                              drover_resources_get(limits, name));
    return DROVER_ROOM_FULL;
}

/* ---- The pool's own limits ---- */

static void
limit(DroverResources *limits, const char *resource, const DroverPoolConfig *pool,
      const char *option)
{
    const struct drover_value *value = drover_value_get(pool->values, option);

    if (value != NULL && drover_value_number(value, -1) >= 0)
        drover_resources_set(limits, resource, drover_value_number(value, -1));
}

static DroverResources *
pool_limits(const DroverPoolConfig *pool)
{
    DroverResources *limits = drover_resources_new(INFINITY);
    const struct drover_value *named = drover_value_get(pool->values, "max-resources");

    if (pool->max_servers != DROVER_UNLIMITED)
        drover_resources_set(limits, "instances", pool->max_servers);
    limit(limits, "cores", pool, "max-cores");
    limit(limits, "ram", pool, "max-ram");
    limit(limits, "volumes", pool, "max-volumes");
    limit(limits, "volume-gb", pool, "max-volume-gb");
    for (size_t i = 0; i < drover_value_length(named); i++)
        drover_resources_set(limits, drover_value_key(named, i),
                             drover_value_number(drover_value_item(named, i), INFINITY));
    return limits;
}

static gboolean
ignores_provider(const DroverPoolConfig *pool)
{
    return drover_value_get_boolean(pool->values, "ignore-provider-quota", FALSE);
}

json_t *
drover_room_limits(DroverManager *manager, const DroverPoolConfig *pool)
{
    g_autoptr(DroverResources) own = pool_limits(pool);
    const DroverResources *available = NULL;

    if (!drover_manager_has_inventory(manager) && !ignores_provider(pool))
        available = drover_facts_last_available(drover_manager_facts(manager));
    return json_pack("{s:o, s:o}", "pool", drover_resources_json(own), "provider",
                     available != NULL ? drover_resources_json(available) : json_object());
}

/* ---- Needs ---- */

/* Adds what a machine of the label needs; FALSE: it is not known yet. */
static gboolean
add_cost(DroverResources *sum, DroverManager *manager, const DroverPoolConfig *pool,
         const char *label)
{
    const DroverResources *cost;

    /* One that exists already is an instance and nothing else. */
    if (drover_manager_has_inventory(manager)) {
        drover_resources_set(sum, "instances", drover_resources_get(sum, "instances") + 1);
        return TRUE;
    }
    cost = drover_facts_cost(drover_manager_facts(manager), pool->name, label);
    if (cost != NULL)
        drover_resources_add(sum, cost);
    return cost != NULL;
}

/* NULL: a cost is not known yet. */
static DroverResources *
needs_of(DroverManager *manager, const DroverPoolConfig *pool, const char *const *labels)
{
    DroverResources *sum = drover_resources_new(0);

    for (; *labels != NULL; labels++) {
        if (g_strv_contains((const char *const *)pool->labels, *labels) &&
            !add_cost(sum, manager, pool, *labels)) {
            drover_resources_unref(sum);
            return NULL;
        }
    }
    return sum;
}

static DroverRoom
compare_all(DroverManager *manager, const DroverPoolConfig *pool, const DroverResources *needed,
            gboolean beside_others, char **reason)
{
    DroverUsage *usage = drover_manager_parts(manager)->usage;
    const char *provider = drover_manager_name(manager);
    g_autoptr(DroverResources) limits = pool_limits(pool);
    const DroverResources *available;
    DroverRoom room = compare(
        "pool", limits, beside_others ? drover_usage_of_pool(usage, provider, pool->name) : NULL,
        needed, reason);

    if (room != DROVER_ROOM_FITS || ignores_provider(pool))
        return room;
    available = drover_facts_available(drover_manager_facts(manager));
    if (available == NULL)
        return unknown(reason, "its limits");
    room =
        compare("provider", available,
                beside_others ? drover_usage_of_provider(usage, provider) : NULL, needed, reason);
    if (room == DROVER_ROOM_FULL)
        drover_facts_doubt_available(drover_manager_facts(manager));
    return room;
}

/* ---- Questions ---- */

DroverRoom
drover_room_for_one(DroverManager *manager, const DroverPoolConfig *pool, const char *label,
                    char **reason)
{
    const char *labels[] = {label, NULL};
    g_autoptr(DroverResources) needed = needs_of(manager, pool, labels);

    if (needed == NULL)
        return unknown(reason, "what the label costs");
    if (drover_facts_is_refused(drover_manager_facts(manager))) {
        *reason = g_strdup("the cloud has just refused another machine");
        return DROVER_ROOM_REFUSED;
    }
    return compare_all(manager, pool, needed, TRUE, reason);
}

DroverRoom
drover_room_for_ever(DroverManager *manager, const DroverPoolConfig *pool,
                     const DroverRequest *request, char **reason)
{
    g_autoptr(DroverResources) needed =
        needs_of(manager, pool, (const char *const *)request->labels);
    g_autofree char *detail = NULL;
    DroverRoom room;

    if (needed == NULL)
        return unknown(reason, "what the labels cost");
    room = compare_all(manager, pool, needed, FALSE, &detail);
    if (room == DROVER_ROOM_FULL)
        *reason = g_strdup_printf("it would exceed quota (%s)", detail);
    else
        *reason = g_steal_pointer(&detail);
    return room;
}

DroverRoom
drover_room_of_tenant(DroverManager *manager, const DroverPoolConfig *pool,
                      const GPtrArray *tenants, const DroverRequest *request, char **reason)
{
    g_autoptr(DroverResources) limits = NULL, needed = NULL;
    g_autofree char *whose = NULL;
    const DroverTenantConfig *tenant = NULL;
    GHashTableIter iter;
    gpointer name, amount;

    for (guint i = 0; request->tenant_name != NULL && i < tenants->len; i++)
        if (strcmp(((DroverTenantConfig *)tenants->pdata[i])->name, request->tenant_name) == 0)
            tenant = tenants->pdata[i];
    if (tenant == NULL)
        return DROVER_ROOM_FITS;
    needed = needs_of(manager, pool, (const char *const *)request->labels);
    if (needed == NULL)
        return unknown(reason, "what the labels cost");
    limits = drover_resources_new(INFINITY);
    g_hash_table_iter_init(&iter, tenant->limits);
    while (g_hash_table_iter_next(&iter, &name, &amount))
        drover_resources_set(limits, name, (double)*(gint64 *)amount);
    whose = g_strdup_printf("tenant %s", tenant->name);
    if (compare(whose, limits, NULL, needed, reason) != DROVER_ROOM_FITS)
        return DROVER_ROOM_NEVER;
    return compare(whose, limits,
                   drover_usage_of_tenant(drover_manager_parts(manager)->usage, tenant->name),
                   needed, reason);
}

static DroverFactAnswer
find_image(DroverManager *manager, const DroverPoolConfig *pool, const char *label)
{
    const char *image = drover_label_diskimage(pool, label);
    DroverImageUpload upload;

    if (image == NULL)
        return drover_facts_label_ready(drover_manager_facts(manager), pool->name, label);
    /* Those that a builder makes are not the driver's to know. */
    switch (drover_images_find(drover_manager_parts(manager)->images, image,
                               drover_manager_name(manager), &upload)) {
    case DROVER_IMAGE_UNKNOWN:
        return DROVER_FACT_UNKNOWN;
    case DROVER_IMAGE_NONE:
        return DROVER_FACT_NO;
    case DROVER_IMAGE_READY:
        break;
    }
    return DROVER_FACT_YES;
}

DroverRoom
drover_room_for_images(DroverManager *manager, const DroverPoolConfig *pool,
                       const char *const *labels, char **reason)
{
    for (; *labels != NULL; labels++) {
        switch (find_image(manager, pool, *labels)) {
        case DROVER_FACT_UNKNOWN:
            return unknown(reason, "whether the images are there");
        case DROVER_FACT_NO:
            *reason = g_strdup("images are not available");
            return DROVER_ROOM_FULL;
        case DROVER_FACT_YES:
            break;
        }
    }
    return DROVER_ROOM_FITS;
}
