/* Prints the options that all drivers have in common, as "drover driver info" prints a driver's. */
#include <stdio.h>

#include "config/config.h"
#include "config/option-json.h"

int
main(void)
{
    json_t *options = json_array();

    for (const struct drover_option *option = drover_config_common_options(); option->path != NULL;
         option++)
        json_array_append_new(options, drover_option_to_json(option));
    json_dumpf(options, stdout, JSON_INDENT(1));
    json_decref(options);
    return 0;
}
