#include "config/file.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TRIES 4
#define PAUSE (G_USEC_PER_SEC / 2)

/* The marks that a text may begin with, and what they say. */
static const struct {
    const char *mark, *encoding;
} byte_order_marks[] = {
    {"\xEF\xBB\xBF", "UTF-8"},
    {"\xFF\xFE", "UTF-16LE"},
    {"\xFE\xFF", "UTF-16BE"},
};

char *
drover_config_path(const char *path)
{
    g_autofree char *expanded = NULL;

    if (g_str_equal(path, "~") || g_str_has_prefix(path, "~/"))
        expanded = g_strconcat(g_get_home_dir(), path + 1, NULL);
    else
        expanded = g_strdup(path);
    return g_canonicalize_filename(expanded, NULL);
}

static gboolean
read_bytes(const char *path, gboolean patient, char **bytes, gsize *length, GError **error)
{
    for (int tries = patient ? TRIES : 1; tries > 1; tries--) {
        if (g_file_get_contents(path, bytes, length, error))
            return TRUE;
        if (!g_error_matches(*error, G_FILE_ERROR, G_FILE_ERROR_NOENT))
            return FALSE;
        g_clear_error(error);
        g_usleep(PAUSE);
    }
    return g_file_get_contents(path, bytes, length, error);
}

/* UTF-8 without a mark; `length` becomes that of the text. */
static char *
decode(const char *bytes, gsize *length, GError **error)
{
    char *text;

    for (guint i = 0; i < G_N_ELEMENTS(byte_order_marks); i++) {
        gsize mark = strlen(byte_order_marks[i].mark);

        if (*length >= mark && memcmp(bytes, byte_order_marks[i].mark, mark) == 0)
            return g_convert(bytes + mark, (gssize)(*length - mark), "UTF-8",
                             byte_order_marks[i].encoding, NULL, length, error);
    }
    text = g_malloc(*length + 1);
    memcpy(text, bytes, *length);
    text[*length] = '\0';
    return text;
}

/* Where the text stops being UTF-8. */
static void
report_bytes(const DroverConfigSource *source, const char *text, const char *end)
{
    guint line = 1;
    const char *start = text;

    for (const char *at = text; at < end; at++)
        if (*at == '\n') {
            line++;
            start = at + 1;
        }
    drover_config_report_add(source, DROVER_CONFIG_ERROR, line,
                             (guint)g_utf8_pointer_to_offset(start, end) + 1, NULL,
                             "YAML parsing failed: this byte is not UTF-8 text");
}

DroverSubstitution *
drover_config_read(const char *path, gboolean patient, const DroverConfigSource *source)
{
    g_autofree char *absolute = drover_config_path(path), *bytes = NULL, *text = NULL;
    g_autoptr(GError) error = NULL;
    g_auto(GStrv) environment = NULL;
    const char *end;
    gsize length;

    if (!read_bytes(absolute, patient, &bytes, &length, &error) ||
        (text = decode(bytes, &length, &error)) == NULL) {
        drover_config_report_add(source, DROVER_CONFIG_ERROR, 0, 0, NULL,
                                 "the file cannot be read: %s", error->message);
        return NULL;
    }
    if (!g_utf8_validate_len(text, length, &end)) {
        report_bytes(source, text, end);
        return NULL;
    }
    environment = g_get_environ();
    return drover_substitution_new(text, environment);
}

gboolean
drover_config_is_exposed(const char *path)
{
    g_autofree char *absolute = drover_config_path(path);
    struct stat status;

    return stat(absolute, &status) == 0 && (status.st_mode & S_IROTH) != 0;
}

/* ---- Noticing changes ---- */

static void
append_stamp(GString *stamp, const char *path)
{
    g_autofree char *absolute = path != NULL ? drover_config_path(path) : NULL;
    struct stat status;

    if (absolute == NULL || stat(absolute, &status) != 0)
        g_string_append(stamp, "-");
    else
        g_string_append_printf(stamp, "%jd.%09ld/%ju/%jd", (intmax_t)status.st_mtim.tv_sec,
                               status.st_mtim.tv_nsec, (uintmax_t)status.st_ino,
                               (intmax_t)status.st_size);
}

char *
drover_config_stamp(const char *path, const char *secure_path)
{
    GString *stamp = g_string_new(NULL);

    append_stamp(stamp, path);
    g_string_append_c(stamp, ' ');
    append_stamp(stamp, secure_path);
    return g_string_free(stamp, FALSE);
}
