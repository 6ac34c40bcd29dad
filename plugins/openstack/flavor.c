#include "flavor.h"

#include <string.h>

#include "list.h"

static int64_t
ram_of(const json_t *flavor)
{
    return json_integer_value(json_object_get(flavor, "ram"));
}

/* Whether `a` comes before `b`. */
static gboolean
is_before(const json_t *a, const json_t *b)
{
    if (ram_of(a) != ram_of(b))
        return ram_of(a) < ram_of(b);
    return g_strcmp0(list_text(a, "name"), list_text(b, "name")) < 0;
}

static gboolean
fits(const json_t *flavor, int64_t min_ram, const char *name)
{
    const char *own = list_text(flavor, "name");

    if (min_ram > 0)
        return ram_of(flavor) >= min_ram &&
               (name == NULL || (own != NULL && strstr(own, name) != NULL));
    return name != NULL &&
           (g_strcmp0(own, name) == 0 || g_strcmp0(list_text(flavor, "id"), name) == 0);
}

const json_t *
flavor_choose(const json_t *flavors, int64_t min_ram, const char *name)
{
    const json_t *best = NULL;
    size_t index;
    json_t *flavor;

    json_array_foreach((json_t *)flavors, index, flavor)
    {
        if (fits(flavor, min_ram, name) && (best == NULL || is_before(flavor, best)))
            best = flavor;
    }
    return best;
}

static enum drover_step
fail_without(const struct cloud *cloud, struct drover_operation *op, int64_t min_ram,
             const char *name)
{
    g_autofree char *size =
        min_ram > 0 ? g_strdup_printf(" with %" G_GINT64_FORMAT " MiB", min_ram) : g_strdup("");

    return drover_operation_fail(op, DROVER_FAILURE_PERMANENT,
                                 "provider %s has no flavor%s%s%s for label %s",
                                 drover_provider_name(cloud->provider), name != NULL ? " " : "",
                                 name != NULL ? name : "", size, drover_operation_label(op));
}

const json_t *
flavor_of_label(struct cloud *cloud, struct drover_operation *op, enum drover_step *step)
{
    const struct drover_value *label = drover_operation_label_config(op);
    int64_t min_ram = drover_value_get_integer(label, "min-ram", 0);
    const char *name = drover_value_get_string(label, "flavor-name", NULL);
    const json_t *flavors, *flavor;

    *step = list_await(cloud, LIST_FLAVORS, op, &flavors);
    if (*step != DROVER_DONE)
        return NULL;
    flavor = flavor_choose(flavors, min_ram, name);
    if (flavor != NULL)
        return flavor;
    *step = list_look_again(cloud, LIST_FLAVORS, op);
    if (*step == DROVER_DONE)
        *step = fail_without(cloud, op, min_ram, name);
    return NULL;
}
