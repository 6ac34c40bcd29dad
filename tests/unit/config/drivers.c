#include "drivers.h"

#include "base/error.h"
#include "options.h"

#define LENIENT  DROVER_OPTION_LENIENT
#define REQUIRED DROVER_OPTION_REQUIRED

/* Options that most drivers for clouds have in the same form. */
#define MACHINE_OPTIONS                                                                            \
    {.path = "boot-timeout", .type = DROVER_OPTION_INTEGER, .fallback = "60"},                     \
        {.path = "launch-timeout", .type = DROVER_OPTION_INTEGER, .fallback = "3600"},             \
        {.path = "launch-retries", .type = DROVER_OPTION_INTEGER, .fallback = "3"},                \
    {                                                                                              \
        .path = "post-upload-hook", .type = DROVER_OPTION_STRING                                   \
    }

#define IMAGE_OPTIONS(list)                                                                        \
    {.path = list,                                                                                 \
     .type = DROVER_OPTION_LIST,                                                                   \
     .flags = LENIENT,                                                                             \
     .fallback = "[]",                                                                             \
     .unique = "name"},                                                                            \
        {.path = list ".connection-type", .type = DROVER_OPTION_STRING, .fallback = "ssh"},        \
    {                                                                                              \
        .path = list ".connection-port", .type = DROVER_OPTION_INTEGER, .fallback = "22",          \
        .fallback_when = "connection-type=winrm: 5986", .allowed = "1..65535"                      \
    }

#define CLOUD_IMAGE_OPTIONS                                                                        \
    IMAGE_OPTIONS("cloud-images[]"),                                                               \
        {.path = "cloud-images[].name", .type = DROVER_OPTION_STRING, .flags = REQUIRED},          \
        {.path = "cloud-images[].image-id", .type = DROVER_OPTION_STRING},                         \
        {.path = "cloud-images[].image-name", .type = DROVER_OPTION_STRING},                       \
        {.path = "cloud-images[].username", .type = DROVER_OPTION_STRING},                         \
        {.path = "cloud-images[].python-path", .type = DROVER_OPTION_STRING, .fallback = "auto"},  \
    {                                                                                              \
        .path = "cloud-images[].shell-type", .type = DROVER_OPTION_STRING                          \
    }

#define DISK_IMAGE_OPTIONS                                                                         \
    IMAGE_OPTIONS("diskimages[]"),                                                                 \
        {.path = "diskimages[].name",                                                              \
         .type = DROVER_OPTION_STRING,                                                             \
         .flags = REQUIRED,                                                                        \
         .refers_to = "diskimages"},                                                               \
    {                                                                                              \
        .path = "diskimages[].pause", .type = DROVER_OPTION_BOOLEAN, .fallback = "false"           \
    }

#define POOL_OPTIONS                                                                               \
    {.path = "pools[].max-cores", .type = DROVER_OPTION_INTEGER},                                  \
        {.path = "pools[].max-ram", .type = DROVER_OPTION_INTEGER},                                \
        {.path = "pools[].host-key-checking", .type = DROVER_OPTION_BOOLEAN, .fallback = "true"},  \
        {.path = "pools[].labels[]",                                                               \
         .type = DROVER_OPTION_LIST,                                                               \
         .flags = LENIENT,                                                                         \
         .fallback = "[]",                                                                         \
         .unique = "name"},                                                                        \
        {.path = "pools[].labels[].name",                                                          \
         .type = DROVER_OPTION_STRING,                                                             \
         .flags = REQUIRED,                                                                        \
         .refers_to = "labels"},                                                                   \
        {.path = "pools[].labels[].diskimage",                                                     \
         .type = DROVER_OPTION_STRING,                                                             \
         .refers_to = "diskimages"},                                                               \
        {.path = "pools[].labels[].cloud-image",                                                   \
         .type = DROVER_OPTION_STRING,                                                             \
         .refers_to = "cloud-images"},                                                             \
    {                                                                                              \
        .path = "pools[].labels[].key-name", .type = DROVER_OPTION_STRING                          \
    }

static const struct drover_option openstack_options[] = {
    {.path = "cloud", .type = DROVER_OPTION_STRING, .flags = REQUIRED},
    {.path = "region-name", .type = DROVER_OPTION_STRING},
    {.path = "rate", .type = DROVER_OPTION_NUMBER, .fallback = "1.0"},
    {.path = "image-name-format",
     .type = DROVER_OPTION_STRING,
     .fallback = "\"{image_name}-{timestamp}\""},
    {.path = "clean-floating-ips", .type = DROVER_OPTION_BOOLEAN},
    {.path = "port-cleanup-interval", .type = DROVER_OPTION_INTEGER, .fallback = "600"},
    {.path = "nodepool-id",
     .type = DROVER_OPTION_STRING,
     .flags = DROVER_OPTION_DEPRECATED,
     .help = "It is not used any more."},
    MACHINE_OPTIONS,
    CLOUD_IMAGE_OPTIONS,
    {.path = "cloud-images[].config-drive", .type = DROVER_OPTION_BOOLEAN},
    DISK_IMAGE_OPTIONS,
    {.path = "diskimages[].meta", .type = DROVER_OPTION_MAP},
    {.path = "diskimages[].config-drive", .type = DROVER_OPTION_BOOLEAN},
    POOL_OPTIONS,
    {.path = "pools[].max-volumes", .type = DROVER_OPTION_INTEGER},
    {.path = "pools[].max-volume-gb", .type = DROVER_OPTION_INTEGER},
    {.path = "pools[].ignore-provider-quota", .type = DROVER_OPTION_BOOLEAN, .fallback = "false"},
    {.path = "pools[].availability-zones", .type = DROVER_OPTION_STRINGS},
    {.path = "pools[].networks", .type = DROVER_OPTION_STRINGS, .fallback = "[]"},
    {.path = "pools[].security-groups", .type = DROVER_OPTION_STRINGS, .fallback = "[]"},
    {.path = "pools[].auto-floating-ip", .type = DROVER_OPTION_BOOLEAN, .fallback = "true"},
    {.path = "pools[].labels[].min-ram", .type = DROVER_OPTION_INTEGER},
    {.path = "pools[].labels[].flavor-name", .type = DROVER_OPTION_STRING},
    {.path = "pools[].labels[].console-log", .type = DROVER_OPTION_BOOLEAN, .fallback = "false"},
    {.path = "pools[].labels[].boot-from-volume",
     .type = DROVER_OPTION_BOOLEAN,
     .fallback = "false"},
    {.path = "pools[].labels[].volume-size", .type = DROVER_OPTION_INTEGER, .fallback = "50"},
    {.path = "pools[].labels[].instance-properties", .type = DROVER_OPTION_MAP},
    {.path = "pools[].labels[].userdata", .type = DROVER_OPTION_STRING},
    {.path = "pools[].labels[].networks", .type = DROVER_OPTION_STRINGS},
    {.path = NULL},
};

static const struct drover_option aws_options[] = {
    {.path = "region-name", .type = DROVER_OPTION_STRING, .flags = REQUIRED},
    {.path = "profile-name", .type = DROVER_OPTION_STRING},
    {.path = "rate", .type = DROVER_OPTION_NUMBER, .fallback = "2"},
    {.path = "image-format",
     .type = DROVER_OPTION_STRING,
     .fallback = "raw",
     .allowed = "ova|vhd|vhdx|vmdk|raw"},
    {.path = "object-storage", .type = DROVER_OPTION_MAP},
    {.path = "object-storage.bucket-name", .type = DROVER_OPTION_STRING},
    {.path = "max-servers", .type = DROVER_OPTION_INTEGER},
    {.path = "max-cores", .type = DROVER_OPTION_INTEGER},
    {.path = "max-resources", .type = DROVER_OPTION_MAP, .fallback = "{}"},
    {.path = "max-resources.*", .type = DROVER_OPTION_INTEGER},
    {.path = "access-token", .type = DROVER_OPTION_STRING, .flags = DROVER_OPTION_SECRET},
    MACHINE_OPTIONS,
    CLOUD_IMAGE_OPTIONS,
    {.path = "cloud-images[].image-filters[]", .type = DROVER_OPTION_LIST},
    {.path = "cloud-images[].image-filters[].name",
     .type = DROVER_OPTION_STRING,
     .old_name = "Name"},
    {.path = "cloud-images[].image-filters[].values",
     .type = DROVER_OPTION_STRINGS,
     .old_name = "Values"},
    DISK_IMAGE_OPTIONS,
    {.path = "diskimages[].tags", .type = DROVER_OPTION_MAP},
    POOL_OPTIONS,
    {.path = "pools[].subnet-id", .type = DROVER_OPTION_STRING},
    {.path = "pools[].security-group-id", .type = DROVER_OPTION_STRING},
    {.path = "pools[].public-ipv4", .type = DROVER_OPTION_BOOLEAN, .fallback = "true"},
    {.path = "pools[].max-resources", .type = DROVER_OPTION_MAP, .fallback = "{}"},
    {.path = "pools[].max-resources.*", .type = DROVER_OPTION_INTEGER},
    {.path = "pools[].labels[].instance-type", .type = DROVER_OPTION_STRING, .flags = REQUIRED},
    {.path = "pools[].labels[].volume-size", .type = DROVER_OPTION_INTEGER},
    {.path = "pools[].labels[].volume-type", .type = DROVER_OPTION_STRING, .fallback = "gp3"},
    {.path = "pools[].labels[].tags", .type = DROVER_OPTION_MAP, .fallback = "{}"},
    {.path = "pools[].labels[].use-spot", .type = DROVER_OPTION_BOOLEAN, .fallback = "false"},
    {.path = NULL},
};

/* The smallest driver: labels are plain names. */
static const struct drover_option plain_options[] = {
    {.path = "pools[].labels",
     .type = DROVER_OPTION_STRINGS,
     .flags = REQUIRED,
     .refers_to = "labels"},
    {.path = NULL},
};

/* A table that no driver should have. */
static const struct drover_option broken_options[] = {
    {.path = "first", .type = DROVER_OPTION_INTEGER, .fallback = "[unfinished"},
    {.path = "second", .type = (enum drover_option_type)99},
    {.path = "third", .type = DROVER_OPTION_STRING, .fallback_when = "no condition"},
    {.path = "[]..x[].*", .type = DROVER_OPTION_STRING},
    {.path = NULL},
};

/* Each cloud image has to say which it is; one of the provider's options is better not used. */
static void
check_aws(const struct drover_value *config, struct drover_report *report)
{
    const struct drover_value *images = drover_value_get(config, "cloud-images");

    for (size_t i = 0; i < drover_value_length(images); i++) {
        const struct drover_value *image = drover_value_item(images, i);

        if (drover_value_get(image, "image-id") == NULL &&
            drover_value_get(image, "image-filters") == NULL)
            drover_report_error(report, drover_value_get(image, "python-path"),
                                "the cloud image %s has neither image-id nor image-filters",
                                drover_value_get_string(image, "name", ""));
    }
    if (drover_value_get(config, "max-cores") != NULL)
        drover_report_warning(report, drover_value_get(config, "max-cores"), "rather no max-cores");
    if (drover_value_get(config, "post-upload-hook") != NULL)
        drover_report_error(report, NULL, "no hooks here");
}

static const struct drover_driver drivers[] = {
    {DROVER_DRIVER_HEADER, .name = "static", .options = static_options},
    {DROVER_DRIVER_HEADER, .name = "openstack", .options = openstack_options},
    {DROVER_DRIVER_HEADER, .name = "aws", .options = aws_options, .config_check = check_aws},
    {DROVER_DRIVER_HEADER, .name = "plain", .options = plain_options},
    {DROVER_DRIVER_HEADER, .name = "broken", .options = broken_options},
};

const struct drover_driver *
test_find_driver(const char *name, gpointer user_data, GError **error)
{
    for (guint i = 0; i < G_N_ELEMENTS(drivers); i++)
        if (g_str_equal(drivers[i].name, name))
            return &drivers[i];
    g_set_error(error, DROVER_ERROR, DROVER_ERROR_NOT_FOUND,
                "the driver %s is not installed: looked for /drivers/%s.so; installed are "
                "aws, openstack, static",
                name, name);
    return NULL;
}
