#include "holder-process.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fixture.h"
#include "support/process.h"

struct _Holder {
    pid_t pid;
    int input;
    GIOChannel *output;
    guint source;
    GQueue lines; /* not yet waited for */
    const char *wanted;
    char *found;
};

static gboolean
on_line(GIOChannel *channel, GIOCondition condition, gpointer user_data)
{
    Holder *holder = user_data;
    char *line = NULL;

    if (g_io_channel_read_line(channel, &line, NULL, NULL, NULL) != G_IO_STATUS_NORMAL) {
        holder->source = 0;
        return G_SOURCE_REMOVE;
    }
    g_queue_push_tail(&holder->lines, g_strchomp(line));
    return G_SOURCE_CONTINUE;
}

Holder *
holder_start(const char *folder, gboolean through_proxy)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *port = g_strdup_printf("%u", through_proxy ? test_tcp_proxy_port(proxy)
                                                                : test_zookeeper_port(server));
    const char *argv[] = {DROVER_HOLDER, port, folder, NULL};
    Holder *holder = g_new0(Holder, 1);
    int output;

    test_process_start_with_pipes(argv, &holder->input, &output, &holder->pid, &error);
    g_assert_no_error(error);
    g_queue_init(&holder->lines);
    holder->output = g_io_channel_unix_new(output);
    g_io_channel_set_close_on_unref(holder->output, TRUE);
    holder->source = g_io_add_watch(holder->output, G_IO_IN | G_IO_HUP, on_line, holder);
    return holder;
}

void
holder_send(Holder *holder, const char *format, ...)
{
    g_autofree char *command = NULL, *line = NULL;
    va_list arguments;

    va_start(arguments, format);
    command = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    line = g_strconcat(command, "\n", NULL);
    g_assert_cmpint(write(holder->input, line, strlen(line)), ==, strlen(line));
}

/* Drops what comes before. */
static gboolean
find_line(gpointer user_data)
{
    Holder *holder = user_data;

    while (holder->found == NULL && !g_queue_is_empty(&holder->lines)) {
        g_autofree char *line = g_queue_pop_head(&holder->lines);

        if (g_str_has_prefix(line, holder->wanted))
            holder->found = g_strdup(line + strlen(holder->wanted));
    }
    return holder->found != NULL;
}

char *
holder_wait(Holder *holder, const char *beginning)
{
    holder->wanted = beginning;
    if (!test_wait_until(find_line, holder, PATIENCE))
        g_error("the holder did not say \"%s\"", beginning);
    return g_steal_pointer(&holder->found);
}

void
holder_stop(Holder *holder)
{
    kill(holder->pid, SIGSTOP);
}

void
holder_continue(Holder *holder)
{
    kill(holder->pid, SIGCONT);
}

int
holder_end(Holder *holder)
{
    return WEXITSTATUS(test_process_end(&holder->pid, 0));
}

void
holder_kill(Holder *holder)
{
    test_process_end(&holder->pid, SIGKILL);
    if (holder->source != 0)
        g_source_remove(holder->source);
    g_io_channel_unref(holder->output);
    close(holder->input);
    g_queue_clear_full(&holder->lines, g_free);
    g_free(holder);
}
