/* Tables and Python literals, as scripts parse them. */
#include "cli/command.h"
#include "cli/python-literal.h"
#include "cli/table.h"

static char **
cells(const char *first, const char *second)
{
    char **row = g_new0(char *, 3);

    row[0] = g_strdup(first);
    row[1] = g_strdup(second);
    return row;
}

static void
test_empty_table(void)
{
    const char *const headers[] = {"ID", "Provider", NULL};
    g_autoptr(DroverTable) table = drover_table_new(headers);
    g_autofree char *text = drover_table_text(table);

    g_assert_cmpstr(text, ==,
                    "+----+----------+\n"
                    "| ID | Provider |\n"
                    "+----+----------+\n"
                    "+----+----------+\n");
}

static void
test_cells(void)
{
    const char *const headers[] = {"ID", "Comment", NULL};
    g_autoptr(DroverTable) table = drover_table_new(headers);
    g_autofree char *text = NULL;

    drover_table_add_row(table, cells("1", "h\nsecond line"));
    drover_table_add_row(table, cells("22", "日本語"));
    drover_table_add_row(table, cells("3", "e\xcc\x81")); /* e and a combining accent */
    drover_table_add_row(table, cells(NULL, NULL));
    text = drover_table_text(table);
    g_assert_cmpstr(text, ==,
                    "+----+-------------+\n"
                    "| ID | Comment     |\n"
                    "+----+-------------+\n"
                    "| 1  | h           |\n"
                    "|    | second line |\n"
                    "| 22 | 日本語      |\n"
                    "| 3  | e\xcc\x81           |\n"
                    "|    |             |\n"
                    "+----+-------------+\n");
}

static DroverTable *
table_of_three(void)
{
    static const char *const headers[] = {"ID", "IPv6", "Label", NULL};
    static const char *const labels[] = {"ubuntu-noble-large-with-gpu", "日本語日本語"};
    DroverTable *table = drover_table_new(headers);

    for (guint i = 0; i < G_N_ELEMENTS(labels); i++) {
        char **row = g_new0(char *, 4);

        row[0] = g_strdup_printf("200-000000000%u", i);
        row[2] = g_strdup(labels[i]);
        drover_table_add_row(table, row);
    }
    return table;
}

/* For people: where it fits it is the same, and then narrower in three ways. */
static void
test_fitted(void)
{
    static const struct {
        guint columns;
        const char *text;
    } expected[] = {
        {48, "+----------------+-----------------------------+\n"
             "| ID             | Label                       |\n"
             "+----------------+-----------------------------+\n"
             "| 200-0000000000 | ubuntu-noble-large-with-gpu |\n"
             "| 200-0000000001 | 日本語日本語                |\n"
             "+----------------+-----------------------------+\n"},
        {33, "+----------------+--------------+\n"
             "| ID             | Label        |\n"
             "+----------------+--------------+\n"
             "| 200-0000000000 | ubuntu-      |\n"
             "|                | noble-large- |\n"
             "|                | with-gpu     |\n"
             "| 200-0000000001 | 日本語日本語 |\n"
             "+----------------+--------------+\n"},
        {24, "ID     200-0000000000\n"
             "Label  ubuntu-noble-\n"
             "       large-with-gpu\n"
             "\n"
             "ID     200-0000000001\n"
             "Label  日本語日本語\n"},
    };
    g_autoptr(DroverTable) table = table_of_three();
    g_autofree char *whole = drover_table_text(table), *wide = drover_table_fitted(table, 200);

    g_assert_cmpstr(wide, ==, whole);
    for (guint i = 0; i < G_N_ELEMENTS(expected); i++) {
        g_autofree char *text = drover_table_fitted(table, expected[i].columns);

        g_assert_cmpstr(text, ==, expected[i].text);
    }
    for (guint columns = 1; columns < 60; columns++) {
        g_autofree char *text = drover_table_fitted(table, columns);
        g_auto(GStrv) lines = g_strsplit(text, "\n", -1);

        for (guint i = 0; columns >= 10 && lines[i] != NULL; i++)
            g_assert_cmpuint(drover_table_width(lines[i], -1), <=, columns);
    }
}

/* Nothing but headers stays as it is: there is nothing to read. */
static void
test_fitted_empty(void)
{
    const char *const headers[] = {"ID", "Provider", NULL};
    g_autoptr(DroverTable) table = drover_table_new(headers);
    g_autofree char *text = drover_table_text(table), *fitted = drover_table_fitted(table, 5);

    g_assert_cmpstr(fitted, ==, text);
}

static void
test_width(void)
{
    g_assert_cmpuint(drover_table_width("abc", -1), ==, 3);
    g_assert_cmpuint(drover_table_width("한글", -1), ==, 4);
    g_assert_cmpuint(drover_table_width("ＡＢ", -1), ==, 4);
    g_assert_cmpuint(drover_table_width("\xff\xfe", -1), ==, 2);
}

static void
test_literals(void)
{
    static const struct {
        const char *json, *text;
    } cases[] = {
        {"{\"zuul_system\":\"x\",\"n\":1,\"t\":true,\"z\":null,\"l\":[1,\"q\\\"\"]}",
         "{'zuul_system': 'x', 'n': 1, 't': True, 'z': None, 'l': [1, 'q\"']}"},
        {"[\"it's\"]", "[\"it's\"]"},
        {"[\"it's \\\"so\\\"\"]", "['it\\'s \"so\"']"},
        {"[\"a\\\\b\\n\\t\\u0007\"]", "['a\\\\b\\n\\t\\x07']"},
        {"[\"é 日本\\u200b\"]", "['é 日本\\u200b']"},
        {"[1.5, 2.0, 1796100310.127768, 1e300, 0.1]", "[1.5, 2.0, 1796100310.127768, 1e+300, 0.1]"},
        {"[-1796100300.0, -0.5, 1e15, 1e16, 0.00001, -7]",
         "[-1796100300.0, -0.5, 1000000000000000.0, 1e+16, 1e-05, -7]"},
        {"[\"\\ue000\\u00a0\\ud83d\\ude00\\u0000.\"]", "['\\ue000\\xa0😀\\x00.']"},
        {"{}", "{}"},
        {"[]", "[]"},
    };

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        json_t *value = json_loads(cases[i].json, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
        g_autofree char *text = drover_python_literal(value);

        g_assert_cmpstr(text, ==, cases[i].text);
        json_decref(value);
    }
}

static void
test_cell_text(void)
{
    static const struct {
        const char *json, *text;
    } cases[] = {
        {"null", ""}, {"\"as {'is'}\"", "as {'is'}"}, {"[\"a\",\"b\"]", "a,b"}, {"true", "True"},
        {"22", "22"}, {"{\"a\": 1}", "{'a': 1}"},
    };

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        json_t *value = json_loads(cases[i].json, JSON_DECODE_ANY, NULL);
        g_autofree char *text = drover_cell_text(value);

        g_assert_cmpstr(text, ==, cases[i].text);
        json_decref(value);
    }
}

/* Half a second away from the whole one, so that a slow machine does not change the answer. */
static void
test_age(void)
{
    double now = (double)g_get_real_time() / G_USEC_PER_SEC - 0.5;
    g_autofree char *past = drover_cli_age(now - (5 * 86400 + 18 * 3600 + 53 * 60 + 21));
    g_autofree char *future = drover_cli_age(now + 100);
    g_autofree char *old = drover_cli_age(now - (125.0 * 86400 + 7));

    g_assert_cmpstr(past, ==, "05:18:53:21");
    g_assert_cmpstr(future, ==, "-1:23:58:20");
    g_assert_cmpstr(old, ==, "125:00:00:07");
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/cli/CLI-04-empty-table", test_empty_table);
    g_test_add_func("/cli/CLI-09-lines-and-width", test_cells);
    g_test_add_func("/cli/fitted", test_fitted);
    g_test_add_func("/cli/fitted-empty", test_fitted_empty);
    g_test_add_func("/cli/width", test_width);
    g_test_add_func("/cli/CLI-06-python-literals", test_literals);
    g_test_add_func("/cli/cell-text", test_cell_text);
    g_test_add_func("/cli/CLI-10-age", test_age);
    return g_test_run();
}
