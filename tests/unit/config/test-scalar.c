/* Plain scalars as PyYAML's safe loader resolves them. */
#include "config/scalar.h"

#include <math.h>

typedef struct {
    const char *text;
    DroverScalarType type;
    double number; /* also 0 or 1 for booleans */
} Expected;

/* Made with PyYAML 6. */
static const Expected expected[] = {
    {"yes", DROVER_SCALAR_BOOLEAN, 1},
    {"No", DROVER_SCALAR_BOOLEAN, 0},
    {"TRUE", DROVER_SCALAR_BOOLEAN, 1},
    {"oFF", DROVER_SCALAR_STRING, 0},
    {"y", DROVER_SCALAR_STRING, 0},
    {"N", DROVER_SCALAR_STRING, 0},
    {"", DROVER_SCALAR_NULL, 0},
    {"Null", DROVER_SCALAR_NULL, 0},
    {"nULL", DROVER_SCALAR_STRING, 0},
    {"0", DROVER_SCALAR_INTEGER, 0},
    {"-0", DROVER_SCALAR_INTEGER, 0},
    {"+12", DROVER_SCALAR_INTEGER, 12},
    {"-1_000_", DROVER_SCALAR_INTEGER, -1000},
    {"0b1010_0111", DROVER_SCALAR_INTEGER, 167},
    {"-0b11", DROVER_SCALAR_INTEGER, -3},
    {"0b_", DROVER_SCALAR_INVALID, 0},
    {"0x_", DROVER_SCALAR_INVALID, 0},
    {"0x10", DROVER_SCALAR_INTEGER, 16},
    {"-0xfF", DROVER_SCALAR_INTEGER, -255},
    {"0X10", DROVER_SCALAR_STRING, 0},
    {"0_", DROVER_SCALAR_INTEGER, 0},
    {"00", DROVER_SCALAR_INTEGER, 0},
    {"-017", DROVER_SCALAR_INTEGER, -15},
    {"08", DROVER_SCALAR_STRING, 0},
    {"0o17", DROVER_SCALAR_STRING, 0},
    {"190:20:30", DROVER_SCALAR_INTEGER, 685230},
    {"-1:30", DROVER_SCALAR_INTEGER, -90},
    {"1:60", DROVER_SCALAR_STRING, 0},
    {"0:30", DROVER_SCALAR_STRING, 0},
    {"9223372036854775807", DROVER_SCALAR_INTEGER, 9223372036854775807.0},
    {"-9223372036854775808", DROVER_SCALAR_INTEGER, -9223372036854775808.0},
    {"9223372036854775808", DROVER_SCALAR_BIG_INTEGER, 9223372036854775808.0},
    {"0xffffffffffffffffff", DROVER_SCALAR_BIG_INTEGER, 4722366482869645213695.0},
    {"99999999999999999999:59:59", DROVER_SCALAR_BIG_INTEGER, 3.6e23},
    {"1.", DROVER_SCALAR_NUMBER, 1},
    {"-1.5", DROVER_SCALAR_NUMBER, -1.5},
    {"22.10", DROVER_SCALAR_NUMBER, 22.1},
    {"6.8523015e+5", DROVER_SCALAR_NUMBER, 685230.15},
    {"685_230.15", DROVER_SCALAR_NUMBER, 685230.15},
    {"190:20:30.15", DROVER_SCALAR_NUMBER, 685230.15},
    {"1.e+3", DROVER_SCALAR_NUMBER, 1000},
    {"1.0e3", DROVER_SCALAR_STRING, 0},
    {"1e+3", DROVER_SCALAR_STRING, 0},
    {"-.5", DROVER_SCALAR_STRING, 0},
    {".5e-1", DROVER_SCALAR_NUMBER, 0.05},
    {"-.inf", DROVER_SCALAR_NUMBER, -INFINITY},
    {"+.INF", DROVER_SCALAR_NUMBER, INFINITY},
    {".iNF", DROVER_SCALAR_STRING, 0},
    {"-.nan", DROVER_SCALAR_STRING, 0},
    {".", DROVER_SCALAR_STRING, 0},
    {"1.2.3", DROVER_SCALAR_STRING, 0},
    {"2001-01-01", DROVER_SCALAR_TIMESTAMP, 0},
    {"2001-1-1", DROVER_SCALAR_STRING, 0},
    {"2001-12-14t21:59:43.10-05:00", DROVER_SCALAR_TIMESTAMP, 0},
    {"2001-1-1 1:59:43 Z", DROVER_SCALAR_TIMESTAMP, 0},
    {"<<", DROVER_SCALAR_MERGE, 0},
    {"=", DROVER_SCALAR_VALUE, 0},
    {"nodepool", DROVER_SCALAR_STRING, 0},
    {"0x1g", DROVER_SCALAR_STRING, 0},
    {"12 monkeys", DROVER_SCALAR_STRING, 0},
    {"٣", DROVER_SCALAR_STRING, 0},
};

static void
check(const Expected *entry)
{
    DroverScalar scalar;
    double number;

    drover_scalar_resolve(entry->text, &scalar);
    number = scalar.type == DROVER_SCALAR_BOOLEAN ? scalar.boolean : scalar.number;
    g_test_message("%s", entry->text);
    g_assert_cmpint(scalar.type, ==, entry->type);
    if (isinf(entry->number))
        g_assert_cmpfloat(number, ==, entry->number);
    else
        g_assert_cmpfloat_with_epsilon(number, entry->number, 1e-12 + fabs(entry->number) * 1e-12);
}

static void
test_all(void)
{
    DroverScalar scalar;

    for (guint i = 0; i < G_N_ELEMENTS(expected); i++)
        check(&expected[i]);
    drover_scalar_resolve(".NaN", &scalar);
    g_assert_true(scalar.type == DROVER_SCALAR_NUMBER && isnan(scalar.number));
    drover_scalar_resolve("-9223372036854775808", &scalar);
    g_assert_cmpint(scalar.integer, ==, G_MININT64);
}

static void
test_reference(void)
{
    static const Expected cases[] = {
        {"017", DROVER_SCALAR_INTEGER, 15},     {"1:30", DROVER_SCALAR_INTEGER, 90},
        {"1_000", DROVER_SCALAR_INTEGER, 1000}, {"1e3", DROVER_SCALAR_STRING, 0},
        {"on", DROVER_SCALAR_BOOLEAN, 1},       {"y", DROVER_SCALAR_STRING, 0},
        {"~", DROVER_SCALAR_NULL, 0},           {".5", DROVER_SCALAR_NUMBER, 0.5},
        {"1.0e+3", DROVER_SCALAR_NUMBER, 1000},
    };

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++)
        check(&cases[i]);
}

static void
test_number_text(void)
{
    static const struct {
        double number;
        const char *text;
    } cases[] = {
        {22.10, "22.1"},
        {20.04, "20.04"},
        {1000.0, "1000.0"},
        {0.0, "0.0"},
        {-0.5, "-0.5"},
        {1e16, "1e+16"},
        {1234567890123456.0, "1234567890123456.0"},
        {1e15, "1000000000000000.0"},
        {0.0001, "0.0001"},
        {0.00001, "1e-05"},
        {1.5e300, "1.5e+300"},
        {0.1 + 0.2, "0.30000000000000004"},
        {INFINITY, "inf"},
        {-INFINITY, "-inf"},
        {NAN, "nan"},
        {123.456, "123.456"},
    };

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *text = drover_scalar_number_text(cases[i].number);

        g_assert_cmpstr(text, ==, cases[i].text);
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/config/scalar/C-34-yaml-1.1", test_reference);
    g_test_add_func("/config/scalar/all-forms", test_all);
    g_test_add_func("/config/scalar/numbers-as-python-writes-them", test_number_text);
    return g_test_run();
}
