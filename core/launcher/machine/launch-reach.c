#include "launcher/machine/launch-private.h"

#include "launcher/provider/label.h"

#define DEFAULT_BOOT_TIMEOUT 60

/* ---- Reaching the machine ---- */

static void
fail_for_scan(DroverLaunch *launch)
{
    drover_launch_fail_attempt(launch,
                               &(DroverLaunchFailure){.level = DROVER_LOG_WARNING,
                                                      .kind = "keyscan",
                                                      .message = "the machine cannot be reached"});
}

static void
log_console(const DroverLaunch *launch, const char *text)
{
    DroverLogSubject subject = drover_launch_subject(launch);
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);

    drover_log(DROVER_LOG_INFO, &subject, "Console log of %s:",
               drover_json_string(drover_held_node_record(launch->node), "hostname") != NULL
                   ? drover_json_string(drover_held_node_record(launch->node), "hostname")
                   : "the machine");
    for (char **line = lines; *line != NULL; line++)
        if (*g_strchomp(*line) != '\0' || line[1] != NULL)
            drover_log(DROVER_LOG_INFO, &subject, "%s", *line);
}

static void
on_console(const DroverTaskResult *result, gpointer user_data)
{
    DroverLaunch *launch = user_data;

    launch->task = NULL;
    if (!drover_launch_is_decided(launch)) {
        if (result->ok && *result->text != '\0')
            log_console(launch, result->text);
        fail_for_scan(launch);
    }
    drover_launch_unref(launch);
}

static void
ask_for_console(DroverLaunch *launch)
{
    DroverRunner *runner = drover_manager_runner(launch->manager);
    g_autofree char *id = drover_launch_external_id(launch);

    drover_runner_scan_failed(runner, launch->label, id);
    if (drover_runner_can(runner, DROVER_CAN_CONSOLE))
        drover_launch_submit(launch, DROVER_TASK_MACHINE_CONSOLE, id, NULL, on_console, NULL);
    else
        fail_for_scan(launch);
}

static void
on_scanned(const DroverScannerResult *result, gpointer user_data)
{
    DroverLaunch *launch = user_data;
    DroverLogSubject subject = drover_launch_subject(launch);
    json_t *fields;

    launch->scan = NULL;
    drover_telemetry_note_scan(launch->parts->telemetry, drover_manager_name(launch->manager),
                               result->failure, result->began);
    if (result->message != NULL) {
        drover_log(DROVER_LOG_WARNING, &subject, "Cannot reach %s: %s", launch->address,
                   result->message);
        ask_for_console(launch);
        return;
    }
    fields = json_object();
    if (result->keys[0] != NULL)
        json_object_set_new(fields, "host_keys",
                            drover_json_from_strings((const char *const *)result->keys));
    drover_launch_become_ready(launch, fields);
}

/* A port that is an object holds access data, and nothing to connect to. */
gboolean
drover_launch_is_scanned(const DroverLaunch *launch, const json_t *fields)
{
    const json_t *port = json_object_get(fields, "connection_port");

    if (port == NULL)
        port = json_object_get(drover_held_node_record(launch->node), "connection_port");
    return drover_label_is_scanned(launch->pool, launch->label) && json_is_integer(port);
}

void
drover_launch_scan(DroverLaunch *launch)
{
    const json_t *record = drover_held_node_record(launch->node);
    const char *type = drover_json_string(record, "connection_type");
    gboolean keys = g_strcmp0(type, "ssh") == 0 || g_strcmp0(type, "network_cli") == 0;
    const char *address = drover_json_string(record, "interface_ip");

    if (launch->timed_out) {
        drover_launch_fail_for_time(launch);
        return;
    }
    if (address == NULL) {
        drover_launch_fail_attempt(launch,
                                   &(DroverLaunchFailure){.level = DROVER_LOG_ERROR,
                                                          .kind = "network",
                                                          .message = "the machine has no address"});
        return;
    }
    drover_launch_note_saved(launch, TRUE, NULL);
    g_free(launch->address);
    launch->address = g_strdup(address);
    launch->scan = drover_scanner_start(
        launch->parts->scanner, drover_manager_name(launch->manager),
        keys ? DROVER_SCAN_HOST_KEYS : DROVER_SCAN_CONNECT, address,
        (guint16)drover_json_integer(record, "connection_port", 22),
        (guint)MAX(drover_launch_setting(launch, "boot-timeout", DEFAULT_BOOT_TIMEOUT), 1),
        on_scanned, launch);
}
