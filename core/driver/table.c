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

#define KNOWN_CAPABILITIES                                                                         \
    (DROVER_CAN_MACHINES | DROVER_CAN_INVENTORY | DROVER_CAN_IMAGES | DROVER_CAN_QUOTA |           \
     DROVER_CAN_RESOURCES | DROVER_CAN_CONSOLE | DROVER_CAN_BACKING)

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
};

static gboolean refuse(GError **error, const char *path, const char *format, ...)
    G_GNUC_PRINTF(3, 4);

static gboolean
refuse(GError **error, const char *path, const char *format, ...)
{
    g_autofree char *reason = NULL;
    va_list arguments;

    va_start(arguments, format);
    reason = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    g_set_error(error, DROVER_ERROR, DROVER_ERROR_UNSUPPORTED, "driver %s is refused: %s", path,
                reason);
    return FALSE;
}

static gboolean
negotiate(const struct drover_driver *theirs, const char *path, GError **error)
{
    if (theirs == NULL)
        return refuse(error, path, "drover_driver_entry() returned nothing");
    if (theirs->abi_major != DROVER_ABI_MAJOR)
        return refuse(error, path, "it was built for ABI %u.%u, this host offers %d.%d",
                      theirs->abi_major, theirs->abi_minor, DROVER_ABI_MAJOR, DROVER_ABI_MINOR);
    if (theirs->size < LEAST_SIZE || theirs->size > MOST_SIZE)
        return refuse(error, path, "its table says that it has %u bytes (ABI %u.%u)", theirs->size,
                      theirs->abi_major, theirs->abi_minor);
    if (theirs->options != NULL &&
        (theirs->option_size < LEAST_OPTION_SIZE || theirs->option_size > MOST_OPTION_SIZE))
        return refuse(error, path, "its options say that they have %u bytes each",
                      theirs->option_size);
    return TRUE;
}

static gboolean
is_complete(const struct drover_driver *driver, const char *path, const char *name, GError **error)
{
    if (driver->name == NULL || driver->version == NULL || driver->description == NULL ||
        driver->licence == NULL)
        return refuse(error, path, "it lacks a name, version, description or licence");
    if (strcmp(driver->name, name) != 0)
        return refuse(error, path, "it calls itself %s", driver->name);
    if ((driver->capabilities & ~(uint64_t)KNOWN_CAPABILITIES) != 0)
        return refuse(error, path,
                      "it needs capabilities of ABI %u.%u that this host (%d.%d) does not have",
                      driver->abi_major, driver->abi_minor, DROVER_ABI_MAJOR, DROVER_ABI_MINOR);
    if (driver->provider_open == NULL)
        return refuse(error, path, "it has no provider_open()");
    for (guint i = 0; i < G_N_ELEMENTS(needed); i++) {
        void *function;

        memcpy(&function, (const char *)driver + needed[i].offset, sizeof(function));
        if ((driver->capabilities & needed[i].capability) != 0 && function == NULL)
            return refuse(error, path, "it has no %s() although it says so", needed[i].function);
    }
    return TRUE;
}

static struct drover_option *
copy_options(const struct drover_driver *driver)
{
    GArray *options = g_array_new(TRUE, TRUE, sizeof(struct drover_option));
    const char *theirs = (const char *)driver->options;

    for (guint i = 0; theirs != NULL && i < MOST_OPTIONS; i++) {
        struct drover_option option = {0};

        memcpy(&option, theirs + (size_t)i * driver->option_size,
               MIN(driver->option_size, sizeof(option)));
        if (option.path == NULL)
            break;
        g_array_append_val(options, option);
    }
    return (struct drover_option *)g_array_free(options, FALSE);
}

DroverDriverTable *
drover_driver_table_new(const struct drover_driver *theirs, const char *path, const char *name,
                        GError **error)
{
    DroverDriverTable *table;

    if (!negotiate(theirs, path, error))
        return NULL;
    table = g_new0(DroverDriverTable, 1);
    memcpy(&table->driver, theirs, MIN(theirs->size, sizeof(table->driver)));
    table->options = copy_options(&table->driver);
    table->driver.options = table->options;
    table->driver.option_size = sizeof(struct drover_option);
    if (!is_complete(&table->driver, path, name, error)) {
        drover_driver_table_free(table);
        return NULL;
    }
    return table;
}

void
drover_driver_table_free(DroverDriverTable *table)
{
    g_free(table->options);
    g_free(table);
}
