/* drover-driver-check: whether a driver keeps its part of the contract. */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "check/check.h"
#include "programs/program.h"

#define PROGRAM       "drover-driver-check"
#define DEFAULT_LIMIT 60
#define MISUSED       2

typedef struct {
    char *config, *provider, *label, *image;
    gint limit;
    gboolean json, debug, version;
} Options;

static gboolean
parse(Options *options, int *argc, char ***argv, GError **error)
{
    const GOptionEntry entries[] = {
        {"config", 'c', 0, G_OPTION_ARG_FILENAME, &options->config,
         "Configuration of a launcher, with a provider of the driver", "FILE"},
        {"provider", 0, 0, G_OPTION_ARG_STRING, &options->provider,
         "Which provider of the configuration (the first of the driver)", "NAME"},
        {"label", 0, 0, G_OPTION_ARG_STRING, &options->label,
         "Which label of the provider's (the first that needs no disk image)", "NAME"},
        {"image", 0, 0, G_OPTION_ARG_FILENAME, &options->image,
         "Image to upload, its format as the end of its name", "FILE"},
        {"limit", 0, 0, G_OPTION_ARG_INT, &options->limit, "Longest time for one operation (60)",
         "SECONDS"},
        {"json", 0, 0, G_OPTION_ARG_NONE, &options->json, "Print JSON", NULL},
        {"debug", 0, 0, G_OPTION_ARG_NONE, &options->debug, "Debug messages on standard error",
         NULL},
        {"version", 0, 0, G_OPTION_ARG_NONE, &options->version, "Print the version", NULL},
        G_OPTION_ENTRY_NULL,
    };
    g_autoptr(GOptionContext) context = g_option_context_new("FILE.so");

    g_option_context_set_summary(context, "Tries a driver and says whether it keeps the contract.");
    g_option_context_add_main_entries(context, entries, NULL);
    return g_option_context_parse(context, argc, argv, error);
}

static int
misused(const char *message)
{
    program_fail(PROGRAM, message);
    return MISUSED;
}

static int
run(const Options *options, const char *file)
{
    g_autofree char *path = g_canonicalize_filename(file, NULL);
    const DroverCheckWish wish = {.path = path,
                                  .config = options->config,
                                  .provider = options->provider,
                                  .label = options->label,
                                  .image = options->image,
                                  .limit = (guint)options->limit};

    if (!g_file_test(path, G_FILE_TEST_IS_REGULAR))
        return misused("there is no such driver file");
    if (options->config != NULL && !g_file_test(options->config, G_FILE_TEST_EXISTS))
        return misused("there is no such configuration");
    return drover_check_run(&wish, options->json) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

static void
clear(Options *options)
{
    g_free(options->config);
    g_free(options->provider);
    g_free(options->label);
    g_free(options->image);
}

int
main(int argc, char **argv)
{
    Options options = {.limit = DEFAULT_LIMIT};
    g_autoptr(GError) error = NULL;
    int status = MISUSED;

    setlocale(LC_ALL, "");
    setlocale(LC_NUMERIC, "C");
    if (!parse(&options, &argc, &argv, &error))
        misused(error->message);
    else if (options.version) {
        program_print_version(PROGRAM);
        status = EXIT_SUCCESS;
    } else if (argc != 2 || options.limit <= 0)
        misused("one driver file is to be named; see --help");
    else {
        drover_log_set_level(options.debug ? DROVER_LOG_DEBUG : DROVER_LOG_ERROR);
        status = run(&options, argv[1]);
    }
    clear(&options);
    return status;
}
