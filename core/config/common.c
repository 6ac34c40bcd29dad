#include "config/common.h"

#define SERVER  "zookeeper-servers[]."
#define TLS     "zookeeper-tls."
#define LABEL   "labels[]."
#define TOKEN   "api.tokens[]."
#define IMAGE   "diskimages[]."
#define TENANT  "tenant-resource-limits[]."
#define PROV    DROVER_PROVIDER_PREFIX
#define POOL    PROV "pools[]."
#define LENIENT DROVER_OPTION_LENIENT

#define STRING(key, more, default_text, text)                                                      \
    {                                                                                              \
        .path = (key), .type = DROVER_OPTION_STRING, .flags = (more), .fallback = (default_text),  \
        .help = (text)                                                                             \
    }
#define INTEGER(key, default_text, range, text)                                                    \
    {                                                                                              \
        .path = (key), .type = DROVER_OPTION_INTEGER, .fallback = (default_text),                  \
        .allowed = (range), .help = (text)                                                         \
    }
#define BOOLEAN(key, default_text, text)                                                           \
    {                                                                                              \
        .path = (key), .type = DROVER_OPTION_BOOLEAN, .flags = LENIENT,                            \
        .fallback = (default_text), .help = (text)                                                 \
    }
#define STRINGS(key, more, default_text, text)                                                     \
    {                                                                                              \
        .path = (key), .type = DROVER_OPTION_STRINGS, .flags = (more), .fallback = (default_text), \
        .help = (text)                                                                             \
    }
#define MAP(key, more, default_text, text)                                                         \
    {                                                                                              \
        .path = (key), .type = DROVER_OPTION_MAP, .flags = (more), .fallback = (default_text),     \
        .help = (text)                                                                             \
    }
/* Entries are told apart by `member`; of the same ones the last is used, as Nodepool does. */
#define LIST(key, member, text)                                                                    \
    {                                                                                              \
        .path = (key), .type = DROVER_OPTION_LIST, .flags = LENIENT, .fallback = "[]",             \
        .unique = (member), .help = (text)                                                         \
    }
#define NAME(key, text) STRING(key, DROVER_OPTION_REQUIRED | LENIENT, NULL, text)

static const struct drover_option options[] = {
    MAP("webapp", 0, "{}",
        "Status pages of the launcher, served if this is there; read at start only."),
    INTEGER("webapp.port", "8005", "0..65535", "Port; 0 lets the system choose a free one."),
    STRING("webapp.listen_address", 0, "0.0.0.0", "Address to listen on."),
    MAP("prometheus", 0, NULL, "Metrics and health of the programs; read at start only."),
    MAP("prometheus.launcher", 0, NULL, "Those of the launcher."),
    INTEGER("prometheus.launcher.port", NULL, "0..65535",
            "Port; 0 lets the system choose a free one; none without it."),
    STRING("prometheus.launcher.listen_address", 0, "0.0.0.0", "Address to listen on."),
    MAP("prometheus.builder", 0, NULL, "Those of the builder."),
    INTEGER("prometheus.builder.port", NULL, "0..65535",
            "Port; 0 lets the system choose a free one; none without it."),
    STRING("prometheus.builder.listen_address", 0, "0.0.0.0", "Address to listen on."),
    MAP("api", 0, NULL, "Node requests over HTTP, at the status pages' port."),
    LIST("api.tokens[]", "name", "Who may request nodes; best in the secure file."),
    NAME(TOKEN "name", "Name of the client: the requestor of its requests is api:NAME."),
    STRING(TOKEN "token", DROVER_OPTION_REQUIRED | DROVER_OPTION_SECRET, NULL,
           "What it shows to be let in, 16 characters or more."),
    STRING(TOKEN "tenant", LENIENT, NULL, "Tenant on whose account its requests are."),
    STRINGS(TOKEN "labels", DROVER_OPTION_LIST_ONLY, NULL,
            "Labels that it may ask for; any without it."),
    INTEGER(TOKEN "max-nodes", NULL, "1..1000000",
            "Nodes that all its requests together may ask for; any number without it."),
    INTEGER(
        TOKEN "lease", NULL, "10..31536000",
        "Seconds after which a request is given back that it has not asked about; never without "
        "it."),
    STRING("elements-dir", 0, NULL, "Folder of the elements that disk images are made of."),
    STRING("images-dir", 0, NULL, "Folder that the builder writes disk images to."),
    STRING("build-log-dir", 0, "/var/log/nodepool/builds", "Folder of the logs of image builds."),
    INTEGER("build-log-retention", "7", NULL, "Build logs to keep of each image; -1 keeps all."),
    INTEGER("max-hold-age", NULL, NULL,
            "Seconds after which a held node is deleted; 0 or less means never."),

    LIST("zookeeper-servers[]", NULL, "The ZooKeeper cluster; here or in the secure file."),
    STRING(SERVER "host", DROVER_OPTION_REQUIRED, NULL, "Name or address of a server."),
    INTEGER(SERVER "port", "2281", "1..65535", "Its port."),
    STRING(SERVER "chroot", 0, NULL,
           "Path below which everything is kept, with / in front; the same for all servers that "
           "give one."),
    MAP("zookeeper-tls", 0, NULL, "TLS to ZooKeeper; without it connections are plain."),
    STRING(TLS "cert", 0, NULL, "Client certificate, a PEM file; required with TLS."),
    STRING(TLS "key", 0, NULL, "Its private key, a PEM file; required with TLS."),
    STRING(TLS "ca", 0, NULL, "Certificates that are trusted, a PEM file; required with TLS."),
    BOOLEAN(TLS "verify-hostname", "true",
            "Whether a server's certificate has to carry the name under \"host\"."),
    {
        .path = "zookeeper-timeout",
        .type = DROVER_OPTION_NUMBER,
        .flags = LENIENT,
        .fallback = "10.0",
        .allowed = "0.001..",
        .help = "Session time-out in seconds.",
    },
    STRING("zookeeper-digest", DROVER_OPTION_SECRET, NULL,
           "\"user:password\" for clusters that only Drover uses."),

    LIST("labels[]", "name", "Kinds of nodes that may be requested."),
    NAME(LABEL "name", "Name of the label."),
    INTEGER(LABEL "min-ready", "0", NULL, "Nodes to keep ready; 0 or less means none."),
    INTEGER(LABEL "max-ready-age", "0", NULL,
            "Seconds after which a ready node that nobody uses is deleted; 0 means never."),

    LIST("diskimages[]", "name", "Disk images that the builder makes."),
    NAME(IMAGE "name", "Name of the image."),
    BOOLEAN(IMAGE "abstract", "false", "Only a parent of others, never built."),
    STRING(IMAGE "parent", LENIENT, NULL,
           "Image whose options this one inherits; it may stand anywhere in the list."),
    STRINGS(IMAGE "formats", DROVER_OPTION_LIST_ONLY, NULL,
            "File formats to build beside those that the providers need."),
    STRINGS(IMAGE "keep-formats", DROVER_OPTION_LIST_ONLY, NULL,
            "Formats that stay on disk in spite of delete-after-upload."),
    BOOLEAN(IMAGE "delete-after-upload", "false", "Delete the files once they are uploaded."),
    BOOLEAN(IMAGE "pause", "false", "Do not build."),
    STRINGS(IMAGE "elements", DROVER_OPTION_LIST_ONLY, "[]",
            "Elements of diskimage-builder; a parent's come first."),
    MAP(IMAGE "env-vars", DROVER_OPTION_SECRET, "{}",
        "Environment of the build, added to the parent's."),
    STRING(IMAGE "env-vars.*", LENIENT, NULL, "Value of the variable."),
    STRING(IMAGE "release", LENIENT | DROVER_OPTION_OR_INTEGER, "\"\"",
           "Release of the operating system; an integer is as good."),
    INTEGER(IMAGE "rebuild-age", "86400", NULL, "Seconds after which the image is built anew."),
    INTEGER(IMAGE "build-timeout", "28800", NULL, "Seconds that a build may take."),
    STRING(IMAGE "dib-cmd", 0, "disk-image-create",
           "Command that builds; %p stands for the folder of the running program."),
    STRING(IMAGE "username", LENIENT, "zuul", "Account that those who use a node log in to."),
    STRING(IMAGE "python-path", LENIENT, "auto", "Python interpreter that Ansible uses."),
    STRING(IMAGE "shell-type", LENIENT, NULL, "Ansible's shell type."),
    MAP(IMAGE "metadata", 0, NULL, "Metadata of uploads; not inherited."),

    LIST("tenant-resource-limits[]", "tenant-name", "What a tenant may use over all providers."),
    NAME(TENANT "tenant-name", "Name of the tenant."),
    INTEGER(TENANT "max-servers", NULL, "0..", "Instances."),
    INTEGER(TENANT "max-cores", NULL, "0..", "Cores."),
    INTEGER(TENANT "max-ram", NULL, "0..", "Memory in MiB."),
    INTEGER(TENANT "max-volumes", NULL, "0..", "Volumes."),
    INTEGER(TENANT "max-volume-gb", NULL, "0..", "Size of all volumes in GB."),
    INTEGER(TENANT "*", NULL, "0..", "Any other resource by its name, for instance a quota code."),

    LIST("providers[]", "name", "Where nodes come from."),
    NAME(PROV "name", "Name of the provider; its identity in ZooKeeper and in clouds' tags."),
    STRING(PROV "driver", 0, "openstack", "Driver that serves the provider."),
    INTEGER(PROV "max-concurrency", "-1", NULL,
            "Launches at the same time; -1 means no limit, 0 that nothing is served."),
    INTEGER(PROV "driver-timeout", NULL, "1..",
            "Seconds after which a provider whose driver does not come back from a call is "
            "unhealthy; 300, or 3600 for a driver that says that it blocks."),
    {
        .path = PROV "isolation",
        .type = DROVER_OPTION_STRING,
        .fallback = "none",
        .allowed = "none|process",
        .help = "Where the driver runs: in the launcher, or in a process of its own.",
    },
    INTEGER(PROV "priority", NULL, NULL, "Smaller is preferred; 100 when nothing is set."),
    LIST(PROV "pools[]", "name", "Parts of the provider, each with its own limits and labels."),
    NAME(POOL "name", "Name of the pool, once in its provider."),
    INTEGER(POOL "max-servers", NULL, NULL,
            "Nodes at the same time; 0 or less disables the pool, absent means no limit."),
    INTEGER(POOL "priority", NULL, NULL, "As the provider's, which it overrides."),
    MAP(POOL "node-attributes", 0, NULL, "Copied to each node's record."),

    MAP("drivers", 0, NULL, "Drover only: where drivers are, and settings of theirs."),
    STRINGS("drivers.directories", 0, "[]", "Folders that are searched before the installed one."),
    {
        .path = "drivers.*",
        .type = DROVER_OPTION_ANY,
        .help = "Settings of the driver of this name.",
    },
    {.path = NULL},
};

/* What the secure file may hold; the rest of its options are those of the main file. */
static const struct drover_option secure_options[] = {
    LIST("diskimages[]", NULL, "Secret environment variables of disk images."),
    NAME(IMAGE "name", "Name of the image."),
    MAP(IMAGE "env-vars", DROVER_OPTION_SECRET | DROVER_OPTION_REQUIRED, NULL,
        "Variables that are added."),
    STRING(IMAGE "env-vars.*", LENIENT, NULL, "Value of the variable."),
    {.path = NULL},
};

/* Options of the main file that may stand in the secure one too. */
static const char *const shared_options[] = {"zookeeper-servers[]", "zookeeper-tls",
                                             "zookeeper-digest", "api"};

const struct drover_option *
drover_config_common_options(void)
{
    return options;
}

/* The host's own tables are good; a mistake in them shows in every test. */
static DroverSchema *
schema_from(const struct drover_option *table)
{
    DroverSchema *schema = drover_schema_new();
    g_autoptr(GError) error = NULL;

    if (!drover_schema_add(schema, table, sizeof *table, "", &error))
        g_error("common options: %s", error->message);
    return schema;
}

DroverSchema *
drover_common_main_schema(void)
{
    return schema_from(options);
}

static gboolean
is_shared(const char *path)
{
    for (guint i = 0; i < G_N_ELEMENTS(shared_options); i++)
        if (g_str_has_prefix(path, shared_options[i]))
            return TRUE;
    return FALSE;
}

DroverSchema *
drover_common_secure_schema(void)
{
    g_autoptr(GArray) table = g_array_new(TRUE, TRUE, sizeof(struct drover_option));

    for (guint i = 0; options[i].path != NULL; i++)
        if (is_shared(options[i].path))
            g_array_append_val(table, options[i]);
    g_array_append_vals(table, secure_options, G_N_ELEMENTS(secure_options));
    return schema_from((const struct drover_option *)(gpointer)table->data);
}
