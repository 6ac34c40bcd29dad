#include "cli/evidence.h"

#include <string.h>

#define ZUUL_COMPONENTS_PATH "/zuul/components"

/* ---- Components ---- */

static void
note_session(DroverEvidence *evidence, const DroverRecord *record, char *who)
{
    gint64 *key = g_new(gint64, 1);

    *key = record->owner;
    if (record->owner != 0 && !g_hash_table_contains(evidence->sessions, key)) {
        g_hash_table_insert(evidence->sessions, key, who);
    } else {
        g_free(key);
        g_free(who);
    }
}

static gboolean
is_known(const DroverEvidence *evidence, const char *launcher_id)
{
    for (guint i = 0; i < evidence->pools->len; i++)
        if (strcmp(((DroverComponent *)evidence->pools->pdata[i])->id, launcher_id) == 0)
            return TRUE;
    return FALSE;
}

static gboolean
read_pools(DroverEvidence *evidence, DroverStore *store, GError **error)
{
    g_autoptr(GPtrArray) records =
        drover_store_read_all(store, DROVER_COMPONENTS_PATH "/pool", DROVER_READ_PLAIN, error);

    for (guint i = 0; records != NULL && i < records->len; i++) {
        const DroverRecord *record = records->pdata[i];
        g_autoptr(DroverComponent) pool = drover_component_decode(record->data, NULL);

        if (pool == NULL || pool->id == NULL)
            continue;
        note_session(evidence, record,
                     g_strdup_printf("the launcher on %s",
                                     pool->hostname != NULL ? pool->hostname : record->name));
        if (!is_known(evidence, pool->id))
            g_ptr_array_add(evidence->pools, g_steal_pointer(&pool));
    }
    return records != NULL;
}

/* Components of other kinds only matter as holders of locks. */
static gboolean
read_sessions(DroverEvidence *evidence, DroverStore *store, const char *path, const char *whose,
              guint *count, GError **error)
{
    g_autoptr(GPtrArray) records = drover_store_read_all(store, path, DROVER_READ_PLAIN, error);
    g_autofree char *kind = g_path_get_basename(path);

    for (guint i = 0; records != NULL && i < records->len; i++) {
        const DroverRecord *record = records->pdata[i];
        g_autoptr(DroverComponent) component = drover_component_decode(record->data, NULL);
        const char *host = component != NULL ? component->hostname : NULL;

        note_session(
            evidence, record,
            g_strdup_printf("%s %s on %s", whose, kind, host != NULL ? host : record->name));
    }
    if (records != NULL && count != NULL)
        *count = records->len;
    return records != NULL;
}

static gboolean
read_zuul(DroverEvidence *evidence, DroverStore *store, GError **error)
{
    g_auto(GStrv) kinds = drover_store_list(store, ZUUL_COMPONENTS_PATH, error);
    gboolean complete = kinds != NULL;

    for (char **kind = kinds; complete && *kind != NULL; kind++) {
        g_autofree char *path = g_strconcat(ZUUL_COMPONENTS_PATH "/", *kind, NULL);

        complete = read_sessions(evidence, store, path, "Zuul's", NULL, error);
    }
    return complete;
}

/* ---- Decisions ---- */

static gboolean
read_boards(DroverEvidence *evidence, DroverStore *store, GError **error)
{
    g_autoptr(GPtrArray) records =
        drover_store_read_all(store, DROVER_DECISIONS_PATH, DROVER_READ_PLAIN, error);

    for (guint i = 0; records != NULL && i < records->len; i++) {
        const DroverRecord *record = records->pdata[i];
        gsize length;
        const char *text = g_bytes_get_data(record->data, &length);
        json_t *board = drover_json_parse_object(text, length, NULL);
        const char *launcher = drover_json_string(board, "launcher");

        if (launcher != NULL)
            g_hash_table_insert(evidence->boards, g_strdup(launcher), board);
        else
            json_decref(board);
    }
    return records != NULL;
}

static const json_t *
find_verdict(const json_t *board, const char *request_id)
{
    const json_t *verdict;
    size_t i;

    json_array_foreach(json_object_get(board, "requests"), i, verdict)
    {
        if (g_strcmp0(drover_json_string(verdict, "id"), request_id) == 0)
            return verdict;
    }
    return NULL;
}

const json_t *
drover_evidence_verdict(const DroverEvidence *evidence, const char *launcher_id,
                        const char *request_id, gboolean *left_out)
{
    const json_t *board = g_hash_table_lookup(evidence->boards, launcher_id);

    *left_out = drover_json_integer(board, "left_out", 0) > 0;
    return find_verdict(board, request_id);
}

/* ---- Life ---- */

static void
free_json(gpointer value)
{
    json_decref(value);
}

DroverEvidence *
drover_evidence_read(DroverStore *store, GError **error)
{
    g_autoptr(DroverEvidence) evidence = g_new0(DroverEvidence, 1);

    evidence->pools = g_ptr_array_new_with_free_func((GDestroyNotify)drover_component_free);
    evidence->boards = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_json);
    evidence->sessions = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
    if (!read_pools(evidence, store, error) ||
        !read_sessions(evidence, store, DROVER_COMPONENTS_PATH "/launcher", "the",
                       &evidence->launchers, error) ||
        !read_zuul(evidence, store, error) || !read_boards(evidence, store, error))
        return NULL;
    return g_steal_pointer(&evidence);
}

void
drover_evidence_free(DroverEvidence *evidence)
{
    g_ptr_array_unref(evidence->pools);
    g_hash_table_unref(evidence->boards);
    g_hash_table_unref(evidence->sessions);
    g_free(evidence);
}

/* ---- Locks ---- */

/* Kazoo's users may leave a word in their contender; Drover leaves none. */
static char *
describe_contender(const DroverEvidence *evidence, const DroverRecord *contender)
{
    const char *who = g_hash_table_lookup(evidence->sessions, &contender->owner);
    gsize length;
    const char *text = g_bytes_get_data(contender->data, &length);
    g_autofree char *word = g_utf8_make_valid(text != NULL ? text : "", (gssize)length);
    g_autofree char *session =
        g_strdup_printf("session 0x%" G_GINT64_MODIFIER "x", (guint64)contender->owner);

    if (who == NULL && *word == '\0')
        return g_strdup_printf("somebody (%s)", session);
    if (who == NULL || *word == '\0')
        return g_strdup_printf("%s (%s)", who != NULL ? who : word, session);
    return g_strdup_printf("%s (%s, %s)", who, word, session);
}

gboolean
drover_evidence_find_holder(const DroverEvidence *evidence, DroverStore *store,
                            const char *directory, char **holder, GError **error)
{
    g_auto(GStrv) all = drover_store_list(store, directory, error);
    g_autoptr(GPtrArray) contenders = NULL;
    const char *names[] = {NULL, NULL};

    *holder = NULL;
    if (all == NULL)
        return FALSE;
    names[0] = drover_lock_find_holder((const char *const *)all);
    if (names[0] == NULL)
        return TRUE;
    contenders = drover_store_read_each(store, directory, names, DROVER_READ_EMPTY, error);
    if (contenders == NULL)
        return FALSE;
    if (contenders->len > 0)
        *holder = describe_contender(evidence, contenders->pdata[0]);
    return TRUE;
}
