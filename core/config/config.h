/*
 * The configuration: nodepool.yaml and the secure file, read, checked and given defaults.
 *
 * Both files are YAML 1.1 as PyYAML's safe loader resolves it, after %(NODEPOOL_X) substitution.
 * Every option, the common ones and each driver's, is declared in a table of struct drover_option;
 * one checker works through all of them and reports all problems of both files in one run.
 *
 * A DroverConfig never changes once loaded and may be read from every thread.
 */
#pragma once

#include <drover/host.h>
#include <glib.h>
#include <jansson.h>

/* ---- Problems ---- */

typedef enum {
    DROVER_CONFIG_WARNING,
    DROVER_CONFIG_ERROR,
} DroverConfigSeverity;

typedef struct {
    DroverConfigSeverity severity;
    char *file;
    guint line, column; /* from 1; 0 when the problem is about the whole file */
    char *object;       /* "provider static-vms, pool main, node 2", or NULL */
    char *message;      /* what was found, what is allowed, the nearest known name */
} DroverConfigProblem;

typedef struct _DroverConfigReport DroverConfigReport;

DroverConfigReport *drover_config_report_new(void);
void drover_config_report_free(DroverConfigReport *report);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DroverConfigReport, drover_config_report_free)
/* In the order of the files. Elements are DroverConfigProblem; owned by the report. */
const GPtrArray *drover_config_report_problems(const DroverConfigReport *report);
guint drover_config_report_errors(const DroverConfigReport *report);
/* "file:line:column: error: object: message", one line. */
char *drover_config_problem_text(const DroverConfigProblem *problem);

/* ---- Drivers, as the configuration needs them ---- */

/*
 * Answers with a driver's table, or NULL with an error that names the file that was looked for and
 * the drivers that are installed.
 */
typedef const struct drover_driver *(*DroverConfigFindDriver)(const char *name, gpointer user_data,
                                                              GError **error);

/* A provider's section that its driver shall look at: one call of config_check(). */
typedef struct {
    const struct drover_driver *driver;
    const struct drover_value *config;
    struct drover_report *report; /* where what the driver finds goes */
    char *failure; /* why it did not come to an end ("it crashes ..."); NULL: it did. g_free */
} DroverConfigTrial;

typedef struct {
    DroverConfigFindDriver find;
    /* Makes these calls where they can do no harm, and sets `failure`. NULL: they are just made. */
    void (*try_out)(DroverConfigTrial *trials, guint count, gpointer user_data);
    gpointer user_data; /* of both */
} DroverConfigDrivers;

/* ---- The checked configuration ---- */

#define DROVER_UNLIMITED G_MAXINT

typedef struct {
    char *name;
    int min_ready;     /* <= 0: none */
    int max_ready_age; /* seconds; 0: none */
} DroverLabelConfig;

typedef struct {
    char *name;
    int max_servers;         /* DROVER_UNLIMITED when not set; <= 0: the pool is disabled */
    int priority;            /* the pool's, else the provider's, else 100 */
    json_t *node_attributes; /* an object, or NULL */
    char **labels; /* that the pool's options refer to, each once, in the order of the file */
    const struct drover_value *values; /* all options of the pool, defaults filled in */
} DroverPoolConfig;

typedef struct {
    char *name;
    char *driver;
    int max_concurrency; /* -1: no limit; 0: handles nothing */
    GPtrArray *pools;    /* of DroverPoolConfig */
    /*
     * All options, defaults filled in: two providers are equal when their values and driver names
     * are. What comes from elsewhere is in there too: "diskimage-settings", a map from the names of
     * the disk images that the provider refers to to their username, python-path and shell-type;
     * "driver-settings", what stands for the driver under `drivers:`.
     */
    struct drover_value *values;
    char *problem; /* why it cannot be started (its driver is not installed), else NULL */
    guint line;
} DroverProviderConfig;

typedef struct {
    char *name;
    char *token;      /* secret */
    char *tenant;     /* or NULL: as its requests say */
    char **labels;    /* that it may ask for; NULL: any */
    gint64 max_nodes; /* of all its requests together; 0: any number */
    gint64 lease;     /* seconds that a request stays of which it asks nothing; 0: for ever */
} DroverTokenConfig;

#define DROVER_NO_PORT (-1)

typedef struct {
    char *address; /* NULL without a section */
    int port;
} DroverListenerConfig;

typedef struct {
    char *host; /* IPv6 without brackets */
    int port;
} DroverServerConfig;

typedef struct {
    char *name;
    GHashTable *limits; /* resource name -> gint64*, only those that are limited */
} DroverTenantConfig;

typedef struct {
    /* Keys of section 7.1 of the configuration reference after inheritance. Strings may be NULL. */
    char *name;
    gboolean abstract, pause, delete_after_upload;
    char **formats, **keep_formats, **elements;
    json_t *env_vars; /* object of strings; holds secrets */
    json_t *metadata; /* object */
    char *release, *dib_cmd, *username, *python_path, *shell_type;
    int rebuild_age, build_timeout; /* seconds */
} DroverDiskImageConfig;

typedef struct {
    /* ZooKeeper */
    GPtrArray *servers;       /* of DroverServerConfig; empty only in the strict view of one file */
    char *chroot;             /* begins with '/', or NULL */
    double zookeeper_timeout; /* seconds */
    char *tls_cert, *tls_key, *tls_ca; /* all or none */
    gboolean tls_verify_hostname;      /* zookeeper-tls: verify-hostname, true by default */
    char *zookeeper_digest;            /* zookeeper-digest: "user:password", secret; or NULL */

    GPtrArray *labels;     /* of DroverLabelConfig */
    GPtrArray *providers;  /* of DroverProviderConfig, in the order of the file */
    GPtrArray *tenants;    /* of DroverTenantConfig */
    GPtrArray *diskimages; /* of DroverDiskImageConfig */
    int max_hold_age;      /* seconds; 0: none */

    gboolean webapp; /* the section is there */
    char *webapp_address;
    int webapp_port;
    /* prometheus: ports are DROVER_NO_PORT when there are none. */
    DroverListenerConfig metrics_of_launcher, metrics_of_builder;
    GPtrArray *tokens; /* of DroverTokenConfig, of both files */
    char *elements_dir, *images_dir, *build_log_dir;
    int build_log_retention;

    char **driver_directories; /* drivers: directories */
    GDateTime *loaded;
} DroverConfig;

/*
 * Loads the files. `secure_path` may be NULL. `strict` is config-validate's view, where what loads
 * only for old files' sake is an error. Problems are added to the report. Returns NULL when there
 * was an error; nothing of the files is in force then. The text of secret values is in no message.
 *
 * A driver that is not found is an error of the strict view only: otherwise there is a warning, and
 * the provider stays in the configuration with its `problem` set and only the common options of it
 * and its pools read. A driver that does not come back from looking at a section is an error of
 * that provider. `drivers` may be NULL for those who have no use for providers; then only the
 * common options are read, and no problem is made of it.
 *
 * A file that does not exist is looked for for one and a half seconds, since editors replace files;
 * who cannot wait looks first (drover_config_stamp).
 */
DroverConfig *drover_config_load(const char *path, const char *secure_path, gboolean strict,
                                 const DroverConfigDrivers *drivers, DroverConfigReport *report);

/*
 * Only the drivers' directories of the file, before everything else can be checked. An empty list
 * when there are none or the file cannot be read. Free with g_strfreev.
 */
char **drover_config_peek_driver_directories(const char *path);

/*
 * What tells one state of the files from another without reading them: modification times in
 * nanoseconds, inodes and sizes. Take it before loading. `secure_path` may be NULL; a file that
 * does not exist has a stamp too. Free with g_free.
 */
char *drover_config_stamp(const char *path, const char *secure_path);

DroverConfig *drover_config_ref(DroverConfig *config);
void drover_config_unref(DroverConfig *config);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DroverConfig, drover_config_unref)

DroverProviderConfig *drover_config_find_provider(const DroverConfig *config, const char *name);
DroverPoolConfig *drover_provider_config_find_pool(const DroverProviderConfig *provider,
                                                   const char *name);
DroverLabelConfig *drover_config_find_label(const DroverConfig *config, const char *name);
DroverTenantConfig *drover_config_find_tenant(const DroverConfig *config, const char *name);

/* Same effective values: nothing has to be restarted. */
gboolean drover_provider_config_equal(const DroverProviderConfig *a, const DroverProviderConfig *b);

/* "h1:2281,[::1]:2281" followed by the chroot, as ZooKeeper clients write it. */
char *drover_config_host_string(const DroverConfig *config);

/*
 * The common options as a table, for the reference documentation. Paths are from the top of the
 * file. Ends with a NULL path. Flags beyond those of enum drover_option_flags are the host's own.
 */
const struct drover_option *drover_config_common_options(void);
