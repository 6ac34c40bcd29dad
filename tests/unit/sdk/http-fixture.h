/*
 * An HTTP client, its provider's log, and a server that misbehaves on request; see http-server.py.
 */
#pragma once

#include <drover/host.h>
#include <drover/http.h>
#include <glib.h>
#include <sys/types.h>

typedef struct {
    pid_t pid;
    int input, output;
    guint16 port;
} HttpServer;

/* `arguments` of the program, NULL-terminated; may be NULL. */
void http_server_start(HttpServer *server, const char *const *arguments);
void http_server_stop(HttpServer *server);

typedef struct {
    HttpServer server;
    struct drover_value *config;
    struct drover_provider *provider;
    struct drover_http *http;
    GString *log;
} HttpFixture;

/* The client makes short pauses. */
void http_fixture_begin(HttpFixture *fixture);
void http_fixture_end(HttpFixture *fixture);

/* A request for a path of the server. */
struct drover_http_request *http_fixture_request(HttpFixture *fixture, const char *method,
                                                 const char *path);
/* Makes it, waits until it is done. */
void http_fixture_make(struct drover_http_request *request);
void http_fixture_wait(const struct drover_http_request *request);
/* Makes a GET, frees it, returns the body. */
char *http_fixture_get(HttpFixture *fixture, const char *path);
/* How many requests the server saw for a key. */
guint http_fixture_count(HttpFixture *fixture, const char *key);
