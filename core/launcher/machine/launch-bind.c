#include "launcher/machine/launch-private.h"

static void
clear_binding(DroverLaunch *launch)
{
    g_clear_pointer(&launch->binding.fields, json_decref);
    launch->binding = (DroverLaunchBinding){0};
}

static void
on_stored(DroverHeldNode *node, DroverHeldOutcome outcome, gpointer user_data)
{
    DroverLaunch *launch = user_data;
    DroverLaunchBinding binding = launch->binding;

    clear_binding(launch);
    if (outcome != DROVER_HELD_DONE && outcome != DROVER_HELD_REFUSED) {
        drover_launch_lose(launch);
        return;
    }
    binding.done(outcome == DROVER_HELD_DONE, binding.user_data);
    drover_launch_go_on(launch);
}

void
drover_launch_store_binding(DroverLaunch *launch)
{
    launch->saving = TRUE;
    drover_held_node_store_together(launch->node, launch->binding.fields, launch->binding.proof,
                                    launch->binding.user_data, on_stored, launch);
}

static void
give_slot(const json_t *fields, DroverHeldOther proof, DroverBackingBoundFunc done,
          gpointer user_data, gpointer data)
{
    DroverLaunch *launch = data;

    clear_binding(launch);
    launch->binding = (DroverLaunchBinding){json_deep_copy(fields), proof, done, user_data};
    /* One whose lock is being given up gets no slot any more. */
    if (!launch->saving && !launch->release)
        drover_launch_store_binding(launch);
}

void
drover_launch_offer(DroverLaunch *launch)
{
    DroverBacking *backing = drover_manager_backing(launch->manager);

    if (backing != NULL)
        drover_backing_add_launch(backing, drover_launch_node_id(launch), launch->pool->name,
                                  give_slot, launch);
}

void
drover_launch_keep_slot(const DroverLaunch *launch, json_t *fields)
{
    if (drover_manager_backing(launch->manager) == NULL)
        return;
    json_object_del(fields, "slot");
    json_object_del(fields, "driver_data");
}

void
drover_launch_unbind(DroverLaunch *launch)
{
    DroverBacking *backing = drover_manager_backing(launch->manager);

    clear_binding(launch);
    if (backing != NULL && drover_launch_node_id(launch) != NULL)
        drover_backing_remove_launch(backing, drover_launch_node_id(launch));
}

void
drover_launch_end_waiting(DroverLaunch *launch)
{
    const json_t *record = drover_held_node_record(launch->node);

    if (drover_manager_backing(launch->manager) != NULL && launch->task != NULL &&
        json_is_null(json_object_get(record, "driver_data")))
        drover_task_cancel(launch->task);
}
