#include "config/backing-check.h"

#include <string.h>

/* From one provider to the next; longer chains are taken for rings. */
#define LONGEST_CHAIN 16

static void
report(const DroverConfigSource *source, const DroverProviderConfig *provider,
       const struct drover_value *where, const char *text)
{
    g_autofree char *object = g_strdup_printf("provider %s", provider->name);

    drover_config_report_add(source, DROVER_CONFIG_ERROR, drover_value_line(where),
                             drover_value_column(where), object, "%s", text);
}

static void
check_isolation(const DroverConfigSource *source, const DroverProviderConfig *provider)
{
    g_autofree char *text = NULL;

    if (strcmp(drover_value_get_string(provider->values, "isolation", "none"), "process") != 0)
        return;
    text = g_strdup_printf("isolation: found process, must be none with the driver %s, which asks "
                           "the launcher for nodes of other providers",
                           provider->driver);
    report(source, provider, drover_value_get(provider->values, "isolation"), text);
}

/* ---- Rings ---- */

typedef struct {
    const GPtrArray *providers;
    const DroverProviderConfig *start;
} Search;

/* The provider's machines are in the end its own. */
static gboolean
leads_back(const Search *search, const char *label, guint length)
{
    for (guint i = 0; label != NULL && i < search->providers->len; i++) {
        const DroverProviderConfig *provider = search->providers->pdata[i];
        const struct drover_value *pools = drover_value_get(provider->values, "pools");

        for (gsize j = 0; j < drover_value_length(pools); j++) {
            const struct drover_value *labels =
                drover_value_get(drover_value_item(pools, j), "labels");

            for (gsize k = 0; k < drover_value_length(labels); k++) {
                const struct drover_value *entry = drover_value_item(labels, k);

                if (strcmp(drover_value_get_string(entry, "name", ""), label) == 0 &&
                    (provider == search->start || length == LONGEST_CHAIN ||
                     leads_back(search, drover_value_get_string(entry, "backing-label", NULL),
                                length + 1)))
                    return TRUE;
            }
        }
    }
    return FALSE;
}

static void
check_label(const DroverConfigSource *source, const Search *search,
            const struct drover_value *label)
{
    const struct drover_value *backing = drover_value_get(label, "backing-label");
    g_autofree char *text = NULL;

    if (!leads_back(search, drover_value_string(backing), 1))
        return;
    text =
        g_strdup_printf("label %s: the backing-label %s leads back to this provider",
                        drover_value_get_string(label, "name", ""), drover_value_string(backing));
    report(source, search->start, backing, text);
}

void
drover_backing_check(const DroverConfigSource *source, const GPtrArray *providers)
{
    for (guint i = 0; i < providers->len; i++) {
        const Search search = {providers, providers->pdata[i]};
        const struct drover_value *pools = drover_value_get(search.start->values, "pools");

        check_isolation(source, search.start);
        for (gsize j = 0; j < drover_value_length(pools); j++) {
            const struct drover_value *labels =
                drover_value_get(drover_value_item(pools, j), "labels");

            for (gsize k = 0; k < drover_value_length(labels); k++)
                check_label(source, &search, drover_value_item(labels, k));
        }
    }
}
