#include "model/component.h"

#include "base/error.h"

#define DEFAULT_PRIORITY 100

DroverComponent *
drover_component_decode(GBytes *data, GError **error)
{
    gsize length;
    const char *text = g_bytes_get_data(data, &length);
    g_autoptr(json_t) record = drover_json_parse_object(text, length, error);
    DroverComponent *component;

    if (record == NULL)
        return NULL;
    component = g_new0(DroverComponent, 1);
    component->hostname = g_strdup(drover_json_string(record, "hostname"));
    component->kind = g_strdup(drover_json_string(record, "kind"));
    component->state = g_strdup(drover_json_string(record, "state"));
    component->version = g_strdup(drover_json_string(record, "version"));
    component->model_api = drover_json_integer(record, "model_api", 0);
    component->id = g_strdup(drover_json_string(record, "id"));
    component->name = g_strdup(drover_json_string(record, "name"));
    component->provider_name = g_strdup(drover_json_string(record, "provider_name"));
    component->supported_labels = drover_json_strings(record, "supported_labels");
    component->priority = drover_json_integer(record, "priority", DEFAULT_PRIORITY);
    component->problem = g_strdup(drover_json_string(record, "problem"));
    component->paused = drover_json_boolean(record, "paused", FALSE);
    return component;
}

void
drover_component_free(DroverComponent *component)
{
    if (component == NULL)
        return;
    g_free(component->problem);
    g_free(component->hostname);
    g_free(component->kind);
    g_free(component->state);
    g_free(component->version);
    g_free(component->id);
    g_free(component->name);
    g_free(component->provider_name);
    g_strfreev(component->supported_labels);
    g_free(component);
}

GBytes *
drover_component_encode(const DroverComponent *component)
{
    g_autoptr(json_t) record = json_object();

    drover_record_set_string(record, "hostname", component->hostname);
    drover_record_set_string(record, "kind", component->kind);
    drover_record_set_string(record, "state", component->state);
    drover_record_set_string(record, "version", component->version);
    json_object_set_new(record, "model_api", json_integer(component->model_api));
    if (g_strcmp0(component->kind, "pool") == 0) {
        drover_record_set_string(record, "id", component->id);
        drover_record_set_string(record, "name", component->name);
        drover_record_set_string(record, "provider_name", component->provider_name);
        json_object_set_new(
            record, "supported_labels",
            drover_json_from_strings((const char *const *)component->supported_labels));
        json_object_set_new(record, "priority", json_integer(component->priority));
        json_object_set_new(record, "paused", json_boolean(component->paused));
        if (component->problem != NULL)
            drover_record_set_string(record, "problem", component->problem);
    }
    return drover_record_bytes(record);
}

gboolean
drover_component_supports(const DroverComponent *component, const char *const *labels)
{
    for (; *labels != NULL; labels++)
        if (!g_strv_contains((const char *const *)component->supported_labels, *labels))
            return FALSE;
    return TRUE;
}
