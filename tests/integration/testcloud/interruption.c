#include "interruption.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "support/process.h"

static FILE *
start_worker(const Interruption *interruption, pid_t *pid)
{
    g_autoptr(GPtrArray) argv = g_ptr_array_new();
    g_autofree char *kind = g_strdup_printf("%d", (int)interruption->kind);
    const char *const texts[] = {interruption->options, interruption->label,
                                 interruption->external_id};
    g_autoptr(GError) error = NULL;
    int input, output;

    g_ptr_array_add(argv, (gpointer)DROVER_TESTCLOUD_WORKER);
    g_ptr_array_add(argv, (gpointer)cloud_url());
    g_ptr_array_add(argv, kind);
    for (guint i = 0; i < G_N_ELEMENTS(texts); i++)
        g_ptr_array_add(argv, (gpointer)(texts[i] != NULL ? texts[i] : "-"));
    for (guint i = 0; interruption->inputs != NULL && interruption->inputs[i] != NULL; i++)
        g_ptr_array_add(argv, (gpointer)interruption->inputs[i]);
    g_ptr_array_add(argv, NULL);
    test_process_start_with_pipes((const char *const *)argv->pdata, &input, &output, pid, &error);
    g_assert_no_error(error);
    close(input);
    return fdopen(output, "r");
}

void
interrupt(const Interruption *interruption)
{
    g_autofree char *wanted = g_strdup_printf("saved %s\n", interruption->saved);
    char line[1024] = "";
    pid_t pid;
    FILE *output;

    cloud_fault(interruption->rule);
    output = start_worker(interruption, &pid);
    if (interruption->carried_out)
        cloud_wait_carried_out(interruption->method, interruption->path);
    else
        cloud_wait_requests(interruption->method, interruption->path, 1);
    while (!g_str_equal(line, wanted)) {
        g_assert_nonnull(fgets(line, sizeof(line), output));
        g_test_message("%s", line);
    }
    test_process_end(&pid, SIGKILL);
    fclose(output);
    cloud_tell("faults", "'faults': []");
}

Work *
interruption_take_up(const Interruption *interruption, Provider *provider)
{
    return work_begin_with(provider, interruption->kind, interruption->external_id,
                           interruption->inputs, interruption->saved);
}
