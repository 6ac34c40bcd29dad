#include "programs/threads.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* "ID (NAME) STATE ..."; a name may have blanks and parentheses. */
static char *
describe(const char *id)
{
    g_autofree char *path = g_strdup_printf("/proc/self/task/%s/stat", id);
    g_autofree char *text = NULL;
    char *name, *end;

    if (!g_file_get_contents(path, &text, NULL, NULL) || (name = strchr(text, '(')) == NULL ||
        (end = strrchr(name, ')')) == NULL)
        return NULL;
    *end = '\0';
    return g_strdup_printf("Thread: %s %s d: %s, %c", id, name + 1,
                           atoi(id) == (int)getpid() ? "False" : "True",
                           end[1] == ' ' ? end[2] : '?');
}

char **
threads_describe(void)
{
    g_autoptr(GDir) dir = g_dir_open("/proc/self/task", 0, NULL);
    GPtrArray *lines = g_ptr_array_new();
    const char *id;

    while (dir != NULL && (id = g_dir_read_name(dir)) != NULL) {
        char *line = describe(id); /* NULL when it has ended meanwhile */

        if (line != NULL)
            g_ptr_array_add(lines, line);
    }
    g_ptr_array_add(lines, NULL);
    return (char **)g_ptr_array_free(lines, FALSE);
}
