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
    const DroverProviderConfig *provider;
    const struct drover_value *label;
} Offer;

static GArray *
list_offers(const GPtrArray *providers)
{
    GArray *offers = g_array_new(FALSE, FALSE, sizeof(Offer));

    for (guint i = 0; i < providers->len; i++) {
        const DroverProviderConfig *provider = providers->pdata[i];
        const struct drover_value *pools = drover_value_get(provider->values, "pools");

        for (gsize j = 0; j < drover_value_length(pools); j++) {
            const struct drover_value *labels =
                drover_value_get(drover_value_item(pools, j), "labels");

            for (gsize k = 0; k < drover_value_length(labels); k++) {
                const Offer offer = {provider, drover_value_item(labels, k)};

                g_array_append_val(offers, offer);
            }
        }
    }
    return offers;
}

/* The provider's machines are in the end its own. */
static gboolean
leads_back(const GArray *offers, const DroverProviderConfig *start, const char *label, guint length)
{
    for (guint i = 0; label != NULL && i < offers->len; i++) {
        const Offer *offer = &g_array_index(offers, Offer, i);

        if (strcmp(drover_value_get_string(offer->label, "name", ""), label) == 0 &&
            (offer->provider == start || length == LONGEST_CHAIN ||
             leads_back(offers, start, drover_value_get_string(offer->label, "backing-label", NULL),
                        length + 1)))
            return TRUE;
    }
    return FALSE;
}

static void
check_offer(const DroverConfigSource *source, const GArray *offers, const Offer *offer)
{
    const struct drover_value *backing = drover_value_get(offer->label, "backing-label");
    g_autofree char *text = NULL;

    if (!leads_back(offers, offer->provider, drover_value_string(backing), 1))
        return;
    text = g_strdup_printf("label %s: the backing-label %s leads back to this provider",
                           drover_value_get_string(offer->label, "name", ""),
                           drover_value_string(backing));
    report(source, offer->provider, backing, text);
}

void
drover_backing_check(const DroverConfigSource *source, const GPtrArray *providers)
{
    g_autoptr(GArray) offers = list_offers(providers);

    for (guint i = 0; i < providers->len; i++)
        check_isolation(source, providers->pdata[i]);
    for (guint i = 0; i < offers->len; i++)
        check_offer(source, offers, &g_array_index(offers, Offer, i));
}
