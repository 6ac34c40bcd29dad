#include "web/node-rows.h"

#include <string.h>

#include "cli/node-table.h"
#include "cli/output.h"
#include "cli/python-literal.h"
#include "zk/lock.h"

#define SLICE        (10 * G_USEC_PER_SEC / 1000)
#define IDLE_SECONDS 60
#define AGE          "age"
#define LOCKED       "locked"

const DroverColumn drover_node_columns[] = {{"id", "ID", FALSE},
                                            {"provider", "Provider", FALSE},
                                            {"label", "Label", FALSE},
                                            {"server_id", "Server ID", FALSE},
                                            {"public_ipv4", "Public IPv4", FALSE},
                                            {"ipv6", "IPv6", FALSE},
                                            {"state", "State", FALSE},
                                            {AGE, "Age", FALSE},
                                            {LOCKED, "Locked", FALSE},
                                            {"pool", "Pool", FALSE},
                                            {"hostname", "Hostname", FALSE},
                                            {"private_ipv4", "Private IPv4", FALSE},
                                            {"AZ", "AZ", FALSE},
                                            {"username", "Username", FALSE},
                                            {"connection_port", "Port", FALSE},
                                            {"launcher", "Launcher", FALSE},
                                            {"allocated_to", "Allocated To", FALSE},
                                            {"hold_job", "Hold Job", FALSE},
                                            {"comment", "Comment", FALSE},
                                            {"user_data", "User Data", FALSE},
                                            {"driver_data", "Driver Data", FALSE},
                                            {NULL, NULL, FALSE}};

#define N_COLUMNS (G_N_ELEMENTS(drover_node_columns) - 1)

typedef struct {
    DroverNode *node; /* whose record it is of */
    gboolean aged;    /* the record says since when */
    char *before;     /* members of the object up to the age, as JSON; NULL: no record */
    char *after;      /* those behind the lock */
    char *texts; /* of all cells but age and lock, one after the other: they are read at once */
    char *cells[N_COLUMNS]; /* in these */
    char *age;
} Row;

struct _DroverNodeRows {
    DroverCluster *cluster;
    GHashTable *rows; /* node id -> Row */
    GPtrArray *order; /* of Row, by id; NULL: to be made */
    guint timer;      /* while there are rows */
    gint64 asked;     /* last; monotonic */
};

/* ---- A row ---- */

static void
clear_row(Row *row)
{
    drover_node_unref(row->node);
    g_free(row->before);
    g_free(row->after);
    g_free(row->texts);
    g_free(row->age);
}

static void
free_row(gpointer data)
{
    clear_row(data);
    g_free(data);
}

/* The members of an object, without its braces. Takes it over. */
static char *
members_text(json_t *object)
{
    char *text = json_dumps(object, JSON_ENSURE_ASCII);
    char *members = g_strndup(text + 1, strlen(text) - 2);

    free(text);
    json_decref(object);
    return members;
}

static void
set_cells(Row *row, json_t *object)
{
    g_autoptr(GString) texts = g_string_new(NULL);
    gsize places[N_COLUMNS];

    for (guint i = 0; i < N_COLUMNS; i++) {
        g_autofree char *text =
            drover_cell_text(json_object_get(object, drover_node_columns[i].key));

        places[i] = texts->len;
        g_string_append_len(texts, text, (gssize)strlen(text) + 1);
    }
    row->texts = g_memdup2(texts->str, texts->len);
    for (guint i = 0; i < N_COLUMNS; i++)
        row->cells[i] = row->texts + places[i];
}

static void
set_members(Row *row, json_t *object)
{
    json_t *halves[] = {json_object(), json_object()};
    guint half = 0;
    const char *key;
    json_t *value;

    json_object_foreach(object, key, value)
    {
        if (strcmp(key, AGE) == 0)
            row->aged = !json_is_null(value);
        else if (strcmp(key, LOCKED) == 0)
            half = 1;
        else
            json_object_set(halves[half], key, value);
    }
    row->before = members_text(halves[0]);
    row->after = members_text(halves[1]);
}

/* A record that is none makes an empty row. */
static void
fill_row(Row *row, DroverNode *node)
{
    const char *contenders[] = {NULL};
    DroverRecord record = {
        .name = node->id, .data = node->record, .contenders = (char **)contenders};
    g_autoptr(json_t) object = drover_node_object(&record);

    row->node = drover_node_ref(node);
    if (object == NULL)
        return;
    set_members(row, object);
    set_cells(row, object);
}

static gboolean
is_locked(const DroverNodeRows *rows, const Row *row)
{
    const char *const *names =
        drover_cache_contenders(drover_cluster_nodes(rows->cluster), row->node->id);

    return names != NULL && drover_lock_find_holder(names) != NULL;
}

/* ---- All rows ---- */

static void
forget(DroverNodeRows *rows)
{
    g_clear_pointer(&rows->order, g_ptr_array_unref);
    g_hash_table_remove_all(rows->rows);
}

static gboolean
on_time(gpointer user_data)
{
    DroverNodeRows *rows = user_data;

    if (g_get_monotonic_time() - rows->asked < IDLE_SECONDS * G_USEC_PER_SEC)
        return G_SOURCE_CONTINUE;
    forget(rows);
    rows->timer = 0;
    return G_SOURCE_REMOVE;
}

static gboolean
is_current(const DroverNodeRows *rows, const DroverNode *node)
{
    const Row *row = g_hash_table_lookup(rows->rows, node->id);

    return row != NULL && row->node == node;
}

static void
read_row(DroverNodeRows *rows, DroverNode *node)
{
    Row *row = g_hash_table_lookup(rows->rows, node->id);

    if (row == NULL) {
        row = g_new0(Row, 1);
        g_hash_table_insert(rows->rows, g_strdup(node->id), row);
        g_clear_pointer(&rows->order, g_ptr_array_unref);
    } else {
        clear_row(row);
        memset(row, 0, sizeof(*row));
    }
    fill_row(row, node);
}

static gboolean
is_gone(gpointer id, gpointer row, gpointer rows)
{
    return drover_cluster_node(((DroverNodeRows *)rows)->cluster, id) == NULL;
}

/* FALSE when the time has come and not all are read, or not all locks are known. */
static gboolean
read_slice(DroverNodeRows *rows, gboolean hurry)
{
    DroverCache *nodes = drover_cluster_nodes(rows->cluster);
    gint64 end = 0; /* of the slice, once it has begun */
    gboolean known = TRUE;
    DroverCacheIter iter;
    const char *id;
    gpointer node;

    drover_cache_iter_init(&iter, nodes);
    while (drover_cache_iter_next(&iter, &id, &node)) {
        gboolean current = is_current(rows, node);

        if (!current && end != 0 && g_get_monotonic_time() >= end)
            return FALSE;
        if (!current && end == 0)
            end = g_get_monotonic_time() + SLICE;
        if (!current)
            read_row(rows, node);
        /* The first question about a lock begins to watch it. */
        if (drover_cache_lock(nodes, id) == DROVER_CACHE_LOCK_UNKNOWN)
            known = FALSE;
    }
    if (g_hash_table_foreach_remove(rows->rows, is_gone, rows) > 0)
        g_clear_pointer(&rows->order, g_ptr_array_unref);
    return known || hurry;
}

static gboolean
read_one(DroverNodeRows *rows, const char *id, gboolean hurry)
{
    const DroverNode *node = drover_cluster_node(rows->cluster, id);

    if (node == NULL)
        return TRUE;
    if (!is_current(rows, node))
        read_row(rows, (DroverNode *)node);
    return drover_cache_lock(drover_cluster_nodes(rows->cluster), id) !=
               DROVER_CACHE_LOCK_UNKNOWN ||
           hurry;
}

gboolean
drover_node_rows_prepare(DroverNodeRows *rows, const char *node_id, gboolean hurry)
{
    rows->asked = g_get_monotonic_time();
    if (rows->timer == 0)
        rows->timer = g_timeout_add_seconds(IDLE_SECONDS, on_time, rows);
    return node_id != NULL ? read_one(rows, node_id, hurry) : read_slice(rows, hurry);
}

/* ---- Lists ---- */

static int
compare_rows(gconstpointer a, gconstpointer b)
{
    return strcmp((*(const Row *const *)a)->node->id, (*(const Row *const *)b)->node->id);
}

/* Rows whose records are some; to be unreferenced. */
static GPtrArray *
choose(DroverNodeRows *rows, const char *node_id)
{
    GHashTableIter iter;
    gpointer row;

    if (node_id != NULL) {
        GPtrArray *one = g_ptr_array_new();

        row = g_hash_table_lookup(rows->rows, node_id);
        if (row != NULL && !is_gone((gpointer)node_id, row, rows) && ((Row *)row)->before != NULL)
            g_ptr_array_add(one, row);
        return one;
    }
    if (rows->order == NULL) {
        rows->order = g_ptr_array_sized_new(g_hash_table_size(rows->rows));
        g_hash_table_iter_init(&iter, rows->rows);
        while (g_hash_table_iter_next(&iter, NULL, &row))
            if (((Row *)row)->before != NULL)
                g_ptr_array_add(rows->order, row);
        g_ptr_array_sort(rows->order, compare_rows);
    }
    return g_ptr_array_ref(rows->order);
}

static const char *
lock_word(const DroverNodeRows *rows, const Row *row)
{
    return is_locked(rows, row) ? "locked" : "unlocked";
}

/* NULL: unknown. */
static char *
age_of(const Row *row)
{
    return row->aged ? drover_cli_age(row->node->state_time) : NULL;
}

char *
drover_node_rows_json(DroverNodeRows *rows, const char *node_id)
{
    g_autoptr(GPtrArray) chosen = choose(rows, node_id);
    GString *text = g_string_sized_new(chosen->len * 512);

    for (guint i = 0; i < chosen->len; i++) {
        const Row *row = chosen->pdata[i];
        g_autofree char *age = age_of(row);
        const char *quote = age != NULL ? "\"" : "";

        g_string_append(text, i > 0 ? ", {" : "[{");
        g_string_append(text, row->before);
        g_string_append_printf(text, ", \"" AGE "\": %s%s%s, \"" LOCKED "\": \"%s\", ", quote,
                               age != NULL ? age : "null", quote, lock_word(rows, row));
        g_string_append(text, row->after);
        g_string_append_c(text, '}');
    }
    g_string_append(text, chosen->len > 0 ? "]" : "[]");
    return g_string_free(text, FALSE);
}

/* The place of a column in its row. */
static guint
place_of(const char *key)
{
    guint place = 0;

    while (strcmp(drover_node_columns[place].key, key) != 0)
        place++;
    return place;
}

char *
drover_node_rows_text(DroverNodeRows *rows, const char *node_id, const char *fields)
{
    g_autoptr(GPtrArray) chosen = choose(rows, node_id);
    g_autoptr(GPtrArray) cells = g_ptr_array_sized_new(chosen->len);
    guint age = place_of(AGE), lock = place_of(LOCKED);

    for (guint i = 0; i < chosen->len; i++) {
        Row *row = chosen->pdata[i];

        g_free(row->age);
        row->age = age_of(row);
        if (row->age != NULL)
            row->cells[age] = row->age;
        row->cells[lock] = (char *)lock_word(rows, row);
        g_ptr_array_add(cells, row->cells);
    }
    return drover_cell_rows_text(drover_node_columns, cells, fields);
}

/* ---- Life ---- */

DroverNodeRows *
drover_node_rows_new(DroverCluster *cluster)
{
    DroverNodeRows *rows = g_new0(DroverNodeRows, 1);

    rows->cluster = cluster;
    rows->rows = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_row);
    return rows;
}

void
drover_node_rows_free(DroverNodeRows *rows)
{
    g_clear_handle_id(&rows->timer, g_source_remove);
    forget(rows);
    g_hash_table_unref(rows->rows);
    g_free(rows);
}
