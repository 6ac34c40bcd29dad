#include "cli/output.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Records hold text of many authors; none of it may give orders to the terminal. */
static void
disarm(char *text)
{
    for (; *text != '\0'; text++)
        if (g_ascii_iscntrl(*text) && *text != '\n' && *text != '\t')
            *text = '?';
}

void
drover_cli_print(const char *format, ...)
{
    g_autofree char *text = NULL;
    va_list arguments;

    va_start(arguments, format);
    text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    if (isatty(STDOUT_FILENO))
        disarm(text);
    fputs(text, stdout);
}

void
drover_cli_print_json(json_t *value)
{
    char *text = json_dumps(value, JSON_ENSURE_ASCII | JSON_ENCODE_ANY);

    printf("%s\n", text);
    free(text);
    json_decref(value);
}

char *
drover_cli_age(double since)
{
    double age = floor((double)g_get_real_time() / G_USEC_PER_SEC - since);
    double days = floor(age / 86400);
    int rest = (int)(age - days * 86400);

    return g_strdup_printf("%02.0f:%02d:%02d:%02d", days, rest / 3600, rest / 60 % 60, rest % 60);
}

char *
drover_cli_one_line(const char *text)
{
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    GString *line = g_string_sized_new(strlen(valid));

    for (const char *at = valid; *at != '\0'; at = g_utf8_next_char(at)) {
        gunichar c = g_utf8_get_char(at);

        g_string_append_unichar(line, g_unichar_isprint(c) ? c : (gunichar)'?');
    }
    return g_string_free(line, FALSE);
}

guint
drover_cli_columns(void)
{
    struct winsize size = {0};

    return isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

gboolean
drover_cli_has_colours(void)
{
    const char *no_colour = g_getenv("NO_COLOR"), *terminal = g_getenv("TERM");

    return isatty(STDOUT_FILENO) && (no_colour == NULL || *no_colour == '\0') && terminal != NULL &&
           strcmp(terminal, "dumb") != 0;
}
