#include "options.h"

#include "settings.h"

#include <glib.h>

#define DISKIMAGE "diskimages[]."
#define IMAGE     "cloud-images[]."
#define POOL      "pools[]."
#define LABEL     "pools[].labels[]."

/* What images of both kinds say of a connection. */
#define CONNECTION(prefix)                                                                         \
    {                                                                                              \
        .path = prefix "connection-type",                                                          \
        .type = DROVER_OPTION_STRING,                                                              \
        .fallback = "ssh",                                                                         \
        .help = "How machines of the image are used: ssh, winrm, network_cli and the like.",       \
    },                                                                                             \
        {                                                                                          \
            .path = prefix "connection-port",                                                      \
            .type = DROVER_OPTION_INTEGER,                                                         \
            .fallback = "22",                                                                      \
            .fallback_when = "connection-type=winrm: 5986",                                        \
            .allowed = "1..65535",                                                                 \
            .help = "TCP port of the connection.",                                                 \
        },                                                                                         \
    {                                                                                              \
        .path = prefix "config-drive", .type = DROVER_OPTION_BOOLEAN,                              \
        .flags = DROVER_OPTION_LENIENT,                                                            \
        .help = "Whether machines get their metadata on a drive of their own.",                    \
    }

#define TEXT(option, words)                                                                        \
    {                                                                                              \
        .path = option, .type = DROVER_OPTION_STRING, .flags = DROVER_OPTION_LENIENT,              \
        .help = words                                                                              \
    }

#define MOST(option, words)                                                                        \
    {                                                                                              \
        .path = POOL option, .type = DROVER_OPTION_INTEGER, .flags = DROVER_OPTION_LENIENT,        \
        .help = "Most " words " in use by the pool's nodes."                                       \
    }

const struct drover_option openstack_options[] = {
    {
        .path = "cloud",
        .type = DROVER_OPTION_STRING,
        .flags = DROVER_OPTION_REQUIRED,
        .help = "Name of the cloud in clouds.yaml.",
    },
    TEXT("region-name", "Region of the cloud; the first one of clouds.yaml unless given."),
    {
        .path = "rate",
        .type = DROVER_OPTION_NUMBER,
        .flags = DROVER_OPTION_LENIENT,
        .fallback = "1.0",
        .allowed = "0..",
        .help =
            "Seconds from call to call of one service of the cloud. After a time with fewer calls "
            "up to ten come at once.",
    },
    {
        .path = "boot-timeout",
        .type = DROVER_OPTION_INTEGER,
        .flags = DROVER_OPTION_LENIENT,
        .fallback = "60",
        .help = "Seconds in which a machine has to be reached.",
    },
    {
        .path = "launch-timeout",
        .type = DROVER_OPTION_INTEGER,
        .flags = DROVER_OPTION_LENIENT,
        .fallback = "3600",
        .help = "Seconds in which a machine has to be ready, for each attempt.",
    },
    {
        .path = "launch-retries",
        .type = DROVER_OPTION_INTEGER,
        .flags = DROVER_OPTION_LENIENT,
        .fallback = "3",
        .help = "Number of attempts to make a machine.",
    },
    {
        .path = "image-upload-timeout",
        .type = DROVER_OPTION_INTEGER,
        .flags = DROVER_OPTION_LENIENT,
        .fallback = "3600",
        .help = "Seconds in which an image has to be active once all of it was sent.",
    },
    {
        .path = "image-name-format",
        .type = DROVER_OPTION_STRING,
        .fallback = "\"{image_name}-{timestamp}\"",
        .help = "Name of uploaded images in the cloud.",
    },
    TEXT("post-upload-hook", "Program that looks at each uploaded image."),
    {
        .path = "clean-floating-ips",
        .type = DROVER_OPTION_BOOLEAN,
        .flags = DROVER_OPTION_LENIENT,
        .fallback = "false",
        .help = "Whether floating IPs of the project that belong to no port are deleted.",
    },
    {
        .path = "port-cleanup-interval",
        .type = DROVER_OPTION_INTEGER,
        .flags = DROVER_OPTION_LENIENT,
        .fallback = "600",
        .allowed = "0..",
        .help = "Seconds for which a port of the project is DOWN before it is deleted; 0: never.",
    },
    {
        .path = "nodepool-id",
        .type = DROVER_OPTION_STRING,
        .flags = DROVER_OPTION_LENIENT | DROVER_OPTION_DEPRECATED,
        .help = "Without effect.",
    },
    {
        .path = "hostname-format",
        .type = DROVER_OPTION_ANY,
        .help = "Not known any more: machines are called np and the node's id.",
    },

    {
        .path = "diskimages[]",
        .type = DROVER_OPTION_LIST,
        .fallback = "[]",
        .unique = "name",
        .help = "Images that the builder uploads.",
    },
    {
        .path = DISKIMAGE "name",
        .type = DROVER_OPTION_STRING,
        .flags = DROVER_OPTION_REQUIRED,
        .refers_to = "diskimages",
        .help = "Name of the disk image.",
    },
    {
        .path = DISKIMAGE "pause",
        .type = DROVER_OPTION_BOOLEAN,
        .flags = DROVER_OPTION_LENIENT,
        .fallback = "false",
        .help = "Whether nothing is uploaded for now.",
    },
    {
        .path = DISKIMAGE "meta",
        .type = DROVER_OPTION_MAP,
        .help = "Properties of the image in the cloud.",
    },
    {.path = DISKIMAGE "meta.*", .type = DROVER_OPTION_ANY, .help = "A property."},
    CONNECTION(DISKIMAGE),

    {
        .path = "cloud-images[]",
        .type = DROVER_OPTION_LIST,
        .fallback = "[]",
        .unique = "name",
        .help = "Images that are in the cloud already.",
    },
    {
        .path = IMAGE "name",
        .type = DROVER_OPTION_STRING,
        .flags = DROVER_OPTION_REQUIRED | DROVER_OPTION_LENIENT,
        .help = "What labels call it; its name or id in the cloud, unless said otherwise.",
    },
    TEXT(IMAGE "image-id", "Its id in the cloud; it is not looked up then."),
    TEXT(IMAGE "image-name", "Its name in the cloud."),
    TEXT(IMAGE "username", "Account that those who use the machine log in to."),
    {
        .path = IMAGE "python-path",
        .type = DROVER_OPTION_STRING,
        .fallback = "auto",
        .help = "Python interpreter that Ansible uses on the machine.",
    },
    TEXT(IMAGE "shell-type", "Ansible's shell type on the machine."),
    CONNECTION(IMAGE),

    MOST("max-cores", "cores"),
    MOST("max-ram", "memory, in MiB,"),
    MOST("max-volumes", "volumes"),
    MOST("max-volume-gb", "space of volumes, in GB,"),
    {
        .path = POOL "ignore-provider-quota",
        .type = DROVER_OPTION_BOOLEAN,
        .flags = DROVER_OPTION_LENIENT,
        .fallback = "false",
        .help = "Whether machines are asked for without a look at the project's limits.",
    },
    {
        .path = POOL "availability-zones",
        .type = DROVER_OPTION_STRINGS,
        .help = "Zones in which machines are made; those that the cloud has unless given.",
    },
    {
        .path = POOL "networks",
        .type = DROVER_OPTION_STRINGS,
        .fallback = "[]",
        .help = "Names or ids of the networks of machines.",
    },
    {
        .path = POOL "security-groups",
        .type = DROVER_OPTION_STRINGS,
        .fallback = "[]",
        .help = "Names or ids of the security groups of machines.",
    },
    {
        .path = POOL "auto-floating-ip",
        .type = DROVER_OPTION_BOOLEAN,
        .flags = DROVER_OPTION_LENIENT,
        .fallback = "true",
        .help = "Whether a machine gets a floating IP when it has no public address else.",
    },
    {
        .path = POOL "host-key-checking",
        .type = DROVER_OPTION_BOOLEAN,
        .flags = DROVER_OPTION_LENIENT,
        .fallback = "true",
        .help = "Whether a machine is contacted before it is given away.",
    },

    {
        .path = "pools[].labels[]",
        .type = DROVER_OPTION_LIST,
        .fallback = "[]",
        .unique = "name",
        .help = "Labels that the pool serves.",
    },
    {
        .path = LABEL "name",
        .type = DROVER_OPTION_STRING,
        .flags = DROVER_OPTION_REQUIRED,
        .refers_to = "labels",
        .help = "Name of the label.",
    },
    {
        .path = LABEL "diskimage",
        .type = DROVER_OPTION_STRING,
        .refers_to = "diskimages",
        .help = "Image of the machines, one that the builder uploads.",
    },
    {
        .path = LABEL "cloud-image",
        .type = DROVER_OPTION_STRING,
        .refers_to = "cloud-images",
        .help = "Image of the machines, one that is in the cloud already.",
    },
    {
        .path = LABEL "min-ram",
        .type = DROVER_OPTION_INTEGER,
        .flags = DROVER_OPTION_LENIENT,
        .help = "Least memory of the machines, in MiB; the smallest such flavor is taken, of equal "
                "ones "
                "the first by name.",
    },
    TEXT(LABEL "flavor-name",
         "Name or id of the flavor; beside min-ram a text that is in the flavor's name."),
    TEXT(LABEL "key-name", "Key pair of the cloud that the machines get."),
    {
        .path = LABEL "console-log",
        .type = DROVER_OPTION_BOOLEAN,
        .flags = DROVER_OPTION_LENIENT,
        .fallback = "false",
        .help = "Whether the console's text is logged when a machine cannot be reached.",
    },
    {
        .path = LABEL "boot-from-volume",
        .type = DROVER_OPTION_BOOLEAN,
        .flags = DROVER_OPTION_LENIENT,
        .fallback = "false",
        .help = "Whether the machines' disk is a volume, which is deleted with the machine.",
    },
    {
        .path = LABEL "volume-size",
        .type = DROVER_OPTION_INTEGER,
        .flags = DROVER_OPTION_LENIENT,
        .fallback = "50",
        .allowed = "1..",
        .help = "Size of that volume, in GB.",
    },
    {
        .path = LABEL "instance-properties",
        .type = DROVER_OPTION_MAP,
        .help = "Metadata of the machines, cut at 255 characters.",
    },
    {.path = LABEL "instance-properties.*", .type = DROVER_OPTION_ANY, .help = "A value."},
    {
        .path = LABEL "dynamic-instance-properties",
        .type = DROVER_OPTION_MAP,
        .help = "Metadata of the machines that is made of the request.",
    },
    {
        .path = LABEL "dynamic-instance-properties.*",
        .type = DROVER_OPTION_STRING,
        .flags = DROVER_OPTION_TEMPLATE | DROVER_OPTION_LENIENT,
        .help = "A value, such as \"of {request.tenant_name}\".",
    },
    {
        .path = LABEL "userdata",
        .type = DROVER_OPTION_STRING,
        .help = "What cloud-init finds on the machines.",
    },
    {
        .path = LABEL "networks",
        .type = DROVER_OPTION_STRINGS,
        .help = "Networks of the label's machines instead of the pool's.",
    },
    {
        .path = LABEL "host-key-checking",
        .type = DROVER_OPTION_BOOLEAN,
        .flags = DROVER_OPTION_LENIENT,
        .help = "Whether a machine is contacted; the pool's unless given.",
    },
    {.path = NULL},
};

/* ---- What the table cannot say ---- */

static void
check_properties(const struct drover_value *properties, struct drover_report *report)
{
    for (size_t i = 0; i < drover_value_length(properties); i++) {
        const struct drover_value *value = drover_value_item(properties, i);
        enum drover_value_type type = drover_value_type(value);

        if (type == DROVER_VALUE_LIST || type == DROVER_VALUE_MAP || type == DROVER_VALUE_NULL)
            drover_report_error(report, value, "%s: a property is a single text",
                                drover_value_key(properties, i));
    }
}

static void
check_label(const struct drover_value *label, struct drover_report *report)
{
    const char *name = drover_value_get_string(label, "name", "");

    if ((drover_value_get(label, "diskimage") != NULL) ==
        (drover_value_get(label, "cloud-image") != NULL))
        drover_report_error(report, label,
                            "label %s needs one of diskimage and cloud-image, not both", name);
    if (drover_value_get(label, "min-ram") == NULL &&
        drover_value_get(label, "flavor-name") == NULL)
        drover_report_error(report, label, "label %s needs min-ram or flavor-name", name);
    check_properties(drover_value_get(label, "instance-properties"), report);
}

static void
check_images(const struct drover_value *images, struct drover_report *report)
{
    for (size_t i = 0; i < drover_value_length(images); i++) {
        const struct drover_value *image = drover_value_item(images, i);

        if (drover_value_get(image, "image-id") != NULL &&
            drover_value_get(image, "image-name") != NULL)
            drover_report_error(report, image,
                                "cloud-image %s has image-id and image-name; one is enough",
                                drover_value_get_string(image, "name", ""));
    }
}

/* Mistakes in clouds.yaml that no cloud could answer well. That the cloud is not in there at all is
 * said when the provider starts: this may be another host than the launcher's. */
static void
check_cloud(const struct drover_value *config, struct drover_report *report)
{
    g_autoptr(GError) error = NULL;
    struct settings *settings =
        settings_load(drover_value_get_string(config, "cloud", ""),
                      drover_value_get_string(config, "region-name", NULL), &error);

    if (settings != NULL)
        settings_check_domains(settings, &error);
    if (g_error_matches(error, SETTINGS_ERROR, SETTINGS_ERROR_DOMAIN))
        drover_report_error(report, drover_value_get(config, "cloud"), "%s", error->message);
    settings_free(settings);
}

void
options_check(const struct drover_value *config, struct drover_report *report)
{
    const struct drover_value *pools = drover_value_get(config, "pools");

    if (drover_value_get(config, "hostname-format") != NULL)
        drover_report_error(report, drover_value_get(config, "hostname-format"),
                            "hostname-format was removed: machines are called np and the node's "
                            "id");
    check_images(drover_value_get(config, "cloud-images"), report);
    for (size_t i = 0; i < drover_value_length(pools); i++) {
        const struct drover_value *labels = drover_value_get(drover_value_item(pools, i), "labels");

        for (size_t j = 0; j < drover_value_length(labels); j++)
            check_label(drover_value_item(labels, j), report);
    }
    check_cloud(config, report);
}

/* ---- Reading ---- */

const struct drover_value *
options_find(const struct drover_value *config, const char *list, const char *name)
{
    const struct drover_value *entries = drover_value_get(config, list);

    for (size_t i = 0; i < drover_value_length(entries); i++) {
        const struct drover_value *entry = drover_value_item(entries, i);

        if (g_strcmp0(drover_value_get_string(entry, "name", NULL), name) == 0)
            return entry;
    }
    return NULL;
}

const struct drover_value *
options_cloud_image(const struct drover_value *config, const struct drover_value *label)
{
    const char *name = drover_value_get_string(label, "cloud-image", NULL);

    return name != NULL ? options_find(config, "cloud-images", name) : NULL;
}

const struct drover_value *
options_image(const struct drover_value *config, const struct drover_value *label)
{
    const char *disk = drover_value_get_string(label, "diskimage", NULL);

    return disk != NULL ? options_find(config, "diskimages", disk)
                        : options_cloud_image(config, label);
}
