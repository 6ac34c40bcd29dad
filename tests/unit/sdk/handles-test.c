/* What a driver says through its handles arrives at the host, until the handle has ended. */
#include <drover/host.h>
#include <glib.h>

/* Everything the host was told, one word after the other. */
static GString *told;

static void
on_released(void *data)
{
    g_string_append(told, "released ");
}

static void
on_log(void *data, enum drover_log_level level, const char *text)
{
    g_string_append_printf(told, "log:%d:%s ", (int)level, text);
}

static void
on_wake(void *data)
{
    g_string_append(told, "wake ");
}

static void
on_set_status(void *data, const char *status)
{
    g_string_append_printf(told, "status:%s ", status);
}

static void
on_set_progress(void *data, uint64_t done, uint64_t total)
{
    g_string_append_printf(told, "progress:%u/%u ", (unsigned)done, (unsigned)total);
}

static void
on_call_after(void *data, uint32_t milliseconds)
{
    g_string_append_printf(told, "after:%u ", milliseconds);
}

static void
on_set_string(void *data, const char *name, const char *value)
{
    g_string_append_printf(told, "%s=%s ", name, value);
}

static void
on_set_integer(void *data, const char *name, int64_t value)
{
    g_string_append_printf(told, "%s=%d ", name, (int)value);
}

static void
on_add_host_key(void *data, const char *key)
{
    g_string_append_printf(told, "key:%s ", key);
}

static void
on_set_resource(void *data, const char *name, double amount)
{
    g_string_append_printf(told, "%s:%g ", name, amount);
}

static void
on_append_text(void *data, const char *text, size_t length)
{
    g_string_append_printf(told, "text:%.*s ", (int)length, text);
}

static void
on_fail(void *data, enum drover_failure failure, const char *text)
{
    g_string_append_printf(told, "fail:%d:%s ", (int)failure, text);
}

static void
on_retry_after(void *data, uint32_t milliseconds)
{
    g_string_append_printf(told, "retry:%u ", milliseconds);
}

static const struct drover_operation_host host = {
    .released = on_released,
    .log = on_log,
    .wake = on_wake,
    .set_status = on_set_status,
    .set_progress = on_set_progress,
    .call_after = on_call_after,
    .set_string = on_set_string,
    .set_integer = on_set_integer,
    .set_json = on_set_string,
    .add_host_key = on_add_host_key,
    .set_resource = on_set_resource,
    .add_item = on_set_string,
    .append_text = on_append_text,
    .fail = on_fail,
    .retry_after = on_retry_after,
};

static void
say_everything(struct drover_operation *op)
{
    drover_operation_wake(op);
    drover_operation_call_after(op, 3);
    drover_operation_set_status(op, "busy");
    drover_operation_set_progress(op, 1, 2);
    drover_operation_set_string(op, "a", "b");
    drover_operation_set_integer(op, "c", 4);
    drover_operation_set_json(op, "d", "[]");
    drover_operation_add_host_key(op, "e");
    drover_operation_set_resource(op, "cores", 2.5);
    drover_operation_add_item(op, "server", "id");
    drover_operation_append_text(op, "text", 2);
    drover_operation_append_text(op, NULL, 0);
    drover_operation_retry_after(op, 9);
    drover_operation_log(op, DROVER_INFO, "%d lines", 7);
    g_assert_cmpint(drover_operation_fail(op, DROVER_FAILURE_AUTH, "%s", "no"), ==, DROVER_FAILED);
}

static void
count(void *state)
{
    ++*(int *)state;
}

static void
test_operation(void)
{
    const char *const inputs[] = {"tags", "{}", NULL};
    const struct drover_operation_input input = {
        .node_id = "1", .external_id = "2", .pool = "3", .label = "4", .inputs = inputs};
    struct drover_operation *op;
    int released = 0;

    told = g_string_new(NULL);
    op = drover_host_operation_new(&input, &host, NULL);
    g_assert_cmpstr(drover_operation_node_id(op), ==, "1");
    g_assert_cmpstr(drover_operation_external_id(op), ==, "2");
    g_assert_cmpstr(drover_operation_pool(op), ==, "3");
    g_assert_cmpstr(drover_operation_label(op), ==, "4");
    g_assert_cmpstr(drover_operation_input(op, "tags"), ==, "{}");
    g_assert_null(drover_operation_input(op, "hostname"));
    g_assert_false(drover_operation_cancelled(op));
    drover_host_operation_cancel(op);
    g_assert_true(drover_operation_cancelled(op));
    drover_operation_set_state(op, &released, count);
    g_assert_true(drover_operation_state(op) == &released);
    say_everything(op);
    g_assert_cmpstr(told->str, ==,
                    "wake after:3 status:busy progress:1/2 a=b c=4 d=[] key:e cores:2.5 "
                    "server=id text:te retry:9 log:2:7 lines fail:6:no ");
    drover_host_operation_free(op);
    g_assert_cmpint(released, ==, 1);
    g_string_free(told, TRUE);
}

static void
test_ended_operation(void)
{
    const struct drover_operation_input input = {.node_id = "1"};
    struct drover_operation *ended, *other;

    told = g_string_new(NULL);
    ended = drover_host_operation_new(&input, &host, NULL);
    drover_host_operation_free(ended);
    other = drover_host_operation_new(&input, &host, NULL);
    g_assert_true(other != ended);
    say_everything(ended);
    say_everything(NULL);
    g_assert_null(drover_operation_node_id(ended));
    drover_host_operation_cancel(ended);
    g_assert_false(drover_operation_cancelled(other));
    g_assert_cmpstr(told->str, ==, "released ");
    drover_host_operation_free(other);
    g_string_free(told, TRUE);
}

/* ---- The other handles ---- */

static void
test_provider(void)
{
    static const struct drover_provider_host provider_host = {.log = on_log, .fail = on_fail};
    struct drover_value *config = drover_value_new_map();
    struct drover_provider *provider =
        drover_host_provider_new("cloud", config, &provider_host, NULL);

    told = g_string_new(NULL);
    g_assert_cmpstr(drover_provider_name(provider), ==, "cloud");
    g_assert_true(drover_provider_config(provider) == config);
    drover_provider_log(provider, DROVER_ERR, "%s", "text");
    g_assert_cmpint(drover_provider_fail(provider, DROVER_FAILURE_AUTH, "%s", "no"), ==, -1);
    g_assert_cmpstr(told->str, ==, "log:4:text fail:6:no ");
    drover_host_provider_free(provider);
    drover_value_free(config);
    g_string_free(told, TRUE);
}

static void
on_machine(void *data, const char *pool, const struct drover_value *config, uint32_t slots)
{
    g_assert_null(config);
    g_string_append_printf(told, "%s:%u ", pool, slots);
}

static void
on_mistake(void *data, enum drover_log_level level, const struct drover_value *where,
           const char *text)
{
    g_string_append_printf(told, "%d:%u:%s ", (int)level, drover_value_line(where), text);
}

static void
test_inventory_and_report(void)
{
    struct drover_value *value = drover_value_new_null();
    struct drover_inventory *inventory = drover_host_inventory_new(on_machine, NULL);
    struct drover_report *report = drover_host_report_new(on_mistake, NULL);

    told = g_string_new(NULL);
    drover_value_set_place(value, 12, 3);
    drover_inventory_add(inventory, "main", NULL, 2);
    drover_report_error(report, value, "no image %s", "x");
    drover_report_warning(report, NULL, "odd");
    g_assert_cmpstr(told->str, ==, "main:2 4:12:no image x 3:0:odd ");
    drover_host_inventory_free(inventory);
    drover_host_report_free(report);
    drover_value_free(value);
    g_string_free(told, TRUE);
}

static void
test_clock(void)
{
    int64_t before = drover_now();

    g_assert_cmpint(before, >, 0);
    g_assert_cmpint(drover_now(), >=, before);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/handle/operation", test_operation);
    g_test_add_func("/handle/ended-operation", test_ended_operation);
    g_test_add_func("/handle/provider", test_provider);
    g_test_add_func("/handle/inventory-and-report", test_inventory_and_report);
    g_test_add_func("/handle/clock", test_clock);
    return g_test_run();
}
