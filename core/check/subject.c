#include "check/subject.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/json.h"
#include "base/process.h"

/* For what a child does when all is said, such as looking for leaks. */
#define FAREWELL_SECONDS 30

/* ---- The child ---- */

static void
say(DroverSubject *subject, const char *word, const char *reason)
{
    g_autoptr(json_t) line = json_pack("{s:s, s:s, s:o}", "check", subject->current, "word", word,
                                       "reason", drover_json_from_string(reason));
    g_autofree char *text = drover_json_text(line);
    g_autofree char *whole = g_strconcat(text, "\n", NULL);

    if (write(subject->answers, whole, strlen(whole)) < 0)
        _exit(1);
}

static void answer(DroverSubject *subject, const char *word, const char *format, va_list arguments)
    G_GNUC_PRINTF(3, 0);

static void
answer(DroverSubject *subject, const char *word, const char *format, va_list arguments)
{
    g_autofree char *reason = NULL, *masked = NULL, *valid = NULL;

    if (subject->answered)
        return;
    subject->answered = TRUE;
    if (format != NULL) {
        reason = g_strdup_vprintf(format, arguments);
        masked = drover_check_secrets_mask(subject->secrets, reason);
        valid = g_utf8_make_valid(g_strdelimit(g_strstrip(masked), "\n", ' '), -1);
    }
    say(subject, word, valid);
}

#define ANSWER(word)                                                                               \
    do {                                                                                           \
        va_list arguments;                                                                         \
                                                                                                   \
        va_start(arguments, format);                                                               \
        answer(subject, word, format, arguments);                                                  \
        va_end(arguments);                                                                         \
    } while (0)

void
drover_subject_ok(DroverSubject *subject, const char *format, ...)
{
    ANSWER("ok");
}

void
drover_subject_fail(DroverSubject *subject, const char *format, ...)
{
    ANSWER("failed");
}

void
drover_subject_skip(DroverSubject *subject, const char *format, ...)
{
    ANSWER("skipped");
}

void
drover_subject_go_on(DroverSubject *subject)
{
    say(subject, "goes on", NULL);
}

void
drover_subject_end(DroverSubject *subject)
{
    if (subject->current != NULL && !subject->answered)
        say(subject, "ok", NULL);
    subject->current = NULL;
}

void
drover_subject_begin(DroverSubject *subject, const char *check)
{
    drover_subject_end(subject);
    subject->current = check;
    subject->answered = FALSE;
    say(subject, "begins", NULL);
}

static G_NORETURN void
work(const DroverCheckWish *wish, const DroverCheckGroup *group, int answers)
{
    /* Static, so that what it points to is never taken for a leak. */
    static DroverSubject subject;

    subject.wish = wish;
    subject.answers = answers;
    group->run(&subject);
    drover_subject_end(&subject);
    g_clear_pointer(&subject.configuration, drover_config_unref);
    g_clear_pointer(&subject.secrets, drover_check_secrets_free);
    /* With what the sanitizers have to say. */
    exit(0);
}

/* ---- The parent ---- */

typedef struct {
    const DroverCheckWish *wish;
    const DroverCheckGroup *group;
    DroverCheckReport *report;
    GString *heard; /* not yet a whole line */
    char *current;  /* the check that has begun and not ended */
    guint next;     /* of the group's checks: none of it was heard yet */
    char *skipped;  /* why the last check was skipped; NULL: it was not */
} Watch;

static gboolean
take_line(Watch *watch, const char *text)
{
    static const struct {
        const char *word;
        DroverCheckOutcome outcome;
    } words[] = {{"ok", DROVER_CHECK_OK},
                 {"failed", DROVER_CHECK_FAILED},
                 {"skipped", DROVER_CHECK_SKIPPED}};
    g_autoptr(json_t) line = drover_json_parse_object(text, strlen(text), NULL);
    const char *check = drover_json_string(line, "check"), *word = drover_json_string(line, "word");

    if (check == NULL || word == NULL)
        return FALSE;
    if (strcmp(word, "begins") == 0) {
        g_free(watch->current);
        watch->current = g_strdup(check);
        while (watch->group->checks[watch->next] != NULL &&
               strcmp(watch->group->checks[watch->next++], check) != 0)
            ;
    }
    for (guint i = 0; i < G_N_ELEMENTS(words); i++) {
        if (strcmp(word, words[i].word) != 0)
            continue;
        drover_check_report_add(watch->report, check, words[i].outcome,
                                drover_json_string(line, "reason"));
        g_clear_pointer(&watch->current, g_free);
        g_free(watch->skipped);
        watch->skipped = words[i].outcome == DROVER_CHECK_SKIPPED
                             ? g_strdup(drover_json_string(line, "reason"))
                             : NULL;
    }
    return TRUE;
}

static void
take_lines(Watch *watch)
{
    char *end;

    while ((end = strchr(watch->heard->str, '\n')) != NULL) {
        *end = '\0';
        take_line(watch, watch->heard->str);
        g_string_erase(watch->heard, 0, end - watch->heard->str + 1);
    }
}

/* FALSE when the child says nothing for too long. */
static gboolean
listen_to(Watch *watch, int answers)
{
    char buffer[4096];
    ssize_t length = 1;

    while (length > 0) {
        struct pollfd ready = {.fd = answers, .events = POLLIN};
        guint limit = watch->current != NULL ? watch->wish->limit : FAREWELL_SECONDS;
        int outcome = poll(&ready, 1, (int)limit * 1000);

        if (outcome == 0)
            return FALSE;
        length = outcome > 0 ? read(answers, buffer, sizeof(buffer)) : -1;
        if (length < 0 && errno == EINTR)
            length = 1;
        else if (length > 0)
            g_string_append_len(watch->heard, buffer, length);
        take_lines(watch);
    }
    return TRUE;
}

static char *
describe(gboolean in_time, guint limit, int status)
{
    g_autofree char *end = NULL;

    if (!in_time)
        return g_strdup_printf("it did not come back within %u s", limit);
    end = drover_process_describe_end(status);
    return g_strdup_printf("its process %s", end);
}

/* Checks that none of the group's processes came to. */
static void
skip_rest(Watch *watch, const char *reason)
{
    for (; watch->group->checks[watch->next] != NULL; watch->next++)
        drover_check_report_add(watch->report, watch->group->checks[watch->next],
                                DROVER_CHECK_SKIPPED, reason);
}

/* What the child did not say any more. */
static void
conclude(Watch *watch, gboolean in_time, int status)
{
    gboolean good = in_time && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    guint limit = watch->current != NULL ? watch->wish->limit : FAREWELL_SECONDS;
    g_autofree char *reason = describe(in_time, limit, status);

    if (watch->current != NULL) {
        drover_check_report_add(watch->report, watch->current, DROVER_CHECK_FAILED, reason);
    } else if (!good) {
        g_autofree char *whole = g_strdup_printf(
            "after the check %s, %s", watch->group->checks[MAX(watch->next, 1) - 1], reason);

        drover_check_report_add(watch->report, "end", DROVER_CHECK_FAILED, whole);
    }
    skip_rest(watch,
              good && watch->skipped != NULL ? watch->skipped : "an earlier check did not go well");
}

void
drover_subject_pass_over(const DroverCheckGroup *group, const char *reason,
                         DroverCheckReport *report)
{
    Watch watch = {.group = group, .report = report};

    skip_rest(&watch, reason);
}

void
drover_subject_run(const DroverCheckWish *wish, const DroverCheckGroup *group,
                   DroverCheckReport *report)
{
    Watch watch = {.wish = wish, .group = group, .report = report};
    int ends[2], status = 0;
    gboolean in_time;
    pid_t child;

    if (pipe(ends) != 0)
        g_error("pipe: %s", g_strerror(errno));
    fflush(NULL);
    child = fork();
    if (child == 0) {
        close(ends[0]);
        work(wish, group, ends[1]);
    }
    close(ends[1]);
    watch.heard = g_string_new(NULL);
    in_time = listen_to(&watch, ends[0]);
    close(ends[0]);
    /* A child that has closed its end, and does not end itself, is not waited for either. */
    if (!in_time)
        kill(child, SIGKILL);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    conclude(&watch, in_time, status);
    g_string_free(watch.heard, TRUE);
    g_free(watch.current);
    g_free(watch.skipped);
}
