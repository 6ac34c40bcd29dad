/* A driver looks at a provider's section, see trial.h. */
#include "base/json.h"
#include "driver/serve-private.h"

typedef struct {
    Serve *serve;
    GPtrArray *values; /* see drover_transport_number() */
} Section;

static void
on_mistake(void *data, enum drover_log_level level, const struct drover_value *where,
           const char *text)
{
    Section *section = data;
    guint number;
    gboolean known = g_ptr_array_find(section->values, where, &number);

    drover_serve_send(section->serve,
                      json_pack("{s:s, s:i, s:I, s:o}", "is", "mistake", "level", (int)level,
                                "where", known ? (json_int_t)number : (json_int_t)-1, "text",
                                drover_serve_text(text)));
}

json_t *
drover_serve_check(Serve *serve, const json_t *frame)
{
    json_t *problem = drover_serve_load(serve, frame);
    struct drover_value *config;
    struct drover_report *report;
    Section section;

    if (problem != NULL)
        return problem;
    config = drover_transport_unpack(json_object_get(frame, "config"));
    section = (Section){serve, drover_transport_number(config)};
    report = drover_host_report_new(on_mistake, &section);
    if (serve->table->driver.config_check != NULL)
        serve->table->driver.config_check(config, report);
    drover_host_report_free(report);
    g_ptr_array_unref(section.values);
    drover_value_free(config);
    return json_pack("{s:b}", "ok", 1);
}
