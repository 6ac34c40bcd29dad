#include "endpoint.h"

#include <string.h>

/* The newest microversion of Nova that this driver knows. */
#define NEWEST_MICROVERSION 96

/* ---- The catalog ---- */

static const char *
text_of(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

static gboolean
is_in_region(const struct settings *settings, enum service service, const json_t *endpoint)
{
    const char *region = settings_of_service(settings, service, "region_name");

    if (region == NULL)
        region = settings->region;
    return region == NULL || g_strcmp0(text_of(endpoint, "region"), region) == 0 ||
           g_strcmp0(text_of(endpoint, "region_id"), region) == 0;
}

static const char *
url_of_entry(const struct settings *settings, const json_t *entry, enum service service)
{
    g_autofree char *interface = settings_interface(settings, service);
    const char *name = settings_of_service(settings, service, "service_name");
    size_t index;
    json_t *endpoint;

    if (name != NULL && g_strcmp0(text_of(entry, "name"), name) != 0)
        return NULL;
    json_array_foreach(json_object_get(entry, "endpoints"), index, endpoint)
    {
        if (g_strcmp0(text_of(endpoint, "interface"), interface) == 0 &&
            is_in_region(settings, service, endpoint))
            return text_of(endpoint, "url");
    }
    return NULL;
}

static const char *
url_of_type(const struct settings *settings, const json_t *catalog, enum service service,
            const char *type)
{
    size_t index;
    json_t *entry;
    const char *url;

    json_array_foreach((json_t *)catalog, index, entry)
    {
        if (g_strcmp0(text_of(entry, "type"), type) == 0 &&
            (url = url_of_entry(settings, entry, service)) != NULL)
            return url;
    }
    return NULL;
}

static const char *
url_of_catalog(const struct settings *settings, const json_t *catalog, enum service service)
{
    const char *type = settings_of_service(settings, service, "service_type");
    const char *url = NULL;

    if (type != NULL)
        url = url_of_type(settings, catalog, service, type);
    for (const char *const *usual = service_forms[service].types; *usual != NULL && url == NULL;
         usual++)
        url = url_of_type(settings, catalog, service, *usual);
    return url;
}

/* ---- The settings ---- */

static const char *
override(const struct settings *settings, enum service service)
{
    const char *url = settings_of_service(settings, service, "endpoint_override");

    return url != NULL ? url : settings_of_service(settings, service, "endpoint");
}

/* Free with g_free(). */
static char *
with_project(const char *url, const char *project_id)
{
    static const char *const places[] = {"%(project_id)s", "$(project_id)s", "%(tenant_id)s",
                                         "$(tenant_id)s"};
    GString *text = g_string_new(url);

    for (gsize i = 0; i < G_N_ELEMENTS(places); i++)
        g_string_replace(text, places[i], project_id != NULL ? project_id : "", 0);
    while (text->len > 0 && text->str[text->len - 1] == '/')
        g_string_truncate(text, text->len - 1);
    return g_string_free(text, FALSE);
}

static gboolean
has_version(const char *url)
{
    return g_regex_match_simple("/v[0-9]+(\\.[0-9]+)?(/|$)", url, 0, 0);
}

char *
endpoint_find(const struct settings *settings, const json_t *catalog, enum service service,
              const char *project_id)
{
    const char *url = override(settings, service);
    const char *version = service_forms[service].version_path;
    g_autofree char *address = NULL;

    if (!settings_has_service(settings, service))
        return NULL;
    if (url == NULL)
        url = url_of_catalog(settings, catalog, service);
    if (url == NULL)
        return NULL;
    address = with_project(url, project_id);
    if (version == NULL || has_version(address))
        return g_steal_pointer(&address);
    return g_strconcat(address, version, NULL);
}

/* ---- Versions ---- */

/* The part of the address before that of its path, or all of it. `found`: whether there is it. Free
 * with g_free(). */
static char *
before_part(const char *url, const char *pattern, gboolean *found)
{
    g_autoptr(GRegex) form = g_regex_new(pattern, 0, 0, NULL);
    g_autoptr(GMatchInfo) match = NULL;
    int begin = (int)strlen(url), end;

    *found = g_regex_match(form, url, 0, &match);
    if (*found)
        g_match_info_fetch_pos(match, 1, &begin, &end);
    return g_strndup(url, (gsize)begin);
}

char *
endpoint_of_compute(const char *url, char **versions)
{
    gboolean is_new, is_old;
    g_autofree char *new_root = before_part(url, "[^/](/v2\\.1)(/|$)", &is_new);
    g_autofree char *old_root = before_part(url, "[^/](/v2(\\.0)?)(/|$)", &is_old);

    *versions = g_strconcat(is_new ? new_root : old_root, "/v2.1/", NULL);
    return is_new ? g_strdup(url) : g_strconcat(old_root, "/v2.1", NULL);
}

gboolean
endpoint_compute_is_fixed(const struct settings *settings)
{
    return override(settings, SERVICE_COMPUTE) != NULL &&
           settings_of_service(settings, SERVICE_COMPUTE, "api_version") != NULL;
}

/* Of one version, or, as some proxies lead to it, of all that there are. */
const json_t *
endpoint_version(const json_t *answer)
{
    const json_t *one = json_object_get(answer, "version");
    size_t index;
    json_t *version;

    if (json_is_object(one))
        return one;
    json_array_foreach(json_object_get(answer, "versions"), index, version)
    {
        if (g_strcmp0(text_of(version, "id"), "v2.1") == 0)
            return version;
    }
    return NULL;
}

int
endpoint_microversion(const char *text)
{
    char *end;
    gint64 minor;

    if (text == NULL || !g_str_has_prefix(text, "2."))
        return -1;
    minor = g_ascii_strtoll(text + 2, &end, 10);
    return end != text + 2 && *end == '\0' && minor >= 0 && minor < 10000 ? (int)minor : -1;
}

int
endpoint_choose_microversion(const struct settings *settings, const json_t *answer, GError **error)
{
    const json_t *version = endpoint_version(answer);
    const char *wish = settings_of_service(settings, SERVICE_COMPUTE, "default_microversion");
    int most = MAX(endpoint_microversion(text_of(version, "version")), 1);
    int least = MAX(endpoint_microversion(text_of(version, "min_version")), 1);
    int wanted = endpoint_microversion(wish);

    if (wish == NULL)
        return MIN(most, NEWEST_MICROVERSION);
    if (wanted >= least && wanted <= most)
        return wanted;
    g_set_error(error, SETTINGS_ERROR, SETTINGS_ERROR_UNSUPPORTED,
                "cloud %s: compute_default_microversion is %s; the cloud has 2.%d to 2.%d",
                settings->cloud, wish, least, most);
    return -1;
}
