/* What a driver may say of a machine, and of an item of a listing; see drover/driver.h. */
#pragma once

#include <glib.h>

typedef enum {
    DROVER_FIELD_TEXT = 1 << 0,
    DROVER_FIELD_INTEGER = 1 << 1,
    DROVER_FIELD_JSON = 1 << 2,
} DroverFieldForm;

/* Whether there is such a field, of that form; `item`: a listing's item is spoken of. `name` may be
 * NULL. Any thread. */
gboolean drover_field_is_known(const char *name, DroverFieldForm form, gboolean item);
