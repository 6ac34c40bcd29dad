#include "driver/table.h"

#include <string.h>

#include "base/error.h"

/* What every ABI 1 driver has: up to and including the options. */
#define LEAST_SIZE (offsetof(struct drover_driver, options) + sizeof(void *))
#define MOST_SIZE  65536
/* Path and type are what an option cannot do without. */
#define LEAST_OPTION_SIZE offsetof(struct drover_option, fallback)
#define MOST_OPTION_SIZE  4096
#define MOST_OPTIONS      4096
#define MOST_TEXT         (64 * 1024)

#define KNOWN_CAPABILITIES                                                                         \
    (DROVER_CAN_MACHINES | DROVER_CAN_INVENTORY | DROVER_CAN_IMAGES | DROVER_CAN_QUOTA |           \
     DROVER_CAN_RESOURCES | DROVER_CAN_CONSOLE | DROVER_CAN_BACKING | DROVER_MAY_BLOCK)
#define KNOWN_FLAGS                                                                                \
    (DROVER_OPTION_REQUIRED | DROVER_OPTION_SECRET | DROVER_OPTION_SPLIT | DROVER_OPTION_LENIENT | \
     DROVER_OPTION_DEPRECATED | DROVER_OPTION_TEMPLATE)

/* The functions that a capability stands for. */
static const struct {
    uint64_t capability;
    size_t offset;
    const char *function;
} needed[] = {
    {DROVER_CAN_MACHINES, offsetof(struct drover_driver, machine_create), "machine_create"},
    {DROVER_CAN_MACHINES, offsetof(struct drover_driver, machine_delete), "machine_delete"},
    {DROVER_CAN_INVENTORY, offsetof(struct drover_driver, inventory_list), "inventory_list"},
    {DROVER_CAN_INVENTORY, offsetof(struct drover_driver, slot_register), "slot_register"},
    {DROVER_CAN_INVENTORY, offsetof(struct drover_driver, slot_check), "slot_check"},
    {DROVER_CAN_IMAGES, offsetof(struct drover_driver, image_upload), "image_upload"},
    {DROVER_CAN_IMAGES, offsetof(struct drover_driver, image_delete), "image_delete"},
    {DROVER_CAN_IMAGES, offsetof(struct drover_driver, image_list), "image_list"},
    {DROVER_CAN_QUOTA, offsetof(struct drover_driver, quota_limits), "quota_limits"},
    {DROVER_CAN_QUOTA, offsetof(struct drover_driver, quota_label), "quota_label"},
    {DROVER_CAN_QUOTA, offsetof(struct drover_driver, quota_usage), "quota_usage"},
    {DROVER_CAN_RESOURCES, offsetof(struct drover_driver, resource_list), "resource_list"},
    {DROVER_CAN_RESOURCES, offsetof(struct drover_driver, resource_delete), "resource_delete"},
    {DROVER_CAN_CONSOLE, offsetof(struct drover_driver, machine_console), "machine_console"},
    {DROVER_CAN_BACKING, offsetof(struct drover_driver, backing_event), "backing_event"},
};

/* The one line that says why. */
static gboolean refuse(GError **error, const struct drover_driver *theirs, const char *path,
                       const char *format, ...) G_GNUC_PRINTF(4, 5);

static gboolean
refuse(GError **error, const struct drover_driver *theirs, const char *path, const char *format,
       ...)
{
    g_autofree char *reason = NULL;
    va_list arguments;

    va_start(arguments, format);
    reason = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    g_set_error(error, DROVER_ERROR, DROVER_ERROR_UNSUPPORTED,
                "driver %s is refused: %s; it was built for ABI %u.%u, this host offers %d.%d",
                path, reason, theirs->abi_major, theirs->abi_minor, DROVER_ABI_MAJOR,
                DROVER_ABI_MINOR);
    return FALSE;
}

/* What must be known before more of the table than its beginning is read. */
static gboolean
negotiate(const struct drover_driver *theirs, const char *path, GError **error)
{
    if (theirs->abi_major != DROVER_ABI_MAJOR)
        return refuse(error, theirs, path, "its ABI is another one");
    if (theirs->size < LEAST_SIZE || theirs->size > MOST_SIZE)
        return refuse(error, theirs, path, "its table says that it has %u bytes", theirs->size);
    if (theirs->options != NULL &&
        (theirs->option_size < LEAST_OPTION_SIZE || theirs->option_size > MOST_OPTION_SIZE))
        return refuse(error, theirs, path, "its options say that they have %u bytes each",
                      theirs->option_size);
    return TRUE;
}

static gboolean
has_functions(const struct drover_driver *driver, const char *path, GError **error)
{
    if (driver->provider_open == NULL)
        return refuse(error, driver, path, "it has no provider_open()");
    for (guint i = 0; i < G_N_ELEMENTS(needed); i++) {
        void *function;

        memcpy(&function, (const char *)driver + needed[i].offset, sizeof(function));
        if ((driver->capabilities & needed[i].capability) != 0 && function == NULL)
            return refuse(error, driver, path, "it has no %s() although it says so",
                          needed[i].function);
    }
    return TRUE;
}

/* NULL is one, too. */
static gboolean
is_text(const char *text)
{
    gsize length = text != NULL ? strnlen(text, MOST_TEXT + 1) : 0;

    return length <= MOST_TEXT && g_utf8_validate(text != NULL ? text : "", (gssize)length, NULL);
}

static gboolean
is_usable(const struct drover_driver *driver, const char *path, const char *name, GError **error)
{
    uint64_t unknown = driver->capabilities & ~(uint64_t)KNOWN_CAPABILITIES;

    if (driver->name == NULL || driver->version == NULL || driver->description == NULL ||
        driver->licence == NULL)
        return refuse(error, driver, path, "it lacks a name, version, description or licence");
    if (!is_text(driver->name) || !is_text(driver->version) || !is_text(driver->description) ||
        !is_text(driver->licence))
        return refuse(error, driver, path,
                      "its name, version, description or licence is too long, or not UTF-8");
    if (strcmp(driver->name, name) != 0)
        return refuse(error, driver, path, "it calls itself %s", driver->name);
    if (unknown != 0)
        return refuse(error, driver, path,
                      "it has capabilities that this host does not know (0x%" G_GINT64_MODIFIER
                      "x)",
                      unknown);
    return has_functions(driver, path, error);
}

static const size_t option_texts[] = {
    offsetof(struct drover_option, path),     offsetof(struct drover_option, fallback),
    offsetof(struct drover_option, allowed),  offsetof(struct drover_option, fallback_when),
    offsetof(struct drover_option, unique),   offsetof(struct drover_option, refers_to),
    offsetof(struct drover_option, old_name), offsetof(struct drover_option, help)};

static gboolean
is_known_option(const struct drover_driver *driver, const struct drover_option *option,
                const char *path, GError **error)
{
    for (guint i = 0; i < G_N_ELEMENTS(option_texts); i++) {
        const char *text;

        memcpy(&text, (const char *)option + option_texts[i], sizeof(text));
        if (!is_text(text))
            return refuse(error, driver, path,
                          "it has an option with a text that is too long, or not UTF-8");
    }
    if (option->type < DROVER_OPTION_STRING || option->type > DROVER_OPTION_ANY)
        return refuse(error, driver, path, "its option %s is of a type that is not known (%d)",
                      option->path, (int)option->type);
    if ((option->flags & ~(uint32_t)KNOWN_FLAGS) != 0)
        return refuse(error, driver, path, "its option %s has flags that are not known (0x%x)",
                      option->path, option->flags & ~(uint32_t)KNOWN_FLAGS);
    return TRUE;
}

/* Of the host's size each, whatever size the driver's are. NULL when one cannot be used. */
static struct drover_option *
copy_options(const struct drover_driver *driver, const char *path, GError **error)
{
    g_autoptr(GArray) options = g_array_new(TRUE, TRUE, sizeof(struct drover_option));
    const char *theirs = (const char *)driver->options;

    for (; theirs != NULL && options->len < MOST_OPTIONS; theirs += driver->option_size) {
        struct drover_option option = {0};

        memcpy(&option, theirs, MIN(driver->option_size, sizeof(option)));
        if (option.path == NULL)
            break;
        if (!is_known_option(driver, &option, path, error))
            return NULL;
        g_array_append_val(options, option);
    }
    if (options->len == MOST_OPTIONS) {
        refuse(error, driver, path, "its options have no end");
        return NULL;
    }
    return (struct drover_option *)g_array_free(g_steal_pointer(&options), FALSE);
}

DroverDriverTable *
drover_driver_table_new(const struct drover_driver *theirs, const char *path, const char *name,
                        GError **error)
{
    g_autoptr(DroverDriverTable) table = NULL;

    if (!negotiate(theirs, path, error))
        return NULL;
    table = g_new0(DroverDriverTable, 1);
    memcpy(&table->driver, theirs, MIN(theirs->size, sizeof(table->driver)));
    if (!is_usable(&table->driver, path, name, error))
        return NULL;
    table->options = copy_options(&table->driver, path, error);
    if (table->options == NULL)
        return NULL;
    table->driver.options = table->options;
    table->driver.option_size = sizeof(struct drover_option);
    return g_steal_pointer(&table);
}

void
drover_driver_table_free(DroverDriverTable *table)
{
    g_free(table->options);
    g_free(table);
}
