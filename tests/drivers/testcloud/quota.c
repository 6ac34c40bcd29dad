#include "quota.h"

#include "call.h"
#include "list.h"
#include "machine.h"
#include "objects.h"
#include "resources.h"

#include <math.h>

enum drover_step
show_limits(struct cloud *cloud, struct drover_operation *op)
{
    struct drover_http_request *call = call_of_operation(cloud, op, "/limits");
    const json_t *limits;
    const char *name;
    json_t *answer, *limit;

    if (!drover_http_request_is_done(call))
        return DROVER_RUNNING;
    if (call_failure(call) != 0)
        return call_fail(call, op);
    answer = call_answer(call);
    limits = json_object_get(answer, "limits");
    json_object_foreach((json_t *)limits, name, limit)
    {
        double amount = json_number_value(limit);

        if (json_is_number(limit))
            drover_operation_set_resource(op, name, amount < 0 ? INFINITY : amount);
    }
    json_decref(answer);
    return limits != NULL ? DROVER_DONE : call_fail_for_nonsense(call, op);
}

enum drover_step
show_label_cost(struct cloud *cloud, struct drover_operation *op)
{
    const struct drover_value *label = drover_operation_label_config(op);
    const char *name = drover_value_get_string(label, "flavor", "");
    const json_t *flavors, *flavor;
    enum drover_step step;

    if (drover_value_get_boolean(label, "cost-after-create", 0))
        return DROVER_DONE;
    step = list_get_recent(cloud->flavors, op, &flavors);
    if (step != DROVER_DONE)
        return step;
    flavor = list_find(flavors, "name", name);
    if (flavor == NULL)
        return drover_operation_fail(op, DROVER_FAILURE_PERMANENT, "there is no flavor %s", name);
    machine_show_label_cost(op, flavor);
    return DROVER_DONE;
}

enum drover_step
show_usage(struct cloud *cloud, struct drover_operation *op)
{
    const json_t *machines;
    enum drover_step step = list_get_recent(cloud->machines, op, &machines);
    size_t index;
    json_t *machine;

    if (step != DROVER_DONE)
        return step;
    json_array_foreach(machines, index, machine)
    {
        if (!machine_exists(machine))
            continue;
        show_resource(op, object_forms[OBJECT_SERVER].resource, machine);
        machine_show_cost(op, json_object_get(machine, "flavor"));
    }
    return DROVER_DONE;
}
