/*
 * Limits of processes.
 */
#include <glib.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "base/process.h"

#define AT_START 100

static guint64
limit_of_child(GSpawnChildSetupFunc set_up)
{
    const char *const words[] = {"/bin/sh", "-c", "ulimit -Sn", NULL};
    g_autofree char *output = NULL;
    g_autoptr(GError) error = NULL;
    int status;

    g_spawn_sync(NULL, (char **)words, NULL, G_SPAWN_DEFAULT, set_up, NULL, &output, NULL, &status,
                 &error);
    g_assert_no_error(error);
    g_assert_cmpint(status, ==, 0);
    return g_ascii_strtoull(output, NULL, 10);
}

static void
test_files(void)
{
    struct rlimit files;
    guint64 most;

    g_assert_cmpint(getrlimit(RLIMIT_NOFILE, &files), ==, 0);
    most = MIN(files.rlim_max, 65536);
    drover_process_restore_files(NULL); /* nothing to go back to */
    files.rlim_cur = AT_START;
    g_assert_cmpint(setrlimit(RLIMIT_NOFILE, &files), ==, 0);
    g_assert_cmpuint(limit_of_child(drover_process_restore_files), ==, AT_START);
    drover_process_allow_files();
    getrlimit(RLIMIT_NOFILE, &files);
    g_assert_cmpuint(files.rlim_cur, ==, most);
    g_assert_cmpuint(limit_of_child(NULL), ==, most);
    g_assert_cmpuint(limit_of_child(drover_process_restore_files), ==, AT_START);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/base/process/files", test_files);
    return g_test_run();
}
