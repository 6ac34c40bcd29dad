#include "base/process.h"

#include <glib.h>
#include <sys/wait.h>

char *
drover_process_describe_end(int status)
{
    if (WIFSIGNALED(status))
        return g_strdup_printf("was ended by signal %d (%s)", WTERMSIG(status),
                               g_strsignal(WTERMSIG(status)));
    return g_strdup_printf("ended with status %d", WEXITSTATUS(status));
}
