/*
 * drover/http.h - an HTTP client for the APIs of clouds, which never blocks.
 *
 * A client holds what requests have in common: TLS, proxy, limits, connections. A request is made,
 * filled and started; when it is done, its answer is read from it:
 *
 *     request = drover_http_request_new(self->http, "POST", url);
 *     drover_http_request_set_header(request, "X-Auth-Token", token);
 *     drover_http_request_set_json(request, "{\"server\": ...}");
 *     drover_operation_set_state(op, request, free_request);
 *     drover_operation_call_after(op, DROVER_WHEN_WOKEN);
 *     drover_http_request_start(request, drover_http_wake, op);
 *     return DROVER_RUNNING;
 *
 * and in the next step:
 *
 *     if (!drover_http_request_is_done(request))
 *         return DROVER_RUNNING;
 *     if (drover_http_failure(request) != 0)
 *         return drover_http_fail(request, op);
 *     text = drover_http_body(request, NULL);
 *
 * What is repeated: requests that do no harm when they are made twice (GET, HEAD, OPTIONS, PUT,
 * DELETE, or as drover_http_request_set_idempotent() says), after no or half an answer and after
 * the answers 408, 429, 500, 502, 503, 504, 509; up to DROVER_HTTP_TRIES times in all, after pauses
 * that grow and are partly random, and not before the time that the server asks for with
 * Retry-After. Redirections are not followed: the answer is handed over.
 *
 * What is logged: at level debug a line for each try, with the address without the values of its
 * query; with DROVER_HTTP_TRACE the headers too. Values of headers are shown for those few that
 * never hold a secret, and bodies never.
 *
 * Threads: all functions of a client and its requests are called on the provider's thread, within
 * calls into the driver or their call backs. Times are milliseconds.
 */
#ifndef DROVER_HTTP_H
#define DROVER_HTTP_H

#include <drover/driver.h>
#include <drover/limit.h>

#ifdef __cplusplus
extern "C" {
#endif

struct drover_http;
struct drover_http_request;

/* ---- Clients ---- */

/* Logs as the provider. */
DROVER_EXPORT struct drover_http *drover_http_new(struct drover_provider *provider);
/* Requests that still exist keep what they need of it. NULL is allowed. */
DROVER_EXPORT void drover_http_free(struct drover_http *http);

/* Settings with a text. They hold for requests that are started later; NULL: the default. */
enum drover_http_text {
    DROVER_HTTP_CA_FILE = 1,      /* whom to trust, PEM; default: the system's */
    DROVER_HTTP_CA_TEXT,          /* the same, the PEM itself */
    DROVER_HTTP_CERTIFICATE_FILE, /* what we show to the server, PEM */
    DROVER_HTTP_CERTIFICATE_TEXT,
    DROVER_HTTP_KEY_FILE, /* its private key */
    DROVER_HTTP_KEY_TEXT,
    DROVER_HTTP_KEY_PASSWORD,
    DROVER_HTTP_SERVER_NAME, /* whom the server's certificate must name, and SNI; default: the host
                              */
    DROVER_HTTP_PROXY,       /* "" none; default: http_proxy and the like of the environment */
    DROVER_HTTP_NO_PROXY,    /* hosts without proxy, separated by commas */
    DROVER_HTTP_USER_AGENT,  /* default: "drover" */
};

/* Settings with a number. */
enum drover_http_number {
    DROVER_HTTP_VERIFY = 1,    /* 0: take any certificate; default: 1 */
    DROVER_HTTP_CONNECT_LIMIT, /* for a connection: 10000 */
    DROVER_HTTP_TRY_LIMIT,     /* for one try, with its body: 120000; 0: none */
    DROVER_HTTP_STALL_LIMIT,   /* without a byte moving, in full seconds: 60000; 0: none */
    DROVER_HTTP_LIMIT,         /* for all tries and the pauses between them: 300000; 0: none */
    DROVER_HTTP_TRIES,         /* 5 */
    DROVER_HTTP_PAUSE,       /* longest pause before the second try, doubled for each later: 1000 */
    DROVER_HTTP_BODY_LIMIT,  /* of an answer, unpacked, in bytes: 16 MiB */
    DROVER_HTTP_CONNECTIONS, /* tries under way at once: 10; others wait. Of a client only */
    DROVER_HTTP_TRACE,       /* 1: log headers; default: 0 */
};

/* 0, or -1 when this SDK does not know the setting. */
DROVER_EXPORT int drover_http_set_text(struct drover_http *http, enum drover_http_text setting,
                                       const char *text);
DROVER_EXPORT int drover_http_set_number(struct drover_http *http, enum drover_http_number setting,
                                         int64_t number);
/* For every try of every request; NULL: none. The client keeps it. */
DROVER_EXPORT void drover_http_set_limiter(struct drover_http *http,
                                           struct drover_limiter *limiter);

/* ---- Requests, before the start ---- */

/* `url` is used as it is. */
DROVER_EXPORT struct drover_http_request *
drover_http_request_new(struct drover_http *http, const char *method, const char *url);
/*
 * Ends a request in any state; `done` is not called any more. Also allowed within `done`. NULL is
 * allowed.
 */
DROVER_EXPORT void drover_http_request_free(struct drover_http_request *request);

/* Appended to the address as "?name=value" or "&name=value", escaped. */
DROVER_EXPORT void drover_http_request_add_query(struct drover_http_request *request,
                                                 const char *name, const char *value);
DROVER_EXPORT const char *drover_http_request_url(const struct drover_http_request *request);
/* Replaces an earlier value; NULL takes the header away, also one that would be sent by itself. */
DROVER_EXPORT void drover_http_request_set_header(struct drover_http_request *request,
                                                  const char *name, const char *value);

/* The body, one of these; copied. `type` may be NULL. */
DROVER_EXPORT void drover_http_request_set_body(struct drover_http_request *request,
                                                const char *type, const void *data, size_t length);
DROVER_EXPORT void drover_http_request_set_json(struct drover_http_request *request,
                                                const char *text);
/* One field of an HTML form; called for each. */
DROVER_EXPORT void drover_http_request_add_form(struct drover_http_request *request,
                                                const char *name, const char *value);
/* A part of a file, read while it is sent; `length` UINT64_MAX: to its end. */
DROVER_EXPORT void drover_http_request_set_file(struct drover_http_request *request,
                                                const char *type, const char *path, uint64_t offset,
                                                uint64_t length);

/* As of the client, for this request alone. */
DROVER_EXPORT int drover_http_request_set_number(struct drover_http_request *request,
                                                 enum drover_http_number setting, int64_t number);
DROVER_EXPORT void drover_http_request_set_limiter(struct drover_http_request *request,
                                                   struct drover_limiter *limiter);
/* Whether making it twice does no harm, when the method does not say it. */
DROVER_EXPORT void drover_http_request_set_idempotent(struct drover_http_request *request,
                                                      int idempotent);
/*
 * Called before each try, counted from 1, to set headers that must be new each time, such as a
 * signature with the time in it. Returns 0, or -1: the request fails.
 */
DROVER_EXPORT void drover_http_request_set_prepare(
    struct drover_http_request *request,
    int (*prepare)(struct drover_http_request *request, unsigned attempt, void *data), void *data);

/* ---- Making it ---- */

/* `done` is called exactly once, never before this returns, unless the request is freed. */
DROVER_EXPORT void drover_http_request_start(struct drover_http_request *request,
                                             void (*done)(struct drover_http_request *request,
                                                          void *data),
                                             void *data);
/* A `done` that wakes an operation, which may have ended: the data is its handle. */
DROVER_EXPORT void drover_http_wake(struct drover_http_request *request, void *op);
/* For drivers that block: returns drover_http_failure() when it is done. */
DROVER_EXPORT int drover_http_request_run(struct drover_http_request *request);
DROVER_EXPORT int drover_http_request_is_done(const struct drover_http_request *request);
/* Bytes of bodies that the present try has moved. Also while it runs. */
DROVER_EXPORT void drover_http_progress(const struct drover_http_request *request, uint64_t *sent,
                                        uint64_t *received);

/* ---- The answer. Strings live as long as the request. ---- */

/*
 * 0 when there is an answer below 400. Else an enum drover_failure: AUTH for 401 and 403, NOT_FOUND
 * for 404 and 410, TIMEOUT for 408 and when the time was up, RATE_LIMITED for 429, and for 503 with
 * Retry-After; OTHER for everything else. The answer can be read all the same when there is one:
 * clouds say in it what they mean.
 */
DROVER_EXPORT int drover_http_failure(const struct drover_http_request *request);
/* One sentence without secrets; NULL without a failure. */
DROVER_EXPORT const char *drover_http_message(const struct drover_http_request *request);
/* Ends the operation with that failure: `return drover_http_fail(request, op);` */
DROVER_EXPORT enum drover_step drover_http_fail(const struct drover_http_request *request,
                                                struct drover_operation *op);
/* 0: there was no answer. */
DROVER_EXPORT int drover_http_status(const struct drover_http_request *request);
/* Never NULL; followed by a zero byte. `length` may be NULL. */
DROVER_EXPORT const char *drover_http_body(const struct drover_http_request *request,
                                           size_t *length);
/* Of the name in any case, the last if there are several; NULL when it was not sent. */
DROVER_EXPORT const char *drover_http_header(const struct drover_http_request *request,
                                             const char *name);
/* What the server asked for with Retry-After, ten minutes at most; 0: nothing. */
DROVER_EXPORT uint32_t drover_http_retry_after(const struct drover_http_request *request);
/* How many tries were made. */
DROVER_EXPORT unsigned drover_http_tries(const struct drover_http_request *request);

/* For a part of an address: everything but letters, digits, "-", ".", "_", "~" as %XX. To be freed
 * with free(). */
DROVER_EXPORT char *drover_http_escape(const char *text);

#ifdef __cplusplus
}
#endif

#endif
