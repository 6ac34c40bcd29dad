#include "config/report.h"

struct _DroverConfigReport {
    GPtrArray *problems; /* of DroverConfigProblem */
    GPtrArray *files;    /* names, in the order in which they were read */
    guint errors;
};

static void
free_problem(gpointer data)
{
    DroverConfigProblem *problem = data;

    g_free(problem->file);
    g_free(problem->object);
    g_free(problem->message);
    g_free(problem);
}

DroverConfigReport *
drover_config_report_new(void)
{
    DroverConfigReport *report = g_new0(DroverConfigReport, 1);

    report->problems = g_ptr_array_new_with_free_func(free_problem);
    report->files = g_ptr_array_new_with_free_func(g_free);
    return report;
}

void
drover_config_report_free(DroverConfigReport *report)
{
    if (report == NULL)
        return;
    g_ptr_array_unref(report->problems);
    g_ptr_array_unref(report->files);
    g_free(report);
}

const GPtrArray *
drover_config_report_problems(const DroverConfigReport *report)
{
    return report->problems;
}

guint
drover_config_report_errors(const DroverConfigReport *report)
{
    return report->errors;
}

DroverConfigSeverity
drover_config_lenient(const DroverConfigSource *source)
{
    return source->strict ? DROVER_CONFIG_ERROR : DROVER_CONFIG_WARNING;
}

void
drover_config_report_add(const DroverConfigSource *source, DroverConfigSeverity severity,
                         guint line, guint column, const char *object, const char *format, ...)
{
    DroverConfigReport *report = source->report;
    DroverConfigProblem *problem = g_new0(DroverConfigProblem, 1);
    va_list args;

    va_start(args, format);
    problem->message = g_strdup_vprintf(format, args);
    va_end(args);
    problem->severity = severity;
    problem->file = g_strdup(source->file);
    problem->line = line;
    problem->column = column;
    problem->object = g_strdup(object);
    g_ptr_array_add(report->problems, problem);
    report->errors += severity == DROVER_CONFIG_ERROR;
}

/* ---- Order ---- */

static guint
file_rank(const DroverConfigReport *report, const char *file)
{
    guint rank = report->files->len;

    g_ptr_array_find_with_equal_func(report->files, file, g_str_equal, &rank);
    return rank;
}

void
drover_config_report_begin(DroverConfigReport *report, const char *file)
{
    if (!g_ptr_array_find_with_equal_func(report->files, file, g_str_equal, NULL))
        g_ptr_array_add(report->files, g_strdup(file));
}

static int
compare_numbers(guint a, guint b)
{
    return (a > b) - (a < b);
}

static int
compare_problems(gconstpointer a, gconstpointer b, gpointer data)
{
    const DroverConfigProblem *first = *(DroverConfigProblem *const *)a;
    const DroverConfigProblem *second = *(DroverConfigProblem *const *)b;
    int order = compare_numbers(file_rank(data, first->file), file_rank(data, second->file));

    if (order == 0)
        order = compare_numbers(first->line, second->line);
    return order != 0 ? order : compare_numbers(first->column, second->column);
}

void
drover_config_report_sort(DroverConfigReport *report)
{
    g_ptr_array_sort_with_data(report->problems, compare_problems, report);
}

/* ---- Text ---- */

/* Control characters, which a quoted name can hold, would break the line. */
static void
append_printable(GString *text, const char *part)
{
    for (; *part != '\0'; part++)
        if (g_ascii_iscntrl(*part))
            g_string_append_printf(text, "\\x%02x", (guchar)*part);
        else
            g_string_append_c(text, *part);
}

char *
drover_config_problem_text(const DroverConfigProblem *problem)
{
    GString *text = g_string_new(NULL);

    append_printable(text, problem->file);
    if (problem->line > 0)
        g_string_append_printf(text, ":%u:%u", problem->line, problem->column);
    g_string_append(text, problem->severity == DROVER_CONFIG_ERROR ? ": error: " : ": warning: ");
    if (problem->object != NULL) {
        append_printable(text, problem->object);
        g_string_append(text, ": ");
    }
    append_printable(text, problem->message);
    return g_string_free(text, FALSE);
}
