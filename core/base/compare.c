#include "base/compare.h"

#include <string.h>

int
drover_compare_strings(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}
