#include "launcher/cluster/verdicts.h"

#include <string.h>

#include "base/json.h"
#include "model/request.h"

/* Reasons are a sentence; what is longer says no more. */
#define MOST_CHARACTERS 400

struct _DroverVerdicts {
    GHashTable *last; /* request id -> Verdict */
    guint64 changes;
};

typedef struct {
    const char *name;
    char *reason;
    double since; /* seconds since the epoch */
} Verdict;

static void
verdict_free(gpointer data)
{
    Verdict *verdict = data;

    g_free(verdict->reason);
    g_free(verdict);
}

DroverVerdicts *
drover_verdicts_new(void)
{
    DroverVerdicts *verdicts = g_new0(DroverVerdicts, 1);

    verdicts->last = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, verdict_free);
    return verdicts;
}

void
drover_verdicts_free(DroverVerdicts *verdicts)
{
    g_hash_table_unref(verdicts->last);
    g_free(verdicts);
}

void
drover_verdicts_note(DroverVerdicts *verdicts, const char *request_id, const char *name,
                     const char *reason)
{
    Verdict *verdict = g_hash_table_lookup(verdicts->last, request_id);

    if (verdict != NULL && strcmp(verdict->name, name) == 0 &&
        g_strcmp0(verdict->reason, reason) == 0)
        return;
    if (verdict == NULL) {
        verdict = g_new0(Verdict, 1);
        g_hash_table_insert(verdicts->last, g_strdup(request_id), verdict);
    }
    /* Numbers in the reason change while the verdict stays: it is given since the first one. */
    if (g_strcmp0(verdict->name, name) != 0)
        verdict->since = (double)g_get_real_time() / G_USEC_PER_SEC;
    verdict->name = name;
    g_free(verdict->reason);
    verdict->reason = g_strdup(reason);
    verdicts->changes++;
}

void
drover_verdicts_forget(DroverVerdicts *verdicts, const char *request_id)
{
    if (g_hash_table_remove(verdicts->last, request_id))
        verdicts->changes++;
}

guint64
drover_verdicts_changes(const DroverVerdicts *verdicts)
{
    return verdicts->changes;
}

static json_t *
reason_value(const char *reason)
{
    g_autofree char *valid = NULL, *part = NULL;

    if (reason == NULL)
        return json_null();
    valid = g_utf8_make_valid(reason, -1);
    part = g_utf8_substring(valid, 0, MIN(g_utf8_strlen(valid, -1), MOST_CHARACTERS));
    return json_string(part);
}

json_t *
drover_verdicts_find(const DroverVerdicts *verdicts, const char *request_id)
{
    const Verdict *verdict = g_hash_table_lookup(verdicts->last, request_id);

    if (verdict == NULL)
        return NULL;
    return json_pack("{s:o, s:s, s:o, s:f}", "id", drover_json_from_string(request_id), "verdict",
                     verdict->name, "reason", reason_value(verdict->reason), "since",
                     verdict->since);
}

json_t *
drover_verdicts_list(const DroverVerdicts *verdicts, const GPtrArray *requests, guint most,
                     gsize most_bytes, guint *left_out)
{
    json_t *list = json_array();
    gsize bytes = 0;

    *left_out = 0;
    for (guint i = 0; i < requests->len; i++) {
        const DroverRequest *request = g_ptr_array_index(requests, i);
        g_autoptr(json_t) object = NULL;

        if (*left_out > 0) {
            *left_out += g_hash_table_contains(verdicts->last, request->id);
            continue;
        }
        object = drover_verdicts_find(verdicts, request->id);
        if (object != NULL) {
            g_autofree char *text = drover_json_text(object);

            bytes += strlen(text) + 1;
            if (json_array_size(list) < most && bytes <= most_bytes)
                json_array_append(list, object);
            else
                *left_out = 1;
        }
    }
    return list;
}
