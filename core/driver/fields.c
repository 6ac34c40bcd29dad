#include "driver/fields.h"

#include <string.h>

/* A form beside the others: only items have it. */
#define ONLY_ITEMS (1 << 3)

static const struct {
    const char *name;
    guint forms;
} known_fields[] = {
    {"external_id", DROVER_FIELD_TEXT | DROVER_FIELD_JSON},
    {"hostname", DROVER_FIELD_TEXT},
    {"interface_ip", DROVER_FIELD_TEXT},
    {"public_ipv4", DROVER_FIELD_TEXT},
    {"public_ipv6", DROVER_FIELD_TEXT},
    {"private_ipv4", DROVER_FIELD_TEXT},
    {"private_ipv6", DROVER_FIELD_TEXT},
    {"az", DROVER_FIELD_TEXT},
    {"region", DROVER_FIELD_TEXT},
    {"host_id", DROVER_FIELD_TEXT},
    {"cloud", DROVER_FIELD_TEXT},
    {"image_id", DROVER_FIELD_TEXT},
    {"username", DROVER_FIELD_TEXT},
    {"python_path", DROVER_FIELD_TEXT},
    {"shell_type", DROVER_FIELD_TEXT},
    {"connection_type", DROVER_FIELD_TEXT},
    {"connection_port", DROVER_FIELD_INTEGER | DROVER_FIELD_JSON},
    {"slot", DROVER_FIELD_INTEGER},
    {"driver_data", DROVER_FIELD_JSON},
    {"node_attributes", DROVER_FIELD_JSON},
    {"name", DROVER_FIELD_TEXT | ONLY_ITEMS},
    {"tags", DROVER_FIELD_TEXT | ONLY_ITEMS},
    {"size", DROVER_FIELD_INTEGER | ONLY_ITEMS},
};

gboolean
drover_field_is_known(const char *name, DroverFieldForm form, gboolean item)
{
    for (guint i = 0; name != NULL && i < G_N_ELEMENTS(known_fields); i++)
        if (strcmp(known_fields[i].name, name) == 0)
            return (known_fields[i].forms & form) != 0 &&
                   ((known_fields[i].forms & ONLY_ITEMS) == 0 || item);
    return FALSE;
}
