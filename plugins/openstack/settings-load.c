#include <string.h>

#include "clouds-file.h"
#include "settings-private.h"

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

/* The domain `from` counts for `to` when that has none. */
static void
fill_domain(json_t *auth, const char *to, const char *from)
{
    static const char *const kinds[] = {"id", "name"};

    if (settings_has_domain(auth, to))
        return;
    for (gsize i = 0; i < G_N_ELEMENTS(kinds); i++) {
        g_autofree char *source = g_strdup_printf("%s_%s", from, kinds[i]);
        g_autofree char *target = g_strdup_printf("%s_domain_%s", to, kinds[i]);

        if (settings_has(auth, source))
            json_object_set(auth, target, json_object_get(auth, source));
    }
}

static void
fill_domains(json_t *auth)
{
    if (settings_has(auth, "project_id") || settings_has(auth, "project_name")) {
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
