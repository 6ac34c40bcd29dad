/* Options in the forms that argparse takes and GOption does not. */
#include "cli/arguments.h"

#include <string.h>

static const GOptionEntry own[] = {
    {"detail", 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL},
    {"count", 'n', 0, G_OPTION_ARG_INT, NULL, NULL, NULL},
    {"config", 'c', 0, G_OPTION_ARG_FILENAME, NULL, NULL, NULL},
    {"wait", 'w', 0, G_OPTION_ARG_NONE, NULL, NULL, NULL},
    G_OPTION_ENTRY_NULL,
};
static const GOptionEntry common[] = {
    {"json", 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL},
    {"help", 'h', 0, G_OPTION_ARG_NONE, NULL, NULL, NULL},
    {G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_STRING_ARRAY, NULL, NULL, NULL},
    G_OPTION_ENTRY_NULL,
};
static const GOptionEntry *const options[] = {own, common, NULL};

typedef struct {
    const char *given, *expanded; /* words separated by blanks, without the program's name */
} Case;

static void
check(const Case *cases, gsize n_cases, gboolean leading)
{
    for (gsize i = 0; i < n_cases; i++) {
        g_autofree char *line = g_strconcat("drover ", cases[i].given, NULL);
        g_auto(GStrv) words = g_strsplit(line, " ", -1);
        g_auto(GStrv) expanded =
            drover_arguments_expand((const char *const *)words, options, leading);
        g_autofree char *joined = g_strjoinv(" ", expanded);

        g_assert_cmpstr(joined + strlen("drover "), ==, cases[i].expanded);
    }
}

static void
test_forms(void)
{
    static const Case cases[] = {
        {"-n5 -n 5", "-n 5 -n 5"},
        {"-c/a/b=c", "-c /a/b=c"},
        {"-wh -w", "-wh -w"},
        {"--det --j --cou 3 --cou=4", "--detail --json --count 3 --count=4"},
        {"--co 3 --bogus=1 -x", "--co 3 --bogus=1 -x"},
        {"--count --det", "--count --det"},
        {"ID -n5 -- -n5 --det", "ID -n 5 -- -n5 --det"},
        {"- --=x", "- --=x"},
    };

    check(cases, G_N_ELEMENTS(cases), FALSE);
}

static void
test_only_before_the_command(void)
{
    static const Case cases[] = {
        {"-c/x --js list --det -n5", "-c /x --json list --det -n5"},
        {"-c list --det hold --det", "-c list --detail hold --det"},
    };

    check(cases, G_N_ELEMENTS(cases), TRUE);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/cli/arguments/forms", test_forms);
    g_test_add_func("/cli/arguments/only-before-the-command", test_only_before_the_command);
    return g_test_run();
}
