#include "load.h"

#include <glib/gstdio.h>
#include <string.h>

/* ---- Loading ---- */

static void
write_file(const char *path, const char *text)
{
    g_autoptr(GError) error = NULL;

    g_file_set_contents(path, text, -1, &error);
    g_assert_no_error(error);
    g_assert_cmpint(g_chmod(path, 0600), ==, 0);
}

static const char *const tls_files[] = {"client.pem", "client.key", "ca.pem"};

/* Files that a section zookeeper-tls can name, with %(NODEPOOL_TLS) for the folder. */
static void
write_tls_files(const char *folder)
{
    for (guint i = 0; i < G_N_ELEMENTS(tls_files); i++) {
        g_autofree char *path = g_build_filename(folder, tls_files[i], NULL);

        write_file(path, "");
    }
    g_setenv("NODEPOOL_TLS", folder, TRUE);
}

static void
remove_tls_files(const char *folder)
{
    for (guint i = 0; i < G_N_ELEMENTS(tls_files); i++) {
        g_autofree char *path = g_build_filename(folder, tls_files[i], NULL);

        g_unlink(path);
    }
}

static TestLoad *
load_texts(const char *text, const char *secure, gboolean strict)
{
    static const DroverConfigDrivers drivers = {test_find_driver, NULL, NULL};
    TestLoad *load = g_new0(TestLoad, 1);
    g_autoptr(GError) error = NULL;

    load->folder = g_dir_make_tmp("drover-config-XXXXXX", &error);
    g_assert_no_error(error);
    write_tls_files(load->folder);
    load->path = g_build_filename(load->folder, "nodepool.yaml", NULL);
    load->secure_path = g_build_filename(load->folder, "secure.yaml", NULL);
    write_file(load->path, text);
    if (secure != NULL)
        write_file(load->secure_path, secure);
    load->report = drover_config_report_new();
    load->config = drover_config_load(load->path, secure != NULL ? load->secure_path : NULL, strict,
                                      &drivers, load->report);
    g_assert_cmpint(load->config == NULL, ==, drover_config_report_errors(load->report) > 0);
    return load;
}

TestLoad *
test_load(const char *text, const char *secure)
{
    return load_texts(text, secure, FALSE);
}

TestLoad *
test_validate(const char *text, const char *secure)
{
    return load_texts(text, secure, TRUE);
}

char *
test_sample_text(void)
{
    g_autoptr(GError) error = NULL;
    char *text;

    g_setenv("NODEPOOL_PORT", "8005", TRUE);
    g_file_get_contents(DROVER_TEST_CONFIG_DIR "/nodepool-sample.yaml", &text, NULL, &error);
    g_assert_no_error(error);
    return text;
}

TestLoad *
test_load_sample(gboolean strict)
{
    g_autofree char *text = test_sample_text();

    return load_texts(text, NULL, strict);
}

void
test_load_free(TestLoad *load)
{
    if (load == NULL)
        return;
    g_unlink(load->path);
    g_unlink(load->secure_path);
    remove_tls_files(load->folder);
    g_rmdir(load->folder);
    drover_config_unref(load->config);
    drover_config_report_free(load->report);
    g_free(load->folder);
    g_free(load->path);
    g_free(load->secure_path);
    g_free(load);
}

/* ---- Looking ---- */

static char *
all_problems(const TestLoad *load)
{
    const GPtrArray *problems = drover_config_report_problems(load->report);
    GString *text = g_string_new("the problems are:");

    for (guint i = 0; i < problems->len; i++) {
        g_autofree char *line = drover_config_problem_text(problems->pdata[i]);

        g_string_append_printf(text, "\n%s", line);
    }
    return g_string_free(text, FALSE);
}

static guint
count(const TestLoad *load, DroverConfigSeverity severity)
{
    const GPtrArray *problems = drover_config_report_problems(load->report);
    guint number = 0;

    for (guint i = 0; i < problems->len; i++)
        number += ((DroverConfigProblem *)problems->pdata[i])->severity == severity;
    return number;
}

guint
test_warnings(const TestLoad *load)
{
    return count(load, DROVER_CONFIG_WARNING);
}

guint
test_errors(const TestLoad *load)
{
    return count(load, DROVER_CONFIG_ERROR);
}

void
test_assert_clean(const TestLoad *load)
{
    g_autofree char *problems = all_problems(load);

    if (drover_config_report_problems(load->report)->len > 0)
        g_error("%s", problems);
}

static gboolean
holds_all(const char *text, const char *const *parts)
{
    for (; *parts != NULL; parts++)
        if (strstr(text, *parts) == NULL)
            return FALSE;
    return TRUE;
}

void
test_assert_problem(const TestLoad *load, DroverConfigSeverity severity, const char *const *parts)
{
    const GPtrArray *problems = drover_config_report_problems(load->report);
    g_autofree char *all = all_problems(load), *wanted = g_strjoinv("\", \"", (char **)parts);
    gboolean found = FALSE;

    for (guint i = 0; i < problems->len; i++) {
        const DroverConfigProblem *problem = problems->pdata[i];
        g_autofree char *text = drover_config_problem_text(problem);

        found |= problem->severity == severity && holds_all(text, parts);
    }
    if (!found)
        g_error("no such problem has \"%s\"; %s", wanted, all);
    if ((severity == DROVER_CONFIG_ERROR) != (load->config == NULL))
        g_error("it was %s; %s", load->config != NULL ? "loaded" : "refused", all);
}

void
test_assert_unsaid(const TestLoad *load, const char *text)
{
    g_autofree char *problems = all_problems(load);

    if (strstr(problems, text) != NULL)
        g_error("\"%s\" was said; %s", text, problems);
}

void
test_loads(const char *text)
{
    g_autoptr(TestLoad) load = test_load(text, NULL);

    test_assert_clean(load);
}

void
test_refuses(const char *text, const char *part)
{
    g_autoptr(TestLoad) load = test_load(text, NULL);

    test_assert_error(load, part);
}
