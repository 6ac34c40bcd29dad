#include "options.h"

#include <string.h>

#define POOL  "pools[]."
#define LABEL "pools[].labels[]."

const struct drover_option metastatic_options[] = {
    {
        .path = "boot-timeout",
        .type = DROVER_OPTION_INTEGER,
        .flags = DROVER_OPTION_LENIENT,
        .fallback = "120",
        .allowed = "0..",
        .help = "Seconds in which a node has to be reached, where host keys are checked.",
    },
    {
        .path = "launch-timeout",
        .type = DROVER_OPTION_INTEGER,
        .flags = DROVER_OPTION_LENIENT,
        .fallback = "3600",
        .allowed = "0..",
        .help = "Seconds in which a node has to be ready, with the wait for a backing node.",
    },
    {
        .path = "launch-retries",
        .type = DROVER_OPTION_INTEGER,
        .flags = DROVER_OPTION_LENIENT,
        .fallback = "3",
        .help = "Number of attempts to make a node.",
    },
    {
        .path = POOL "host-key-checking",
        .type = DROVER_OPTION_BOOLEAN,
        .flags = DROVER_OPTION_LENIENT,
        .fallback = "false",
        .help = "Whether the backing node is contacted anew for each node on it.",
    },
    {
        .path = "pools[].labels[]",
        .type = DROVER_OPTION_LIST,
        .flags = DROVER_OPTION_REQUIRED,
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
        .path = LABEL "backing-label",
        .type = DROVER_OPTION_STRING,
        .flags = DROVER_OPTION_REQUIRED,
        .help = "Label of the machines that are cut into slots, which another provider serves.",
    },
    {
        .path = LABEL "max-parallel-jobs",
        .type = DROVER_OPTION_INTEGER,
        .flags = DROVER_OPTION_LENIENT,
        .fallback = "1",
        .allowed = "1..65536",
        .help = "Slots of a backing node.",
    },
    {
        .path = LABEL "grace-time",
        .type = DROVER_OPTION_INTEGER,
        .flags = DROVER_OPTION_LENIENT,
        .fallback = "60",
        .help = "Seconds for which a backing node without nodes is kept.",
    },
    {
        .path = LABEL "min-retention-time",
        .type = DROVER_OPTION_INTEGER,
        .flags = DROVER_OPTION_LENIENT,
        .fallback = "0",
        .help = "Seconds for which a backing node is kept at least, from when it was asked for.",
    },
    {
        .path = LABEL "max-age",
        .type = DROVER_OPTION_INTEGER,
        .flags = DROVER_OPTION_LENIENT,
        .help = "Seconds after which a backing node gets no new nodes.",
    },
    {
        .path = LABEL "host-key-checking",
        .type = DROVER_OPTION_BOOLEAN,
        .flags = DROVER_OPTION_LENIENT,
        .help = "Whether the backing node is contacted anew; the pool's unless given.",
    },
    {.path = NULL},
};

/* ---- Labels ---- */

typedef int (*each_label)(const struct drover_value *label, void *data);

/* The first label for which the function says 1; NULL: for none. */
static const struct drover_value *
for_labels(const struct drover_value *config, each_label each, void *data)
{
    const struct drover_value *pools = drover_value_get(config, "pools");

    for (size_t i = 0; i < drover_value_length(pools); i++) {
        const struct drover_value *labels = drover_value_get(drover_value_item(pools, i), "labels");

        for (size_t j = 0; j < drover_value_length(labels); j++)
            if (each(drover_value_item(labels, j), data))
                return drover_value_item(labels, j);
    }
    return NULL;
}

static const char *
name_of(const struct drover_value *label)
{
    return drover_value_get_string(label, "name", "");
}

static const char *
backing_label_of(const struct drover_value *label)
{
    return drover_value_get_string(label, "backing-label", "");
}

static int
has_name(const struct drover_value *label, void *name)
{
    return strcmp(name_of(label), name) == 0;
}

const struct drover_value *
find_label(const struct drover_value *config, const char *name)
{
    return for_labels(config, has_name, (void *)name);
}

/* ---- Checking ---- */

struct check {
    const struct drover_value *config;
    const struct drover_value *label;
    struct drover_report *report;
};

static int
has_same_backing_label(const struct drover_value *label, void *data)
{
    const struct check *check = data;

    return strcmp(backing_label_of(label), backing_label_of(check->label)) == 0;
}

/* With the first label of the same backing-label. */
static void
compare(const struct check *check, const struct drover_value *first)
{
    static const char *const options[] = {"max-parallel-jobs", "grace-time", "min-retention-time",
                                          "max-age"};

    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
        const struct drover_value *value = drover_value_get(check->label, options[i]);

        if (drover_value_get_integer(first, options[i], -1) != drover_value_integer(value, -1))
            drover_report_error(check->report, value != NULL ? value : check->label,
                                "the labels %s and %s have the same backing-label %s, so they must "
                                "have the same %s",
                                name_of(first), name_of(check->label),
                                backing_label_of(check->label), options[i]);
    }
}

static int
check_label(const struct drover_value *label, void *data)
{
    struct check *check = data;
    int64_t max_age = drover_value_get_integer(label, "max-age", -1);
    const struct drover_value *first;

    check->label = label;
    if (max_age >= 0 && max_age < drover_value_get_integer(label, "min-retention-time", 0))
        drover_report_error(check->report, drover_value_get(label, "max-age"),
                            "label %s: max-age is less than min-retention-time", name_of(label));
    first = for_labels(check->config, has_same_backing_label, check);
    if (first != label)
        compare(check, first);
    return 0;
}

void
check_config(const struct drover_value *config, struct drover_report *report)
{
    struct check check = {config, NULL, report};

    for_labels(config, check_label, &check);
}
