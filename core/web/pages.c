#include "web/pages.h"

#include <string.h>

#include "http/accept.h"
#include "launcher/cluster/cluster.h"
#include "web/http-date.h"
#include "web/lists.h"

#define FRESH_SECONDS 1
#define WAIT_SECONDS  5
#define HURRY_SECONDS 1  /* then less will do */
#define RETRY_PERIOD  10 /* milliseconds */
#define MOST_KEPT     100
#define MOST_BYTES    (64 * 1024 * 1024) /* kept */
#define MOST_WAITING  200
#define TEXT_TYPE     "text/plain; charset=UTF-8"
#define JSON_TYPE     "application/json"

typedef enum {
    AS_TEXT,
    AS_JSON,
    AS_NOTHING, /* that the client accepts */
} Form;

/* An answer that may serve others, too. */
typedef struct {
    GBytes *body;
    char *tag;
    gint64 made; /* monotonic */
    gint64 date; /* seconds since the epoch */
} Kept;

/* What a list depends on, and nothing else that may be asked for. Strings are the exchange's. */
typedef struct {
    const DroverList *list;
    Form form;
    const char *fields, *node_id; /* or NULL */
} Wish;

typedef struct {
    DroverHttpExchange *exchange;
    Wish wish;
    gint64 began;
} Waiting;

struct _DroverPages {
    DroverLauncher *launcher;
    DroverImageTree *images;
    DroverNodeRows *nodes;
    GHashTable *kept;   /* text of a wish -> Kept */
    gint64 rests_until; /* no list is made before; monotonic */
    GPtrArray *waiting; /* of Waiting */
    guint timer;        /* while somebody waits */
};

/* ---- Kept answers ---- */

static void
free_kept(gpointer data)
{
    Kept *kept = data;

    g_bytes_unref(kept->body);
    g_free(kept->tag);
    g_free(kept);
}

static gboolean
is_stale(gpointer key, gpointer value, gpointer user_data)
{
    return *(const gint64 *)user_data - ((const Kept *)value)->made >
           FRESH_SECONDS * G_USEC_PER_SEC;
}

static const Kept *
find_kept(DroverPages *pages, const char *key)
{
    const Kept *kept = g_hash_table_lookup(pages->kept, key);
    gint64 now = g_get_monotonic_time();

    return kept != NULL && !is_stale(NULL, (gpointer)kept, &now) ? kept : NULL;
}

static gsize
size_of_kept(const DroverPages *pages)
{
    GHashTableIter iter;
    gpointer kept;
    gsize size = 0;

    g_hash_table_iter_init(&iter, pages->kept);
    while (g_hash_table_iter_next(&iter, NULL, &kept))
        size += g_bytes_get_size(((const Kept *)kept)->body);
    return size;
}

/* Takes key and body over. */
static const Kept *
keep(DroverPages *pages, char *key, GBytes *body)
{
    Kept *kept = g_new0(Kept, 1);

    kept->body = body;
    kept->tag = drover_http_tag(body);
    kept->made = g_get_monotonic_time();
    kept->date = g_get_real_time() / G_USEC_PER_SEC;
    g_hash_table_foreach_remove(pages->kept, is_stale, &kept->made);
    if (g_hash_table_size(pages->kept) >= MOST_KEPT ||
        size_of_kept(pages) + g_bytes_get_size(body) > MOST_BYTES)
        g_hash_table_remove_all(pages->kept);
    g_hash_table_replace(pages->kept, key, kept);
    return kept;
}

/* ---- Representation ---- */

static Form
choose_form(DroverHttpExchange *exchange)
{
    static const char *const offers[] = {"text/html", "text/plain", JSON_TYPE};
    static const Form forms[] = {AS_TEXT, AS_TEXT, AS_JSON};
    int chosen =
        drover_http_choose(drover_http_header(exchange, "Accept"), offers, G_N_ELEMENTS(offers));

    return chosen >= 0 ? forms[chosen] : AS_NOTHING;
}

static const char *
type_of(Form form)
{
    return form == AS_JSON ? JSON_TYPE : TEXT_TYPE;
}

static Wish
read_wish(DroverHttpExchange *exchange)
{
    Wish wish = {.list = drover_list_find(drover_http_path(exchange)),
                 .form = choose_form(exchange)};

    if (wish.form == AS_TEXT)
        wish.fields = drover_http_parameter(exchange, "fields");
    if (wish.list != NULL && drover_list_has_nodes(wish.list))
        wish.node_id = drover_http_parameter(exchange, "node_id");
    return wish;
}

/* Of two wishes that differ the keys do, whatever is in their texts. Free with g_free. */
static char *
key_of(const Wish *wish)
{
    const char *id = wish->node_id != NULL ? wish->node_id : "";

    return g_strdup_printf("%p %d %d %zu %s %s", (const void *)wish->list, wish->form,
                           wish->node_id != NULL, strlen(id), id,
                           wish->fields != NULL ? wish->fields : "");
}

/* ---- Answers ---- */

static void
add_caching(DroverHttpExchange *exchange, gint64 date)
{
    g_autofree char *modified = drover_http_date(date);
    g_autofree char *expires = drover_http_date(date + FRESH_SECONDS);

    drover_http_add_header(exchange, "Cache-Control", "max-age=1, public");
    drover_http_add_header(exchange, "Last-Modified", modified);
    drover_http_add_header(exchange, "Expires", expires);
}

/* Whoever sends a tag is not asked for a date. */
static gboolean
client_has(DroverHttpExchange *exchange, const Kept *kept)
{
    const char *since = drover_http_header(exchange, "If-Modified-Since");

    if (drover_http_header(exchange, "If-None-Match") != NULL)
        return drover_http_client_has(exchange, kept->tag);
    return drover_http_date_parse(since) >= kept->date;
}

static void
answer_kept(DroverHttpExchange *exchange, const Kept *kept, Form form)
{
    add_caching(exchange, kept->date);
    drover_http_add_header(exchange, "ETag", kept->tag);
    if (client_has(exchange, kept))
        drover_http_answer(exchange, 304, NULL, NULL);
    else
        drover_http_answer(exchange, 200, type_of(form), kept->body);
}

static void
answer_too_early(DroverHttpExchange *exchange)
{
    drover_http_add_header(exchange, "Retry-After", "1");
    drover_http_answer_text(exchange, 503, "Not all is known yet");
}

/*
 * NULL: not all is known yet, or it is somebody else's turn. Lists take half of the loop's time at
 * most, however many different ones are asked for.
 */
static const Kept *
make(DroverPages *pages, const Wish *wish, const char *key, gboolean hurry)
{
    DroverListSource source = {pages->launcher, pages->images, pages->nodes, wish->node_id, hurry};
    gint64 began = g_get_monotonic_time(), ended;
    GBytes *body;

    if (began < pages->rests_until)
        return NULL;
    body = drover_list_make(wish->list, &source, wish->form == AS_JSON, wish->fields);
    ended = g_get_monotonic_time();
    pages->rests_until = ended + (ended - began);
    return body != NULL ? keep(pages, g_strdup(key), body) : NULL;
}

/* FALSE: it has to wait. */
static gboolean
answer_list(DroverPages *pages, DroverHttpExchange *exchange, const Wish *wish, gboolean hurry)
{
    g_autofree char *key = key_of(wish);
    const Kept *kept = find_kept(pages, key);

    if (kept == NULL)
        kept = make(pages, wish, key, hurry);
    if (kept != NULL)
        answer_kept(exchange, kept, wish->form);
    return kept != NULL;
}

static void
answer_ready(DroverPages *pages, DroverHttpExchange *exchange, Form form)
{
    static const char ok[] = "OK";
    g_autoptr(GBytes) body = g_bytes_new_static(ok, strlen(ok));

    if (!drover_launcher_has_passed(pages->launcher)) {
        drover_http_answer_text(exchange, 503, "Not ready");
        return;
    }
    add_caching(exchange, g_get_real_time() / G_USEC_PER_SEC);
    drover_http_answer(exchange, 200, type_of(form), body);
}

/* ---- Waiting ---- */

/* Once more for everybody who waits, who came first first. */
static void
try_again(gpointer user_data)
{
    DroverPages *pages = user_data;
    gint64 now = g_get_monotonic_time();

    for (guint i = 0; i < pages->waiting->len;) {
        const Waiting *waiting = pages->waiting->pdata[i];
        DroverHttpExchange *exchange = waiting->exchange;
        gint64 waited = (now - waiting->began) / G_USEC_PER_SEC;

        if (!answer_list(pages, exchange, &waiting->wish, waited >= HURRY_SECONDS)) {
            if (waited < WAIT_SECONDS) {
                i++;
                continue;
            }
            answer_too_early(exchange);
        }
        g_ptr_array_remove_index(pages->waiting, i);
    }
}

static gboolean
on_retry(gpointer user_data)
{
    DroverPages *pages = user_data;

    try_again(pages);
    if (pages->waiting->len > 0)
        return G_SOURCE_CONTINUE;
    pages->timer = 0;
    return G_SOURCE_REMOVE;
}

static void
wait_for(DroverPages *pages, DroverHttpExchange *exchange, const Wish *wish)
{
    Waiting *waiting;

    if (pages->waiting->len >= MOST_WAITING) {
        answer_too_early(exchange);
        return;
    }
    waiting = g_new0(Waiting, 1);
    waiting->exchange = exchange;
    waiting->wish = *wish;
    waiting->began = g_get_monotonic_time();
    g_ptr_array_add(pages->waiting, waiting);
    if (pages->timer == 0)
        pages->timer = g_timeout_add(RETRY_PERIOD, on_retry, pages);
}

void
drover_pages_answer(DroverHttpExchange *exchange, gpointer user_data)
{
    DroverPages *pages = user_data;
    const char *path = drover_http_path(exchange);
    gboolean is_ready = strcmp(path, "/ready") == 0;
    const Wish wish = read_wish(exchange);

    if (wish.list == NULL && !is_ready)
        drover_http_answer_text(exchange, 404, "Not found");
    else if (wish.form == AS_NOTHING)
        drover_http_answer_text(exchange, 406, "Available are text/plain and application/json");
    else if (is_ready)
        answer_ready(pages, exchange, wish.form);
    else if (!answer_list(pages, exchange, &wish, FALSE))
        wait_for(pages, exchange, &wish);
}

/* ---- Life ---- */

DroverPages *
drover_pages_new(DroverLauncher *launcher)
{
    DroverPages *pages = g_new0(DroverPages, 1);
    DroverSession *session = drover_cluster_session(drover_launcher_cluster(launcher));

    pages->launcher = launcher;
    pages->images = drover_image_tree_new(session, try_again, pages);
    pages->nodes = drover_node_rows_new(drover_launcher_cluster(launcher));
    pages->kept = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_kept);
    pages->waiting = g_ptr_array_new_with_free_func(g_free);
    return pages;
}

void
drover_pages_free(DroverPages *pages)
{
    g_clear_handle_id(&pages->timer, g_source_remove);
    for (guint i = 0; i < pages->waiting->len; i++)
        answer_too_early(((const Waiting *)pages->waiting->pdata[i])->exchange);
    g_ptr_array_unref(pages->waiting);
    g_hash_table_unref(pages->kept);
    drover_node_rows_free(pages->nodes);
    drover_image_tree_free(pages->images);
    g_free(pages);
}
