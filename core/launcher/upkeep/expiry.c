#include "launcher/upkeep/expiry.h"

#define ORPHAN_SECONDS 600

/* The smaller limit; 0 is none. */
static double
smaller(double a, double b)
{
    return a <= 0 ? MAX(b, 0) : b <= 0 ? a : MIN(a, b);
}

static double
ready_limit(const DroverNode *node, const DroverConfig *config)
{
    double limit = 0;

    for (guint i = 0; drover_node_is_free(node) && node->labels[i] != NULL; i++) {
        const DroverLabelConfig *label = drover_config_find_label(config, node->labels[i]);

        if (label != NULL)
            limit = smaller(limit, label->max_ready_age);
    }
    return limit;
}

double
drover_expiry_limit(const DroverNode *node, const DroverConfig *config)
{
    switch (node->state) {
    case DROVER_NODE_READY:
        return ready_limit(node, config);
    case DROVER_NODE_HOLD:
        return smaller((double)node->hold_expiration, config->max_hold_age);
    case DROVER_NODE_INIT:
        return ORPHAN_SECONDS;
    default:
        return 0;
    }
}

gboolean
drover_expiry_is_over(const DroverNode *node, const DroverConfig *config, double now)
{
    double limit = drover_expiry_limit(node, config);

    return limit > 0 && node->state_time > 0 && now - node->state_time >= limit;
}
