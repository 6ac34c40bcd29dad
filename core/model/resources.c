#include "model/resources.h"

#include <math.h>
#include <string.h>

typedef struct {
    const char *name; /* interned */
    double amount;
} Amount;

struct _DroverResources {
    grefcount references;
    double otherwise;
    guint n_amounts;
    Amount *amounts; /* in the order of their names; no larger than needed, as every node has one */
};

DroverResources *
drover_resources_new(double otherwise)
{
    DroverResources *resources = g_new0(DroverResources, 1);

    g_ref_count_init(&resources->references);
    resources->otherwise = otherwise;
    return resources;
}

DroverResources *
drover_resources_from_json(const json_t *object, double otherwise)
{
    DroverResources *resources = drover_resources_new(otherwise);
    const char *name;
    json_t *value;

    json_object_foreach((json_t *)object, name, value)
    {
        double amount = json_number_value(value);

        if (json_is_number(value))
            drover_resources_set(resources, name,
                                 amount < 0 && isinf(otherwise) ? INFINITY : amount);
    }
    return resources;
}

DroverResources *
drover_resources_copy(const DroverResources *resources)
{
    DroverResources *copy = g_new0(DroverResources, 1);

    g_ref_count_init(&copy->references);
    copy->otherwise = resources->otherwise;
    copy->n_amounts = resources->n_amounts;
    copy->amounts = g_memdup2(resources->amounts, resources->n_amounts * sizeof(Amount));
    return copy;
}

DroverResources *
drover_resources_ref(const DroverResources *resources)
{
    if (resources != NULL)
        g_ref_count_inc(&((DroverResources *)resources)->references);
    return (DroverResources *)resources;
}

void
drover_resources_unref(DroverResources *resources)
{
    if (resources == NULL || !g_ref_count_dec(&resources->references))
        return;
    g_free(resources->amounts);
    g_free(resources);
}

/* Where the name is, or is to be inserted. */
static guint
find(const DroverResources *resources, const char *name, gboolean *found)
{
    guint i = 0;
    int order = -1;

    while (i < resources->n_amounts && (order = strcmp(resources->amounts[i].name, name)) < 0)
        i++;
    *found = order == 0;
    return i;
}

double
drover_resources_get(const DroverResources *resources, const char *name)
{
    gboolean found;
    guint i = find(resources, name, &found);

    return found ? resources->amounts[i].amount : resources->otherwise;
}

void
drover_resources_set(DroverResources *resources, const char *name, double amount)
{
    gboolean found;
    guint i = find(resources, name, &found);

    if (!found) {
        resources->amounts = g_renew(Amount, resources->amounts, resources->n_amounts + 1);
        memmove(&resources->amounts[i + 1], &resources->amounts[i],
                (resources->n_amounts - i) * sizeof(Amount));
        resources->n_amounts++;
        resources->amounts[i].name = g_intern_string(name);
    }
    resources->amounts[i].amount = amount;
}

static void
combine(DroverResources *resources, const DroverResources *other, double sign)
{
    for (guint i = 0; i < resources->n_amounts; i++) {
        Amount *amount = &resources->amounts[i];
        gboolean found;
        guint k = find(other, amount->name, &found);

        if (!found)
            amount->amount += sign * other->otherwise;
        else
            amount->amount += sign * other->amounts[k].amount;
    }
    for (guint i = 0; i < other->n_amounts; i++) {
        const Amount *amount = &other->amounts[i];
        gboolean found;

        find(resources, amount->name, &found);
        if (!found)
            drover_resources_set(resources, amount->name,
                                 resources->otherwise + sign * amount->amount);
    }
    resources->otherwise += sign * other->otherwise;
}

void
drover_resources_add(DroverResources *resources, const DroverResources *more)
{
    combine(resources, more, 1);
}

void
drover_resources_subtract(DroverResources *resources, const DroverResources *less)
{
    combine(resources, less, -1);
}

const char *
drover_resources_find_negative(const DroverResources *resources)
{
    for (guint i = 0; i < resources->n_amounts; i++)
        if (resources->amounts[i].amount < 0)
            return resources->amounts[i].name;
    return NULL;
}

static json_t *
number(double amount)
{
    return amount == floor(amount) && fabs(amount) < 1e15 ? json_integer((json_int_t)amount)
                                                          : json_real(amount);
}

json_t *
drover_resources_json(const DroverResources *resources)
{
    json_t *object = json_object();

    for (guint i = 0; i < resources->n_amounts; i++) {
        const Amount *amount = &resources->amounts[i];

        if (isfinite(amount->amount))
            json_object_set_new(object, amount->name, number(amount->amount));
    }
    return object;
}

char *
drover_resources_text(const DroverResources *resources)
{
    GString *text = g_string_new(NULL);

    for (guint i = 0; i < resources->n_amounts; i++) {
        const Amount *amount = &resources->amounts[i];

        if (isfinite(amount->amount))
            g_string_append_printf(text, "%s%s %.15g", text->len > 0 ? ", " : "", amount->name,
                                   amount->amount);
    }
    if (text->len == 0)
        g_string_append(text, isinf(resources->otherwise) ? "no limit" : "nothing");
    return g_string_free(text, FALSE);
}
