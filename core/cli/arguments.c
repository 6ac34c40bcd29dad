#include "cli/arguments.h"

#include <string.h>

static gboolean
takes_value(const GOptionEntry *entry)
{
    return entry->arg != G_OPTION_ARG_NONE && entry->arg != G_OPTION_ARG_CALLBACK;
}

static const GOptionEntry *
find_short(const GOptionEntry *const *options, char letter)
{
    for (; *options != NULL; options++)
        for (const GOptionEntry *entry = *options; entry->long_name != NULL; entry++)
            if (entry->short_name == letter)
                return entry;
    return NULL;
}

/* The option of that name, or the only one that begins with it. */
static const GOptionEntry *
find_long(const GOptionEntry *const *options, const char *name, gsize length)
{
    const GOptionEntry *found = NULL;
    guint candidates = 0;

    for (; length > 0 && *options != NULL; options++)
        for (const GOptionEntry *entry = *options; entry->long_name != NULL; entry++) {
            if (entry->long_name[0] == '\0' || strncmp(entry->long_name, name, length) != 0)
                continue;
            if (entry->long_name[length] == '\0')
                return entry;
            found = entry;
            candidates++;
        }
    return candidates == 1 ? found : NULL;
}

/* Adds the word. TRUE when the next word is its value. */
static gboolean
add_option(GPtrArray *out, const char *word, const GOptionEntry *const *options)
{
    const GOptionEntry *entry;

    if (word[1] == '-') {
        gsize length = strcspn(word + 2, "=");
        const char *rest = word + 2 + length;

        entry = find_long(options, word + 2, length);
        g_ptr_array_add(out, entry != NULL ? g_strconcat("--", entry->long_name, rest, NULL)
                                           : g_strdup(word));
        return entry != NULL && takes_value(entry) && *rest == '\0';
    }
    entry = find_short(options, word[1]);
    if (entry == NULL || !takes_value(entry) || word[2] == '\0') {
        g_ptr_array_add(out, g_strdup(word));
        return entry != NULL && takes_value(entry);
    }
    g_ptr_array_add(out, g_strndup(word, 2));
    g_ptr_array_add(out, g_strdup(word + 2));
    return FALSE;
}

char **
drover_arguments_expand(const char *const *words, const GOptionEntry *const *options,
                        gboolean leading)
{
    GPtrArray *out = g_ptr_array_new();
    gboolean is_value = TRUE; /* the name is no option either */
    gboolean ended = FALSE;

    for (; *words != NULL; words++) {
        gboolean is_option = !ended && !is_value && (*words)[0] == '-' && (*words)[1] != '\0';

        if (strcmp(*words, "--") == 0 || (leading && !is_option && !is_value))
            ended = TRUE;
        if (is_option && !ended) {
            is_value = add_option(out, *words, options);
        } else {
            g_ptr_array_add(out, g_strdup(*words));
            is_value = FALSE;
        }
    }
    g_ptr_array_add(out, NULL);
    return (char **)g_ptr_array_free(out, FALSE);
}
