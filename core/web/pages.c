#include "web/pages.h"

#include <string.h>

#include "http/accept.h"
#include "launcher/cluster/cluster.h"
#include "web/http-date.h"
#include "web/lists.h"

#define FRESH_SECONDS 1
#define WAIT_SECONDS  5
#define HURRY_SECONDS 1  /* then less will do */
#define RETRY_PERIOD  50 /* milliseconds */
#define MOST_KEPT     100
#define MOST_WAITING  1000
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
    gint64 made; /* monotonic */
    gint64 date; /* seconds since the epoch */
} Kept;

typedef struct {
    DroverHttpExchange *exchange;
    gint64 began;
} Waiting;

struct _DroverPages {
    DroverLauncher *launcher;
    DroverImageTree *images;
    GHashTable *kept;   /* form, path and parameters -> Kept */
    GPtrArray *waiting; /* of Waiting */
    guint timer;        /* while somebody waits */
};

/* ---- Kept answers ---- */

static void
free_kept(gpointer data)
{
    Kept *kept = data;

    g_bytes_unref(kept->body);
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

/* Takes key and body over. */
static const Kept *
keep(DroverPages *pages, char *key, GBytes *body)
{
    Kept *kept = g_new0(Kept, 1);

    kept->body = body;
    kept->made = g_get_monotonic_time();
    kept->date = g_get_real_time() / G_USEC_PER_SEC;
    g_hash_table_foreach_remove(pages->kept, is_stale, &kept->made);
    if (g_hash_table_size(pages->kept) >= MOST_KEPT)
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

static GBytes *
render(const DroverList *list, Form form, const json_t *rows, const char *fields)
{
    char *text = form == AS_JSON ? json_dumps(rows, JSON_ENSURE_ASCII)
                                 : drover_row_table_text(list->columns, rows, fields);

    if (form == AS_JSON)
        return g_bytes_new_with_free_func(text, strlen(text), free, text);
    return g_bytes_new_take(text, strlen(text));
}

/* What decides about an answer, and nothing else that may be asked for. Free with g_free. */
static char *
key_of(DroverHttpExchange *exchange, Form form)
{
    const char *fields = form == AS_TEXT ? drover_http_parameter(exchange, "fields") : NULL;
    const char *node_id = drover_http_parameter(exchange, "node_id");

    return g_strdup_printf("%d %s %s %s", form, drover_http_path(exchange),
                           fields != NULL ? fields : "", node_id != NULL ? node_id : "");
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

static void
answer_kept(DroverHttpExchange *exchange, const Kept *kept, Form form)
{
    gint64 since = drover_http_date_parse(drover_http_header(exchange, "If-Modified-Since"));

    add_caching(exchange, kept->date);
    if (since >= kept->date)
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

/* FALSE: not all is known yet. */
static gboolean
answer_list(DroverPages *pages, DroverHttpExchange *exchange, const DroverList *list,
            gboolean hurry)
{
    Form form = choose_form(exchange);
    DroverListSource source = {pages->launcher, pages->images,
                               drover_http_parameter(exchange, "node_id"), hurry};
    g_autofree char *key = key_of(exchange, form);
    const Kept *kept = find_kept(pages, key);
    g_autoptr(json_t) rows = NULL;

    if (kept == NULL) {
        rows = list->rows(&source);
        if (rows == NULL)
            return FALSE;
        kept = keep(pages, g_steal_pointer(&key),
                    render(list, form, rows, drover_http_parameter(exchange, "fields")));
    }
    answer_kept(exchange, kept, form);
    return TRUE;
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

/* Once more for everybody who waits. */
static void
try_again(gpointer user_data)
{
    DroverPages *pages = user_data;
    gint64 now = g_get_monotonic_time();

    for (guint i = pages->waiting->len; i > 0; i--) {
        Waiting *waiting = pages->waiting->pdata[i - 1];
        DroverHttpExchange *exchange = waiting->exchange;
        const DroverList *list = drover_list_find(drover_http_path(exchange));
        gint64 waited = (now - waiting->began) / G_USEC_PER_SEC;

        if (!answer_list(pages, exchange, list, waited >= HURRY_SECONDS)) {
            if (waited < WAIT_SECONDS)
                continue;
            answer_too_early(exchange);
        }
        g_ptr_array_remove_index(pages->waiting, i - 1);
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
wait_for(DroverPages *pages, DroverHttpExchange *exchange)
{
    Waiting *waiting;

    if (pages->waiting->len >= MOST_WAITING) {
        answer_too_early(exchange);
        return;
    }
    waiting = g_new0(Waiting, 1);
    waiting->exchange = exchange;
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
    const DroverList *list = drover_list_find(path);
    gboolean is_ready = strcmp(path, "/ready") == 0;
    Form form = choose_form(exchange);

    if (list == NULL && !is_ready)
        drover_http_answer_text(exchange, 404, "Not found");
    else if (form == AS_NOTHING)
        drover_http_answer_text(exchange, 406, "Available are text/plain and application/json");
    else if (is_ready)
        answer_ready(pages, exchange, form);
    else if (!answer_list(pages, exchange, list, FALSE))
        wait_for(pages, exchange);
}

/* ---- Life ---- */

DroverPages *
drover_pages_new(DroverLauncher *launcher)
{
    DroverPages *pages = g_new0(DroverPages, 1);
    DroverSession *session = drover_cluster_session(drover_launcher_cluster(launcher));

    pages->launcher = launcher;
    pages->images = drover_image_tree_new(session, try_again, pages);
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
    drover_image_tree_free(pages->images);
    g_free(pages);
}
