/* What a driver wants of its backing: handed on to the host. */
#include "provider-private.h"

void
drover_backing_request(struct drover_provider *provider, uint64_t ticket, const char *label,
                       const char *user_data)
{
    struct drover_backing_call call = {
        .kind = DROVER_BACKING_REQUEST, .ticket = ticket, .label = label, .user_data = user_data};

    drover_provider_call_backing(provider, &call);
}

void
drover_backing_withdraw(struct drover_provider *provider, uint64_t ticket)
{
    struct drover_backing_call call = {.kind = DROVER_BACKING_WITHDRAW, .ticket = ticket};

    drover_provider_call_backing(provider, &call);
}

void
drover_backing_annotate(struct drover_provider *provider, const char *backing_node,
                        const char *user_data)
{
    struct drover_backing_call call = {
        .kind = DROVER_BACKING_ANNOTATE, .backing_node = backing_node, .user_data = user_data};

    drover_provider_call_backing(provider, &call);
}

void
drover_backing_release(struct drover_provider *provider, const char *backing_node)
{
    struct drover_backing_call call = {.kind = DROVER_BACKING_RELEASE,
                                       .backing_node = backing_node};

    drover_provider_call_backing(provider, &call);
}

void
drover_backing_assign(struct drover_provider *provider, const char *node_id,
                      const char *backing_node, uint32_t slot)
{
    struct drover_backing_call call = {.kind = DROVER_BACKING_ASSIGN,
                                       .node_id = node_id,
                                       .backing_node = backing_node,
                                       .slot = slot};

    drover_provider_call_backing(provider, &call);
}
