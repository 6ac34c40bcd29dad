/* Finding, loading and refusing driver files. */
#include <dlfcn.h>
#include <glib/gstdio.h>
#include <string.h>

#include "driver/host.h"

static DroverDriverHost *
new_host(void)
{
    const char *const directories[] = {SAMPLE_DIR, NULL};

    return drover_driver_host_new(directories);
}

static void
test_loads_once(void)
{
    g_autoptr(DroverDriverHost) host = new_host();
    g_autoptr(GError) error = NULL;
    const struct drover_driver *driver = drover_driver_host_find(host, "good", &error);

    g_assert_no_error(error);
    g_assert_cmpstr(driver->name, ==, "good");
    g_assert_cmpstr(driver->options[0].path, ==, "mode");
    g_assert_null(driver->options[2].path);
    g_assert_true(drover_driver_host_find(host, "good", NULL) == driver);
}

static void
test_stays_loaded(void)
{
    DroverDriverHost *host = new_host();
    const struct drover_driver *driver = drover_driver_host_find(host, "good", NULL);

    drover_driver_host_free(host);
    g_assert_cmpstr(driver->name, ==, "good");
    host = new_host();
    g_assert_true(drover_driver_host_find(host, "good", NULL) == driver);
    drover_driver_host_free(host);
}

/* Every sample has this symbol; none is to take another's. */
static void
test_symbols_are_local(void)
{
    g_autoptr(DroverDriverHost) host = new_host();

    g_assert_nonnull(drover_driver_host_find(host, "good", NULL));
    g_assert_null(dlsym(RTLD_DEFAULT, "drover_sample_marker"));
}

static void
check_options(const struct drover_driver *driver)
{
    g_assert_cmpuint(driver->option_size, ==, sizeof(struct drover_option));
    g_assert_cmpstr(driver->options[0].path, ==, "mode");
    g_assert_null(driver->options[0].help);
    g_assert_cmpstr(driver->options[1].path, ==, "pools[]");
    g_assert_cmpint(driver->options[1].type, ==, DROVER_OPTION_LIST);
    g_assert_null(driver->options[2].path);
}

/* A newer driver's tail is ignored, an older one's missing tail reads as NULL. */
static void
test_other_minors_load(void)
{
    g_autoptr(DroverDriverHost) host = new_host();
    g_autoptr(GError) error = NULL;
    const struct drover_driver *newer = drover_driver_host_find(host, "newminor", &error);
    const struct drover_driver *shorter;

    g_assert_no_error(error);
    g_assert_nonnull(newer->resource_list);
    check_options(newer);
    shorter = drover_driver_host_find(host, "shorter", &error);
    g_assert_no_error(error);
    g_assert_nonnull(shorter->slot_check);
    g_assert_null(shorter->resource_list);
    g_assert_null(shorter->node_deleted);
    check_options(shorter);
}

static void
test_refused(gconstpointer user_data)
{
    const char *const *expected = user_data; /* name, then what the message must contain */
    g_autoptr(DroverDriverHost) host = new_host();
    g_autoptr(GError) error = NULL;
    g_autofree char *file = g_strdup_printf("%s.so", expected[0]);

    g_assert_null(drover_driver_host_find(host, expected[0], &error));
    g_assert_nonnull(error);
    g_assert_nonnull(strstr(error->message, file));
    g_assert_nonnull(strstr(error->message, expected[1]));
    g_assert_nonnull(strstr(error->message, "this host offers"));
    g_assert_null(strchr(error->message, '\n'));
}

static void
test_not_installed(void)
{
    g_autoptr(DroverDriverHost) host = new_host();
    g_autoptr(GError) error = NULL;

    g_assert_null(drover_driver_host_find(host, "nope", &error));
    g_assert_nonnull(strstr(error->message, "nope.so"));
    g_assert_nonnull(strstr(error->message, SAMPLE_DIR));
    g_assert_nonnull(strstr(error->message, "good"));
    g_clear_error(&error);
    g_assert_null(drover_driver_host_find(host, "../drivers/good", &error));
    g_assert_nonnull(error);
}

static void
test_list(void)
{
    g_autoptr(DroverDriverHost) host = new_host();
    g_autoptr(GPtrArray) files = drover_driver_host_list(host);
    guint loaded = 0, refused = 0;

    for (guint i = 0; i < files->len; i++) {
        const DroverDriverFile *file = files->pdata[i];

        g_assert_true((file->driver == NULL) == (file->problem != NULL));
        g_assert_true(i == 0 ||
                      strcmp(((DroverDriverFile *)files->pdata[i - 1])->name, file->name) < 0);
        if (file->driver != NULL)
            loaded++;
        else
            refused++;
    }
    g_assert_cmpuint(loaded, ==, 3);
    g_assert_cmpuint(refused, ==, 17);
}

/* A file that does harm when it is loaded is refused, by name, and nothing else is harmed. */
static void
test_harmful(gconstpointer user_data)
{
    const char *const *expected = user_data; /* name, then what the message must contain */
    g_autofree char *directory = g_build_filename(HOSTILE_DIR, expected[0], NULL);
    const char *const directories[] = {directory, NULL};
    g_autoptr(DroverDriverHost) host = drover_driver_host_new(directories);
    g_autofree char *file = g_strdup_printf("%s.so", expected[0]);
    g_autoptr(GError) error = NULL;

    g_assert_null(drover_driver_host_find(host, expected[0], &error));
    g_assert_nonnull(strstr(error->message, file));
    g_assert_nonnull(strstr(error->message, expected[1]));
}

/* What is not a shared object at all, and the search order. */
static void
test_first_directory_wins(void)
{
    g_autofree char *directory = g_dir_make_tmp("drover-test-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(directory, "good.so", NULL);
    g_autoptr(GError) error = NULL;
    DroverDriverHost *host;

    g_assert_true(g_file_set_contents(path, "not a driver", -1, NULL));
    g_setenv("DROVER_DRIVER_PATH", directory, TRUE);
    host = new_host();
    g_assert_null(drover_driver_host_find(host, "good", &error));
    g_assert_nonnull(strstr(error->message, path));
    drover_driver_host_free(host);
    g_unsetenv("DROVER_DRIVER_PATH");
    g_unlink(path);
    g_rmdir(directory);
}

int
main(int argc, char **argv)
{
    static const char *const harmful[][2] = {
        {"crashing", "a process that loaded it was ended by signal"},
        {"leaving", "a process that loaded it ended with status 0"},
        {"hanging", "loading it takes more than 10 s"},
    };
    static const char *const refused[][2] = {
        {"oldmajor", "it was built for ABI 0.1, this host offers 1.1"},
        {"newmajor", "it was built for ABI 2.1, this host offers 1.1"},
        {"tiny", "8 bytes"},
        {"huge", "1000000 bytes"},
        {"oddoptions", "1 bytes each"},
        {"hugeoptions", "100000 bytes each"},
        {"endless", "no end"},
        {"newtype", "option mode is of a type that is not known (99)"},
        {"newflag", "option mode has flags that are not known (0x8000)"},
        {"newcapability", "0x10000"},
        {"incomplete", "machine_delete"},
        {"cannotopen", "provider_open"},
        {"unlicensed", "licence"},
        {"misnamed", "calls itself other"},
        {"nothing", "returned nothing"},
        {"noentry", "drover_driver_entry"},
        {"unbound", "drover_sample_symbol_that_nobody_has"},
    };

    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/driver-host/loads-once", test_loads_once);
    g_test_add_func("/driver-host/stays-loaded", test_stays_loaded);
    g_test_add_func("/driver-host/symbols-are-local", test_symbols_are_local);
    g_test_add_func("/driver-host/other-minors-load", test_other_minors_load);
    for (guint i = 0; i < G_N_ELEMENTS(refused); i++) {
        g_autofree char *path = g_strdup_printf("/driver-host/refuses-%s", refused[i][0]);
        g_test_add_data_func(path, refused[i], test_refused);
    }
    g_test_add_func("/driver-host/C-41-not-installed", test_not_installed);
    g_test_add_func("/driver-host/list", test_list);
    g_test_add_func("/driver-host/first-directory-wins", test_first_directory_wins);
    for (guint i = 0; i < G_N_ELEMENTS(harmful); i++) {
        g_autofree char *path = g_strconcat("/driver-host/harmful-", harmful[i][0], NULL);

        g_test_add_data_func(path, harmful[i], test_harmful);
    }
    return g_test_run();
}
