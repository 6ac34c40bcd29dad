#include "http-engine.h"

typedef struct {
    HttpEngineDone done;
    gpointer data;
} Transfer;

struct _HttpEngine {
    guint references; /* the owner's, and one while libcurl's events are handled */
    GMainContext *context;
    CURLM *multi;
    GSource *timer;
    GHashTable *transfers; /* CURL * -> Transfer */
};

typedef struct {
    GSource source;
    HttpEngine *engine;
    curl_socket_t fd;
    gpointer tag;
} SocketSource;

static void
engine_unref(HttpEngine *engine)
{
    if (--engine->references > 0)
        return;
    g_hash_table_unref(engine->transfers);
    curl_multi_cleanup(engine->multi);
    g_source_destroy(engine->timer);
    g_source_unref(engine->timer);
    g_main_context_unref(engine->context);
    g_free(engine);
}

/* ---- Events ---- */

static void
end_transfer(HttpEngine *engine, CURL *easy, CURLcode code)
{
    g_autofree Transfer *transfer = g_hash_table_lookup(engine->transfers, easy);

    g_hash_table_steal(engine->transfers, easy);
    curl_multi_remove_handle(engine->multi, easy);
    transfer->done(code, transfer->data);
}

static void
handle(HttpEngine *engine, curl_socket_t fd, int events)
{
    int running, left;
    const CURLMsg *message;

    /* What is done may be the reason to free the engine. */
    engine->references++;
    curl_multi_socket_action(engine->multi, fd, events, &running);
    while ((message = curl_multi_info_read(engine->multi, &left)) != NULL)
        if (message->msg == CURLMSG_DONE)
            end_transfer(engine, message->easy_handle, message->data.result);
    engine_unref(engine);
}

static gboolean
dispatch_socket(GSource *source, GSourceFunc callback, gpointer data)
{
    const SocketSource *socket = (SocketSource *)source;
    GIOCondition seen = g_source_query_unix_fd(source, socket->tag);
    int events = 0;

    if (seen & G_IO_IN)
        events |= CURL_CSELECT_IN;
    if (seen & G_IO_OUT)
        events |= CURL_CSELECT_OUT;
    if (seen & (G_IO_ERR | G_IO_HUP | G_IO_NVAL))
        events |= CURL_CSELECT_ERR;
    handle(socket->engine, socket->fd, events);
    return G_SOURCE_CONTINUE;
}

static gboolean
dispatch_timer(GSource *source, GSourceFunc callback, gpointer data)
{
    return callback(data);
}

static gboolean
on_timer(gpointer data)
{
    HttpEngine *engine = data;

    g_source_set_ready_time(engine->timer, -1);
    handle(engine, CURL_SOCKET_TIMEOUT, 0);
    return G_SOURCE_CONTINUE;
}

/* ---- What libcurl wants to know of ---- */

static int
want_time(CURLM *multi, long milliseconds, void *data)
{
    HttpEngine *engine = data;

    g_source_set_ready_time(engine->timer,
                            milliseconds < 0 ? -1
                                             : g_get_monotonic_time() +
                                                   milliseconds * (gint64)G_TIME_SPAN_MILLISECOND);
    return 0;
}

static void
watch_socket(HttpEngine *engine, curl_socket_t fd, GIOCondition condition)
{
    static GSourceFuncs socket_source = {.dispatch = dispatch_socket};
    GSource *source = g_source_new(&socket_source, sizeof(SocketSource));
    SocketSource *socket = (SocketSource *)source;

    socket->engine = engine;
    socket->fd = fd;
    socket->tag = g_source_add_unix_fd(source, fd, condition);
    g_source_attach(source, engine->context);
    curl_multi_assign(engine->multi, fd, source);
}

static int
want_socket(CURL *easy, curl_socket_t fd, int what, void *data, void *known)
{
    GSource *source = known;
    GIOCondition condition = 0;

    if (what == CURL_POLL_IN || what == CURL_POLL_INOUT)
        condition |= G_IO_IN;
    if (what == CURL_POLL_OUT || what == CURL_POLL_INOUT)
        condition |= G_IO_OUT;
    if (what == CURL_POLL_REMOVE && source != NULL) {
        g_source_destroy(source);
        g_source_unref(source);
    } else if (source != NULL) {
        g_source_modify_unix_fd(source, ((SocketSource *)source)->tag, condition);
    } else if (what != CURL_POLL_REMOVE) {
        watch_socket(data, fd, condition);
    }
    return 0;
}

/* ---- For the client ---- */

HttpEngine *
drover_http_engine_new(GMainContext *context)
{
    static GSourceFuncs ready_at = {.dispatch = dispatch_timer};
    static gsize initialized;
    HttpEngine *engine = g_new0(HttpEngine, 1);

    if (g_once_init_enter(&initialized)) {
        curl_global_init(CURL_GLOBAL_DEFAULT);
        g_once_init_leave(&initialized, 1);
    }
    engine->references = 1;
    engine->context = g_main_context_ref(context);
    engine->transfers = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    engine->timer = g_source_new(&ready_at, sizeof(GSource));
    g_source_set_callback(engine->timer, on_timer, engine, NULL);
    g_source_attach(engine->timer, context);
    engine->multi = curl_multi_init();
    curl_multi_setopt(engine->multi, CURLMOPT_SOCKETFUNCTION, want_socket);
    curl_multi_setopt(engine->multi, CURLMOPT_SOCKETDATA, engine);
    curl_multi_setopt(engine->multi, CURLMOPT_TIMERFUNCTION, want_time);
    curl_multi_setopt(engine->multi, CURLMOPT_TIMERDATA, engine);
    return engine;
}

void
drover_http_engine_free(HttpEngine *engine)
{
    engine_unref(engine);
}

GMainContext *
drover_http_engine_context(const HttpEngine *engine)
{
    return engine->context;
}

void
drover_http_engine_add(HttpEngine *engine, CURL *easy, HttpEngineDone done, gpointer data)
{
    Transfer *transfer = g_new(Transfer, 1);

    *transfer = (Transfer){.done = done, .data = data};
    g_hash_table_insert(engine->transfers, easy, transfer);
    curl_multi_add_handle(engine->multi, easy);
}

void
drover_http_engine_remove(HttpEngine *engine, CURL *easy)
{
    g_hash_table_remove(engine->transfers, easy);
    curl_multi_remove_handle(engine->multi, easy);
}
