/* What can be said of a driver's file and of the tables in it. */
#include <dlfcn.h>
#include <string.h>

#include "check/groups.h"
#include "driver/table.h"

#define ENTRY "drover_driver_entry"

static void *
open_library(DroverSubject *subject)
{
    subject->library = dlopen(subject->wish->path, RTLD_NOW | RTLD_LOCAL);
    if (subject->library == NULL)
        drover_subject_fail(subject, "%s", dlerror());
    return subject->library;
}

static const struct drover_driver *
ask(DroverSubject *subject)
{
    const struct drover_driver *(*entry)(void);
    const struct drover_driver *theirs;
    void *symbol = dlsym(subject->library, ENTRY);

    if (symbol == NULL) {
        drover_subject_fail(subject, "it has no " ENTRY "(); see DROVER_DRIVER()");
        return NULL;
    }
    memcpy(&entry, &symbol, sizeof(entry));
    theirs = entry();
    if (theirs == NULL)
        drover_subject_fail(subject, ENTRY "() returned nothing");
    return theirs;
}

/* The very negotiation of the launcher. */
static void
negotiate(DroverSubject *subject, const struct drover_driver *theirs)
{
    g_autoptr(GError) error = NULL;
    DroverDriverTable *table =
        drover_driver_table_new(theirs, subject->wish->path, subject->wish->name, &error);

    if (table == NULL)
        drover_subject_fail(subject, "%s", error->message);
    else
        subject->driver = &table->driver;
}

gboolean
drover_subject_load(DroverSubject *subject)
{
    const struct drover_driver *theirs = NULL;

    if (open_library(subject) != NULL)
        theirs = ask(subject);
    if (theirs != NULL)
        negotiate(subject, theirs);
    return subject->driver != NULL;
}

/* ---- The single checks ---- */

static void
check_symbols(DroverSubject *subject)
{
    gboolean uses_private;
    g_auto(GStrv) names = drover_check_exports(subject->wish->path, ENTRY, &uses_private);
    g_autofree char *all = names != NULL ? g_strjoinv(", ", names) : NULL;

    if (uses_private)
        drover_subject_fail(subject,
                            "it calls functions that are for hosts alone and not promised");
    else if (names != NULL && names[0] != NULL)
        drover_subject_fail(subject,
                            "it exports %s too, which may be taken for a library's of the same "
                            "name: build with -fvisibility=hidden",
                            all);
}

static gboolean
is_name(const char *text)
{
    return text[0] != '\0' &&
           strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-_") == strlen(text);
}

static gboolean
is_line(const char *text)
{
    return text[0] != '\0' && strchr(text, '\n') == NULL && g_utf8_validate(text, -1, NULL);
}

static void
check_identity(DroverSubject *subject)
{
    const struct drover_driver *driver = subject->driver;

    if (!is_name(driver->name))
        drover_subject_fail(subject, "its name \"%s\" is not of a-z, 0-9, - and _", driver->name);
    else if (!is_line(driver->version) || !is_line(driver->description) ||
             !is_line(driver->licence))
        drover_subject_fail(subject, "version, description and licence are one line of UTF-8 each");
    else
        drover_subject_ok(subject, "%s %s, ABI %u.%u, %s", driver->name, driver->version,
                          driver->abi_major, driver->abi_minor, driver->licence);
}

/* That each capability has its functions is part of the negotiation. */
static void
check_functions(DroverSubject *subject)
{
#define HAS(function) (driver->function != NULL)
    const struct drover_driver *driver = subject->driver;
    const struct {
        gboolean there;
        enum drover_capability capability;
        const char *functions;
    } parts[] = {
        {HAS(machine_create) || HAS(machine_delete), DROVER_CAN_MACHINES, "machine_..."},
        {HAS(machine_console), DROVER_CAN_CONSOLE, "machine_console"},
        {HAS(inventory_list) || HAS(slot_register) || HAS(slot_check), DROVER_CAN_INVENTORY,
         "inventory_list, slot_..."},
        {HAS(quota_limits) || HAS(quota_label) || HAS(quota_usage), DROVER_CAN_QUOTA, "quota_..."},
        {HAS(resource_list) || HAS(resource_delete), DROVER_CAN_RESOURCES, "resource_..."},
        {HAS(image_upload) || HAS(image_delete) || HAS(image_list), DROVER_CAN_IMAGES, "image_..."},
    };

    for (guint i = 0; i < G_N_ELEMENTS(parts); i++)
        if (parts[i].there && (driver->capabilities & parts[i].capability) == 0)
            drover_subject_fail(subject,
                                "it has functions (%s) of a capability that it does not declare",
                                parts[i].functions);
    if (HAS(operation_save) != HAS(operation_resume))
        drover_subject_fail(subject,
                            "operation_save() and operation_resume() are of use together only");
    if ((driver->capabilities & ~(uint64_t)DROVER_MAY_BLOCK) == 0)
        drover_subject_fail(subject, "it can do nothing: no capability is declared");
#undef HAS
}

static void
check_options(DroverSubject *subject)
{
    g_autofree char *mistakes = drover_check_options(subject->driver);

    if (mistakes != NULL)
        drover_subject_fail(subject, "%s", mistakes);
}

static void
run(DroverSubject *subject)
{
    const struct drover_driver *theirs;

    drover_subject_begin(subject, "load");
    if (open_library(subject) == NULL)
        return;
    drover_subject_begin(subject, "entry");
    theirs = ask(subject);
    if (theirs == NULL)
        return;
    drover_subject_begin(subject, "table");
    negotiate(subject, theirs);
    if (subject->driver == NULL)
        return;
    drover_subject_begin(subject, "symbols");
    check_symbols(subject);
    drover_subject_begin(subject, "identity");
    check_identity(subject);
    drover_subject_begin(subject, "functions");
    check_functions(subject);
    drover_subject_begin(subject, "options");
    check_options(subject);
    /* Says which mistakes it has. */
    drover_subject_begin(subject, "configuration");
    drover_subject_configure(subject);
}

static const char *const checks[] = {"load",      "entry",   "table",         "symbols", "identity",
                                     "functions", "options", "configuration", NULL};
const DroverCheckGroup drover_file_checks = {checks, run};
