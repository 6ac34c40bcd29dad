/* What the parts of the server share. */
#pragma once

#include <glib.h>
#include <microhttpd.h>

#include "http/server.h"

/* Room for a request's head, and for what the library keeps of a connection. */
#define DROVER_HTTP_HEAD_LIMIT (32 * 1024)

/* ---- Guests: connections, and their places (guests.c) ---- */

typedef enum {
    DROVER_GUEST_COMING,  /* no first line of a request yet */
    DROVER_GUEST_ASKING,  /* the rest of the request is not there yet */
    DROVER_GUEST_WAITING, /* for its answer, or the next event */
    DROVER_GUEST_TAKING,  /* the answer */
    DROVER_GUEST_LEAVING, /* cut off; the library has not closed it yet */
} DroverGuestPhase;

typedef struct {
    DroverHttpServer *server;
    int fd;
    guint64 address; /* where it comes from, see drover_guest_new() */
    DroverGuestPhase phase;
    gint64 since;    /* of the phase; monotonic */
    gboolean served; /* a request of it was answered */
    GList link;      /* in the queue of those who may have to go */
    GBytes *answer;  /* that it takes; or NULL */
} DroverGuest;

typedef struct {
    guint places, share; /* the share is what one address may have of the places */
    guint patience;      /* seconds */
    guint present;       /* not leaving */
    guint waiting;       /* of these */
    GQueue queue;        /* of DroverGuest, coming, asking or taking; who is longest at it first */
    GHashTable *addresses; /* address -> how many of it are present */
    GHashTable *answers;   /* GBytes that are being taken -> by how many */
    gsize answers_size;    /* bytes, of these */
    guint timer;           /* while anybody is there */
    guint64 cut[DROVER_HTTP_N_CUTS];
    gint64 told; /* when the log was told last; monotonic */
} DroverGuests;

void drover_guests_init(DroverGuests *guests, guint patience);
void drover_guests_clear(DroverGuests *guests);

/*
 * Somebody comes; another one may have to leave for that. All of an IPv6 network of 64 bits count
 * as one address. `from` NULL: unknown.
 */
DroverGuest *drover_guest_new(DroverHttpServer *server, int fd, const struct sockaddr *from);
/* The connection is closed. */
void drover_guest_free(DroverGuest *guest);
/* `answer` is what it takes from now on; else NULL. */
void drover_guest_enter(DroverGuest *guest, DroverGuestPhase phase, GBytes *answer);
/* The library closes the connection when it is called next. */
void drover_guest_cut_off(DroverGuest *guest, DroverHttpCut why);
/* One that the library has closed. */
void drover_guest_note_cut(DroverGuest *guest, DroverHttpCut why);
/* Whether one more may wait for its answer. */
gboolean drover_guests_may_wait(const DroverGuests *guests);

/* ---- The server (server.c) ---- */

struct _DroverHttpServer {
    struct MHD_Daemon *daemon;
    guint16 port;
    char *name, *allow;
    char **methods;
    char **headers; /* name, value, ... */
    DroverHttpHandler handler;
    gpointer user_data;
    guint fd_source, timer;
    gboolean soon; /* the timer is due at once */
    guint connections;
    guint most;    /* connections, for the library; some more than there are places */
    gboolean full; /* it has been since the library was called last */
    DroverGuests guests;
    GHashTable *pending; /* exchanges that are to be answered later, a set */
    GHashTable *streams; /* a set */
};

/* The library is called soon, but not from within this. */
void drover_http_server_serve_soon(DroverHttpServer *server);

/* ---- Exchanges (exchange.c) ---- */

typedef struct {
    char *name, *value;
} DroverHttpAnswerHeader;

struct _DroverHttpExchange {
    DroverHttpServer *server;
    struct MHD_Connection *connection; /* NULL: gone */
    DroverGuest *guest;
    char *address; /* as it was sent */
    char *method, *path;
    GHashTable *parameters;
    GHashTable *fields; /* of the head, see fields.h */
    GByteArray *body;
    gboolean malformed; /* the head */
    gboolean began, handed_over, suspended, answered, queued;
    guint status; /* of the answer */
    char *type;
    GBytes *content;
    GArray *headers;          /* of DroverHttpAnswerHeader */
    DroverHttpStream *stream; /* instead of content; or NULL */
};

/* A request of the guest begins. */
DroverHttpExchange *drover_http_exchange_new(DroverHttpServer *server,
                                             struct MHD_Connection *connection, const char *address,
                                             DroverGuest *guest);
/* Its answer is taken, or the client is gone. Who keeps it answers it all the same. */
void drover_http_exchange_end(DroverHttpExchange *exchange);
/* What the library tells of it: the head, parts of the body, the end. */
enum MHD_Result drover_http_exchange_go_on(DroverHttpExchange *exchange, const char *method,
                                           const char *upload, size_t *upload_size);
/* It ends without its answer. */
void drover_http_exchange_abandon(DroverHttpExchange *exchange);

/* ---- Streams (stream.c) ---- */

struct MHD_Response *drover_http_stream_response(DroverHttpStream *stream);
/* Goes on, though there is nothing to send. */
void drover_http_stream_wake(DroverHttpStream *stream);
