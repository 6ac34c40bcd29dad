#include "base/uuid.h"

char *
drover_uuid_digits(void)
{
    g_autofree char *uuid = g_uuid_string_random();
    g_auto(GStrv) parts = g_strsplit(uuid, "-", -1);

    return g_strjoinv("", parts);
}
