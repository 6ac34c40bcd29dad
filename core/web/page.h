/* page.html, as text. */
#pragma once

#include <glib.h>

extern const char drover_page[];
extern const gsize drover_page_size;
