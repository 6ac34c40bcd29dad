#include "records.h"

static GBytes *
bytes_of(const char *json)
{
    char *text = g_strdup(json);

    g_strdelimit(text, "'", '"');
    return g_bytes_new_take(text, strlen(text));
}

DroverNode *
test_node_new(const char *id, const char *json)
{
    g_autoptr(GBytes) data = bytes_of(json);
    g_autoptr(GError) error = NULL;
    DroverNode *node = drover_node_decode(id, data, 0, &error);

    g_assert_no_error(error);
    return node;
}

DroverRequest *
test_request_new(const char *id, const char *json)
{
    g_autoptr(GBytes) data = bytes_of(json);
    g_autoptr(GError) error = NULL;
    DroverRequest *request = drover_request_decode(id, data, 0, &error);

    g_assert_no_error(error);
    return request;
}
