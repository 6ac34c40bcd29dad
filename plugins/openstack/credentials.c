#include "credentials.h"

#include <string.h>

/* {"id": ...}, or {"name": ..., "domain": {...}}; NULL when there is neither. A new reference. */
static json_t *
domain_of(const struct settings *settings, const char *id_key, const char *name_key)
{
    const char *id = settings_auth(settings, id_key);
    const char *name = settings_auth(settings, name_key);

    if (id != NULL)
        return json_pack("{s:s}", "id", id);
    return name != NULL ? json_pack("{s:s}", "name", name) : NULL;
}

static json_t *
user_of(const struct settings *settings)
{
    const char *id = settings_auth(settings, "user_id");

    if (id != NULL)
        return json_pack("{s:s}", "id", id);
    return json_pack("{s:s?, s:o*}", "name", settings_auth(settings, "username"), "domain",
                     domain_of(settings, "user_domain_id", "user_domain_name"));
}

/* ---- The scope ---- */

static json_t *
scope_of(const struct settings *settings)
{
    const char *project_id = settings_auth(settings, "project_id");
    const char *project_name = settings_auth(settings, "project_name");
    const char *trust = settings_auth(settings, "trust_id");
    json_t *domain;

    if (trust != NULL)
        return json_pack("{s:{s:s}}", "OS-TRUST:trust", "id", trust);
    if (project_id != NULL)
        return json_pack("{s:{s:s}}", "project", "id", project_id);
    if (project_name != NULL)
        return json_pack("{s:{s:s, s:o*}}", "project", "name", project_name, "domain",
                         domain_of(settings, "project_domain_id", "project_domain_name"));
    domain = domain_of(settings, "domain_id", "domain_name");
    if (domain != NULL)
        return json_pack("{s:o}", "domain", domain);
    if (settings_auth(settings, "system_scope") != NULL)
        return json_pack("{s:{s:b}}", "system", "all", 1);
    return NULL;
}

/* ---- Ways to log in ---- */

static json_t *
by_password(const struct settings *settings)
{
    json_t *user = user_of(settings);

    json_object_set_new(user, "password", json_string(settings_auth(settings, "password")));
    return json_pack("{s:o}", "user", user);
}

static json_t *
by_application_credential(const struct settings *settings)
{
    const char *id = settings_auth(settings, "application_credential_id");
    const char *secret = settings_auth(settings, "application_credential_secret");

    if (id != NULL)
        return json_pack("{s:s, s:s?}", "id", id, "secret", secret);
    return json_pack("{s:s?, s:s?, s:o}", "name",
                     settings_auth(settings, "application_credential_name"), "secret", secret,
                     "user", user_of(settings));
}

static json_t *
by_token(const struct settings *settings)
{
    return json_pack("{s:s?}", "id", settings_auth(settings, "token"));
}

static const struct {
    const char *method;
    json_t *(*body)(const struct settings *settings);
    gboolean has_scope; /* an application credential has its own, and refuses any other */
} ways[] = {
    {"password", by_password, TRUE},
    {"application_credential", by_application_credential, FALSE},
    {"token", by_token, TRUE},
};

json_t *
credentials_request(const struct settings *settings)
{
    const char *method = settings_method(settings);

    for (gsize i = 0; i < G_N_ELEMENTS(ways); i++)
        if (g_strcmp0(ways[i].method, method) == 0)
            return json_pack("{s:{s:{s:[s], s:o}, s:o*}}", "auth", "identity", "methods", method,
                             method, ways[i].body(settings), "scope",
                             ways[i].has_scope ? scope_of(settings) : NULL);
    return json_object();
}

/* ---- Keystone's address ---- */

static char *
without_slash(const char *url)
{
    gsize length = strlen(url);

    while (length > 0 && url[length - 1] == '/')
        length--;
    return g_strndup(url, length);
}

gboolean
credentials_url_is_v3(const char *auth_url)
{
    g_autofree char *url = without_slash(auth_url);

    return g_str_has_suffix(url, "/v3");
}

static const char *
own_link(const json_t *version)
{
    size_t index;
    json_t *link;

    json_array_foreach(json_object_get(version, "links"), index, link)
    {
        if (g_strcmp0(json_string_value(json_object_get(link, "rel")), "self") == 0)
            return json_string_value(json_object_get(link, "href"));
    }
    return NULL;
}

static const char *
link_of_v3(const json_t *versions)
{
    const json_t *list = json_object_get(versions, "versions");
    const char *found = NULL;
    size_t index;
    json_t *version;

    if (json_is_object(list))
        list = json_object_get(list, "values");
    json_array_foreach((json_t *)list, index, version)
    {
        const char *id = json_string_value(json_object_get(version, "id"));

        if (found == NULL && id != NULL && g_str_has_prefix(id, "v3"))
            found = own_link(version);
    }
    return found;
}

char *
credentials_v3_url(const char *auth_url, const json_t *versions)
{
    g_autofree char *url = without_slash(auth_url);
    const char *link = link_of_v3(versions);

    if (credentials_url_is_v3(auth_url))
        return g_steal_pointer(&url);
    if (link != NULL)
        return without_slash(link);
    return g_str_has_suffix(url, "/v2.0") ? NULL : g_strconcat(url, "/v3", NULL);
}

gint64
credentials_time(const char *text)
{
    g_autoptr(GTimeZone) utc = g_time_zone_new_utc();
    g_autoptr(GDateTime) time = text != NULL ? g_date_time_new_from_iso8601(text, utc) : NULL;

    return time != NULL ? g_date_time_to_unix(time) * G_USEC_PER_SEC : 0;
}

int64_t
credentials_life(const json_t *token)
{
    gint64 issued = credentials_time(json_string_value(json_object_get(token, "issued_at")));
    gint64 ends = credentials_time(json_string_value(json_object_get(token, "expires_at")));

    if (issued == 0)
        issued = g_get_real_time();
    return MAX((ends - issued) / 1000, 0);
}
