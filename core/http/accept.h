/* Which representation a client prefers, by its Accept header. */
#pragma once

#include <glib.h>

/*
 * The index of the best of the offers ("text/plain", ...): by quality, then by their order. -1:
 * none is acceptable. A header that is NULL, empty or makes no sense accepts everything.
 */
int drover_http_choose(const char *accept, const char *const *offers, guint n_offers);
