/* driver-open DIRECTORY NAME: loads a driver, opens a provider, creates a machine, says what it
 * got. */
#include <stdio.h>

#include <drover/host.h>

#include "driver/host.h"
#include "driver/runner.h"

static GMainLoop *loop;
static int status = 1;

static void
on_closed(gpointer user_data)
{
    g_main_loop_quit(loop);
}

static void
on_done(const DroverTaskResult *result, gpointer user_data)
{
    printf("%s\n", result->ok ? json_string_value(json_object_get(result->fields, "external_id"))
                              : result->message);
    status = !result->ok;
    drover_runner_close(user_data, FALSE, on_closed, NULL);
}

static void
on_opened(DroverRunner *runner, const GPtrArray *machines, const GError *error, gpointer user_data)
{
    const DroverTaskInput input = {.node_id = "0000000001"};

    if (error == NULL)
        drover_runner_submit(runner, DROVER_TASK_MACHINE_CREATE, &input, on_done, NULL, runner);
    else
        g_error("%s", error->message);
}

int
main(int argc, char **argv)
{
    const char *const directories[] = {argv[1], NULL};
    g_autoptr(DroverDriverHost) host = drover_driver_host_new(directories);
    g_autoptr(GError) error = NULL;
    const struct drover_driver *driver = drover_driver_host_find(host, argv[2], &error);
    struct drover_value *config = drover_value_new_map();

    if (driver == NULL)
        g_error("%s", error->message);
    loop = g_main_loop_new(NULL, FALSE);
    drover_runner_open(drover_runner_new(driver, "outside", config), on_opened, NULL);
    g_main_loop_run(loop);
    g_main_loop_unref(loop);
    drover_value_free(config);
    return status;
}
