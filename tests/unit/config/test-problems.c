/* The list of problems itself: all in one run, in order, each with its place and on one line. */
#include "load.h"

#include <string.h>

#define TEN_MISTAKES                                                                               \
    "zookeeper-timeout: soon\n"                                                                    \
    "webapp: {port: 70000}\n"                                                                      \
    "build-log-retention: [7]\n"                                                                   \
    "labels: [{name: a, min-ready: many}, {min-ready: 1}]\n"                                       \
    "diskimages: [{name: i, parent: missing}]\n"                                                   \
    "tenant-resource-limits: [{max-cores: 1}]\n"                                                   \
    "providers:\n"                                                                                 \
    "  - {name: p, driver: plain, pools: [{name: m, labels: [z]}, {labels: [a]}]}\n"

static void
test_ten(void)
{
    g_autoptr(TestLoad) load = test_load(TEN_MISTAKES, NULL);
    const GPtrArray *problems = drover_config_report_problems(load->report);
    guint line = 0;

    g_assert_cmpuint(test_errors(load), ==, 10);
    test_assert_error(load, ":1:20: error: zookeeper-timeout: found the string \"soon\"");
    test_assert_error(load, ":8:62: error: provider p, pool 2: name is missing");
    for (guint i = 0; i < problems->len; i++) {
        const DroverConfigProblem *problem = problems->pdata[i];

        g_assert_cmpstr(problem->file, ==, load->path);
        g_assert_cmpuint(problem->line, >=, line);
        g_assert_cmpuint(problem->line == 0, ==, problem->column == 0);
        line = problem->line;
    }
    /* Only what is about the whole file has no place. */
    g_assert_cmpuint(((DroverConfigProblem *)problems->pdata[1])->line, >, 0);
}

/* Those of the secure file come behind. */
static void
test_both_files(void)
{
    g_autoptr(TestLoad) load =
        test_load("x: [\n", "diskimages: [{name: a}]\nzookeeper-digest: []\n");
    const GPtrArray *problems = drover_config_report_problems(load->report);
    const DroverConfigProblem *first = problems->pdata[0], *last = problems->pdata[2];

    g_assert_cmpuint(problems->len, ==, 3);
    g_assert_cmpstr(first->file, ==, load->path);
    g_assert_cmpstr(last->file, ==, load->secure_path);
    g_assert_cmpuint(last->line, ==, 2);
}

/* Names with control characters cannot forge lines of a log. */
static void
test_one_line(void)
{
    g_autoptr(TestLoad) load = test_load(
        SERVERS "\"a\\nb\": 1\nlabels: [{name: \"x\\ny\", min-ready: \"\\e[2J\"}]\n", NULL);
    const GPtrArray *problems = drover_config_report_problems(load->report);

    test_assert_error(load, "label x\\x0ay: min-ready: found the string \"\\x1b[2J\"");
    for (guint i = 0; i < problems->len; i++) {
        g_autofree char *text = drover_config_problem_text(problems->pdata[i]);

        for (const char *at = text; *at != '\0'; at++)
            g_assert_false(g_ascii_iscntrl(*at));
    }
}

static void
test_long_values(void)
{
    g_autoptr(GString) text = g_string_new(SERVERS "max-hold-age: \"");
    g_autoptr(TestLoad) load = NULL;

    for (int i = 0; i < 1000; i++)
        g_string_append(text, "ü");
    g_string_append(text, "\"\n");
    load = test_load(text->str, NULL);
    test_assert_error(load, "ü...\", must be an integer");
    g_assert_cmpuint(
        strlen(((DroverConfigProblem *)drover_config_report_problems(load->report)->pdata[0])
                   ->message),
        <, 200);
}

/* The texts that Nodepool's own validator uses are in what config-validate says. */
static void
test_validator_texts(void)
{
    g_autoptr(TestLoad) load =
        test_validate(SERVERS "labels: [{name: a, min-ready: x}]\nnothandled: 1\n"
                              "diskimages: [{name: i}, {name: i}, {name: j, parent: k}]\n"
                              "providers:\n"
                              "  - {name: p, cloud: c, diskimages: [{name: d}], pools: [{name: m,\n"
                              "     labels: [{name: l}, {name: a, diskimage: e}]}]}\n",
                      NULL);
    g_autoptr(TestLoad) yaml = test_validate("a: [\n", NULL);

    test_assert_error(yaml, "YAML parsing failed");
    test_assert_error(load, "Schema validation failed", "min-ready");
    test_assert_error(load, "Schema validation failed", "nothandled");
    test_assert_error(load, "diskimage d in provider p is not defined in the main diskimages list");
    test_assert_error(load, "label l in provider p not in top-level labels");
    test_assert_error(load,
                      "label a in provider p uses diskimage e which is not defined in the main "
                      "diskimages list");
    test_assert_error(load, "diskimage i already defined");
    test_assert_error(load, "diskimage j has non-existant parent: k");
}

/* Neither ZooKeeper nor a network nor the files of the daemons are needed. */
static void
test_offline(void)
{
    g_autoptr(TestLoad) load =
        test_validate("zookeeper-servers: [{host: name.invalid}]\n"
                      "zookeeper-tls: {cert: /nowhere/c, key: /nowhere/k, ca: /nowhere/a}\n"
                      "providers: [{name: p, cloud: no-such-cloud}]\n",
                      NULL);

    g_assert_nonnull(load->config);
    g_assert_cmpuint(test_warnings(load), ==, 3);
}

/* Every common option is in the table, with help. */
static void
test_common_table(void)
{
    const struct drover_option *option = drover_config_common_options();
    guint count = 0;

    for (; option->path != NULL; option++, count++) {
        g_assert_nonnull(option->help);
        g_assert_true(g_str_has_suffix(option->help, "."));
        g_assert_cmpint(option->type, >=, DROVER_OPTION_STRING);
        g_assert_cmpint(option->type, <=, DROVER_OPTION_ANY);
    }
    g_assert_cmpuint(count, >, 50);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/config/problems/C-49-ten-in-one-run", test_ten);
    g_test_add_func("/config/problems/both-files", test_both_files);
    g_test_add_func("/config/problems/one-line", test_one_line);
    g_test_add_func("/config/problems/long-values", test_long_values);
    g_test_add_func("/config/problems/CQ-8-texts-of-the-validator", test_validator_texts);
    g_test_add_func("/config/problems/C-60-offline", test_offline);
    g_test_add_func("/config/problems/common-table", test_common_table);
    return g_test_run();
}
