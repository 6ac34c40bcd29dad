#include "console.h"

#include <string.h>

#include "list.h"

/* A machine without a console, or one that is gone, has no text; that is no mistake. */
static enum drover_step
answered(struct work *work, struct drover_operation *op)
{
    const char *text;

    if (!call_is_done(work->call))
        return DROVER_RUNNING;
    if (call_failure(work->call) != 0 && call_status(work->call) == 0)
        return call_fail(work->call, op);
    text = list_text(call_answer(work->call), "output");
    if (text != NULL)
        drover_operation_append_text(op, text, strlen(text));
    return DROVER_DONE;
}

static enum drover_step
ask(struct work *work, struct drover_operation *op)
{
    const char *id = drover_operation_external_id(op);
    g_autofree char *path = id != NULL && *id != '\0' ? call_path("/servers", id, "/action") : NULL;

    if (path == NULL ||
        !drover_value_get_boolean(drover_operation_label_config(op), "console-log", 0))
        return DROVER_DONE;
    return work_call(work, op,
                     call_new(work->cloud, SERVICE_COMPUTE, "POST", path,
                              json_pack("{s:{}}", "os-getConsoleOutput")),
                     answered);
}

static const struct work_kind console_kind = {
    .name = "console", .size = sizeof(struct work), .first = ask};

enum drover_step
console_step(struct cloud *cloud, struct drover_operation *op)
{
    return work_step(cloud, op, &console_kind);
}
