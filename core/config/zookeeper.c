#include "config/zookeeper.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "config/convert.h"

static const char *const tls_files[] = {"cert", "key", "ca"};

/* A section in the file that it is taken from. */
typedef struct {
    const struct drover_value *value; /* NULL when neither file has it */
    const DroverConfigSource *source;
} Section;

/* Whether the file says anything in the section; defaults do not count. */
static gboolean
is_filled(const struct drover_value *section)
{
    for (gsize i = 0; i < drover_value_length(section); i++)
        if (drover_value_line(drover_value_item(section, i)) > 0)
            return TRUE;
    return FALSE;
}

/* The secure file's section, unless it is empty and the main file has one. */
static Section
choose_section(const char *key, Section main_file, Section secure_file)
{
    const struct drover_value *secure = drover_value_get(secure_file.value, key);
    const struct drover_value *other = drover_value_get(main_file.value, key);

    if (is_filled(secure) || other == NULL)
        return (Section){secure, secure_file.source};
    return (Section){other, main_file.source};
}

static void G_GNUC_PRINTF(4, 5) complain(const Section *section, const struct drover_value *place,
                                         const char *object, const char *format, ...)
{
    g_autofree char *message = NULL;
    va_list args;

    va_start(args, format);
    message = g_strdup_vprintf(format, args);
    va_end(args);
    drover_config_report_add(section->source, DROVER_CONFIG_ERROR, drover_value_line(place),
                             drover_value_column(place), object, "%s", message);
}

/* ---- Servers ---- */

void
drover_server_config_free(DroverServerConfig *server)
{
    g_free(server->host);
    g_free(server);
}

/* An IPv6 address may stand in brackets. */
static char *
bare_host(const char *host)
{
    gsize length = strlen(host);

    if (length > 2 && host[0] == '[' && host[length - 1] == ']')
        return g_strndup(host + 1, length - 2);
    return g_strdup(host);
}

static DroverServerConfig *
server_new(const struct drover_value *entry)
{
    DroverServerConfig *server = g_new0(DroverServerConfig, 1);

    server->host = bare_host(drover_value_get_string(entry, "host", ""));
    server->port = drover_value_get_int(entry, "port", 0);
    return server;
}

/* The path without slashes at its end, or NULL for the root. */
static char *
clean_chroot(const char *chroot)
{
    g_autofree char *path = g_strdup(chroot);
    gsize length = strlen(path);

    while (length > 0 && path[length - 1] == '/')
        path[--length] = '\0';
    return length > 0 ? g_steal_pointer(&path) : NULL;
}

/* One path for all servers: kazoo takes it from the last one, people write it at every one. */
static void
take_chroot(DroverConfig *config, const Section *servers, gsize index)
{
    const struct drover_value *entry = drover_value_item(servers->value, index);
    const struct drover_value *value = drover_value_get(entry, "chroot");
    const char *text = drover_value_string(value);
    g_autofree char *object = g_strdup_printf("zookeeper-server %" G_GSIZE_FORMAT, index + 1);
    g_autofree char *chroot = text != NULL ? clean_chroot(text) : NULL;
    gboolean secret = servers->source->secret;

    if (text == NULL)
        return;
    if (*text != '/')
        complain(servers, value, object, "chroot: must begin with /");
    else if (config->chroot != NULL && g_strcmp0(config->chroot, chroot) != 0)
        complain(servers, value, object,
                 "chroot: %s differs from %s of another server; there can be only one",
                 secret ? "this path" : text, secret ? "that" : config->chroot);
    else if (config->chroot == NULL)
        config->chroot = g_steal_pointer(&chroot);
}

static void
take_servers(DroverConfig *config, const Section *servers)
{
    for (gsize i = 0; i < drover_value_length(servers->value); i++) {
        g_ptr_array_add(config->servers, server_new(drover_value_item(servers->value, i)));
        take_chroot(config, servers, i);
    }
}

/* Whoever validates only the main file cannot know what the secure one has. */
static void
report_no_servers(const Section *main_file, gboolean has_secure_file)
{
    if (main_file->source->strict && !has_secure_file)
        drover_config_report_add(main_file->source, DROVER_CONFIG_WARNING, 0, 0, NULL,
                                 "zookeeper-servers: no servers are given here; the launcher needs "
                                 "them in its secure file (check both files with -s)");
    else
        complain(main_file, NULL, NULL,
                 "zookeeper-servers: no servers are given, neither here nor in a secure file");
}

/* ---- TLS ---- */

static char *
missing_files(const struct drover_value *tls)
{
    g_autoptr(GPtrArray) missing = g_ptr_array_new();

    for (guint i = 0; i < G_N_ELEMENTS(tls_files); i++)
        if (drover_value_get_string(tls, tls_files[i], NULL) == NULL)
            g_ptr_array_add(missing, (gpointer)tls_files[i]);
    g_ptr_array_add(missing, NULL);
    return missing->len > 1 ? g_strjoinv(" and ", (char **)missing->pdata) : NULL;
}

/* Another machine than the daemons' may validate, without their files. */
static void
check_readable(const Section *tls, const char *key)
{
    const struct drover_value *value = drover_value_get(tls->value, key);
    const char *path = drover_value_string(value);

    if (access(path, R_OK) == 0)
        return;
    drover_config_report_add(tls->source,
                             tls->source->strict ? DROVER_CONFIG_WARNING : DROVER_CONFIG_ERROR,
                             drover_value_line(value), drover_value_column(value), "zookeeper-tls",
                             "%s: the file %s cannot be read: %s", key,
                             tls->source->secret ? "named here" : path, g_strerror(errno));
}

static void
take_tls(DroverConfig *config, const Section *tls)
{
    g_autofree char *missing = missing_files(tls->value);

    config->tls_verify_hostname = drover_value_get_boolean(tls->value, "verify-hostname", TRUE);
    if (tls->value == NULL)
        return;
    if (missing != NULL) {
        complain(tls, tls->value, "zookeeper-tls", "%s missing; cert, key and ca are all needed",
                 missing);
        return;
    }
    for (guint i = 0; i < G_N_ELEMENTS(tls_files); i++)
        check_readable(tls, tls_files[i]);
    config->tls_cert = g_strdup(drover_value_get_string(tls->value, "cert", NULL));
    config->tls_key = g_strdup(drover_value_get_string(tls->value, "key", NULL));
    config->tls_ca = g_strdup(drover_value_get_string(tls->value, "ca", NULL));
}

/* ---- All ---- */

static void
take_digest(DroverConfig *config, const struct drover_value *values, const Section *file)
{
    const struct drover_value *digest = drover_value_get(values, "zookeeper-digest");
    const char *text = drover_value_string(digest);

    if (text == NULL)
        return;
    if (strchr(text, ':') == NULL)
        complain(file, digest, NULL, "zookeeper-digest: must have the form \"user:password\"");
    g_free(config->zookeeper_digest);
    config->zookeeper_digest = g_strdup(text);
}

void
drover_config_take_zookeeper(DroverConfig *config, const struct drover_value *values,
                             const DroverConfigSource *source, const struct drover_value *secure,
                             const DroverConfigSource *secure_source)
{
    Section main_file = {values, source}, secure_file = {secure, secure_source};
    Section servers = choose_section("zookeeper-servers", main_file, secure_file);
    Section tls = choose_section("zookeeper-tls", main_file, secure_file);

    take_servers(config, &servers);
    if (servers.value != NULL && drover_value_length(servers.value) == 0)
        report_no_servers(&main_file, secure_source->file != NULL);
    take_tls(config, &tls);
    take_digest(config, values, &main_file);
    take_digest(config, secure, &secure_file);
    config->zookeeper_timeout = drover_value_get_number(values, "zookeeper-timeout", 10);
}
