#include "visit.h"

#include "options.h"

#include <drover/scan.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Time between the beginnings of two tries to connect. */
#define PAUSE_MILLISECONDS 2000

/* How the log names a machine. Failures do not: the host says which machine they are about. */
#define MACHINE "%s (user %s, port %u)"
#define MACHINE_ARGUMENTS(machine)                                                                 \
    machine_name(machine), machine_username(machine), machine_port(machine)

struct visit {
    struct drover_operation *op;
    const struct drover_value *machine;
    struct drover_scan *scan; /* NULL once cancelled */
    int scanned;
};

static void
visit_free(void *state)
{
    struct visit *visit = state;

    drover_scan_free(visit->scan);
    free(visit);
}

/* ---- The scan ---- */

static void
pass_on_log(enum drover_log_level level, const char *text, void *data)
{
    const struct visit *visit = data;

    drover_operation_log(visit->op, level, MACHINE ": %s", MACHINE_ARGUMENTS(visit->machine), text);
}

static void
end_scan(struct drover_scan *scan, void *data)
{
    struct visit *visit = data;

    visit->scanned = 1;
    drover_operation_wake(visit->op);
}

static enum drover_step
begin_scan(struct drover_operation *op, enum drover_scan_kind kind)
{
    const struct drover_value *machine = drover_operation_label_config(op);
    struct visit *visit;

    if (drover_operation_cancelled(op))
        return drover_operation_fail(op, DROVER_FAILURE_OTHER, "cancelled");
    visit = calloc(1, sizeof *visit);
    if (visit == NULL)
        return drover_operation_fail(op, DROVER_FAILURE_OTHER, "out of memory");
    visit->op = op;
    visit->machine = machine;
    visit->scan = drover_scan_new(kind, machine_name(machine), machine_port(machine));
    drover_operation_set_state(op, visit, visit_free);
    drover_scan_set_limit(visit->scan, machine_timeout(machine));
    drover_scan_set_pause(visit->scan, PAUSE_MILLISECONDS);
    drover_scan_set_log(visit->scan, pass_on_log, visit);
    drover_scan_start(visit->scan, end_scan, visit);
    return DROVER_RUNNING;
}

void
visit_cancel(void *self, struct drover_operation *op)
{
    struct visit *visit = drover_operation_state(op);

    if (visit != NULL) {
        drover_scan_free(visit->scan);
        visit->scan = NULL;
    }
    drover_operation_wake(op);
}

/* Waits for the scan; DROVER_DONE when it was successful. */
static enum drover_step
finish_scan(struct drover_operation *op, const struct visit *visit)
{
    if (drover_operation_cancelled(op) || visit->scan == NULL)
        return drover_operation_fail(op, DROVER_FAILURE_OTHER, "cancelled");
    if (!visit->scanned)
        return DROVER_RUNNING;
    if (drover_scan_failure(visit->scan) != 0)
        return drover_operation_fail(op, (enum drover_failure)drover_scan_failure(visit->scan),
                                     "%s", drover_scan_message(visit->scan));
    return DROVER_DONE;
}

/* ---- Registering ---- */

static int
was_found(const struct drover_scan *scan, const char *key)
{
    for (size_t i = 0; i < drover_scan_key_count(scan); i++)
        if (strcmp(drover_scan_key(scan, i), key) == 0)
            return 1;
    return 0;
}

static int
has_every_configured_key(const struct visit *visit)
{
    const struct drover_value *configured = drover_value_get(visit->machine, "host-key");

    for (size_t i = 0; i < drover_value_length(configured); i++)
        if (!was_found(visit->scan, drover_value_string(drover_value_item(configured, i))))
            return 0;
    return 1;
}

static enum drover_step
fail_for_other_keys(struct drover_operation *op, const struct drover_scan *scan)
{
    enum drover_step step;
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);

    if (stream == NULL)
        return drover_operation_fail(op, DROVER_FAILURE_UNREACHABLE, "host key mismatches");
    fputs("host key mismatches (", stream);
    for (size_t i = 0; i < drover_scan_key_count(scan); i++)
        fprintf(stream, "%s%s", i > 0 ? ", " : "", drover_scan_key(scan, i));
    fputs(")", stream);
    fclose(stream);
    step = drover_operation_fail(op, DROVER_FAILURE_UNREACHABLE, "%s", text);
    free(text);
    return step;
}

static void
set_connection(struct drover_operation *op, const struct visit *visit)
{
    static const struct {
        const char *field, *option;
    } copied[] = {
        {"external_id", "name"},
        {"hostname", "name"},
        {"interface_ip", "name"},
        {"username", "username"},
        {"connection_type", "connection-type"},
        {"python_path", "python-path"},
        {"shell_type", "shell-type"},
    };

    for (size_t i = 0; i < sizeof copied / sizeof *copied; i++) {
        const char *text = drover_value_get_string(visit->machine, copied[i].option, NULL);

        if (text != NULL)
            drover_operation_set_string(op, copied[i].field, text);
    }
    drover_operation_set_integer(op, "connection_port", machine_port(visit->machine));
    drover_operation_set_string(
        op, drover_scan_address_family(visit->scan) == 6 ? "public_ipv6" : "public_ipv4",
        drover_scan_address(visit->scan));
}

/* All that were found; those of the configuration when the machine was not asked. */
static void
add_host_keys(struct drover_operation *op, const struct visit *visit)
{
    const struct drover_value *configured = drover_value_get(visit->machine, "host-key");

    if (!machine_has_host_keys(visit->machine))
        return;
    for (size_t i = 0; i < drover_scan_key_count(visit->scan); i++)
        drover_operation_add_host_key(op, drover_scan_key(visit->scan, i));
    if (!machine_checks_host_keys(visit->machine))
        for (size_t i = 0; i < drover_value_length(configured); i++)
            drover_operation_add_host_key(op,
                                          drover_value_string(drover_value_item(configured, i)));
}

/*
 * What has to be seen of a machine. One without SSH is contacted in any case, as in Nodepool.
 */
static enum drover_scan_kind
scan_for_registering(const struct drover_value *machine)
{
    if (!machine_has_host_keys(machine))
        return DROVER_SCAN_CONNECT;
    return machine_checks_host_keys(machine) ? DROVER_SCAN_HOST_KEYS : DROVER_SCAN_RESOLVE;
}

enum drover_step
visit_to_register(void *self, struct drover_operation *op)
{
    const struct visit *visit = drover_operation_state(op);
    enum drover_step step;

    if (visit == NULL)
        return begin_scan(op, scan_for_registering(drover_operation_label_config(op)));
    step = finish_scan(op, visit);
    if (step != DROVER_DONE)
        return step;
    if (scan_for_registering(visit->machine) == DROVER_SCAN_HOST_KEYS &&
        !has_every_configured_key(visit))
        return fail_for_other_keys(op, visit->scan);
    set_connection(op, visit);
    add_host_keys(op, visit);
    return DROVER_DONE;
}

/* ---- Checking ---- */

enum drover_step
visit_to_check(void *self, struct drover_operation *op)
{
    const struct visit *visit = drover_operation_state(op);

    if (visit != NULL)
        return finish_scan(op, visit);
    if (!machine_checks_host_keys(drover_operation_label_config(op)))
        return DROVER_DONE;
    return begin_scan(op, DROVER_SCAN_CONNECT);
}
