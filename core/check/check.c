#include "check/check.h"

#include <string.h>
#include <unistd.h>

#include "check/groups.h"

#define SUFFIX ".so"

static const DroverCheckGroup *const groups[] = {
    &drover_life_checks,      &drover_machine_checks, &drover_interruption_checks,
    &drover_inventory_checks, &drover_listing_checks, &drover_image_checks,
};

static char *
name_of(const char *path)
{
    g_autofree char *file = g_path_get_basename(path);

    if (g_str_has_suffix(file, SUFFIX))
        file[strlen(file) - strlen(SUFFIX)] = '\0';
    return g_steal_pointer(&file);
}

/* For drivers that need no option. NULL when it cannot be written. */
static char *
make_up_config(const char *driver)
{
    g_autofree char *text = g_strdup_printf("zookeeper-servers:\n"
                                            "  - host: localhost\n"
                                            "labels: []\n"
                                            "providers:\n"
                                            "  - name: drover-driver-check\n"
                                            "    driver: '%s'\n"
                                            "    pools: []\n",
                                            driver);
    char *path = NULL;
    int file = g_file_open_tmp("drover-driver-check-XXXXXX.yaml", &path, NULL);

    if (file < 0)
        return NULL;
    close(file);
    g_file_set_contents(path, text, -1, NULL);
    return path;
}

guint
drover_check_run(const DroverCheckWish *wish, gboolean json)
{
    g_autoptr(DroverCheckReport) report = drover_check_report_new(wish->path, json);
    g_autofree char *name = name_of(wish->path);
    g_autofree char *made_up = wish->config == NULL ? make_up_config(name) : NULL;
    DroverCheckWish whole = *wish;

    whole.name = name;
    whole.made_up = wish->config == NULL;
    if (whole.made_up)
        whole.config = made_up;
    drover_subject_run(&whole, &drover_file_checks, report);
    for (guint i = 0; i < G_N_ELEMENTS(groups); i++) {
        if (!drover_check_report_is_ok(report, "table"))
            drover_subject_pass_over(groups[i], "a launcher would not load the driver", report);
        else if (!drover_check_report_is_ok(report, "configuration"))
            drover_subject_pass_over(groups[i], "there is no configuration to try it with", report);
        else if (i > 0 && !drover_check_report_is_ok(report, "quiet"))
            drover_subject_pass_over(groups[i], "a provider does not even open and close well",
                                     report);
        else
            drover_subject_run(&whole, groups[i], report);
    }
    drover_check_report_end(report);
    if (made_up != NULL)
        unlink(made_up);
    return drover_check_report_failed(report);
}
