/* Orders for arrays, as qsort() and g_ptr_array_sort() want them. */
#pragma once

/* Of elements that are char *. */
int drover_compare_strings(const void *a, const void *b);
