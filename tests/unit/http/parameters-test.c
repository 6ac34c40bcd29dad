/* Addresses and forms. */
#include "http/parameters.h"

#include <string.h>

static GHashTable *
table_new(void)
{
    return g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
}

static void
assert_decoded(const char *text, const char *expected)
{
    g_autofree char *decoded = drover_http_decode(text, strlen(text), TRUE);

    g_assert_cmpstr(decoded, ==, expected);
}

static void
test_decoding(void)
{
    assert_decoded("", "");
    assert_decoded("a+b%20c", "a b c");
    assert_decoded("%C3%a9", "\xc3\xa9");
    assert_decoded("%2e%2E%2f", "../");
    assert_decoded("%", NULL);
    assert_decoded("%4", NULL);
    assert_decoded("%4g", NULL);
    assert_decoded("%00", NULL);
}

static void
test_parameters(void)
{
    static const char text[] = "fields=a&node_id=1&&fields=b%2Cc&empty=&bare";
    g_autoptr(GHashTable) table = table_new();

    g_assert_true(drover_http_read_parameters(table, text, strlen(text)));
    g_assert_cmpstr(g_hash_table_lookup(table, "fields"), ==, "b,c");
    g_assert_cmpstr(g_hash_table_lookup(table, "empty"), ==, "");
    g_assert_cmpstr(g_hash_table_lookup(table, "bare"), ==, "");
}

static void
test_broken(void)
{
    static const char *const texts[] = {"a=%", "%zz=1", "a=1&b=%0"};

    for (guint i = 0; i < G_N_ELEMENTS(texts); i++) {
        g_autoptr(GHashTable) table = table_new();

        g_assert_false(drover_http_read_parameters(table, texts[i], strlen(texts[i])));
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/http/decoding", test_decoding);
    g_test_add_func("/http/parameters", test_parameters);
    g_test_add_func("/http/broken-encoding", test_broken);
    return g_test_run();
}
