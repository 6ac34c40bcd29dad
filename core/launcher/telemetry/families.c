#include "launcher/telemetry/families.h"

/* Seconds. */
static const double launch_limits[] = {5,  10,  20,  30,  40,  50,  60,  70,   80,
                                       90, 120, 150, 180, 300, 600, 900, 1800, 3600};
static const double request_limits[] = {0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600};
static const double scan_limits[] = {0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120};
static const double call_limits[] = {0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30};
static const double lag_limits[] = {0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5};

#define GAUGE(family, key, text, ...)                                                              \
    [DROVER_FAMILY_##family] = {                                                                   \
        .name = (key), .type = DROVER_METRIC_GAUGE, .help = (text), .labels = {__VA_ARGS__}}
#define COUNTER(family, key, text, ...)                                                            \
    [DROVER_FAMILY_##family] = {                                                                   \
        .name = (key), .type = DROVER_METRIC_COUNTER, .help = (text), .labels = {__VA_ARGS__}}
#define HISTOGRAM(family, key, text, limits, ...)                                                  \
    [DROVER_FAMILY_##family] = {.name = (key),                                                     \
                                .type = DROVER_METRIC_HISTOGRAM,                                   \
                                .help = (text),                                                    \
                                .labels = {__VA_ARGS__},                                           \
                                .buckets = (limits),                                               \
                                .n_buckets = G_N_ELEMENTS(limits)}

const DroverMetricSpec drover_families[DROVER_N_FAMILIES] = {
    GAUGE(NODES, "drover_nodes", "Nodes; of the stats leader only.", "provider", "pool", "state"),
    GAUGE(LABEL_NODES, "drover_label_nodes", "Nodes that have the label; of the stats leader only.",
          "label", "state"),
    GAUGE(ADDRESSABLE_REQUESTS, "drover_pool_addressable_requests",
          "Node requests all of whose labels the pool supports; of the stats leader only.",
          "provider", "pool"),
    GAUGE(NODE_REQUESTS, "drover_node_requests", "Node requests; of the stats leader only.",
          "state"),
    GAUGE(TENANT_USAGE, "drover_tenant_usage",
          "What the tenant's nodes use; of the stats leader only.", "tenant", "resource"),

    GAUGE(POOL_MAX_SERVERS, "drover_pool_max_servers", "Nodes that the pool may have.", "provider",
          "pool"),
    GAUGE(POOL_PAUSED, "drover_pool_paused",
          "1: the pool takes nothing new, since a request waits for room or it is held.",
          "provider", "pool"),
    GAUGE(POOL_USAGE, "drover_pool_usage", "What the pool's nodes use.", "provider", "pool",
          "resource"),
    GAUGE(PROVIDER_HEALTHY, "drover_provider_healthy",
          "1: the provider runs; 0: it could not start, or its driver does not come back.",
          "provider"),
    GAUGE(PROVIDER_AVAILABLE, "drover_provider_available",
          "What the cloud allows, less what others use there; as it was told last.", "provider",
          "resource"),
    GAUGE(PROVIDER_USAGE, "drover_provider_usage", "What the provider's nodes use.", "provider",
          "resource"),
    GAUGE(TENANT_LIMIT, "drover_tenant_limit", "What the tenant may use.", "tenant", "resource"),

    COUNTER(LAUNCHES, "drover_node_launches_total", "Attempts to launch a node that ended.",
            "provider", "az", "result"),
    HISTOGRAM(LAUNCH_DURATION, "drover_node_launch_duration_seconds",
              "Time from the beginning of a node's first attempt to the end of each.",
              launch_limits, "provider", "result"),
    [DROVER_FAMILY_REQUESTOR_LAUNCHES] = {.name = "drover_requestor_node_launches_total",
                                          .type = DROVER_METRIC_COUNTER,
                                          .help = "Attempts to launch a node, by who asked for it.",
                                          .labels = {"requestor", "result"},
                                          .bounded = 1},
    HISTOGRAM(REQUEST_DURATION, "drover_node_request_duration_seconds",
              "Time from the creation of a node request to its end in this pool.", request_limits,
              "provider", "pool", "result"),
    COUNTER(DECLINES, "drover_node_request_declines_total", "Node requests that a pool declined.",
            "provider", "pool", "reason"),
    [DROVER_FAMILY_LEAKS] = {.name = "drover_leaked_resources_deleted_total",
                             .type = DROVER_METRIC_COUNTER,
                             .help = "Leaked resources that were deleted at the cloud.",
                             .labels = {"provider", "resource"},
                             .bounded = 2},
    COUNTER(SCAN_FAILURES, "drover_nodescan_failures_total", "New machines that were not reached.",
            "provider", "reason"),
    HISTOGRAM(SCAN_DURATION, "drover_nodescan_duration_seconds",
              "Time until a new machine was reached, or given up.", scan_limits, "provider"),

    COUNTER(API_REQUESTS, "drover_cloud_api_requests_total",
            "Requests to the cloud's API; code \"error\": no answer.", "provider", "service",
            "method", "operation", "code"),
    HISTOGRAM(API_DURATION, "drover_cloud_api_request_duration_seconds",
              "Time of a request to the cloud's API.", call_limits, "provider", "service",
              "method"),

    HISTOGRAM(LOOP_LAG, "drover_loop_lag_seconds",
              "How late the core loop is with what is due each second.", lag_limits, NULL),
    GAUGE(ZK_PENDING, "drover_zookeeper_pending_requests",
          "Operations that ZooKeeper has not answered yet.", NULL),
    GAUGE(ZK_EVENT_QUEUE, "drover_zookeeper_cache_event_queue_length",
          "Changes that a cache has heard of and not taken in yet.", "cache"),
    GAUGE(ZK_OBJECTS, "drover_zookeeper_cache_objects", "Objects in a cache.", "cache"),
    GAUGE(ZK_CONNECTED, "drover_zookeeper_connected", "1: connected to ZooKeeper.", NULL),
    COUNTER(ZK_SESSION_LOSSES, "drover_zookeeper_session_losses_total",
            "Sessions with ZooKeeper that were lost.", NULL),
    GAUGE(STATS_LEADER, "drover_stats_leader",
          "1: this launcher exports what is about the whole cluster.", NULL),
    GAUGE(COMPONENT_STATE, "drover_component_state", "1: the component is in this state.",
          "component", "state"),
    GAUGE(BUILD_INFO, "drover_build_info", "The running program.", "version", "component",
          "model_api"),
};
