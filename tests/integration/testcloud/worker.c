/*
 * Another process that works for the provider of a test, until it is done or killed:
 *
 *     testcloud-worker URL KIND OPTIONS LABEL EXTERNAL_ID [NAME VALUE]...
 *
 * KIND is the number of a DroverTaskKind; the others as in fixture.h, "-" for NULL. Writes "saved
 * TEXT" as soon as something is to be saved, and "done" or "failed" at the end.
 */
#include <stdio.h>
#include <stdlib.h>

#include "fixture.h"

#include "support/wait.h"

typedef struct {
    const Work *work;
    guint shown;
} Progress;

static gboolean
show(gpointer user_data)
{
    Progress *progress = user_data;

    for (; progress->shown < progress->work->saved->len; progress->shown++)
        printf("saved %s\n", (char *)progress->work->saved->pdata[progress->shown]);
    fflush(stdout);
    return progress->work->done;
}

static const char *
argument(char **argv, int index)
{
    return g_str_equal(argv[index], "-") ? NULL : argv[index];
}

int
main(int argc, char **argv)
{
    Progress progress = {.shown = 0};
    g_autoptr(Provider) provider = NULL;
    g_autoptr(Work) work = NULL;

    cloud_use(NULL, argv[1]);
    provider = provider_open(argument(argv, 3), argument(argv, 4));
    work = work_begin_with(provider, (DroverTaskKind)atoi(argv[2]), argument(argv, 5),
                           argc > 6 ? (const char *const *)argv + 6 : NULL, NULL);
    progress.work = work;
    test_wait_until(show, &progress, LONGEST_WAIT);
    printf("%s\n", work->ok ? "done" : "failed");
    return 0;
}
