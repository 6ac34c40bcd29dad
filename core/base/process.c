#include "base/process.h"

#include <sys/resource.h>
#include <sys/wait.h>

#define MOST_FILES 65536

static struct rlimit files_at_start;

char *
drover_process_describe_end(int status)
{
    if (WIFSIGNALED(status))
        return g_strdup_printf("was ended by signal %d (%s)", WTERMSIG(status),
                               g_strsignal(WTERMSIG(status)));
    return g_strdup_printf("ended with status %d", WEXITSTATUS(status));
}

void
drover_process_allow_files(void)
{
    struct rlimit files;

    if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur >= MOST_FILES)
        return;
    files_at_start = files;
    files.rlim_cur = MIN(files.rlim_max, MOST_FILES);
    setrlimit(RLIMIT_NOFILE, &files);
}

/* Between fork() and exec(): only what a signal handler may do. */
void
drover_process_restore_files(gpointer unused)
{
    if (files_at_start.rlim_max > 0)
        setrlimit(RLIMIT_NOFILE, &files_at_start);
}
