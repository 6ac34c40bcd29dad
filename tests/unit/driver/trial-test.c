/* A driver's check of a section, in a process of its own: what it finds, and what it does not
 * survive. */
#include <drover/host.h>
#include <string.h>

#include "driver/host.h"
#include "driver/trial.h"

#define MOST_TRIALS 8

typedef struct {
    const struct drover_value *config;
    GString *said; /* "W attack here it comes\n" */
} Heard;

/* One run of several sections. */
typedef struct {
    DroverDriverHost *host;
    DroverConfigTrial trials[MOST_TRIALS];
    Heard heard[MOST_TRIALS];
    struct drover_value *configs[MOST_TRIALS];
    guint count;
} Run;

static void
on_mistake(void *data, enum drover_log_level level, const struct drover_value *where,
           const char *text)
{
    Heard *heard = data;
    const char *place = where == NULL            ? "nowhere"
                        : where == heard->config ? "section"
                                                 : "elsewhere";

    if (where != NULL && where == drover_value_get(heard->config, "attack"))
        place = "attack";
    g_assert_true(g_utf8_validate(text, -1, NULL));
    g_string_append_printf(heard->said, "%s %s %s\n", level == DROVER_ERR ? "E" : "W", place, text);
}

static void
run_new(Run *run, const char *const *attacks)
{
    const char *const directories[] = {HOSTILE_DIR "/hostile", NULL};
    g_autoptr(GError) error = NULL;
    const struct drover_driver *driver;

    memset(run, 0, sizeof(*run));
    run->host = drover_driver_host_new(directories);
    driver = drover_driver_host_find(run->host, "hostile", &error);
    g_assert_no_error(error);
    for (; attacks[run->count] != NULL; run->count++) {
        struct drover_value *config = drover_value_new_map();
        Heard *heard = &run->heard[run->count];

        drover_value_set(config, "name", drover_value_new_string("p"));
        drover_value_set(config, "attack", drover_value_new_string(attacks[run->count]));
        run->configs[run->count] = config;
        *heard = (Heard){config, g_string_new(NULL)};
        run->trials[run->count] =
            (DroverConfigTrial){driver, config, drover_host_report_new(on_mistake, heard), NULL};
    }
    drover_trial_run(run->trials, run->count, NULL);
}

static void
run_clear(Run *run)
{
    for (guint i = 0; i < run->count; i++) {
        drover_host_report_free(run->trials[i].report);
        g_free(run->trials[i].failure);
        g_string_free(run->heard[i].said, TRUE);
        drover_value_free(run->configs[i]);
    }
    drover_driver_host_free(run->host);
}

/* What is found is about the very values of the section; what is none is about nothing. */
static void
test_found(void)
{
    const char *const attacks[] = {"check-fine", "none", "check-fine", NULL};
    const char *const fine =
        "W attack here it comes\nW nowhere of no value\nW section bytes \xef\xbf\xbd\n";
    Run run;

    run_new(&run, attacks);
    for (guint i = 0; i < run.count; i++)
        g_assert_null(run.trials[i].failure);
    g_assert_cmpstr(run.heard[0].said->str, ==, fine);
    g_assert_cmpstr(run.heard[1].said->str, ==, "");
    g_assert_cmpstr(run.heard[2].said->str, ==, fine);
    run_clear(&run);
}

/* Each costs its own section only, and what it had said before counts. */
static void
test_not_survived(void)
{
    const char *const attacks[] = {"check-crash",  "check-fine", "check-leave", "check-complain",
                                   "check-socket", "check-fine", NULL};
    static const char *const failures[] = {"in config_check() its process was ended by signal 6 (",
                                           NULL,
                                           "in config_check() its process ended with status 5",
                                           "makes no sense, or has no end",
                                           "makes no sense, or has no end",
                                           NULL};
    Run run;

    run_new(&run, attacks);
    for (guint i = 0; i < run.count; i++) {
        if (failures[i] == NULL)
            g_assert_null(run.trials[i].failure);
        else
            g_assert_nonnull(strstr(run.trials[i].failure, failures[i]));
        g_assert_true(g_str_has_prefix(run.heard[i].said->str, "W attack here it comes\n"));
    }
    run_clear(&run);
}

/* One that hangs is waited for once, however many sections it has. */
static void
test_hangs(void)
{
    const char *const attacks[] = {"check-fine", "check-hang", "check-hang", "check-hang", NULL};
    gint64 start = g_get_monotonic_time();
    Run run;

    run_new(&run, attacks);
    g_assert_null(run.trials[0].failure);
    g_assert_cmpstr(run.trials[1].failure, ==, "in config_check() it has not come back for 10 s");
    g_assert_null(run.trials[2].failure);
    g_assert_cmpint(g_get_monotonic_time() - start, <, 19 * G_USEC_PER_SEC);
    run_clear(&run);
}

/* Tables that no host has loaded are asked here: tests have such. */
static void
check_here(const struct drover_value *config, struct drover_report *report)
{
    drover_report_error(report, config, "seen here");
}

static void
test_other_tables(void)
{
    static const struct drover_driver driver = {.name = "here", .config_check = check_here};
    struct drover_value *config = drover_value_new_map();
    Heard heard = {config, g_string_new(NULL)};
    DroverConfigTrial trial = {&driver, config, drover_host_report_new(on_mistake, &heard), NULL};

    drover_trial_run(&trial, 1, NULL);
    g_assert_cmpstr(heard.said->str, ==, "E section seen here\n");
    drover_host_report_free(trial.report);
    g_string_free(heard.said, TRUE);
    drover_value_free(config);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/trial/found", test_found);
    g_test_add_func("/trial/not-survived", test_not_survived);
    g_test_add_func("/trial/hangs", test_hangs);
    g_test_add_func("/trial/other-tables", test_other_tables);
    return g_test_run();
}
