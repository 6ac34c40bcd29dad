/* Tables for people in front of a terminal. */
#include <string.h>

#include "cli/table-private.h"

/* What a row of the table has beside its cells: "| ", " " and the last "|". */
#define BESIDE_CELL 3
#define BESIDE_ROW  1
/* A word that is longer is broken anywhere. */
#define LONGEST_PIECE 40
/* Words that are shorter, ids and addresses among them, stay in one piece. */
#define SHORTEST_BROKEN 20

/* ---- Pieces: what stays together on a line ---- */

static gsize
word_length(const char *text)
{
    return strcspn(text, " ,\n");
}

/* With the characters after which a line may end. `in_word`: the length of the word it is in. */
static gsize
piece_length(const char *text, gsize in_word)
{
    gsize length = 0;

    while (text[length] != '\0' && text[length] != '\n') {
        char c = text[length++];

        if (c == ' ' || c == ',' || (in_word > SHORTEST_BROKEN && strchr("-/_.:", c) != NULL))
            break;
    }
    return length;
}

typedef struct {
    const char *next;
    gsize in_word; /* the length of the word that it is in */
    gsize length;  /* of the present piece */
    gsize seen;    /* of these, without a blank at its end */
    gboolean ends_line;
} Pieces;

static void
pieces_init(Pieces *pieces, const char *text)
{
    *pieces = (Pieces){.next = text, .in_word = word_length(text)};
}

/* The next piece; NULL: there is none. */
static const char *
pieces_next(Pieces *pieces)
{
    const char *piece = pieces->next;

    if (*piece == '\0')
        return NULL;
    pieces->length = piece_length(piece, pieces->in_word);
    pieces->seen = pieces->length - (pieces->length > 0 && piece[pieces->length - 1] == ' ');
    pieces->ends_line = piece[pieces->length] == '\n';
    pieces->next = piece + pieces->length + pieces->ends_line;
    if (strchr(" ,\n", pieces->next[-1]) != NULL)
        pieces->in_word = word_length(pieces->next);
    return piece;
}

static guint
widest_piece(const char *text)
{
    guint widest = 0;
    Pieces pieces;
    const char *piece;

    pieces_init(&pieces, text);
    while ((piece = pieces_next(&pieces)) != NULL)
        widest = MAX(widest, drover_table_width(piece, (gssize)pieces.seen));
    return MIN(widest, LONGEST_PIECE);
}

static guint
widest_line(const char *text)
{
    guint widest = 0;

    for (;;) {
        gsize length = strcspn(text, "\n");

        widest = MAX(widest, drover_table_width(text, (gssize)length));
        if (text[length] == '\0')
            return widest;
        text += length + 1;
    }
}

/* ---- Breaking ---- */

typedef struct {
    GString *out;
    guint width; /* that a line may have */
    guint taken; /* of the present one */
} Lines;

static void
begin_line(Lines *lines)
{
    while (lines->out->len > 0 && lines->out->str[lines->out->len - 1] == ' ')
        g_string_truncate(lines->out, lines->out->len - 1);
    g_string_append_c(lines->out, '\n');
    lines->taken = 0;
}

static void
append_characters(Lines *lines, const char *text, gsize length)
{
    const char *end = text + length;

    while (text < end) {
        const char *next = MIN(g_utf8_next_char(text), end);
        guint width = drover_table_width(text, next - text);

        if (lines->taken > 0 && lines->taken + width > lines->width)
            begin_line(lines);
        g_string_append_len(lines->out, text, next - text);
        lines->taken += width;
        text = next;
    }
}

static void
append_piece(Lines *lines, const char *piece, const Pieces *pieces)
{
    guint width = drover_table_width(piece, (gssize)pieces->seen);

    if (lines->taken > 0 && lines->taken + width > lines->width)
        begin_line(lines);
    append_characters(lines, piece, pieces->seen);
    if (pieces->seen < pieces->length && lines->taken < lines->width) {
        g_string_append_c(lines->out, ' ');
        lines->taken++;
    }
    if (pieces->ends_line)
        begin_line(lines);
}

/* A new text whose lines are no wider. */
static char *
broken(const char *text, guint width)
{
    Lines lines = {.out = g_string_new(NULL), .width = MAX(width, 1)};
    Pieces pieces;
    const char *piece;

    pieces_init(&pieces, text);
    while ((piece = pieces_next(&pieces)) != NULL)
        append_piece(&lines, piece, &pieces);
    return g_string_free(lines.out, FALSE);
}

/* ---- Columns ---- */

typedef struct {
    guint index; /* in the table */
    guint natural, least, width;
    gboolean is_empty;
} Column;

static void
measure(Column *column, const char *cell)
{
    column->natural = MAX(column->natural, widest_line(cell));
    column->least = MAX(column->least, widest_piece(cell));
}

static GArray *
columns_of(const DroverTable *table)
{
    GArray *columns = g_array_new(FALSE, TRUE, sizeof(Column));

    for (guint i = 0; i < table->n_columns; i++) {
        Column column = {.index = i, .is_empty = TRUE};

        measure(&column, table->headers[i]);
        for (guint k = 0; k < table->rows->len; k++) {
            const char *cell = ((char **)table->rows->pdata[k])[i];

            measure(&column, cell);
            column.is_empty &= *cell == '\0';
        }
        g_array_append_val(columns, column);
    }
    return columns;
}

static void
drop_empty(GArray *columns)
{
    for (guint i = columns->len; i > 0 && columns->len > 1; i--)
        if (g_array_index(columns, Column, i - 1).is_empty)
            g_array_remove_index(columns, i - 1);
}

static guint
sum(const GArray *columns, gboolean natural)
{
    guint width = BESIDE_ROW;

    for (guint i = 0; i < columns->len; i++) {
        const Column *column = &g_array_index(columns, Column, i);

        width += BESIDE_CELL + (natural ? column->natural : column->least);
    }
    return width;
}

/* What is left goes where most is lacking. */
static void
share(GArray *columns, guint left)
{
    for (guint i = 0; i < columns->len; i++)
        g_array_index(columns, Column, i).width = g_array_index(columns, Column, i).least;
    for (; left > 0; left--) {
        Column *poorest = &g_array_index(columns, Column, 0);

        for (guint i = 1; i < columns->len; i++) {
            Column *column = &g_array_index(columns, Column, i);

            if (column->natural - MIN(column->natural, column->width) >
                poorest->natural - MIN(poorest->natural, poorest->width))
                poorest = column;
        }
        poorest->width++;
    }
}

/* ---- The two forms ---- */

static char **
broken_row(const GArray *columns, char **cells)
{
    char **row = g_new0(char *, columns->len + 1);

    for (guint i = 0; i < columns->len; i++) {
        const Column *column = &g_array_index(columns, Column, i);

        row[i] = broken(cells[column->index], column->width);
    }
    return row;
}

static char *
as_table(const DroverTable *table, const GArray *columns)
{
    g_auto(GStrv) headers = broken_row(columns, table->headers);
    g_autoptr(DroverTable) narrow = drover_table_new((const char *const *)headers);

    for (guint i = 0; i < table->rows->len; i++)
        drover_table_add_row(narrow, broken_row(columns, table->rows->pdata[i]));
    return drover_table_text(narrow);
}

static void
append_field(GString *out, const char *name, guint width, const char *value, guint columns)
{
    g_autofree char *text = broken(value, columns > width + 2 ? columns - width - 2 : 1);
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);

    for (guint i = 0; lines[i] != NULL; i++)
        g_string_append_printf(out, "%-*s  %s\n", (int)width, i == 0 ? name : "", lines[i]);
}

static char *
as_lists(const DroverTable *table, const GArray *fields, guint columns)
{
    GString *out = g_string_new(NULL);
    guint width = 0;

    for (guint i = 0; i < fields->len; i++)
        width = MAX(width,
                    drover_table_width(table->headers[g_array_index(fields, Column, i).index], -1));
    for (guint k = 0; k < table->rows->len; k++) {
        char **cells = table->rows->pdata[k];

        if (k > 0)
            g_string_append_c(out, '\n');
        for (guint i = 0; i < fields->len; i++) {
            guint index = g_array_index(fields, Column, i).index;

            if (*cells[index] != '\0')
                append_field(out, table->headers[index], width, cells[index], columns);
        }
    }
    return g_string_free(out, FALSE);
}

char *
drover_table_fitted(const DroverTable *table, guint width)
{
    g_autoptr(GArray) columns = columns_of(table);

    if (sum(columns, TRUE) <= width)
        return drover_table_text(table);
    if (table->rows->len > 0)
        drop_empty(columns);
    if (sum(columns, FALSE) > width)
        return table->rows->len > 0 ? as_lists(table, columns, width) : drover_table_text(table);
    share(columns, width - sum(columns, FALSE));
    return as_table(table, columns);
}
