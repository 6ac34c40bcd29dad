#include "config/nearest.h"

#include <string.h>

#define LONGEST 100 /* bytes of a name that are compared */
#define LISTED  12  /* names in a message */

/* How many characters have to be put in, left out, changed, or swapped with their neighbour. */
static guint
distance(const char *a, const char *b)
{
    guint rows[3][LONGEST + 1];
    guint *before = rows[0], *last = rows[1], *row = rows[2];
    gsize length = MIN(strlen(b), LONGEST), height = MIN(strlen(a), LONGEST);

    for (guint j = 0; j <= length; j++)
        last[j] = j;
    for (guint i = 1; i <= height; i++) {
        guint *spare = before;

        row[0] = i;
        for (guint j = 1; j <= length; j++) {
            guint change = last[j - 1] + (a[i - 1] != b[j - 1]);

            row[j] = MIN(MIN(last[j], row[j - 1]) + 1, change);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = MIN(row[j], before[j - 2] + 1);
        }
        before = last;
        last = row;
        row = spare;
    }
    return last[length];
}

const char *
drover_nearest(const char *name, const GPtrArray *candidates)
{
    const char *best = NULL;
    gsize length = strlen(name);
    guint least = (guint)MIN(length, LONGEST) / 3 + 2;

    for (guint i = 0; i < candidates->len; i++) {
        const char *candidate = candidates->pdata[i];
        guint far = distance(name, candidate);

        if (far < least && far < length && far < strlen(candidate)) {
            least = far;
            best = candidate;
        }
    }
    return best;
}

char *
drover_suggestion(const char *name, const GPtrArray *candidates)
{
    const char *nearest = drover_nearest(name, candidates);
    GString *text;

    if (nearest != NULL)
        return g_strdup_printf("; did you mean %s?", nearest);
    if (candidates->len == 0)
        return g_strdup("; there are none");
    text = g_string_new("; known are ");
    for (guint i = 0; i < MIN(candidates->len, LISTED); i++)
        g_string_append_printf(text, "%s%s", i > 0 ? ", " : "", (const char *)candidates->pdata[i]);
    if (candidates->len > LISTED)
        g_string_append_printf(text, " and %u more", candidates->len - LISTED);
    return g_string_free(text, FALSE);
}
