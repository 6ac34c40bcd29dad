/* Files on disk: substitution, encodings, missing files, stamps, and a look at the directories. */
#include "load.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *
temporary_folder(void)
{
    g_autoptr(GError) error = NULL;
    char *folder = g_dir_make_tmp("drover-config-XXXXXX", &error);

    g_assert_no_error(error);
    return folder;
}

static void
write_bytes(const char *path, const char *bytes, gssize length)
{
    g_autoptr(GError) error = NULL;

    g_file_set_contents_full(path, bytes, length, G_FILE_SET_CONTENTS_NONE, 0600, &error);
    g_assert_no_error(error);
}

/* ---- Substitution ---- */

static void
test_unchanged(void)
{
    g_autoptr(TestLoad) load = NULL;

    g_unsetenv("NODEPOOL_X");
    g_setenv("NODEPOOL_A", "a", TRUE);
    load = test_load(SERVERS "elements-dir: \"%(HOME)/%(NODEPOOL_X)/%(NODEPOOL_A)s/%(NODEPOOL_\"\n",
                     NULL);
    test_assert_clean(load);
    g_assert_cmpstr(load->config->elements_dir, ==, "%(HOME)/%(NODEPOOL_X)/as/%(NODEPOOL_");
}

static void
test_replaced(void)
{
    g_autoptr(TestLoad) load = NULL;

    g_setenv("NODEPOOL_A", "some longer value", TRUE);
    g_setenv("NODEPOOL_EMPTY", "", TRUE);
    g_setenv("NODEPOOL_LINES", "max-hold-age: 7\nbuild-log-retention: x", TRUE);
    load = test_load(
        "# %(NODEPOOL_A)\n" SERVERS "elements-dir: '%(NODEPOOL_A)'\n"
        "images-dir: %(NODEPOOL_A) %(NODEPOOL_EMPTY)ü%(NODEPOOL_A)\n"
        "{a: %(NODEPOOL_A)\n",
        "# ü %(NODEPOOL_A)\n%(NODEPOOL_EMPTY)diskimages: [{name: %(NODEPOOL_A), wrong: 1}]\n");
    test_assert_error(load, "nodepool.yaml:6:1: error: YAML parsing failed");
    test_assert_error(load, "secure.yaml:2:31: error: ", "diskimage some longer value", "env-vars");
    g_clear_pointer(&load, test_load_free);

    load = test_load(
        SERVERS "%(NODEPOOL_LINES)\n"
                "labels: [{name: %(NODEPOOL_A), wrong: 1}, {name: \"%(NODEPOOL_A)2\", wrong: 2}]\n",
        NULL);
    test_assert_error(load, "nodepool.yaml:2:1: error: build-log-retention");
    test_assert_error(load, "nodepool.yaml:2:1: error: build-log-retention", "an integer");
    g_clear_pointer(&load, test_load_free);

    load = test_load(
        SERVERS "labels: [{name: %(NODEPOOL_A), wrong: 1}, {name: \"%(NODEPOOL_A)2\", wrong: 2}]\n",
        NULL);
    test_assert_warning(load, "nodepool.yaml:2:32: warning: label some longer value: unknown key");
    test_assert_warning(load, "nodepool.yaml:2:68: warning: label some longer value2:");
}

static void
test_value_in_value(void)
{
    g_autoptr(TestLoad) load = NULL;

    g_setenv("NODEPOOL_A", "%(NODEPOOL_B)", TRUE);
    g_setenv("NODEPOOL_B", "%(NODEPOOL_A)", TRUE);
    load = test_load(SERVERS "elements-dir: '%(NODEPOOL_A)'\n", NULL);
    test_assert_clean(load);
    g_assert_cmpstr(load->config->elements_dir, ==, "%(NODEPOOL_B)");
}

/* A value that is no UTF-8 stays out of the text. */
static void
test_strange_value(void)
{
    g_autoptr(TestLoad) load = NULL;

    g_setenv("NODEPOOL_A", "\xc3", TRUE);
    load = test_load(SERVERS "elements-dir: '%(NODEPOOL_A)'\n", NULL);
    test_assert_clean(load);
    g_assert_cmpstr(load->config->elements_dir, ==, "%(NODEPOOL_A)");
}

/* ---- Encodings ---- */

static void
test_unicode(void)
{
    g_autoptr(TestLoad) load = test_load(SERVERS "labels:\n"
                                                 "  - {name: prüfung, min-ready: ö}\n"
                                                 "  - {name: 機械, min-ready: 機}\n",
                                         NULL);
    g_autoptr(TestLoad) good = test_load("\xEF\xBB\xBF" SERVERS "labels: [{name: 機械}]\n", NULL);

    test_assert_error(load, "nodepool.yaml:4:27: error: label 機械: min-ready: found the string "
                            "\"機\"");
    test_assert_error(load, "3:32: error: label prüfung: min-ready");
    test_assert_clean(good);
    g_assert_nonnull(drover_config_find_label(good->config, "機械"));
}

static void
test_utf_16(void)
{
    g_autofree char *folder = temporary_folder();
    g_autofree char *path = g_build_filename(folder, "nodepool.yaml", NULL);
    const char *text = "\xEF\xBB\xBF" SERVERS "labels: [{name: 機械, wrong: 1}]\n";
    g_autofree char *bytes = NULL, *message = NULL;
    g_autoptr(DroverConfigReport) report = drover_config_report_new();
    g_autoptr(DroverConfig) config = NULL;
    gsize length;

    bytes = g_convert(text, -1, "UTF-16BE", "UTF-8", NULL, &length, NULL);
    write_bytes(path, bytes, (gssize)length);
    config = drover_config_load(path, NULL, FALSE, NULL, report);
    g_assert_nonnull(config);
    g_assert_nonnull(drover_config_find_label(config, "機械"));
    message = drover_config_problem_text(drover_config_report_problems(report)->pdata[0]);
    g_assert_nonnull(strstr(message, "nodepool.yaml:2:21: warning"));
    g_remove(path);
    g_rmdir(folder);
}

static gboolean
is_said(const DroverConfigReport *report, const char *part)
{
    const GPtrArray *problems = drover_config_report_problems(report);

    for (guint i = 0; i < problems->len; i++) {
        g_autofree char *text = drover_config_problem_text(problems->pdata[i]);

        if (strstr(text, part) != NULL)
            return TRUE;
    }
    return FALSE;
}

static void
refuse_bytes(const char *bytes, gsize length, const char *part)
{
    g_autofree char *folder = temporary_folder();
    g_autofree char *path = g_build_filename(folder, "nodepool.yaml", NULL);
    g_autoptr(DroverConfigReport) report = drover_config_report_new();

    write_bytes(path, bytes, (gssize)length);
    g_assert_null(drover_config_load(path, NULL, FALSE, NULL, report));
    g_assert_true(is_said(report, part));
    g_remove(path);
    g_rmdir(folder);
}

static void
test_bytes(void)
{
    refuse_bytes("a: b\nü: \xff", 10, ":2:4: error: YAML parsing failed: this byte is not UTF-8");
    refuse_bytes("a: b\0c: d", 9, ":1:5: error: YAML parsing failed: this byte is not UTF-8");
    refuse_bytes("\xFF\xFE"
                 "a",
                 3, "cannot be read");
    refuse_bytes("\xFE\xFF\xD8\x00", 4, "cannot be read");
    refuse_bytes("a: \"\\0\"", 7, ":1:4: error: a string may not hold the character 0");
}

/* ---- Missing files ---- */

static void
test_missing(void)
{
    g_autofree char *folder = temporary_folder();
    g_autofree char *path = g_build_filename(folder, "nodepool.yaml", NULL), *message = NULL;
    g_autoptr(DroverConfigReport) report = drover_config_report_new();
    gint64 start = g_get_monotonic_time();

    g_assert_null(drover_config_load(path, NULL, FALSE, NULL, report));
    g_assert_cmpint(g_get_monotonic_time() - start, >=, 3 * G_USEC_PER_SEC / 2);
    message = drover_config_problem_text(drover_config_report_problems(report)->pdata[0]);
    g_assert_nonnull(strstr(message, path));
    g_assert_nonnull(strstr(message, "No such file"));
    g_rmdir(folder);
}

static gpointer
write_late(gpointer path)
{
    g_usleep(G_USEC_PER_SEC / 4);
    write_bytes(path, SERVERS, -1);
    return NULL;
}

static void
test_missing_for_a_moment(void)
{
    g_autofree char *folder = temporary_folder();
    g_autofree char *path = g_build_filename(folder, "nodepool.yaml", NULL);
    g_autoptr(DroverConfigReport) report = drover_config_report_new();
    g_autoptr(GThread) writer = g_thread_new("writer", write_late, path);
    g_autoptr(DroverConfig) config = drover_config_load(path, NULL, FALSE, NULL, report);

    g_thread_join(g_steal_pointer(&writer));
    g_assert_nonnull(config);
    g_remove(path);
    g_rmdir(folder);
}

/* ---- Stamps ---- */

static void
assert_changed(char **stamp, const char *path, const char *secure_path, gboolean changed)
{
    char *now = drover_config_stamp(path, secure_path);

    g_assert_cmpint(g_str_equal(*stamp, now), ==, !changed);
    g_free(*stamp);
    *stamp = now;
}

static void
set_time(const char *path, time_t seconds, long nanoseconds)
{
    struct timespec times[2] = {{seconds, nanoseconds}, {seconds, nanoseconds}};

    g_assert_cmpint(utimensat(AT_FDCWD, path, times, 0), ==, 0);
}

static void
test_stamp(void)
{
    g_autofree char *folder = temporary_folder();
    g_autofree char *path = g_build_filename(folder, "nodepool.yaml", NULL);
    g_autofree char *secure = g_build_filename(folder, "secure.yaml", NULL);
    g_autofree char *other = g_build_filename(folder, "new", NULL);
    g_autofree char *stamp = drover_config_stamp(path, secure);

    assert_changed(&stamp, path, secure, FALSE);
    write_bytes(path, SERVERS, -1);
    assert_changed(&stamp, path, secure, TRUE);
    assert_changed(&stamp, path, secure, FALSE);
    write_bytes(secure, "", 0);
    assert_changed(&stamp, path, secure, TRUE);
    assert_changed(&stamp, path, secure, FALSE);
    set_time(path, 1000, 5);
    assert_changed(&stamp, path, secure, TRUE);
    set_time(path, 1000, 6);
    assert_changed(&stamp, path, secure, TRUE);
    set_time(path, 999, 0);
    assert_changed(&stamp, path, secure, TRUE);
    write_bytes(other, SERVERS, -1);
    set_time(other, 999, 0);
    g_assert_cmpint(g_rename(other, path), ==, 0);
    assert_changed(&stamp, path, secure, TRUE);
    assert_changed(&stamp, path, NULL, TRUE);
    g_remove(path);
    assert_changed(&stamp, path, NULL, TRUE);
    g_remove(secure);
    g_rmdir(folder);
}

/* ---- The home folder ---- */

static void
test_home(void)
{
    g_autofree char *name = g_strdup_printf(".drover-test-%d.yaml", (int)getpid());
    g_autofree char *path = g_build_filename(g_get_home_dir(), name, NULL);
    g_autofree char *short_path = g_build_filename("~", name, NULL);
    g_autoptr(DroverConfigReport) report = drover_config_report_new();
    g_autoptr(DroverConfig) config = NULL;

    write_bytes(path, SERVERS, -1);
    config = drover_config_load(short_path, NULL, FALSE, NULL, report);
    g_remove(path);
    g_assert_nonnull(config);
}

/* ---- Directories of drivers ---- */

static void
peek(const char *text, const char *expected)
{
    g_autofree char *folder = temporary_folder();
    g_autofree char *path = g_build_filename(folder, "nodepool.yaml", NULL), *joined = NULL;
    g_auto(GStrv) directories = NULL;

    if (text != NULL)
        write_bytes(path, text, -1);
    directories = drover_config_peek_driver_directories(path);
    joined = g_strjoinv(" ", directories);
    g_assert_cmpstr(joined, ==, expected);
    g_remove(path);
    g_rmdir(folder);
}

static void
test_peek(void)
{
    g_setenv("NODEPOOL_A", "/d", TRUE);
    peek("drivers: {directories: [/a, '%(NODEPOOL_A)/b']}\n", "/a /d/b");
    peek("drivers: {directories: /a}\n", "/a");
    peek("drivers: {directories: [/a, 5, [x], ~]}\nproviders: 7\nlabels: {x: y}\n", "/a");
    peek("drivers: {directories: {a: b}}\n", "");
    peek("drivers: [a]\n", "");
    peek("drivers: ~\n", "");
    peek("- a\n", "");
    peek("a: [\n", "");
    peek("", "");
    peek(NULL, "");
}

static void
test_directories(void)
{
    g_autoptr(TestLoad) load =
        test_load(SERVERS "drivers: {directories: [/a, /b], mine: {x: 1}}\n", NULL);
    g_autofree char *joined = NULL;

    test_assert_clean(load);
    joined = g_strjoinv(" ", load->config->driver_directories);
    g_assert_cmpstr(joined, ==, "/a /b");
    test_refuses(SERVERS "drivers: [a]\n", "2:10: error: drivers: found a list, must be a map");
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/config/files/C-37-left-unchanged", test_unchanged);
    g_test_add_func("/config/files/C-38-replaced-with-places", test_replaced);
    g_test_add_func("/config/files/value-in-value", test_value_in_value);
    g_test_add_func("/config/files/strange-value", test_strange_value);
    g_test_add_func("/config/files/C-63-unicode", test_unicode);
    g_test_add_func("/config/files/utf-16", test_utf_16);
    g_test_add_func("/config/files/bytes", test_bytes);
    g_test_add_func("/config/files/missing", test_missing);
    g_test_add_func("/config/files/missing-for-a-moment", test_missing_for_a_moment);
    g_test_add_func("/config/files/C-55-stamp", test_stamp);
    g_test_add_func("/config/files/home", test_home);
    g_test_add_func("/config/files/peek", test_peek);
    g_test_add_func("/config/files/directories", test_directories);
    return g_test_run();
}
