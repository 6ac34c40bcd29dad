#include "driver/trial.h"

#include <string.h>

#include "base/json.h"
#include "base/process.h"
#include "driver/frames.h"
#include "driver/helper.h"
#include "driver/host.h"
#include "driver/transport.h"

#define LIMIT_SECONDS 10
#define MOST_MISTAKES 1000 /* of one section */

/* What is being tried. */
typedef struct {
    DroverConfigTrial *trial;
    GPtrArray *values; /* see drover_transport_number() */
    guint mistakes;
    gboolean answered;
} Section;

/* A driver's process, for one section after the other. */
typedef struct {
    const struct drover_driver *driver; /* NULL: there is none */
    DroverFrames *frames;               /* NULL: it is gone */
    GPid pid;
    gboolean hangs; /* it has not come back from a call */
    Section section;
} Tester;

/* ---- What it says ---- */

static gboolean
take_mistake(Section *section, const json_t *frame)
{
    const char *text = drover_json_string(frame, "text");
    gint64 number = drover_json_integer(frame, "where", -1);
    const struct drover_value *where =
        number >= 0 && number < section->values->len ? section->values->pdata[number] : NULL;

    if (text == NULL || section->mistakes++ >= MOST_MISTAKES)
        return FALSE;
    if (drover_json_integer(frame, "level", DROVER_ERR) >= DROVER_ERR)
        drover_report_error(section->trial->report, where, "%s", text);
    else
        drover_report_warning(section->trial->report, where, "%s", text);
    return TRUE;
}

static gboolean
on_frame(const json_t *frame, gpointer data)
{
    Section *section = &((Tester *)data)->section;
    const char *is = drover_json_string(frame, "is");

    if (section->answered)
        return FALSE;
    if (g_strcmp0(is, "mistake") == 0)
        return take_mistake(section, frame);
    section->answered = g_strcmp0(is, "did") == 0;
    if (section->answered && !json_is_true(json_object_get(frame, "ok")))
        section->trial->failure = g_strdup(drover_json_string(frame, "text"));
    return section->answered;
}

/* Frames are only pumped here. */
static void
on_ended(gpointer data)
{
}

/* ---- Its life ---- */

static gboolean
start(Tester *tester, const struct drover_driver *driver, GError **error)
{
    static const DroverFramesHooks hooks = {.received = on_frame, .ended = on_ended};
    int fd;

    tester->driver = driver;
    tester->hangs = FALSE;
    if (!drover_helper_start(driver->name, &tester->pid, &fd, error))
        return FALSE;
    tester->frames = drover_frames_new(fd, DROVER_TRANSPORT_MOST_SAID, FALSE, NULL, &hooks, tester);
    return TRUE;
}

/* It leaves when its socket is closed. */
static void
dismiss(Tester *tester)
{
    int status;

    g_clear_pointer(&tester->frames, drover_frames_free);
    drover_helper_end(tester->pid, &status);
}

/* Nothing can be had from it any more. How that came; free with g_free. */
static char *
give_up(Tester *tester)
{
    int status;
    /* With an open socket: so one that ends does it by itself. */
    gboolean own = drover_helper_end(tester->pid, &status);
    g_autofree char *end = NULL;

    g_clear_pointer(&tester->frames, drover_frames_free);
    if (tester->hangs)
        return g_strdup_printf("it has not come back for %d s", LIMIT_SECONDS);
    if (!own)
        return g_strdup("what it says makes no sense, or has no end");
    end = drover_process_describe_end(status);
    return g_strdup_printf("its process %s", end);
}

/* ---- One section ---- */

/* FALSE: it does not come back in time. */
static gboolean
wait_for_answer(Tester *tester)
{
    gint64 deadline = g_get_monotonic_time() + LIMIT_SECONDS * G_TIME_SPAN_SECOND;
    gint64 left = deadline;

    while (!tester->section.answered && left > 0) {
        left = (deadline - g_get_monotonic_time()) / G_TIME_SPAN_MILLISECOND;
        if (!drover_frames_pump(tester->frames, (int)MAX(left, 0)))
            break;
    }
    return left > 0;
}

static void
ask(Tester *tester, DroverConfigTrial *trial)
{
    const char *path = drover_driver_host_path(trial->driver);

    tester->section = (Section){.trial = trial, .values = drover_transport_number(trial->config)};
    drover_frames_send(tester->frames, json_pack("{s:s, s:i, s:s, s:s, s:o}", "do", "check",
                                                 "version", DROVER_TRANSPORT_VERSION, "file", path,
                                                 "driver", trial->driver->name, "config",
                                                 drover_transport_pack(trial->config)));
    tester->hangs = !wait_for_answer(tester);
    if (!tester->section.answered) {
        g_autofree char *how = give_up(tester);

        g_free(trial->failure);
        trial->failure = g_strconcat("in config_check() ", how, NULL);
    }
    g_clear_pointer(&tester->section.values, g_ptr_array_unref);
}

static void
run(Tester *tester, DroverConfigTrial *trial)
{
    g_autoptr(GError) error = NULL;

    if (tester->driver != trial->driver && tester->frames != NULL)
        dismiss(tester);
    if (tester->driver == trial->driver && tester->hangs)
        return;
    if (tester->frames == NULL && !start(tester, trial->driver, &error))
        trial->failure = g_strdup(error->message);
    else
        ask(tester, trial);
}

static gint
compare_drivers(gconstpointer a, gconstpointer b)
{
    const DroverConfigTrial *const *one = a, *const *other = b;

    return strcmp((*one)->driver->name, (*other)->driver->name);
}

/* Sections of one driver follow each other. */
static GPtrArray *
order(DroverConfigTrial *trials, guint count)
{
    GPtrArray *ordered = g_ptr_array_new();

    for (guint i = 0; i < count; i++)
        g_ptr_array_add(ordered, &trials[i]);
    g_ptr_array_sort(ordered, compare_drivers);
    return ordered;
}

void
drover_trial_run(DroverConfigTrial *trials, guint count, gpointer user_data)
{
    g_autoptr(GPtrArray) ordered = order(trials, count);
    g_autofree char *program = drover_helper_path();
    Tester tester = {0};

    for (guint i = 0; i < count; i++) {
        DroverConfigTrial *trial = ordered->pdata[i];

        if (program == NULL || drover_driver_host_path(trial->driver) == NULL)
            trial->driver->config_check(trial->config, trial->report);
        else
            run(&tester, trial);
    }
    if (tester.frames != NULL)
        dismiss(&tester);
}
