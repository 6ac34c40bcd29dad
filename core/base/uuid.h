/* Random names. */
#pragma once

#include <glib.h>

/* The 32 hexadecimal digits of a new random UUID; free with g_free. */
char *drover_uuid_digits(void);
