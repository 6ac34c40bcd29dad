/* What pools remember of their decisions: what counts as a change, and how much is told. */
#include "launcher/cluster/verdicts.h"

#include <string.h>

#include "base/json.h"
#include "records.h"

typedef struct {
    DroverVerdicts *verdicts;
    GPtrArray *requests;
} Scene;

static void
set_up(Scene *scene, gconstpointer data)
{
    scene->verdicts = drover_verdicts_new();
    scene->requests = g_ptr_array_new_with_free_func((GDestroyNotify)drover_request_unref);
}

static void
tear_down(Scene *scene, gconstpointer data)
{
    drover_verdicts_free(scene->verdicts);
    g_ptr_array_unref(scene->requests);
}

static void
add_requests(Scene *scene, guint count, const char *reason)
{
    for (guint i = 0; i < count; i++) {
        g_autofree char *id = g_strdup_printf("200-%010u", i);

        g_ptr_array_add(scene->requests, test_request_new(id, "{'state': 'requested'}"));
        if (reason != NULL)
            drover_verdicts_note(scene->verdicts, id, "defer", reason);
    }
}

static void
assert_last(const Scene *scene, const char *id, const char *verdict, const char *reason)
{
    g_autoptr(json_t) last = drover_verdicts_find(scene->verdicts, id);

    g_assert_cmpstr(drover_json_string(last, "id"), ==, id);
    g_assert_cmpstr(drover_json_string(last, "verdict"), ==, verdict);
    g_assert_cmpstr(drover_json_string(last, "reason"), ==, reason);
}

static void
test_only_the_last_word_counts(Scene *scene, gconstpointer data)
{
    drover_verdicts_note(scene->verdicts, "a", "defer", "1 used");
    drover_verdicts_note(scene->verdicts, "b", "serve", NULL);
    drover_verdicts_note(scene->verdicts, "a", "yield", "another");
    assert_last(scene, "a", "yield", "another");
    assert_last(scene, "b", "serve", NULL);
    g_assert_cmpuint(drover_verdicts_changes(scene->verdicts), ==, 3);
    drover_verdicts_note(scene->verdicts, "a", "yield", "another");
    drover_verdicts_note(scene->verdicts, "b", "serve", NULL);
    g_assert_cmpuint(drover_verdicts_changes(scene->verdicts), ==, 3);
}

static void
test_forgotten(Scene *scene, gconstpointer data)
{
    drover_verdicts_note(scene->verdicts, "a", "defer", "1 used");
    drover_verdicts_forget(scene->verdicts, "a");
    drover_verdicts_forget(scene->verdicts, "a");
    drover_verdicts_forget(scene->verdicts, "never there");
    g_assert_null(drover_verdicts_find(scene->verdicts, "a"));
    g_assert_cmpuint(drover_verdicts_changes(scene->verdicts), ==, 2);
}

/* Numbers in a reason change; the request has waited for as long as the verdict stands. */
static void
test_since_the_verdict_was_given(Scene *scene, gconstpointer data)
{
    g_autoptr(json_t) first = NULL, second = NULL, third = NULL;

    drover_verdicts_note(scene->verdicts, "a", "defer", "1 used");
    first = drover_verdicts_find(scene->verdicts, "a");
    drover_verdicts_note(scene->verdicts, "a", "defer", "2 used");
    second = drover_verdicts_find(scene->verdicts, "a");
    g_assert_cmpfloat(drover_json_real(first, "since", 0), ==,
                      drover_json_real(second, "since", 1));
    drover_verdicts_note(scene->verdicts, "a", "serve", NULL);
    third = drover_verdicts_find(scene->verdicts, "a");
    g_assert_cmpfloat(drover_json_real(second, "since", 0), <, drover_json_real(third, "since", 0));
}

static void
test_in_the_order_of_requests(Scene *scene, gconstpointer data)
{
    g_autoptr(json_t) list = NULL;
    guint left_out = 7;

    add_requests(scene, 5, NULL);
    drover_verdicts_note(scene->verdicts, "200-0000000003", "defer", "x");
    drover_verdicts_note(scene->verdicts, "200-0000000001", "yield", "y");
    drover_verdicts_note(scene->verdicts, "200-0000000009", "yield", "of one that is gone");
    list = drover_verdicts_list(scene->verdicts, scene->requests, 10, 10000, &left_out);
    g_assert_cmpuint(json_array_size(list), ==, 2);
    g_assert_cmpstr(drover_json_string(json_array_get(list, 0), "id"), ==, "200-0000000001");
    g_assert_cmpstr(drover_json_string(json_array_get(list, 1), "id"), ==, "200-0000000003");
    g_assert_cmpuint(left_out, ==, 0);
}

static void
test_no_more_than_so_many(Scene *scene, gconstpointer data)
{
    g_autoptr(json_t) list = NULL;
    guint left_out;

    add_requests(scene, 600, "a reason");
    list = drover_verdicts_list(scene->verdicts, scene->requests, 500, G_MAXSIZE, &left_out);
    g_assert_cmpuint(json_array_size(list), ==, 500);
    g_assert_cmpuint(left_out, ==, 100);
    g_assert_cmpstr(drover_json_string(json_array_get(list, 499), "id"), ==, "200-0000000499");
}

static void
test_no_more_than_so_many_bytes(Scene *scene, gconstpointer data)
{
    g_autofree char *reason = g_strnfill(5000, 'x');
    g_autoptr(json_t) list = NULL;
    g_autofree char *text = NULL;
    guint left_out;

    add_requests(scene, 100, reason);
    list = drover_verdicts_list(scene->verdicts, scene->requests, 500, 20000, &left_out);
    text = drover_json_text(list);
    g_assert_cmpuint(strlen(text), <, 20000);
    g_assert_cmpuint(json_array_size(list), >, 30);
    g_assert_cmpuint(json_array_size(list) + left_out, ==, 100);
}

static void
test_reasons_of_any_text(Scene *scene, gconstpointer data)
{
    g_autoptr(GString) long_text = g_string_new(NULL);
    g_autoptr(json_t) cut = NULL;

    for (guint i = 0; i < 1000; i++)
        g_string_append(long_text, "é");
    drover_verdicts_note(scene->verdicts, "a", "decline", "not \xff text");
    assert_last(scene, "a", "decline", "not \xef\xbf\xbd text");
    drover_verdicts_note(scene->verdicts, "a", "decline", long_text->str);
    cut = drover_verdicts_find(scene->verdicts, "a");
    g_assert_cmpint(g_utf8_strlen(drover_json_string(cut, "reason"), -1), ==, 400);
}

int
main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(Scene *scene, gconstpointer data);
    } tests[] = {
        {"only-the-last-word-counts", test_only_the_last_word_counts},
        {"forgotten", test_forgotten},
        {"since-the-verdict-was-given", test_since_the_verdict_was_given},
        {"in-the-order-of-requests", test_in_the_order_of_requests},
        {"no-more-than-so-many", test_no_more_than_so_many},
        {"no-more-than-so-many-bytes", test_no_more_than_so_many_bytes},
        {"reasons-of-any-text", test_reasons_of_any_text},
    };

    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(tests); i++) {
        g_autofree char *path = g_strconcat("/launcher/verdicts/", tests[i].name, NULL);
        g_test_add(path, Scene, NULL, set_up, tests[i].run, tear_down);
    }
    return g_test_run();
}
