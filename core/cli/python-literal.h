/* JSON values in cells, in the text that Nodepool's Python prints and operators' scripts parse. */
#pragma once

#include <glib.h>
#include <jansson.h>

/* A cell: null is empty, a string as it is, a list joined by ",", else a Python literal. */
char *drover_cell_text(const json_t *value);
/* {'a': 1, 'b': [True, None]} */
char *drover_python_literal(const json_t *value);
