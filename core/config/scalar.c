#include "config/scalar.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef void (*Constructor)(const char *text, DroverScalar *scalar);

static void construct_boolean(const char *text, DroverScalar *scalar);
static void construct_number(const char *text, DroverScalar *scalar);
static void construct_integer(const char *text, DroverScalar *scalar);

/* In this order; the first that matches decides. */
static const struct {
    DroverScalarType type;
    const char *pattern;
    Constructor construct;
} forms[] = {
    {
        DROVER_SCALAR_BOOLEAN,
        "yes|Yes|YES|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF",
        construct_boolean,
    },
    {
        DROVER_SCALAR_NUMBER,
        "[-+]?[0-9][0-9_]*\\.[0-9_]*([eE][-+][0-9]+)?"
        "|\\.[0-9][0-9_]*([eE][-+][0-9]+)?"
        "|[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+\\.[0-9_]*"
        "|[-+]?\\.(inf|Inf|INF)"
        "|\\.(nan|NaN|NAN)",
        construct_number,
    },
    {
        DROVER_SCALAR_INTEGER,
        "[-+]?0b[01_]+"
        "|[-+]?0[0-7_]+"
        "|[-+]?(0|[1-9][0-9_]*)"
        "|[-+]?0x[0-9a-fA-F_]+"
        "|[-+]?[1-9][0-9_]*(:[0-5]?[0-9])+",
        construct_integer,
    },
    {DROVER_SCALAR_MERGE, "<<", NULL},
    {DROVER_SCALAR_NULL, "~|null|Null|NULL|", NULL},
    {
        DROVER_SCALAR_TIMESTAMP,
        "[0-9]{4}-[0-9]{2}-[0-9]{2}"
        "|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt]|[ \\t]+)[0-9]{1,2}:[0-9]{2}:[0-9]{2}(\\.[0-9]*)?"
        "([ \\t]*(Z|[-+][0-9]{1,2}(:[0-9]{2})?))?",
        NULL,
    },
    {DROVER_SCALAR_VALUE, "=", NULL},
};

/* ---- Making ---- */

static void
construct_boolean(const char *text, DroverScalar *scalar)
{
    scalar->boolean = g_ascii_strcasecmp(text, "yes") == 0 ||
                      g_ascii_strcasecmp(text, "true") == 0 || g_ascii_strcasecmp(text, "on") == 0;
}

/* The text without sign and underscores. */
static char *
digits_of(const char *text, gboolean *negative)
{
    GString *digits = g_string_new(NULL);

    *negative = *text == '-';
    for (text += *text == '-' || *text == '+'; *text != '\0'; text++)
        if (*text != '_')
            g_string_append_c(digits, *text);
    return g_string_free(digits, FALSE);
}

/* One number in base 60, its parts between colons; the last may have a fraction. */
static double
base_60(const char *digits)
{
    g_auto(GStrv) parts = g_strsplit(digits, ":", -1);
    double number = 0;

    for (char **part = parts; *part != NULL; part++)
        number = number * 60 + g_ascii_strtod(*part, NULL);
    return number;
}

static void
construct_number(const char *text, DroverScalar *scalar)
{
    gboolean negative;
    g_autofree char *digits = digits_of(text, &negative);

    if (digits[0] == '.' && g_ascii_isalpha(digits[1]))
        scalar->number = g_ascii_tolower(digits[1]) == 'i' ? INFINITY : NAN;
    else if (strchr(digits, ':') != NULL)
        scalar->number = base_60(digits);
    else
        scalar->number = g_ascii_strtod(digits, NULL);
    if (negative)
        scalar->number = -scalar->number;
}

/* FALSE when the magnitude has more than 64 bits. */
static gboolean
read_magnitude(const char *digits, guint base, guint64 *magnitude)
{
    guint64 part = 0, whole = 0;

    for (; *digits != '\0'; digits++) {
        if (*digits == ':') {
            if (__builtin_mul_overflow(whole + part, (guint64)60, &whole))
                return FALSE;
            part = 0;
        } else if (__builtin_mul_overflow(part, (guint64)base, &part) ||
                   __builtin_add_overflow(part, (guint64)g_ascii_xdigit_value(*digits), &part)) {
            return FALSE;
        }
        if (whole + part < whole)
            return FALSE;
    }
    *magnitude = whole + part;
    return TRUE;
}

static void
construct_integer(const char *text, DroverScalar *scalar)
{
    gboolean negative, fits;
    g_autofree char *digits = digits_of(text, &negative);
    const char *start = digits;
    guint64 magnitude = 0, limit = (guint64)G_MAXINT64 + (guint64)negative;
    guint base = 10;

    if (digits[0] == '0' && digits[1] != '\0') {
        base = digits[1] == 'b' ? 2 : digits[1] == 'x' ? 16 : 8;
        start += base == 8 ? 1 : 2;
        if (*start == '\0') {
            scalar->type = DROVER_SCALAR_INVALID;
            return;
        }
    }
    fits = read_magnitude(start, base, &magnitude) && magnitude <= limit;
    if (!fits) {
        scalar->type = DROVER_SCALAR_BIG_INTEGER;
        scalar->number = strchr(start, ':') != NULL ? base_60(start) : g_ascii_strtod(digits, NULL);
        if (negative)
            scalar->number = -scalar->number;
        return;
    }
    scalar->integer = negative ? (gint64)(0 - magnitude) : (gint64)magnitude;
    scalar->number = (double)scalar->integer;
}

/* ---- Resolving ---- */

static GRegex *
compile_form(guint form)
{
    g_autofree char *pattern = g_strdup_printf("^(?:%s)$", forms[form].pattern);

    return g_regex_new(pattern, G_REGEX_OPTIMIZE | G_REGEX_DOLLAR_ENDONLY, 0, NULL);
}

/* Compiled once, kept for ever. */
static const GRegex *
form_regex(guint form)
{
    static GRegex *compiled[G_N_ELEMENTS(forms)];

    if (g_once_init_enter(&compiled[form]))
        g_once_init_leave(&compiled[form], compile_form(form));
    return compiled[form];
}

void
drover_scalar_resolve(const char *text, DroverScalar *scalar)
{
    *scalar = (DroverScalar){.type = DROVER_SCALAR_STRING};
    /* Most scalars are words; no form but these begins like that. */
    if (*text != '\0' && strchr("yYnNtTfFoO~-+.<=0123456789", *text) == NULL)
        return;
    for (guint i = 0; i < G_N_ELEMENTS(forms); i++) {
        if (!g_regex_match(form_regex(i), text, 0, NULL))
            continue;
        scalar->type = forms[i].type;
        if (forms[i].construct != NULL)
            forms[i].construct(text, scalar);
        return;
    }
}

/* ---- Writing ---- */

/* Puts the point into the digits of a number, `exponent` places after the first one. */
static char *
place_point(const char *digits, int exponent)
{
    GString *text = g_string_new(NULL);
    int length = (int)strlen(digits);

    if (exponent < 0) {
        g_string_append(text, "0.");
        for (int i = exponent + 1; i < 0; i++)
            g_string_append_c(text, '0');
        g_string_append(text, digits);
        return g_string_free(text, FALSE);
    }
    for (int i = 0; i < MAX(length, exponent + 2); i++) {
        if (i == exponent + 1)
            g_string_append_c(text, '.');
        g_string_append_c(text, i < length ? digits[i] : '0');
    }
    return g_string_free(text, FALSE);
}

char *
drover_scalar_number_text(double number)
{
    char buffer[40];
    g_autofree char *plain = NULL;
    GString *digits;
    const char *mark;
    int exponent;

    if (isnan(number))
        return g_strdup("nan");
    if (isinf(number))
        return g_strdup(number < 0 ? "-inf" : "inf");
    for (int precision = 0; precision <= 16; precision++) {
        char format[8];

        g_snprintf(format, sizeof format, "%%.%de", precision);
        g_ascii_formatd(buffer, sizeof buffer, format, fabs(number));
        if (g_ascii_strtod(buffer, NULL) == fabs(number))
            break;
    }
    mark = strchr(buffer, 'e');
    exponent = atoi(mark + 1);
    if (exponent < -4 || exponent >= 16)
        return g_strdup_printf("%s%.*se%c%02d", signbit(number) ? "-" : "", (int)(mark - buffer),
                               buffer, exponent < 0 ? '-' : '+', abs(exponent));
    digits = g_string_new_len(buffer, mark - buffer);
    g_string_replace(digits, ".", "", 0);
    plain = place_point(digits->str, exponent);
    g_string_free(digits, TRUE);
    return g_strconcat(signbit(number) ? "-" : "", plain, NULL);
}
