/* Header fields: joined, or refused where two of them could be read in two ways. */
#include "http/fields.h"

static void
test_joined(void)
{
    g_autoptr(GHashTable) fields = drover_http_fields_new();

    g_assert_true(drover_http_add_field(fields, "Accept", "text/plain;q=0.1"));
    g_assert_true(drover_http_add_field(fields, "Host", "h"));
    g_assert_true(drover_http_add_field(fields, "ACCEPT", "application/json"));
    g_assert_true(drover_http_add_field(fields, "X-Empty", NULL));
    g_assert_cmpstr(drover_http_get_field(fields, "accept"), ==,
                    "text/plain;q=0.1, application/json");
    g_assert_cmpstr(drover_http_get_field(fields, "X-EMPTY"), ==, "");
    g_assert_null(drover_http_get_field(fields, "Accept-Encoding"));
}

static void
test_only_once(void)
{
    static const char *const names[] = {"Authorization", "Content-Length", "Content-Type", "Host",
                                        "Transfer-Encoding"};

    for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
        g_autoptr(GHashTable) fields = drover_http_fields_new();
        g_autofree char *small = g_ascii_strdown(names[i], -1);

        g_assert_true(drover_http_add_field(fields, names[i], "1"));
        g_assert_false(drover_http_add_field(fields, small, "1"));
    }
}

static void
test_two_lengths(void)
{
    g_autoptr(GHashTable) fields = drover_http_fields_new();

    g_assert_true(drover_http_add_field(fields, "Transfer-Encoding", "chunked"));
    g_assert_false(drover_http_add_field(fields, "Content-Length", "3"));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/http/fields/joined", test_joined);
    g_test_add_func("/http/fields/only-once", test_only_once);
    g_test_add_func("/http/fields/two-lengths", test_two_lengths);
    return g_test_run();
}
