/* The lines of the log. */
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"

typedef struct {
    char *folder, *path, *moved;
} Fixture;

static void
set_up(Fixture *fixture, gconstpointer user_data)
{
    fixture->folder = g_dir_make_tmp("drover-log-XXXXXX", NULL);
    fixture->path = g_build_filename(fixture->folder, "log", NULL);
    fixture->moved = g_build_filename(fixture->folder, "log.1", NULL);
    g_assert_true(drover_log_set_file(fixture->path, NULL));
}

static void
tear_down(Fixture *fixture, gconstpointer user_data)
{
    drover_log_set_fd(STDERR_FILENO);
    drover_log_set_level(DROVER_LOG_INFO);
    g_unlink(fixture->path);
    g_unlink(fixture->moved);
    g_rmdir(fixture->folder);
    g_free(fixture->folder);
    g_free(fixture->path);
    g_free(fixture->moved);
}

static char *
contents(const char *path)
{
    char *text = NULL;

    g_file_get_contents(path, &text, NULL, NULL);
    return text;
}

static void
test_renamed(Fixture *fixture, gconstpointer user_data)
{
    g_autofree char *before = NULL, *after = NULL;

    drover_log_for(DROVER_LOG_INFO, "a", "one");
    g_assert_cmpint(g_rename(fixture->path, fixture->moved), ==, 0);
    drover_log_for(DROVER_LOG_INFO, "a", "two");
    before = contents(fixture->moved);
    after = contents(fixture->path);
    g_assert_nonnull(strstr(before, "one"));
    g_assert_nonnull(strstr(after, "two"));
    g_assert_null(strstr(after, "one"));
}

static void
test_lines(Fixture *fixture, gconstpointer user_data)
{
    g_autofree char *text = NULL;
    g_auto(GStrv) lines = NULL;

    drover_log_for(DROVER_LOG_WARNING, "a.b", "one\ntwo\nthree");
    text = contents(fixture->path);
    lines = g_strsplit(text, "\n", -1);
    g_assert_cmpuint(g_strv_length(lines), ==, 4);
    g_assert_true(g_regex_match_simple(
        "^\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d,\\d{3} WARNING nodepool\\.a\\.b: one$",
        lines[0], 0, 0));
    g_assert_true(g_str_has_suffix(lines[1], " WARNING nodepool.a.b:   two"));
    g_assert_true(g_str_has_suffix(lines[2], " WARNING nodepool.a.b:   three"));
}

static void
test_subject(Fixture *fixture, gconstpointer user_data)
{
    g_autofree char *text = NULL;

    drover_log(DROVER_LOG_INFO,
               &(DroverLogSubject){.event_id = "e1", .request_id = "100-1", .node_id = "7"}, "x");
    drover_log(DROVER_LOG_INFO, &(DroverLogSubject){.node_id = "8"}, "y");
    text = contents(fixture->path);
    g_assert_nonnull(
        strstr(text, "nodepool.NodePool: [e: e1] [node_request: 100-1] [node: 7] x\n"));
    g_assert_nonnull(strstr(text, "nodepool.NodePool: [node: 8] y\n"));
}

static void
test_level(Fixture *fixture, gconstpointer user_data)
{
    g_autofree char *text = NULL;

    drover_log_for(DROVER_LOG_DEBUG, "a", "hidden");
    drover_log_set_level(DROVER_LOG_DEBUG);
    drover_log_for(DROVER_LOG_DEBUG, "a", "shown");
    text = contents(fixture->path);
    g_assert_null(strstr(text, "hidden"));
    g_assert_nonnull(strstr(text, "shown"));
}

static void
test_unwritable(void)
{
    g_autoptr(GError) error = NULL;

    g_assert_false(drover_log_set_file("/nonexistent/log", &error));
    g_assert_nonnull(strstr(error->message, "/nonexistent/log"));
    drover_log_set_fd(STDERR_FILENO);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add("/log/CLI-58-file-renamed", Fixture, NULL, set_up, test_renamed, tear_down);
    g_test_add("/log/CLI-59-several-lines", Fixture, NULL, set_up, test_lines, tear_down);
    g_test_add("/log/CLI-60-subject", Fixture, NULL, set_up, test_subject, tear_down);
    g_test_add("/log/level", Fixture, NULL, set_up, test_level, tear_down);
    g_test_add_func("/log/unwritable", test_unwritable);
    return g_test_run();
}
