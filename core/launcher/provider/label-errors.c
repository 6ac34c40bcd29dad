#include "launcher/provider/label-errors.h"

struct _DroverLabelErrors {
    GHashTable *labels; /* label -> Error, also of those that had their time */
};

typedef struct {
    char *why;
    gint64 until;
} Error;

static void
error_free(gpointer data)
{
    Error *error = data;

    g_free(error->why);
    g_free(error);
}

DroverLabelErrors *
drover_label_errors_new(void)
{
    DroverLabelErrors *errors = g_new0(DroverLabelErrors, 1);

    errors->labels = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, error_free);
    return errors;
}

void
drover_label_errors_free(DroverLabelErrors *errors)
{
    g_hash_table_unref(errors->labels);
    g_free(errors);
}

gboolean
drover_label_errors_add(DroverLabelErrors *errors, const char *label, const char *why, gint64 now)
{
    const Error *last = g_hash_table_lookup(errors->labels, label);
    gboolean is_news = last == NULL || g_strcmp0(last->why, why) != 0;
    Error *error = g_new0(Error, 1);

    error->why = g_strdup(why);
    error->until = now + DROVER_LABEL_ERROR_SECONDS * G_USEC_PER_SEC;
    g_hash_table_insert(errors->labels, g_strdup(label), error);
    return is_news;
}

void
drover_label_errors_remove(DroverLabelErrors *errors, const char *label)
{
    g_hash_table_remove(errors->labels, label);
}

const char *
drover_label_errors_why(const DroverLabelErrors *errors, const char *label, gint64 now)
{
    const Error *error = g_hash_table_lookup(errors->labels, label);

    return error != NULL && now < error->until ? error->why : NULL;
}
