/*
 * An HTTP listener on the core loop. Nothing waits for a client: what can be read or written is,
 * and who does not go on, or asks for too much, is cut off.
 *
 *     request ─► method, path and query are checked ─► handler ─► answer, now or later
 *
 * Answered without the handler: 400 for what is no request, not well encoded, or may be read in two
 * ways (see fields.h), 405 for other methods, 408 for what is not there in time, 413 and 431 for
 * what is too large, 503 when too many wait for their answers already.
 *
 * There are places for so many connections. When all are taken a new one gets that of the one
 * whose request, or the taking of whose answer, has been going on longest: honest clients are done
 * in no time. One address that takes most of the places makes room among its own connections. Only
 * who waits for us, for an answer or for the next event, is left alone.
 */
#pragma once

#include <glib.h>

typedef struct _DroverHttpServer DroverHttpServer;
typedef struct _DroverHttpExchange DroverHttpExchange;

/* Answers, or keeps the exchange and answers later; exactly once. */
typedef void (*DroverHttpHandler)(DroverHttpExchange *exchange, gpointer user_data);

typedef struct {
    const char *name;    /* of the listener, for the log */
    const char *address; /* a literal, or a name */
    int port;            /* 0: any that is free */
    const char *allow;   /* methods: "GET, HEAD", or more; HEAD is served as GET */
    const char *headers; /* of every answer: "Name: value\n..."; or NULL */
    DroverHttpHandler handler;
    gpointer user_data;
    /*
     * Seconds; 0: 15. So long may a client take until its first line is there, as long again for
     * the rest of the request, and so long may it take nothing of an answer.
     */
    guint patience;
} DroverHttpOptions;

/* Listens. The error names address and port. */
DroverHttpServer *drover_http_server_new(const DroverHttpOptions *options, GError **error);
/* Connections are closed. What is not answered yet is still to be answered, to nobody. NULL is
 * allowed. */
void drover_http_server_free(DroverHttpServer *server);
guint16 drover_http_server_port(const DroverHttpServer *server);

/* Why connections are ended before their time. */
typedef enum {
    DROVER_HTTP_CUT_SLOW,   /* the request was not there in time */
    DROVER_HTTP_CUT_ROOM,   /* another client needed the place, or answers took too much memory */
    DROVER_HTTP_CUT_UNREAD, /* it did not read what it had asked for */
    DROVER_HTTP_N_CUTS,
} DroverHttpCut;

typedef struct {
    guint connections; /* now */
    guint streams;     /* of these */
    guint64 cut[DROVER_HTTP_N_CUTS];
} DroverHttpCounts;

DroverHttpCounts drover_http_server_counts(const DroverHttpServer *server);

/* ---- What is asked; strings live until the answer ---- */

const char *drover_http_method(const DroverHttpExchange *exchange); /* never HEAD */
const char *drover_http_path(const DroverHttpExchange *exchange);   /* decoded, without query */
/* Of the query, and of the form that was posted; of several of one name the last. NULL: none. */
const char *drover_http_parameter(const DroverHttpExchange *exchange, const char *name);
/* Of several of one name all values, joined by ", ". NULL: none. */
const char *drover_http_header(const DroverHttpExchange *exchange, const char *name);
/* What was posted. */
const char *drover_http_body(const DroverHttpExchange *exchange, gsize *length);

/* ---- The answer ---- */

/* Before the answer. */
void drover_http_add_header(DroverHttpExchange *exchange, const char *name, const char *value);
/* `type` may be NULL when there is no body. The body is referenced; NULL: none. */
void drover_http_answer(DroverHttpExchange *exchange, guint status, const char *type, GBytes *body);
/* A tag of the body, for ETag. Free with g_free. */
char *drover_http_tag(GBytes *body);
/* TRUE: it has the body with this tag already, as its If-None-Match says. */
gboolean drover_http_client_has(DroverHttpExchange *exchange, const char *tag);
/* 200 with a tag of the body, or 304 without the body when the client has it already. */
void drover_http_answer_tagged(DroverHttpExchange *exchange, const char *type, GBytes *body);
/* A line of plain text. */
void drover_http_answer_text(DroverHttpExchange *exchange, guint status, const char *text);

/* ---- An answer that goes on: server-sent events ---- */

typedef struct _DroverHttpStream DroverHttpStream;
/* The client, or the server, is gone: the stream is freed when this returns. */
typedef void (*DroverHttpStreamFunc)(DroverHttpStream *stream, gpointer user_data);

/* Instead of an answer, from within the handler. `closed` is called exactly once. */
DroverHttpStream *drover_http_answer_stream(DroverHttpExchange *exchange, const char *type,
                                            DroverHttpStreamFunc closed, gpointer user_data);
/*
 * The bytes are referenced, so that many streams may share them. Who is too many events behind is
 * cut off, which is told by `closed` later on.
 */
void drover_http_stream_send(DroverHttpStream *stream, GBytes *event);
