#include "cli/top-cells.h"

#include <math.h>

#include "base/json.h"
#include "cli/output.h"

static char *
whole(double amount)
{
    return g_strdup_printf("%.15g", amount);
}

static char *
age_text(gint64 seconds)
{
    if (seconds < 60)
        return g_strdup_printf("%" G_GINT64_FORMAT "s", MAX(seconds, 0));
    if (seconds < 3600)
        return g_strdup_printf("%" G_GINT64_FORMAT "m", seconds / 60);
    if (seconds < 86400)
        return g_strdup_printf("%" G_GINT64_FORMAT "h%02" G_GINT64_FORMAT "m", seconds / 3600,
                               seconds / 60 % 60);
    return g_strdup_printf("%" G_GINT64_FORMAT "d%02" G_GINT64_FORMAT "h", seconds / 86400,
                           seconds / 3600 % 24);
}

static char *
string_cell(const json_t *object, const char *key)
{
    const char *text = drover_json_string(object, key);

    return drover_cli_one_line(text != NULL ? text : "-");
}

static char *
pool_name(const json_t *pool)
{
    g_autofree char *provider = string_cell(pool, "provider"), *name = string_cell(pool, "pool");

    return g_strdup_printf("%s/%s", provider, name);
}

static char *
pool_waiting(const json_t *pool)
{
    return whole(drover_json_real(pool, "waiting", 0));
}

double
drover_top_sum_of_nodes(const json_t *pool)
{
    const char *state;
    json_t *count;
    double sum = 0;

    json_object_foreach(json_object_get(pool, "nodes"), state, count)
    {
        sum += json_number_value(count);
    }
    return sum;
}

static char *
pool_nodes(const json_t *pool)
{
    return whole(drover_top_sum_of_nodes(pool));
}

/* "3/10"; of a cloud's limit, which all pools share, "3/(10)". */
static char *
used_and_limit(const json_t *pool, const char *resource)
{
    const json_t *limits = json_object_get(pool, "limits");
    const json_t *own = json_object_get(json_object_get(limits, "pool"), resource);
    const json_t *shared = json_object_get(json_object_get(limits, "provider"), resource);
    g_autofree char *used = whole(drover_json_real(json_object_get(pool, "used"), resource, 0));

    if (json_is_number(own))
        return g_strdup_printf("%s/%.15g", used, json_number_value(own));
    if (json_is_number(shared))
        return g_strdup_printf("%s/(%.15g)", used, json_number_value(shared));
    return g_strdup_printf("%s/-", used);
}

static char *
pool_instances(const json_t *pool)
{
    return used_and_limit(pool, "instances");
}

static char *
pool_cores(const json_t *pool)
{
    return used_and_limit(pool, "cores");
}

static char *
pool_ram(const json_t *pool)
{
    return used_and_limit(pool, "ram");
}

static char *
pool_state(const json_t *pool)
{
    if (!drover_json_boolean(pool, "registered", FALSE))
        return g_strdup("no launcher");
    return g_strdup(drover_json_boolean(pool, "paused", FALSE) ? "full" : "");
}

static char *
count_of(const json_t *pool, const char *state)
{
    return whole(drover_json_real(json_object_get(pool, "nodes"), state, 0));
}

static char *
pool_building(const json_t *pool)
{
    return count_of(pool, "building");
}

static char *
pool_ready(const json_t *pool)
{
    return count_of(pool, "ready");
}

static char *
pool_in_use(const json_t *pool)
{
    return count_of(pool, "in-use");
}

static char *
request_id(const json_t *request)
{
    return string_cell(request, "id");
}

static char *
request_state(const json_t *request)
{
    return string_cell(request, "state");
}

static char *
request_age(const json_t *request)
{
    return age_text(drover_json_integer(request, "age", 0));
}

static char *
request_labels(const json_t *request)
{
    g_auto(GStrv) labels = drover_json_strings(request, "labels");
    g_autofree char *text = g_strjoinv(",", labels);

    return drover_cli_one_line(text);
}

static char *
request_why(const json_t *request)
{
    g_autofree char *why = string_cell(request, "why");
    g_autofree char *verdict = string_cell(request, "verdict");
    g_autofree char *by = string_cell(request, "by");

    if (drover_json_string(request, "verdict") == NULL)
        return g_steal_pointer(&why);
    if (drover_json_string(request, "why") == NULL)
        return g_strdup_printf("%s (%s)", verdict, by);
    return g_strdup_printf("%s (%s): %s", verdict, by, why);
}

static char *
state_name(const json_t *state)
{
    return string_cell(state, "state");
}

static char *
state_count(const json_t *state)
{
    return whole(drover_json_real(state, "count", 0));
}

static char *
state_oldest(const json_t *state)
{
    return age_text(drover_json_integer(state, "oldest", 0));
}

#define STATE_AGE(number)                                                                          \
    static char *state_age_##number(const json_t *state)                                           \
    {                                                                                              \
        return whole(json_number_value(json_array_get(json_object_get(state, "ages"), number)));   \
    }
STATE_AGE(0)
STATE_AGE(1)
STATE_AGE(2)
STATE_AGE(3)
STATE_AGE(4)

#define END                                                                                        \
    {                                                                                              \
        .header = NULL                                                                             \
    }

const DroverTopColumn drover_top_state_columns[] = {
    {"Machines", state_name, .least = 8},
    {"all", state_count, .right = TRUE},
    {"<1m", state_age_0, .right = TRUE, .rank = 1},
    {"<10m", state_age_1, .right = TRUE, .rank = 2},
    {"<1h", state_age_2, .right = TRUE, .rank = 3},
    {"<1d", state_age_3, .right = TRUE, .rank = 4},
    {"older", state_age_4, .right = TRUE, .rank = 5},
    {"oldest", state_oldest, .right = TRUE},
    END,
};
const DroverTopColumn drover_top_pool_columns[] = {
    {"Pool", pool_name, .least = 18},
    {"Wait", pool_waiting, .right = TRUE},
    {"Nodes", pool_nodes, .right = TRUE, .rank = 3},
    {"Instances", pool_instances, .right = TRUE},
    {"Cores", pool_cores, .right = TRUE, .rank = 5},
    {"RAM MiB", pool_ram, .right = TRUE, .rank = 6},
    {"Build", pool_building, .right = TRUE, .rank = 4},
    {"Ready", pool_ready, .right = TRUE, .rank = 1},
    {"In use", pool_in_use, .right = TRUE, .rank = 2},
    {"", pool_state, .least = 4},
    END,
};
const DroverTopColumn drover_top_request_columns[] = {
    {"Request", request_id, .least = 0}, {"State", request_state, .rank = 2},
    {"Age", request_age, .right = TRUE}, {"Labels", request_labels, .least = 16, .rank = 1},
    {"Why", request_why, .least = 12},   END,
};
