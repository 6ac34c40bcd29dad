#include "http/accept.h"

#include <string.h>

/* One range of the header. */
typedef struct {
    char *type, *subtype; /* "*" for any */
    double quality;
} Range;

static void
clear_range(gpointer data)
{
    Range *range = data;

    g_free(range->type);
    g_free(range->subtype);
}

static gboolean
is_token(const char *text)
{
    if (*text == '\0')
        return FALSE;
    for (const char *at = text; *at != '\0'; at++)
        if (!g_ascii_isalnum(*at) && strchr("!#$%&'*+-.^_`|~", *at) == NULL)
            return FALSE;
    return TRUE;
}

/* FALSE for a quality that is none. Other parameters do not matter. */
static gboolean
read_quality(char **parameters, double *quality)
{
    *quality = 1;
    for (; *parameters != NULL; parameters++) {
        char *end, *text = g_strstrip(*parameters);

        if (g_ascii_strncasecmp(text, "q=", 2) != 0)
            continue;
        *quality = g_ascii_strtod(text + 2, &end);
        if (end == text + 2 || *end != '\0' || !(*quality >= 0 && *quality <= 1))
            return FALSE;
    }
    return TRUE;
}

static gboolean
read_range(const char *text, Range *range)
{
    g_auto(GStrv) parts = g_strsplit(text, ";", -1);
    g_auto(GStrv) names = g_strsplit(g_strstrip(parts[0]), "/", -1);

    if (g_strv_length(names) != 2 || !is_token(names[0]) || !is_token(names[1]) ||
        (strcmp(names[0], "*") == 0 && strcmp(names[1], "*") != 0) ||
        !read_quality(parts + 1, &range->quality))
        return FALSE;
    range->type = g_ascii_strdown(names[0], -1);
    range->subtype = g_ascii_strdown(names[1], -1);
    return TRUE;
}

/* NULL when it makes no sense. */
static GArray *
read_header(const char *accept)
{
    g_autoptr(GArray) ranges = g_array_new(FALSE, FALSE, sizeof(Range));
    g_auto(GStrv) items = g_strsplit(accept, ",", -1);

    g_array_set_clear_func(ranges, clear_range);
    for (char **item = items; *item != NULL; item++) {
        Range range = {0};

        if (*g_strstrip(*item) == '\0')
            continue;
        if (!read_range(*item, &range))
            return NULL;
        g_array_append_val(ranges, range);
    }
    return ranges->len > 0 ? g_steal_pointer(&ranges) : NULL;
}

/* How exactly a range names the offer; 0: not at all. */
static guint
exactness(const Range *range, const char *type, const char *subtype)
{
    if (strcmp(range->type, "*") == 0)
        return 1;
    if (strcmp(range->type, type) != 0)
        return 0;
    if (strcmp(range->subtype, "*") == 0)
        return 2;
    return strcmp(range->subtype, subtype) == 0 ? 3 : 0;
}

/* By the range that names the offer most exactly. */
static double
quality_of(const GArray *ranges, const char *offer)
{
    g_auto(GStrv) names = g_strsplit(offer, "/", 2);
    double quality = 0;
    guint best = 0;

    for (guint i = 0; i < ranges->len; i++) {
        const Range *range = &g_array_index(ranges, Range, i);
        guint exact = exactness(range, names[0], names[1]);

        if (exact > best) {
            best = exact;
            quality = range->quality;
        }
    }
    return quality;
}

int
drover_http_choose(const char *accept, const char *const *offers, guint n_offers)
{
    g_autoptr(GArray) ranges = accept != NULL ? read_header(accept) : NULL;
    double best = 0;
    int chosen = -1;

    if (ranges == NULL)
        return 0;
    for (guint i = 0; i < n_offers; i++) {
        double quality = quality_of(ranges, offers[i]);

        if (quality > best) {
            best = quality;
            chosen = (int)i;
        }
    }
    return chosen;
}
