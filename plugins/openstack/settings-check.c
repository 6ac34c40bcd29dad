#include <string.h>

#include "settings-private.h"

static gboolean
refuse(GError **error, enum settings_error code, const struct settings *settings, const char *text)
{
    g_set_error(error, SETTINGS_ERROR, (int)code, "cloud %s: %s", settings->cloud, text);
    return FALSE;
}

static gboolean
check_support(const struct settings *settings, GError **error)
{
    const char *floating_ips = settings_text(settings, "floating_ip_source");

    if (settings_method(settings) == NULL) {
        g_set_error(error, SETTINGS_ERROR, SETTINGS_ERROR_UNSUPPORTED,
                    "cloud %s: auth_type %s is not supported; supported are password, "
                    "v3password, v3applicationcredential, token, v3token and none",
                    settings->cloud, settings_auth_type(settings));
        return FALSE;
    }
    if (settings_flag(settings, "image_api_use_tasks", FALSE))
        return refuse(error, SETTINGS_ERROR_UNSUPPORTED, settings,
                      "image_api_use_tasks is not supported");
    if (floating_ips != NULL && g_ascii_strcasecmp(floating_ips, "nova") == 0)
        return refuse(error, SETTINGS_ERROR_UNSUPPORTED, settings,
                      "floating_ip_source nova is not supported; neutron and None are");
    return TRUE;
}

/* How many of the networks have that part. */
static guint
count_parts(const struct settings *settings, const char *part)
{
    guint number = 0;
    size_t index;
    json_t *network;

    json_array_foreach(json_object_get(settings->values, "networks"), index, network)
    {
        number += settings_as_flag(json_object_get(network, part), FALSE);
    }
    return number;
}

static gboolean
check_networks(const struct settings *settings, GError **error)
{
    static const char *const single_parts[] = {"nat_destination", "default_interface"};
    const json_t *networks = json_object_get(settings->values, "networks");
    size_t index;
    json_t *network;

    if (json_array_size(networks) > 0 && (settings_text(settings, "external_network") != NULL ||
                                          settings_text(settings, "internal_network") != NULL))
        return refuse(error, SETTINGS_ERROR_UNSUPPORTED, settings,
                      "networks stands beside external_network or internal_network, its old forms");
    json_array_foreach((json_t *)networks, index, network)
    {
        if (!settings_has(network, "name"))
            return refuse(error, SETTINGS_ERROR_UNSUPPORTED, settings,
                          "an entry of networks has no name");
    }
    for (gsize i = 0; i < G_N_ELEMENTS(single_parts); i++) {
        g_autofree char *text = NULL;

        if (count_parts(settings, single_parts[i]) <= 1)
            continue;
        text = g_strdup_printf("more than one of its networks has %s", single_parts[i]);
        return refuse(error, SETTINGS_ERROR_UNSUPPORTED, settings, text);
    }
    return TRUE;
}

/* What each way to log in cannot do without. */
static gboolean
check_credentials(const struct settings *settings, GError **error)
{
    const json_t *auth = json_object_get(settings->values, "auth");
    const char *method = settings_method(settings);
    static const struct {
        const char *method, *a, *b;
    } needs[] = {
        {"password", "auth_url", NULL},
        {"password", "username", "user_id"},
        {"password", "password", NULL},
        {"application_credential", "auth_url", NULL},
        {"application_credential", "application_credential_id", "application_credential_name"},
        {"application_credential", "application_credential_secret", NULL},
        {"token", "auth_url", NULL},
        {"token", "token", NULL},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(needs); i++) {
        g_autofree char *text = NULL;

        if (strcmp(needs[i].method, method) != 0 || settings_has(auth, needs[i].a) ||
            (needs[i].b != NULL && settings_has(auth, needs[i].b)))
            continue;
        text = g_strdup_printf("%s is missing", needs[i].a);
        return refuse(error, SETTINGS_ERROR_UNSUPPORTED, settings, text);
    }
    if (strcmp(method, "application_credential") == 0 &&
        !settings_has(auth, "application_credential_id") && !settings_has(auth, "username") &&
        !settings_has(auth, "user_id"))
        return refuse(error, SETTINGS_ERROR_UNSUPPORTED, settings,
                      "application_credential_name needs username or user_id");
    return TRUE;
}

gboolean
settings_check_domains(const struct settings *settings, GError **error)
{
    const json_t *auth = json_object_get(settings->values, "auth");
    const char *method = settings_method(settings);

    if (g_strcmp0(method, "password") == 0 && settings_has(auth, "username") &&
        !settings_has(auth, "user_id") && !settings_has_domain(auth, "user"))
        return refuse(error, SETTINGS_ERROR_DOMAIN, settings,
                      "username needs user_domain_name or user_domain_id");
    if (g_strcmp0(method, "application_credential") == 0 &&
        !settings_has(auth, "application_credential_id") && settings_has(auth, "username") &&
        !settings_has(auth, "user_id") && !settings_has_domain(auth, "user"))
        return refuse(error, SETTINGS_ERROR_DOMAIN, settings,
                      "username needs user_domain_name or user_domain_id");
    if ((g_strcmp0(method, "password") == 0 || g_strcmp0(method, "token") == 0) &&
        settings_has(auth, "project_name") && !settings_has(auth, "project_id") &&
        !settings_has_domain(auth, "project"))
        return refuse(error, SETTINGS_ERROR_DOMAIN, settings,
                      "project_name needs project_domain_name or project_domain_id");
    return TRUE;
}

gboolean
settings_check(const struct settings *settings, GError **error)
{
    return check_support(settings, error) && check_networks(settings, error) &&
           check_credentials(settings, error) && settings_check_domains(settings, error);
}
