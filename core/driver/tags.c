#include "driver/tags.h"

#include <string.h>

json_t *
drover_tags_parse(const char *text)
{
    json_t *tags = text != NULL ? drover_json_parse_object(text, strlen(text), NULL) : NULL;

    return tags != NULL ? tags : json_object();
}

char *
drover_tags_of_node(const char *node_id, const char *pool, const char *provider)
{
    g_autoptr(json_t) tags = json_object();

    json_object_set_new(tags, DROVER_TAG_NODE, drover_json_from_string(node_id));
    json_object_set_new(tags, DROVER_TAG_POOL, drover_json_from_string(pool));
    json_object_set_new(tags, DROVER_TAG_PROVIDER, drover_json_from_string(provider));
    return drover_json_text(tags);
}
