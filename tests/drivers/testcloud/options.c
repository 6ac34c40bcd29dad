#include "options.h"

#include <string.h>

#define IMAGE     "cloud-images[]."
#define DISKIMAGE "diskimages[]."
#define POOL      "pools[]."
#define LABEL     "pools[].labels[]."

const struct drover_option testcloud_options[] = {
    {
        .path = "url",
        .type = DROVER_OPTION_STRING,
        .flags = DROVER_OPTION_REQUIRED,
        .help = "Address of the cloud, without a slash at its end.",
    },
    {
        .path = "token",
        .type = DROVER_OPTION_STRING,
        .flags = DROVER_OPTION_SECRET,
        .help = "What the cloud knows the account by.",
    },
    {
        .path = "rate",
        .type = DROVER_OPTION_NUMBER,
        .fallback = "0",
        .allowed = "0..",
        .help = "Most calls a second; 0: no limit.",
    },
    {
        .path = "list-interval",
        .type = DROVER_OPTION_NUMBER,
        .fallback = "1.0",
        .allowed = "0..",
        .help = "Seconds for which a list is not asked for again.",
    },
    {
        .path = "call-timeout",
        .type = DROVER_OPTION_NUMBER,
        .fallback = "60",
        .allowed = "0..",
        .help = "Seconds in which the cloud has to answer a call.",
    },
    {
        .path = "call-tries",
        .type = DROVER_OPTION_INTEGER,
        .fallback = "5",
        .allowed = "1..",
        .help = "How often a call is made that does no harm when it is repeated.",
    },
    {
        .path = "boot-timeout",
        .type = DROVER_OPTION_INTEGER,
        .fallback = "60",
        .help = "Seconds in which a machine has to be reached.",
    },
    {
        .path = "launch-timeout",
        .type = DROVER_OPTION_INTEGER,
        .fallback = "3600",
        .help = "Seconds in which a machine has to be ready.",
    },
    {
        .path = "launch-retries",
        .type = DROVER_OPTION_INTEGER,
        .fallback = "3",
        .help = "Number of attempts to make a machine.",
    },
    {
        .path = "style",
        .type = DROVER_OPTION_STRING,
        .fallback = "step",
        .allowed = "step|blocking",
        .help = "Whether the driver works in steps or blocks its thread.",
    },
    {
        .path = "resume",
        .type = DROVER_OPTION_BOOLEAN,
        .fallback = "true",
        .help = "Whether operations can be taken up by another process.",
    },

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
        .flags = DROVER_OPTION_REQUIRED,
        .help = "What labels call it; the image's name or id in the cloud unless image-id says it.",
    },
    {.path = IMAGE "image-id", .type = DROVER_OPTION_STRING, .help = "Its id in the cloud."},
    {
        .path = IMAGE "username",
        .type = DROVER_OPTION_STRING,
        .help = "Account that those who use the machine log in to.",
    },
    {
        .path = IMAGE "python-path",
        .type = DROVER_OPTION_STRING,
        .fallback = "auto",
        .help = "Python interpreter that Ansible uses on the machine.",
    },
    {
        .path = IMAGE "shell-type",
        .type = DROVER_OPTION_STRING,
        .help = "Ansible's shell type on the machine.",
    },
    {
        .path = IMAGE "connection-type",
        .type = DROVER_OPTION_STRING,
        .fallback = "ssh",
        .help = "How the machine is used.",
    },
    {
        .path = IMAGE "connection-port",
        .type = DROVER_OPTION_INTEGER,
        .fallback = "22",
        .fallback_when = "connection-type=winrm: 5986",
        .allowed = "1..65535",
        .help = "TCP port of the connection, unless the cloud names one.",
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
        .fallback = "false",
        .help = "Whether nothing is uploaded for now.",
    },
    {.path = DISKIMAGE "meta", .type = DROVER_OPTION_MAP, .help = "Tags of the image."},
    {.path = DISKIMAGE "meta.*", .type = DROVER_OPTION_STRING, .help = "A tag."},
    {
        .path = DISKIMAGE "connection-type",
        .type = DROVER_OPTION_STRING,
        .fallback = "ssh",
        .help = "How the machine is used.",
    },
    {
        .path = DISKIMAGE "connection-port",
        .type = DROVER_OPTION_INTEGER,
        .fallback = "22",
        .fallback_when = "connection-type=winrm: 5986",
        .allowed = "1..65535",
        .help = "TCP port of the connection, unless the cloud names one.",
    },

    {.path = POOL "max-cores", .type = DROVER_OPTION_INTEGER, .help = "Most cores in use."},
    {.path = POOL "max-ram", .type = DROVER_OPTION_INTEGER, .help = "Most memory in use, in MiB."},
    {.path = POOL "max-volumes", .type = DROVER_OPTION_INTEGER, .help = "Most volumes in use."},
    {.path = POOL "max-volume-gb",
     .type = DROVER_OPTION_INTEGER,
     .help = "Most space of volumes in use, in GB."},
    {.path = POOL "max-resources", .type = DROVER_OPTION_MAP, .help = "Most of other resources."},
    {.path = POOL "max-resources.*", .type = DROVER_OPTION_NUMBER, .help = "Most of a resource."},
    {
        .path = POOL "availability-zones",
        .type = DROVER_OPTION_STRINGS,
        .help = "Zones in which machines are made; those of the cloud unless given.",
    },
    {
        .path = POOL "use-internal-ip",
        .type = DROVER_OPTION_BOOLEAN,
        .fallback = "false",
        .help = "Whether machines are reached at their private address.",
    },
    {
        .path = POOL "host-key-checking",
        .type = DROVER_OPTION_BOOLEAN,
        .fallback = "true",
        .help = "Whether a machine is contacted before it is given away.",
    },
    {
        .path = POOL "ignore-provider-quota",
        .type = DROVER_OPTION_BOOLEAN,
        .fallback = "false",
        .help = "Whether machines are asked for without a look at the cloud's limits.",
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
        .path = LABEL "flavor",
        .type = DROVER_OPTION_STRING,
        .fallback = "small",
        .help = "Size of the machines.",
    },
    {.path = LABEL "tags", .type = DROVER_OPTION_MAP, .help = "Tags of the machines."},
    {.path = LABEL "tags.*", .type = DROVER_OPTION_STRING, .help = "A tag."},
    {.path = LABEL "dynamic-tags",
     .type = DROVER_OPTION_MAP,
     .help = "Tags that are made of the request."},
    {
        .path = LABEL "dynamic-tags.*",
        .type = DROVER_OPTION_STRING,
        .flags = DROVER_OPTION_TEMPLATE,
        .help = "A tag, such as \"of {request.tenant_name}\".",
    },
    {
        .path = LABEL "console-log",
        .type = DROVER_OPTION_BOOLEAN,
        .fallback = "false",
        .help = "Whether the console's text is logged when a machine cannot be reached.",
    },
    {
        .path = LABEL "host-key-checking",
        .type = DROVER_OPTION_BOOLEAN,
        .help = "Whether a machine is contacted; the pool's unless given.",
    },
    {
        .path = LABEL "extra-objects",
        .type = DROVER_OPTION_STRINGS,
        .fallback = "[]",
        .allowed = "address|volume",
        .help = "What each machine has beside itself; its external id is an object then.",
    },
    {
        .path = LABEL "cost-after-create",
        .type = DROVER_OPTION_BOOLEAN,
        .fallback = "false",
        .help = "Whether what a machine costs is only known when it is there.",
    },
    {.path = NULL},
};

static void
check_label(const struct drover_value *label, struct drover_report *report)
{
    int has_diskimage = drover_value_get(label, "diskimage") != NULL;
    int has_cloud_image = drover_value_get(label, "cloud-image") != NULL;

    if (has_diskimage == has_cloud_image)
        drover_report_error(report, label, "a label names either a diskimage or a cloud-image");
}

void
check_config(const struct drover_value *config, struct drover_report *report)
{
    const struct drover_value *pools = drover_value_get(config, "pools");

    for (size_t i = 0; i < drover_value_length(pools); i++) {
        const struct drover_value *labels = drover_value_get(drover_value_item(pools, i), "labels");

        for (size_t j = 0; j < drover_value_length(labels); j++)
            check_label(drover_value_item(labels, j), report);
    }
}

const struct drover_value *
find_entry(const struct drover_value *config, const char *list, const char *name)
{
    const struct drover_value *entries = drover_value_get(config, list);

    for (size_t i = 0; i < drover_value_length(entries); i++) {
        const struct drover_value *entry = drover_value_item(entries, i);

        if (strcmp(drover_value_get_string(entry, "name", ""), name) == 0)
            return entry;
    }
    return NULL;
}

const struct drover_value *
label_cloud_image(const struct drover_value *config, const struct drover_value *label)
{
    const char *name = drover_value_get_string(label, "cloud-image", NULL);

    return name != NULL ? find_entry(config, "cloud-images", name) : NULL;
}

int
label_wants_extra(const struct drover_value *label, const char *kind)
{
    const struct drover_value *wanted = drover_value_get(label, "extra-objects");

    for (size_t i = 0; i < drover_value_length(wanted); i++)
        if (strcmp(drover_value_string(drover_value_item(wanted, i)), kind) == 0)
            return 1;
    return 0;
}
