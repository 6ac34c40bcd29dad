#include "settings-private.h"

#include <string.h>

GQuark
settings_error_quark(void)
{
    return g_quark_from_static_string("openstack-settings-error");
}

void
settings_free(struct settings *settings)
{
    if (settings == NULL)
        return;
    g_free(settings->cloud);
    g_free(settings->region);
    json_decref(settings->values);
    json_decref(settings->warnings);
    g_free(settings);
}

gboolean
settings_equal(const struct settings *a, const struct settings *b)
{
    return g_strcmp0(a->region, b->region) == 0 && json_equal(a->values, b->values);
}

/* ---- Values of any map ---- */

gboolean
settings_has(const json_t *map, const char *key)
{
    const char *text = json_string_value(json_object_get(map, key));

    return text != NULL && *text != '\0';
}

gboolean
settings_has_domain(const json_t *auth, const char *of)
{
    g_autofree char *id = g_strdup_printf("%s_domain_id", of);
    g_autofree char *name = g_strdup_printf("%s_domain_name", of);

    return settings_has(auth, id) || settings_has(auth, name);
}

gboolean
settings_as_flag(const json_t *value, gboolean otherwise)
{
    const char *text = json_string_value(value);

    if (json_is_boolean(value))
        return json_is_true(value);
    if (text == NULL)
        return otherwise;
    return g_ascii_strcasecmp(text, "true") == 0 || strcmp(text, "1") == 0;
}

/* ---- Reading ---- */

const char *
settings_text(const struct settings *settings, const char *key)
{
    return json_string_value(json_object_get(settings->values, key));
}

gboolean
settings_flag(const struct settings *settings, const char *key, gboolean otherwise)
{
    return settings_as_flag(json_object_get(settings->values, key), otherwise);
}

const char *
settings_auth(const struct settings *settings, const char *key)
{
    const char *text =
        json_string_value(json_object_get(json_object_get(settings->values, "auth"), key));

    return text != NULL && *text != '\0' ? text : NULL;
}

const char *
settings_of_service(const struct settings *settings, enum service service, const char *suffix)
{
    for (const char *const *name = service_forms[service].keys; *name != NULL; name++) {
        g_autofree char *key = g_strdup_printf("%s_%s", *name, suffix);

        if (settings_text(settings, key) != NULL)
            return settings_text(settings, key);
    }
    return NULL;
}

gboolean
settings_has_service(const struct settings *settings, enum service service)
{
    for (const char *const *name = service_forms[service].keys; *name != NULL; name++) {
        g_autofree char *key = g_strdup_printf("has_%s", *name);

        if (!settings_flag(settings, key, TRUE))
            return FALSE;
    }
    return TRUE;
}

char *
settings_interface(const struct settings *settings, enum service service)
{
    const char *text = settings_of_service(settings, service, "interface");

    if (text == NULL)
        text = settings_text(settings, "interface");
    if (text == NULL)
        text = settings_text(settings, "endpoint_type");
    if (text == NULL)
        text = "public";
    return g_strndup(text, strlen(text) - (g_str_has_suffix(text, "URL") ? strlen("URL") : 0));
}

char *
settings_path(const struct settings *settings, const char *key)
{
    const char *text = settings_text(settings, key);
    const char *home = g_getenv("HOME");

    if (text == NULL || *text == '\0')
        return NULL;
    if (!g_str_has_prefix(text, "~/"))
        return g_strdup(text);
    return g_build_filename(home != NULL ? home : g_get_home_dir(), text + 2, NULL);
}

GPtrArray *
settings_networks(const struct settings *settings)
{
    static const char *const old_forms[] = {"external_network", "internal_network"};
    GPtrArray *names = g_ptr_array_new();
    size_t index;
    json_t *network;

    json_array_foreach(json_object_get(settings->values, "networks"), index, network)
    {
        g_ptr_array_add(names, (char *)json_string_value(json_object_get(network, "name")));
    }
    for (gsize i = 0; i < G_N_ELEMENTS(old_forms); i++)
        if (settings_text(settings, old_forms[i]) != NULL)
            g_ptr_array_add(names, (char *)settings_text(settings, old_forms[i]));
    return names;
}

gboolean
settings_verify(const struct settings *settings)
{
    return settings_flag(settings, "verify", TRUE) && !settings_flag(settings, "insecure", FALSE);
}

/* ---- The login method ---- */

static const struct {
    const char *type, *method;
} methods[] = {
    {"password", "password"},
    {"v3password", "password"},
    {"v3applicationcredential", "application_credential"},
    {"token", "token"},
    {"v3token", "token"},
    {"none", "none"},
};

const char *
settings_auth_type(const struct settings *settings)
{
    const char *type = settings_text(settings, "auth_type");

    return type != NULL ? type : "password";
}

const char *
settings_method(const struct settings *settings)
{
    for (gsize i = 0; i < G_N_ELEMENTS(methods); i++)
        if (strcmp(methods[i].type, settings_auth_type(settings)) == 0)
            return methods[i].method;
    return NULL;
}
