#include "settings.h"

#include "clouds-file.h"

#include <string.h>

GQuark
settings_error_quark(void)
{
    return g_quark_from_static_string("openstack-settings-error");
}

/* ---- Keys ---- */

/* What belongs under "auth", and where old names went. */
static const struct {
    const char *key, *becomes;
} auth_keys[] = {
    {"auth_url", NULL},
    {"username", NULL},
    {"user_id", NULL},
    {"password", NULL},
    {"user_domain_id", NULL},
    {"user_domain_name", NULL},
    {"project_id", NULL},
    {"project_name", NULL},
    {"tenant_id", "project_id"},
    {"tenant_name", "project_name"},
    {"project_domain_id", NULL},
    {"project_domain_name", NULL},
    {"domain_id", NULL},
    {"domain_name", NULL},
    {"default_domain", "default_domain_id"},
    {"default_domain_id", NULL},
    {"default_domain_name", NULL},
    {"application_credential_id", NULL},
    {"application_credential_name", NULL},
    {"application_credential_secret", NULL},
    {"token", NULL},
    {"trust_id", NULL},
    {"system_scope", NULL},
};

static void
fix_key(json_t *map, const char *old, const char *new)
{
    json_t *value = json_object_get(map, old);

    if (strcmp(old, new) == 0 || value == NULL)
        return;
    if (json_object_get(map, new) == NULL)
        json_object_set(map, new, value);
    json_object_del(map, old);
}

/* "-" and "_" are the same, in maps within maps too. A new reference. */
static json_t *
with_underscores(const json_t *map)
{
    json_t *fixed = json_object();
    const char *key;
    json_t *value;

    json_object_foreach((json_t *)map, key, value)
    {
        g_autofree char *name = g_strdelimit(g_strdup(key), "-", '_');

        if (json_is_object(value))
            json_object_set_new(fixed, name, with_underscores(value));
        else
            json_object_set(fixed, name, value);
    }
    return fixed;
}

/* ---- Merging ---- */

static void
merge_entry(json_t *values, const json_t *entry)
{
    json_t *fixed = with_underscores(entry);
    json_t *copy = json_deep_copy(fixed);

    clouds_file_merge(values, copy);
    json_decref(copy);
    json_decref(fixed);
}

static void
merge_profile(struct settings *settings, const json_t *all, const json_t *entry)
{
    const char *name = json_string_value(json_object_get(entry, "profile"));
    const json_t *profile =
        json_object_get(json_object_get(all, "public-clouds"), name != NULL ? name : "");

    if (name == NULL)
        return;
    if (json_is_object(profile)) {
        merge_entry(settings->values, profile);
    } else {
        g_autofree char *text = g_strdup_printf(
            "Cloud %s: there is no profile %s in clouds-public.yaml", settings->cloud, name);

        json_array_append_new(settings->warnings, json_string(text));
    }
}

static const char *
region_name(const json_t *region)
{
    return json_is_string(region) ? json_string_value(region)
                                  : json_string_value(json_object_get(region, "name"));
}

static gboolean
refuse_region(const struct settings *settings, const char *wanted, GError **error)
{
    const json_t *regions = json_object_get(settings->values, "regions");
    const char *single = settings_text(settings, "region_name");
    g_autoptr(GString) choices = g_string_new(single);

    for (size_t i = 0; i < json_array_size(regions); i++)
        g_string_append_printf(choices, "%s%s", choices->len > 0 ? ", " : "",
                               region_name(json_array_get(regions, i)));
    g_set_error(error, SETTINGS_ERROR, SETTINGS_ERROR_UNKNOWN,
                "cloud %s has no region %s; there are: %s", settings->cloud, wanted, choices->str);
    return FALSE;
}

/* The entry of `regions`; without a name the first. NULL: there is none. */
static const json_t *
find_region(const struct settings *settings, const char *wanted)
{
    const json_t *regions = json_object_get(settings->values, "regions");
    size_t index;
    json_t *region;

    json_array_foreach((json_t *)regions, index, region)
    {
        if (wanted == NULL || g_strcmp0(region_name(region), wanted) == 0)
            return region;
    }
    return NULL;
}

static gboolean
select_region(struct settings *settings, const char *wanted, GError **error)
{
    const char *single = settings_text(settings, "region_name");
    gboolean is_single = single != NULL && g_strcmp0(single, wanted) == 0;
    const json_t *region = find_region(settings, wanted != NULL ? wanted : single);

    if (wanted != NULL && region == NULL && !is_single &&
        (single != NULL || json_array_size(json_object_get(settings->values, "regions")) > 0))
        return refuse_region(settings, wanted, error);
    if (wanted == NULL)
        wanted = single != NULL ? single : region_name(region);
    settings->region = g_strdup(wanted);
    if (region != NULL && json_is_object(json_object_get(region, "values")))
        merge_entry(settings->values, json_object_get(region, "values"));
    if (settings->region != NULL)
        json_object_set_new(settings->values, "region_name", json_string(settings->region));
    return TRUE;
}

/* ---- What to log in with ---- */

static void
gather_auth(json_t *values)
{
    json_t *auth = json_object_get(values, "auth");

    if (!json_is_object(auth)) {
        json_object_set_new(values, "auth", json_object());
        auth = json_object_get(values, "auth");
    }
    for (gsize i = 0; i < G_N_ELEMENTS(auth_keys); i++) {
        const char *key = auth_keys[i].key;
        json_t *outside = json_object_get(values, key);

        if (outside != NULL && json_object_get(auth, key) == NULL)
            json_object_set(auth, key, outside);
        if (auth_keys[i].becomes != NULL)
            fix_key(auth, key, auth_keys[i].becomes);
    }
}

static gboolean
has(const json_t *auth, const char *key)
{
    const char *text = json_string_value(json_object_get(auth, key));

    return text != NULL && *text != '\0';
}

static gboolean
has_domain(const json_t *auth, const char *of)
{
    g_autofree char *id = g_strdup_printf("%s_domain_id", of);
    g_autofree char *name = g_strdup_printf("%s_domain_name", of);

    return has(auth, id) || has(auth, name);
}

/* The domain `from` counts for `to` when that has none. */
static void
fill_domain(json_t *auth, const char *to, const char *from)
{
    static const char *const kinds[] = {"id", "name"};

    if (has_domain(auth, to))
        return;
    for (gsize i = 0; i < G_N_ELEMENTS(kinds); i++) {
        g_autofree char *source = g_strdup_printf("%s_%s", from, kinds[i]);
        g_autofree char *target = g_strdup_printf("%s_domain_%s", to, kinds[i]);

        if (has(auth, source))
            json_object_set(auth, target, json_object_get(auth, source));
    }
}

static void
fill_domains(json_t *auth)
{
    if (has(auth, "project_id") || has(auth, "project_name")) {
        fill_domain(auth, "user", "domain");
        fill_domain(auth, "project", "domain");
        json_object_del(auth, "domain_id");
        json_object_del(auth, "domain_name");
    }
    fill_domain(auth, "user", "default_domain");
    fill_domain(auth, "project", "default_domain");
}

/* ---- "{other_key}" ---- */

static const char *
replacement(const json_t *values, const char *key)
{
    const char *text = json_string_value(json_object_get(values, key));

    return text != NULL ? text
                        : json_string_value(json_object_get(json_object_get(values, "auth"), key));
}

/* What is not known stays as it is. Free with g_free(). */
static char *
filled_in(const json_t *values, const char *text)
{
    GString *result = g_string_new(NULL);
    const char *open, *close;

    while ((open = strchr(text, '{')) != NULL && (close = strchr(open, '}')) != NULL) {
        g_autofree char *key = g_strndup(open + 1, (gsize)(close - open - 1));
        const char *value = replacement(values, key);

        g_string_append_len(result, text, open - text);
        if (value != NULL)
            g_string_append(result, value);
        else
            g_string_append_len(result, open, close + 1 - open);
        text = close + 1;
    }
    g_string_append(result, text);
    return g_string_free(result, FALSE);
}

static gboolean
is_secret(const char *key)
{
    return strcmp(key, "password") == 0 || strcmp(key, "token") == 0 ||
           strcmp(key, "application_credential_secret") == 0;
}

static void
fill_in(const json_t *values, json_t *map)
{
    json_t *filled = json_object();
    const char *key;
    json_t *value;

    json_object_foreach(map, key, value)
    {
        if (json_is_string(value) && !is_secret(key) &&
            strchr(json_string_value(value), '{') != NULL) {
            g_autofree char *text = filled_in(values, json_string_value(value));

            json_object_set_new(filled, key, json_string(text));
        }
    }
    json_object_update(map, filled);
    json_decref(filled);
}

/* ---- Loading ---- */

static gboolean
complete(struct settings *settings, const json_t *all, const char *region, GError **error)
{
    const json_t *entry = json_object_get(json_object_get(all, "clouds"), settings->cloud);

    if (!json_is_object(entry)) {
        g_set_error(error, SETTINGS_ERROR, SETTINGS_ERROR_UNKNOWN,
                    "there is no cloud %s in clouds.yaml", settings->cloud);
        return FALSE;
    }
    merge_profile(settings, all, entry);
    merge_entry(settings->values, entry);
    if (!select_region(settings, region, error))
        return FALSE;
    gather_auth(settings->values);
    fill_domains(json_object_get(settings->values, "auth"));
    fill_in(settings->values, settings->values);
    fill_in(settings->values, json_object_get(settings->values, "auth"));
    return TRUE;
}

struct settings *
settings_new(const json_t *all, const char *cloud, const char *region, GError **error)
{
    struct settings *settings = g_new0(struct settings, 1);

    settings->cloud = g_strdup(cloud);
    settings->values = json_object();
    settings->warnings = json_array();
    if (complete(settings, all, region, error))
        return settings;
    settings_free(settings);
    return NULL;
}

struct settings *
settings_load(const char *cloud, const char *region, GError **error)
{
    g_autoptr(GError) mistake = NULL;
    json_t *warnings = json_array();
    json_t *all = clouds_file_load(warnings, &mistake);
    struct settings *settings = NULL;

    if (all == NULL)
        g_set_error(error, SETTINGS_ERROR, SETTINGS_ERROR_FILE, "%s", mistake->message);
    else
        settings = settings_new(all, cloud, region, error);
    if (settings != NULL)
        json_array_extend(settings->warnings, warnings);
    json_decref(all);
    json_decref(warnings);
    return settings;
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

/* ---- Reading ---- */

const char *
settings_text(const struct settings *settings, const char *key)
{
    return json_string_value(json_object_get(settings->values, key));
}

static gboolean
as_flag(const json_t *value, gboolean otherwise)
{
    const char *text = json_string_value(value);

    if (json_is_boolean(value))
        return json_is_true(value);
    if (text == NULL)
        return otherwise;
    return g_ascii_strcasecmp(text, "true") == 0 || strcmp(text, "1") == 0;
}

gboolean
settings_flag(const struct settings *settings, const char *key, gboolean otherwise)
{
    return as_flag(json_object_get(settings->values, key), otherwise);
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

/* ---- Checking ---- */

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

static const char *
auth_type(const struct settings *settings)
{
    const char *type = settings_text(settings, "auth_type");

    return type != NULL ? type : "password";
}

const char *
settings_method(const struct settings *settings)
{
    for (gsize i = 0; i < G_N_ELEMENTS(methods); i++)
        if (strcmp(methods[i].type, auth_type(settings)) == 0)
            return methods[i].method;
    return NULL;
}

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
                    settings->cloud, auth_type(settings));
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
        number += as_flag(json_object_get(network, part), FALSE);
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
        if (!has(network, "name"))
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

        if (strcmp(needs[i].method, method) != 0 || has(auth, needs[i].a) ||
            (needs[i].b != NULL && has(auth, needs[i].b)))
            continue;
        text = g_strdup_printf("%s is missing", needs[i].a);
        return refuse(error, SETTINGS_ERROR_UNSUPPORTED, settings, text);
    }
    if (strcmp(method, "application_credential") == 0 && !has(auth, "application_credential_id") &&
        !has(auth, "username") && !has(auth, "user_id"))
        return refuse(error, SETTINGS_ERROR_UNSUPPORTED, settings,
                      "application_credential_name needs username or user_id");
    return TRUE;
}

gboolean
settings_check_domains(const struct settings *settings, GError **error)
{
    const json_t *auth = json_object_get(settings->values, "auth");
    const char *method = settings_method(settings);

    if (g_strcmp0(method, "password") == 0 && has(auth, "username") && !has(auth, "user_id") &&
        !has_domain(auth, "user"))
        return refuse(error, SETTINGS_ERROR_DOMAIN, settings,
                      "username needs user_domain_name or user_domain_id");
    if (g_strcmp0(method, "application_credential") == 0 &&
        !has(auth, "application_credential_id") && has(auth, "username") && !has(auth, "user_id") &&
        !has_domain(auth, "user"))
        return refuse(error, SETTINGS_ERROR_DOMAIN, settings,
                      "username needs user_domain_name or user_domain_id");
    if ((g_strcmp0(method, "password") == 0 || g_strcmp0(method, "token") == 0) &&
        has(auth, "project_name") && !has(auth, "project_id") && !has_domain(auth, "project"))
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
