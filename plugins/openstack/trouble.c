#include "trouble.h"

#include "fault.h"

#define FIRST_PAUSE_MILLISECONDS    1000
#define LONGEST_PAUSE_MILLISECONDS  60000
#define LONGEST_OUTAGE_MILLISECONDS 5000

int64_t
trouble_pause(unsigned times, int64_t longest)
{
    return MIN((int64_t)FIRST_PAUSE_MILLISECONDS << MIN(times, 6u), longest);
}

void
trouble_note(struct trouble *trouble, enum drover_failure failure, const char *what,
             const char *why)
{
    int64_t longest =
        failure == DROVER_FAILURE_AUTH ? LONGEST_PAUSE_MILLISECONDS : LONGEST_OUTAGE_MILLISECONDS;
    g_autofree char *message = g_strdup_printf("%s: %s", what, why);
    gboolean is_news = g_strcmp0(message, trouble->message) != 0;

    if (failure == DROVER_FAILURE_AUTH)
        cloud_doubt(trouble->cloud);
    trouble->until = drover_now() + trouble_pause(trouble->times, longest);
    trouble->times++;
    trouble->failure = failure;
    drover_provider_log(trouble->cloud->provider, is_news ? DROVER_WARNING : DROVER_DEBUG, "%s",
                        message);
    g_free(trouble->message);
    trouble->message = g_steal_pointer(&message);
}

void
trouble_note_request(struct trouble *trouble, const struct drover_http_request *request,
                     const char *what)
{
    int status = drover_http_status(request);
    int failure = drover_http_failure(request);
    g_autofree char *words = fault_words(drover_http_body(request, NULL));
    g_autofree char *why = g_strdup_printf(
        "%s%s%s", drover_http_message(request) != NULL ? drover_http_message(request) : "",
        words != NULL ? ": " : "", words != NULL ? words : "");

    if (failure != DROVER_FAILURE_TIMEOUT && failure != DROVER_FAILURE_RATE_LIMITED)
        failure = status == 0 || status >= 500 ? DROVER_FAILURE_OTHER : DROVER_FAILURE_AUTH;
    trouble_note(trouble, (enum drover_failure)failure, what, why);
}

gboolean
trouble_lasts(const struct trouble *trouble)
{
    return drover_now() < trouble->until;
}

void
trouble_clear(struct trouble *trouble)
{
    trouble->times = 0;
    trouble->until = 0;
    g_clear_pointer(&trouble->message, g_free);
}
