#include "config/substitute.h"

#include <string.h>

#define OPEN   "%("
#define PREFIX "NODEPOOL_"

/* A value that stands in the text. All in characters. */
typedef struct {
    guint64 at, length;           /* in the new text */
    guint64 file_at, file_length; /* in the file */
} Piece;

struct _DroverSubstitution {
    GString *text;
    GArray *pieces; /* of Piece, in order */
    GArray *lines;  /* of guint64: where each line of the file begins, in characters */
};

/* The variable's value, and how long "%(NAME)" is; NULL when the text stays as it is. */
static const char *
variable_at(const char *text, char **environment, gsize *length)
{
    const char *end, *value;
    g_autofree char *name = NULL;

    if (!g_str_has_prefix(text, OPEN PREFIX))
        return NULL;
    end = strchr(text, ')');
    if (end == NULL)
        return NULL;
    name = g_strndup(text + strlen(OPEN), (gsize)(end - text) - strlen(OPEN));
    value = g_environ_getenv(environment, name);
    if (value == NULL || !g_utf8_validate(value, -1, NULL))
        return NULL;
    *length = (gsize)(end + 1 - text);
    return value;
}

static void
find_lines(DroverSubstitution *self, const char *text)
{
    guint64 at = 0;

    g_array_append_val(self->lines, at);
    for (; *text != '\0'; text = g_utf8_next_char(text)) {
        at++;
        if (*text == '\n')
            g_array_append_val(self->lines, at);
    }
}

DroverSubstitution *
drover_substitution_new(const char *text, char **environment)
{
    DroverSubstitution *self = g_new0(DroverSubstitution, 1);
    guint64 at = 0, file_at = 0;

    self->text = g_string_new(NULL);
    self->pieces = g_array_new(FALSE, FALSE, sizeof(Piece));
    self->lines = g_array_new(FALSE, FALSE, sizeof(guint64));
    find_lines(self, text);
    while (*text != '\0') {
        gsize length = (gsize)(g_utf8_next_char(text) - text);
        const char *value = variable_at(text, environment, &length);

        if (value != NULL) {
            Piece piece = {.at = at,
                           .length = (guint64)g_utf8_strlen(value, -1),
                           .file_at = file_at,
                           .file_length = (guint64)g_utf8_strlen(text, (gssize)length)};

            g_array_append_val(self->pieces, piece);
            g_string_append(self->text, value);
            at += piece.length;
            file_at += piece.file_length;
        } else {
            g_string_append_len(self->text, text, (gssize)length);
            at++;
            file_at++;
        }
        text += length;
    }
    return self;
}

void
drover_substitution_free(DroverSubstitution *self)
{
    if (self == NULL)
        return;
    g_string_free(self->text, TRUE);
    g_array_unref(self->pieces);
    g_array_unref(self->lines);
    g_free(self);
}

const char *
drover_substitution_text(const DroverSubstitution *self)
{
    return self->text->str;
}

static guint64
file_index(const DroverSubstitution *self, guint64 index)
{
    const Piece *last = NULL;

    for (guint i = 0; i < self->pieces->len; i++) {
        const Piece *piece = &g_array_index(self->pieces, Piece, i);

        if (piece->at > index)
            break;
        last = piece;
    }
    if (last == NULL)
        return index;
    if (index < last->at + last->length)
        return last->file_at;
    return index - (last->at + last->length) + last->file_at + last->file_length;
}

void
drover_substitution_place(const DroverSubstitution *self, guint64 index, guint *line, guint *column)
{
    guint64 at = file_index(self, index);
    guint low = 0, high = self->lines->len;

    while (high - low > 1) {
        guint middle = low + (high - low) / 2;

        if (g_array_index(self->lines, guint64, middle) <= at)
            low = middle;
        else
            high = middle;
    }
    *line = low + 1;
    *column = (guint)(at - g_array_index(self->lines, guint64, low)) + 1;
}
