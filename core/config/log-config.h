/*
 * The option -l: a logging configuration of Python, as a dictionary (.yaml, .yml, .json) or as an
 * INI file (any other name). What Drover has no equivalent for is an error or, where the rest makes
 * sense without it, a warning.
 */
#pragma once

#include "config/config.h"

/*
 * Puts the file's configuration in force, for the whole process. FALSE when there was an error;
 * then nothing has changed.
 */
gboolean drover_log_config_use(const char *path, DroverConfigReport *report);
