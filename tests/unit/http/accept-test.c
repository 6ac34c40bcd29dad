/* Which representation a client gets. */
#include "http/accept.h"

static const char *const offers[] = {"text/html", "text/plain", "application/json"};

static void
test_header(gconstpointer data)
{
    const char *const *sample = data;
    int chosen = drover_http_choose(sample[0], offers, G_N_ELEMENTS(offers));

    g_assert_cmpstr(chosen >= 0 ? offers[chosen] : "none", ==, sample[1]);
}

/* Header, what is chosen. */
static const char *const samples[][2] = {
    {NULL, "text/html"},
    {"", "text/html"},
    {" , ", "text/html"},
    {"nonsense", "text/html"},
    {"text/plain;q=2", "text/html"},
    {"text/plain;q=", "text/html"},
    {"*/*", "text/html"},
    {"text/*", "text/html"},
    {"text/plain", "text/plain"},
    {"TEXT/Plain", "text/plain"},
    {"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "text/html"},
    {"application/json", "application/json"},
    {"application/*", "application/json"},
    {"application/json, text/plain", "text/plain"},
    {"text/html;q=0.1,application/json", "application/json"},
    {"application/json;q=0.9, text/plain;q=0.1", "application/json"},
    {"application/json; charset=utf-8", "application/json"},
    {"*/*;q=0.5, application/json", "application/json"},
    {"*/*, text/html;q=0, text/plain;q=0", "application/json"},
    {"image/png", "none"},
    {"application/json;q=0", "none"},
};

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(samples); i++) {
        g_autofree char *path = g_strdup_printf("/http/accept/W-04-%02u", i);

        g_test_add_data_func(path, samples[i], test_header);
    }
    return g_test_run();
}
