#include "driver/serve.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "driver/serve-private.h"
#include "driver/table.h"

/* ---- What the driver says of its provider ---- */

static void
on_provider_log(void *data, enum drover_log_level level, const char *text)
{
    drover_serve_send(data, json_pack("{s:s, s:i, s:o}", "is", "log", "level", (int)level, "text",
                                      drover_serve_text(text)));
}

static void
on_provider_fail(void *data, enum drover_failure failure, const char *text)
{
    Serve *serve = data;

    json_decref(serve->problem);
    serve->problem =
        json_pack("{s:i, s:o}", "failure", (int)failure, "text", drover_serve_text(text));
}

static void
on_called(void *data, const char *method, const char *url, int status, int64_t milliseconds)
{
    drover_serve_send(data, json_pack("{s:s, s:o, s:o, s:i, s:I}", "is", "called", "method",
                                      drover_serve_text(method), "url", drover_serve_text(url),
                                      "status", status, "ms", (json_int_t)milliseconds));
}

static void
on_cleaned(void *data, const char *what, uint32_t count)
{
    drover_serve_send(data, json_pack("{s:s, s:o, s:I}", "is", "cleaned", "what",
                                      drover_serve_text(what), "count", (json_int_t)count));
}

static const struct drover_provider_host provider_host = {
    .log = on_provider_log, .fail = on_provider_fail, .called = on_called, .cleaned = on_cleaned};

static void
on_machine(void *data, const char *pool, const struct drover_value *config, uint32_t slots)
{
    Serve *serve = data;
    guint number;

    if (g_ptr_array_find(serve->values, config, &number))
        drover_serve_send(serve, json_pack("{s:s, s:o, s:I, s:I}", "is", "machine", "pool",
                                           drover_serve_text(pool), "config", (json_int_t)number,
                                           "slots", (json_int_t)slots));
    else
        on_provider_log(serve, DROVER_WARNING,
                        "the driver lists a machine whose section is not in the configuration");
}

/* ---- Opening ---- */

static gboolean
load(Serve *serve, const char *path, const char *name, GError **error)
{
    const struct drover_driver *(*entry)(void);
    void *symbol = NULL;

    serve->file = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (serve->file != NULL)
        symbol = dlsym(serve->file, "drover_driver_entry");
    if (symbol == NULL) {
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_FAILED, "%s", dlerror());
        return FALSE;
    }
    memcpy(&entry, &symbol, sizeof(entry));
    serve->table = drover_driver_table_new(entry(), path, name, error);
    return serve->table != NULL;
}

static gboolean
list_machines(Serve *serve)
{
    const struct drover_driver *driver = &serve->table->driver;
    struct drover_inventory *inventory;
    int outcome;

    if ((driver->capabilities & DROVER_CAN_INVENTORY) == 0)
        return TRUE;
    inventory = drover_host_inventory_new(on_machine, serve);
    outcome = driver->inventory_list(serve->self, inventory);
    drover_host_inventory_free(inventory);
    return outcome == 0;
}

static void
close_provider(Serve *serve)
{
    if (serve->open && serve->table->driver.provider_close != NULL)
        serve->table->driver.provider_close(serve->self);
    serve->open = FALSE;
}

json_t *
drover_serve_load(Serve *serve, const json_t *frame)
{
    g_autoptr(GError) error = NULL;
    const char *file = drover_json_string(frame, "file");
    const char *name = drover_json_string(frame, "driver");

    if (file == NULL || name == NULL ||
        drover_json_integer(frame, "version", 0) != DROVER_TRANSPORT_VERSION)
        return json_pack("{s:b, s:s}", "ok", 0, "text",
                         "the launcher and drover-driver-host are of different versions");
    if (serve->table == NULL && !load(serve, file, name, &error))
        return json_pack("{s:b, s:o}", "ok", 0, "text", drover_serve_text(error->message));
    return NULL;
}

static json_t *
do_open(Serve *serve, const json_t *frame)
{
    json_t *problem = drover_serve_load(serve, frame);

    if (problem != NULL)
        return problem;
    serve->config = drover_transport_unpack(json_object_get(frame, "config"));
    serve->values = drover_transport_number(serve->config);
    serve->provider = drover_host_provider_new(drover_json_string(frame, "provider"), serve->config,
                                               &provider_host, serve);
    serve->open = serve->table->driver.provider_open(serve->provider, &serve->self) == 0;
    if (serve->open && list_machines(serve))
        return json_pack("{s:b}", "ok", 1);
    close_provider(serve);
    return json_pack("{s:b, s:O*}", "ok", 0, "problem", serve->problem);
}

/* ---- The provider's life, and news ---- */

static json_t *
say(Serve *serve, void (*function)(void *self))
{
    if (serve->open && function != NULL)
        function(serve->self);
    return json_object();
}

static json_t *
do_start(Serve *serve, const json_t *frame)
{
    return say(serve, serve->table->driver.provider_start);
}

static json_t *
do_idle(Serve *serve, const json_t *frame)
{
    return say(serve, serve->table->driver.provider_idle);
}

static json_t *
do_stop(Serve *serve, const json_t *frame)
{
    return say(serve, serve->table->driver.provider_stop);
}

static json_t *
do_close(Serve *serve, const json_t *frame)
{
    g_hash_table_remove_all(serve->operations);
    close_provider(serve);
    g_main_loop_quit(serve->loop);
    return json_object();
}

static json_t *
do_node_deleted(Serve *serve, const json_t *frame)
{
    if (serve->table->driver.node_deleted != NULL)
        serve->table->driver.node_deleted(serve->self, drover_json_string(frame, "a"));
    return json_object();
}

static json_t *
do_node_reused(Serve *serve, const json_t *frame)
{
    if (serve->table->driver.node_reused != NULL)
        serve->table->driver.node_reused(serve->self, drover_json_string(frame, "a"),
                                         drover_json_string(frame, "b"));
    return json_object();
}

static json_t *
do_scan_failed(Serve *serve, const json_t *frame)
{
    if (serve->table->driver.scan_failed != NULL)
        serve->table->driver.scan_failed(serve->self, drover_json_string(frame, "a"),
                                         drover_json_string(frame, "b"));
    return json_object();
}

/* ---- The loop ---- */

static const struct {
    const char *name;
    json_t *(*run)(Serve *serve, const json_t *frame);
    gboolean first; /* before there is a provider; the others after that */
} orders[] = {
    {"check", drover_serve_check, TRUE},
    {"open", do_open, TRUE},
    {"start", do_start, FALSE},
    {"idle", do_idle, FALSE},
    {"stop", do_stop, FALSE},
    {"close", do_close, FALSE},
    {"node_deleted", do_node_deleted, FALSE},
    {"node_reused", do_node_reused, FALSE},
    {"scan_failed", do_scan_failed, FALSE},
    {"begin", drover_serve_begin, FALSE},
    {"step", drover_serve_step, FALSE},
    {"cancel", drover_serve_cancel, FALSE},
    {"end", drover_serve_end, FALSE},
};

static gboolean
on_frame(const json_t *frame, gpointer data)
{
    Serve *serve = data;
    const char *name = drover_json_string(frame, "do");

    for (guint i = 0; name != NULL && i < G_N_ELEMENTS(orders); i++) {
        json_t *answer;

        if (strcmp(orders[i].name, name) != 0 || orders[i].first != (serve->provider == NULL))
            continue;
        answer = orders[i].run(serve, frame);
        json_object_set_new(answer, "is", json_string("did"));
        json_object_set_new(answer, "order", json_integer(drover_json_integer(frame, "order", 0)));
        drover_serve_send(serve, answer);
        return TRUE;
    }
    return FALSE;
}

static void
on_ended(gpointer data)
{
    /* The launcher is gone, and nobody waits for an end in good order. */
    _exit(0);
}

void
drover_serve_send(Serve *serve, json_t *frame)
{
    drover_frames_send(serve->frames, frame);
}

json_t *
drover_serve_text(const char *text)
{
    g_autofree char *beginning = text != NULL ? g_strndup(text, DROVER_SERVE_MOST_TEXT) : NULL;

    return drover_json_from_string(beginning);
}

int
drover_serve(int fd)
{
    static const DroverFramesHooks hooks = {.received = on_frame, .ended = on_ended};
    Serve serve = {.loop = g_main_loop_new(NULL, FALSE)};

    serve.operations =
        g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, drover_serve_operation_free);
    serve.frames = drover_frames_new(fd, DROVER_TRANSPORT_MOST_TOLD, TRUE, NULL, &hooks, &serve);
    g_main_loop_run(serve.loop);
    g_hash_table_unref(serve.operations);
    if (serve.provider != NULL)
        drover_host_provider_free(serve.provider);
    g_clear_pointer(&serve.values, g_ptr_array_unref);
    g_clear_pointer(&serve.config, drover_value_free);
    json_decref(serve.problem);
    g_main_loop_unref(serve.loop);
    /* A thread of the driver's may still speak: the socket and the table stay. */
    fflush(NULL);
    _exit(0);
}
