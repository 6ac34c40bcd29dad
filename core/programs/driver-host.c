/* drover-driver-host: has a driver in a process of its own. */
#include <dlfcn.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "driver/helper.h"
#include "driver/serve.h"
#include "driver/transport.h"
#include "programs/program.h"

#define PROGRAM "drover-driver-host"

/* A crash is the answer, and nobody looks at a core file. */
static void
leave_no_core(void)
{
    struct rlimit none = {0};

    setrlimit(RLIMIT_CORE, &none);
    prctl(PR_SET_DUMPABLE, 0);
}

/* Loads the file and asks it for its table, whatever it is; whether it is usable is not asked. */
static int
check(const char *path)
{
    void *file, *symbol;
    const void *(*entry)(void);

    leave_no_core();
    file = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    symbol = file != NULL ? dlsym(file, "drover_driver_entry") : NULL;
    if (symbol != NULL) {
        memcpy(&entry, &symbol, sizeof(entry));
        entry();
    }
    fputs(DROVER_HELPER_SURVIVED, stdout);
    fflush(stdout);
    _exit(0); /* what the file does when it is unloaded does not matter */
}

/* The end comes from the launcher, not by signals, which whole groups of processes may get. */
static int
run_provider(void)
{
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    fcntl(DROVER_TRANSPORT_FD, F_SETFD, FD_CLOEXEC);
    return drover_serve(DROVER_TRANSPORT_FD);
}

int
main(int argc, char **argv)
{
    g_autofree char *file = NULL;
    gboolean version = FALSE, serve = FALSE;
    const GOptionEntry entries[] = {
        {"check", 0, 0, G_OPTION_ARG_FILENAME, &file, "Only see whether loading FILE does harm",
         "FILE"},
        {"serve", 0, 0, G_OPTION_ARG_NONE, &serve,
         "Have a driver for the program at the other end of file descriptor 3", NULL},
        {"version", 0, 0, G_OPTION_ARG_NONE, &version, "Print the version", NULL},
        G_OPTION_ENTRY_NULL,
    };
    g_autoptr(GOptionContext) context = g_option_context_new("[NAME]");
    g_autoptr(GError) error = NULL;

    setlocale(LC_ALL, "");
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    g_option_context_set_summary(
        context, "Has a driver in a process of its own. Started by Drover's other programs.");
    g_option_context_add_main_entries(context, entries, NULL);
    if (!g_option_context_parse(context, &argc, &argv, &error))
        return program_fail(PROGRAM, error->message);
    if (version) {
        program_print_version(PROGRAM);
        return 0;
    }
    if (serve)
        return run_provider();
    if (file == NULL)
        return program_fail(PROGRAM, "this program is started by others; see --help");
    return check(file);
}
