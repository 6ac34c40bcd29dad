/* What the files of the HTTP client share. */
#pragma once

#include <drover/http.h>

#include "http-engine.h"

#define HTTP_TEXTS   (DROVER_HTTP_USER_AGENT + 1)
#define HTTP_NUMBERS (DROVER_HTTP_TRACE + 1)

struct drover_http {
    guint references; /* the driver's, and one for each request */
    struct drover_provider *provider;
    char *texts[HTTP_TEXTS];
    int64_t numbers[HTTP_NUMBERS];
    struct drover_limiter *limiter; /* or NULL */
    HttpEngine *engine;             /* on the main context of the thread; made when needed */
    HttpEngine *blocking_engine;    /* on a context of its own */
    guint places_taken;             /* of DROVER_HTTP_CONNECTIONS */
    GQueue waiting;                 /* requests for a place */
};

typedef struct {
    char *name, *value; /* value NULL: not to be sent */
} HttpHeader;

enum http_state {
    HTTP_NEW,
    HTTP_PAUSE, /* the timer runs */
    HTTP_PLACE, /* waits for a place */
    HTTP_TURN,  /* waits for the limiter */
    HTTP_TRY,   /* libcurl is at work */
    HTTP_DONE,
};

struct drover_http_request {
    struct drover_http *http;
    char *method;
    GString *url;
    GPtrArray *headers; /* of HttpHeader */
    GBytes *body;       /* or NULL */
    GString *form;      /* or NULL */
    char *path;         /* of a file to send, or NULL */
    uint64_t offset, length;
    int64_t numbers[HTTP_NUMBERS]; /* -1: the client's */
    struct drover_limiter *limiter;
    gboolean idempotent;
    int (*prepare)(struct drover_http_request *request, unsigned attempt, void *data);
    void *prepare_data;
    char *mistake; /* what the driver did wrong, or NULL */

    /* While it runs. */
    enum http_state state;
    HttpEngine *engine;
    gboolean blocking;
    void (*done)(struct drover_http_request *request, void *data);
    void *data;
    int64_t started, try_started; /* milliseconds */
    gboolean has_place;
    GSource *timer;
    struct drover_turn *turn;
    unsigned tries;

    /* The present try. */
    CURL *easy;
    struct curl_slist *header_list, *connect_to;
    int fd; /* of the file, or -1 */
    uint64_t file_position;
    char curl_text[CURL_ERROR_SIZE];
    gboolean too_large;
    uint64_t sent, received;

    /* The answer. */
    int status;
    GString *answer;
    GPtrArray *answer_headers; /* of HttpHeader */
    int failure;
    char *message;
    uint32_t retry_after;
};

/* http.c */
void drover_http_unref(struct drover_http *http);
int64_t drover_http_number(const struct drover_http_request *request,
                           enum drover_http_number setting);
HttpEngine *drover_http_engine_for(struct drover_http *http, gboolean blocking);

/* http-request.c */
void drover_http_header_free(gpointer header);
const HttpHeader *drover_http_find_header(const GPtrArray *headers, const char *name);
void drover_http_set_mistake(struct drover_http_request *request, const char *format, ...)
    G_GNUC_PRINTF(2, 3);

/* http-run.c: ends whatever the request is doing. */
void drover_http_stop(struct drover_http_request *request);

/* http-try.c: one transfer. Set up: FALSE with the mistake set. */
gboolean drover_http_try_set_up(struct drover_http_request *request);
void drover_http_try_clear(struct drover_http_request *request);

/* http-outcome.c */
void drover_http_judge(struct drover_http_request *request, CURLcode code);
gboolean drover_http_is_worth_repeating(const struct drover_http_request *request, CURLcode code);

/* http-trace.c */
char *drover_http_shown_url(const struct drover_http_request *request);
void drover_http_trace_begin(const struct drover_http_request *request);
void drover_http_trace_end(const struct drover_http_request *request, CURLcode code);
