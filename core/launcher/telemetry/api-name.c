#include "launcher/telemetry/api-name.h"

#include <string.h>

#define PROJECT_ID_LENGTH 32

/* Where services are when a cloud has them at their usual ports, or behind one server. */
static const struct {
    int port;
    const char *path, *service;
} places[] = {
    {5000, "identity", "identity"},         {35357, NULL, "identity"},
    {8774, "compute", "compute"},           {9292, "image", "image"},
    {9696, "networking", "network"},        {0, "network", "network"},
    {8776, "volume", "block-storage"},      {0, "block-storage", "block-storage"},
    {6385, "baremetal", "baremetal"},       {8004, "orchestration", "orchestration"},
    {8080, "object-store", "object-store"},
};

static const char *
service_at(int port, const char *path)
{
    for (guint i = 0; i < G_N_ELEMENTS(places); i++)
        if (path != NULL ? g_strcmp0(places[i].path, path) == 0
                         : port > 0 && places[i].port == port)
            return places[i].service;
    return "";
}

static gboolean
is_version(const char *part)
{
    return part[0] == 'v' && g_ascii_isdigit(part[1]);
}

static gboolean
is_project(const char *part)
{
    return g_str_has_prefix(part, "AUTH_") ||
           (strlen(part) == PROJECT_ID_LENGTH && strspn(part, "0123456789abcdef") == strlen(part));
}

/* Every other part is an id. One thing of many is named in the singular. */
static void
append_names(GString *name, char **parts, guint n_parts)
{
    for (guint i = 0; i < n_parts; i += 2) {
        gsize length = strlen(parts[i]);
        gboolean of_one =
            i + 1 < n_parts && g_str_has_suffix(parts[i], "s") && !g_str_has_suffix(parts[i], "is");

        g_string_append_printf(name, "%s%.*s", i > 0 ? "_" : "",
                               (int)(of_one ? length - 1 : length), parts[i]);
    }
}

static char *
operation_of(char **parts, guint n_parts)
{
    GString *name = g_string_new(NULL);

    if (n_parts > 0 && strcmp(parts[n_parts - 1], "tokens") == 0)
        g_string_append(name, "tokens");
    else if (n_parts > 1 && strcmp(parts[n_parts - 1], "detail") == 0)
        g_string_append_printf(name, "%s_detail", parts[n_parts - 2]);
    else
        append_names(name, parts, n_parts);
    if (name->len == 0)
        g_string_append(name, "discovery");
    return g_string_free(name, FALSE);
}

/* Without empty parts and a query. */
static char **
split_path(const char *path)
{
    g_autofree char *plain = g_strndup(path, strcspn(path, "?#"));
    g_auto(GStrv) all = g_strsplit(plain, "/", -1);
    GPtrArray *parts = g_ptr_array_new();

    for (char **part = all; *part != NULL; part++)
        if (**part != '\0')
            g_ptr_array_add(parts, g_strdup(*part));
    g_ptr_array_add(parts, NULL);
    return (char **)g_ptr_array_free(parts, FALSE);
}

DroverApiName
drover_api_name(const char *url)
{
    g_autoptr(GUri) uri = g_uri_parse(url, G_URI_FLAGS_ENCODED, NULL);
    g_auto(GStrv) parts = split_path(uri != NULL ? g_uri_get_path(uri) : "");
    guint n_parts = g_strv_length(parts), first = 0;
    const char *service = service_at(uri != NULL ? g_uri_get_port(uri) : 0, NULL);

    if (n_parts > 0 && !is_version(parts[0]) && *service_at(0, parts[0]) != '\0')
        service = service_at(0, parts[first++]);
    if (first < n_parts && is_version(parts[first]))
        first++;
    if (first < n_parts && is_project(parts[first]))
        first++;
    return (DroverApiName){g_strdup(service), operation_of(parts + first, n_parts - first)};
}

void
drover_api_name_clear(DroverApiName *name)
{
    g_free(name->service);
    g_free(name->operation);
}
