/*
 * A request on its way: a place among the client's connections, a turn of the limiter, a try, and
 * after one that failed a pause and the same again.
 */
#include "http-private.h"

#define LONGEST_PAUSE_MILLISECONDS 60000

static void want_place(struct drover_http_request *request);

/* ---- The timer ---- */

static void
clear_timer(struct drover_http_request *request)
{
    if (request->timer == NULL)
        return;
    g_source_destroy(request->timer);
    g_clear_pointer(&request->timer, g_source_unref);
}

static void
call_after(struct drover_http_request *request, guint milliseconds, GSourceFunc func)
{
    clear_timer(request);
    request->timer = g_timeout_source_new(milliseconds);
    g_source_set_callback(request->timer, func, request, NULL);
    g_source_attach(request->timer, drover_http_engine_context(request->engine));
}

/* ---- Places ---- */

static void want_turn(struct drover_http_request *request);

static void
take_place(struct drover_http_request *request)
{
    request->has_place = TRUE;
    request->http->places_taken++;
    want_turn(request);
}

static void
leave_place(struct drover_http_request *request)
{
    struct drover_http *http = request->http;

    if (!request->has_place)
        return;
    request->has_place = FALSE;
    http->places_taken--;
    if (!g_queue_is_empty(&http->waiting))
        take_place(g_queue_pop_head(&http->waiting));
}

/* ---- The end ---- */

void
drover_http_stop(struct drover_http_request *request)
{
    clear_timer(request);
    if (request->state == HTTP_PLACE)
        g_queue_remove(&request->http->waiting, request);
    if (request->turn != NULL)
        drover_limiter_leave(request->limiter, request->turn);
    request->turn = NULL;
    if (request->state == HTTP_TRY)
        drover_http_engine_remove(request->engine, request->easy);
    drover_http_try_clear(request);
    request->state = HTTP_DONE;
    leave_place(request);
}

static void
finish(struct drover_http_request *request)
{
    drover_http_stop(request);
    if (request->done != NULL)
        request->done(request, request->data);
}

static gboolean
on_mistake(gpointer data)
{
    struct drover_http_request *request = data;
    g_autofree char *url = drover_http_shown_url(request);

    request->failure = DROVER_FAILURE_OTHER;
    g_free(request->message);
    request->message = g_strdup_printf("%s %s: %s", request->method, url, request->mistake);
    finish(request);
    return G_SOURCE_REMOVE;
}

/* Not at once: `done` is never called before the start has returned. */
static void
finish_with_mistake(struct drover_http_request *request)
{
    request->state = HTTP_PAUSE;
    call_after(request, 0, on_mistake);
}

/* ---- After a try ---- */

static gboolean
on_pause_over(gpointer data)
{
    struct drover_http_request *request = data;

    clear_timer(request);
    want_place(request);
    return G_SOURCE_REMOVE;
}

/* Grows with each try and is partly random, so that many clients do not come back together. */
static int64_t
pause_before_next(const struct drover_http_request *request)
{
    int64_t longest = drover_http_number(request, DROVER_HTTP_PAUSE);

    for (unsigned i = 1; i < request->tries && longest < LONGEST_PAUSE_MILLISECONDS; i++)
        longest *= 2;
    longest = MIN(longest, LONGEST_PAUSE_MILLISECONDS);
    return MAX((int64_t)(g_random_double() * (double)longest), (int64_t)request->retry_after);
}

static gboolean
is_time_left(const struct drover_http_request *request, int64_t pause)
{
    int64_t limit = drover_http_number(request, DROVER_HTTP_LIMIT);

    return limit == 0 || drover_now() + pause < request->started + limit;
}

static void
on_try_done(CURLcode code, gpointer data)
{
    struct drover_http_request *request = data;
    int64_t pause;

    request->state = HTTP_PAUSE;
    drover_http_judge(request, code);
    drover_http_trace_end(request, code);
    drover_http_try_clear(request);
    leave_place(request);
    pause = pause_before_next(request);
    if (request->failure == DROVER_FAILURE_RATE_LIMITED && request->limiter != NULL)
        drover_limiter_hold(request->limiter, (uint32_t)pause);
    if (drover_http_is_worth_repeating(request, code) && is_time_left(request, pause))
        call_after(request, (guint)pause, on_pause_over);
    else
        finish(request);
}

/* ---- Before a try ---- */

static void
begin_try(struct drover_http_request *request)
{
    request->tries++;
    request->try_started = drover_now();
    if (request->prepare != NULL &&
        request->prepare(request, request->tries, request->prepare_data) != 0)
        drover_http_set_mistake(request, "the driver could not prepare it");
    if (request->mistake != NULL || !drover_http_try_set_up(request)) {
        drover_http_try_clear(request);
        leave_place(request);
        finish_with_mistake(request);
        return;
    }
    drover_http_trace_begin(request);
    request->state = HTTP_TRY;
    drover_http_engine_add(request->engine, request->easy, on_try_done, request);
}

static void
on_turn(void *data)
{
    struct drover_http_request *request = data;

    request->turn = NULL;
    begin_try(request);
}

static void
want_turn(struct drover_http_request *request)
{
    request->state = HTTP_TURN;
    if (request->limiter != NULL && !request->blocking) {
        request->turn = drover_limiter_ask(request->limiter, on_turn, request);
        return;
    }
    if (request->limiter != NULL)
        drover_limiter_wait(request->limiter);
    begin_try(request);
}

/* One that blocks needs no place: those that have one cannot move meanwhile. */
static void
want_place(struct drover_http_request *request)
{
    struct drover_http *http = request->http;

    if (request->blocking) {
        want_turn(request);
    } else if (http->places_taken < MAX(http->numbers[DROVER_HTTP_CONNECTIONS], 1)) {
        take_place(request);
    } else {
        request->state = HTTP_PLACE;
        g_queue_push_tail(&http->waiting, request);
    }
}

static void
start(struct drover_http_request *request, gboolean blocking,
      void (*done)(struct drover_http_request *request, void *data), void *data)
{
    if (request->state != HTTP_NEW)
        return;
    if (request->limiter == NULL)
        drover_http_request_set_limiter(request, request->http->limiter);
    request->engine = drover_http_engine_for(request->http, blocking);
    request->blocking = blocking;
    request->done = done;
    request->data = data;
    request->started = drover_now();
    want_place(request);
}

void
drover_http_request_start(struct drover_http_request *request,
                          void (*done)(struct drover_http_request *request, void *data), void *data)
{
    start(request, FALSE, done, data);
}

int
drover_http_request_run(struct drover_http_request *request)
{
    start(request, TRUE, NULL, NULL);
    while (request->state != HTTP_DONE)
        g_main_context_iteration(drover_http_engine_context(request->engine), TRUE);
    return request->failure;
}
