/* What table.c and table-fit.c share. Not for other files. */
#pragma once

#include "cli/table.h"

struct _DroverTable {
    char **headers;
    guint n_columns;
    GPtrArray *rows; /* of char **, n_columns each */
};
