/* The form of Python's logging.config.fileConfig(). */
#include <string.h>

#include "config/log-spec.h"

#define PLACES 5 /* of a call */

/* One section of the file, and then a formatter, handler or logger of the result. */
typedef struct {
    char *name;
    GHashTable *values; /* key -> Entry */
    guint line;
} IniSection;

typedef struct {
    GString *text;
    guint line;
} Entry;

typedef struct {
    DroverLogSpec *spec;
    const DroverConfigSource *source;
    GPtrArray *sections; /* of IniSection */
} Reader;

/* What the places in `args` are called in the dictionary's form. */
static const struct {
    const char *class;
    const char *const names[PLACES];
} parameters[] = {
    {"StreamHandler", {"stream"}},
    {"FileHandler", {"filename", "mode"}},
    {"WatchedFileHandler", {"filename", "mode"}},
    {"RotatingFileHandler", {"filename", "mode", "maxBytes", "backupCount"}},
    {"TimedRotatingFileHandler", {"filename", "when", "interval", "backupCount"}},
    {"SysLogHandler", {"address", "facility"}},
};

/* ---- Problems ---- */

static void G_GNUC_PRINTF(4, 5) complain(const Reader *reader, DroverConfigSeverity severity,
                                         guint line, const char *format, ...)
{
    g_autofree char *message = NULL;
    va_list args;

    va_start(args, format);
    message = g_strdup_vprintf(format, args);
    va_end(args);
    drover_config_report_add(reader->source, severity, line, 1, NULL, "%s", message);
}

/* ---- Lines ---- */

static void
entry_free(gpointer data)
{
    Entry *entry = data;

    g_string_free(entry->text, TRUE);
    g_free(entry);
}

static void
section_free(gpointer data)
{
    IniSection *section = data;

    g_free(section->name);
    g_hash_table_unref(section->values);
    g_free(section);
}

static IniSection *
section_new(const char *name, guint line)
{
    IniSection *section = g_new0(IniSection, 1);

    section->name = g_strdup(name);
    section->line = line;
    section->values = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, entry_free);
    return section;
}

/* "key = value" or "key: value". Keys are lower case, as configparser makes them. */
static Entry *
read_entry(IniSection *section, char *text, guint line)
{
    char *sign = strpbrk(text, "=:");
    Entry *entry;

    if (sign == NULL)
        return NULL;
    *sign = '\0';
    entry = g_new0(Entry, 1);
    entry->line = line;
    entry->text = g_string_new(g_strstrip(sign + 1));
    g_hash_table_replace(section->values, g_ascii_strdown(g_strstrip(text), -1), entry);
    return entry;
}

/* FALSE when the line means nothing; `*entry` is what a further line would go on with. */
static gboolean
read_line(Reader *reader, char *text, guint number, Entry **entry)
{
    gboolean indented = g_ascii_isspace(*text);
    IniSection *section =
        reader->sections->len > 0 ? reader->sections->pdata[reader->sections->len - 1] : NULL;
    gsize length;

    g_strstrip(text);
    length = strlen(text);
    if (length == 0 || *text == '#' || *text == ';')
        return TRUE;
    if (indented && *entry != NULL) {
        g_string_append_printf((*entry)->text, "\n%s", text);
        return TRUE;
    }
    *entry = NULL;
    if (*text == '[' && text[length - 1] == ']') {
        text[length - 1] = '\0';
        g_ptr_array_add(reader->sections, section_new(text + 1, number));
        return TRUE;
    }
    *entry = section != NULL ? read_entry(section, text, number) : NULL;
    return *entry != NULL;
}

static gboolean
read_lines(Reader *reader, const char *text)
{
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    Entry *entry = NULL;

    for (guint i = 0; lines[i] != NULL; i++)
        if (!read_line(reader, lines[i], i + 1, &entry)) {
            complain(reader, DROVER_CONFIG_ERROR, i + 1,
                     "must be [section], key = value, or a comment");
            return FALSE;
        }
    return TRUE;
}

/* ---- Values ---- */

/* 'text', "text", or a word such as 10, None or sys.stdout. NULL when there is none. */
static char *
read_item(const char **at)
{
    const char *start = *at, *end;

    if (*start == '\'' || *start == '"') {
        g_autofree char *raw = NULL;

        for (end = start + 1; *end != '\0' && *end != *start; end++)
            if (*end == '\\' && end[1] != '\0')
                end++;
        if (*end == '\0')
            return NULL;
        *at = end + 1;
        raw = g_strndup(start + 1, (gsize)(end - start - 1));
        return g_strcompress(raw);
    }
    end =
        start + strspn(start, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-");
    *at = end;
    return end > start ? g_strndup(start, (gsize)(end - start)) : NULL;
}

static void
skip_blanks(const char **at)
{
    *at += strspn(*at, " \t\n");
}

static gboolean
take(const char **at, char expected)
{
    if (**at != expected)
        return FALSE;
    ++*at;
    skip_blanks(at);
    return TRUE;
}

/* An item, or a list of them in parentheses or brackets. */
static char **
read_value(const char **at, gboolean *is_list)
{
    g_autoptr(GPtrArray) items = g_ptr_array_new_with_free_func(g_free);
    char close = **at == '(' ? ')' : ']';
    char *item;

    *is_list = take(at, '(') || take(at, '[');
    while (!*is_list || **at != close) {
        item = read_item(at);
        if (item == NULL)
            return NULL;
        g_ptr_array_add(items, item);
        skip_blanks(at);
        if (!*is_list || !take(at, ','))
            break;
    }
    if (*is_list && !take(at, close))
        return NULL;
    g_ptr_array_add(items, NULL);
    return (char **)g_ptr_array_steal(items, NULL);
}

static const char *const *
parameters_of(const char *class)
{
    const char *dot = strrchr(class, '.');

    for (guint i = 0; i < G_N_ELEMENTS(parameters); i++)
        if (strcmp(dot != NULL ? dot + 1 : class, parameters[i].class) == 0)
            return parameters[i].names;
    return NULL;
}

/* One value of a call, with its name if it is `named`. FALSE when there is none. */
static gboolean
read_argument(const char **at, gboolean named, char **name, char ***texts, gboolean *is_list)
{
    if (named) {
        *name = read_item(at);
        skip_blanks(at);
        if (*name == NULL || !take(at, ':'))
            return FALSE;
    }
    *texts = read_value(at, is_list);
    return *texts != NULL;
}

/* "(a, b)" with the names of the places, or "{'name': a}". FALSE when it is neither. */
static gboolean
read_call(DroverLogSection *section, const Entry *entry, const char *const *names)
{
    const char *at = entry->text->str;
    gboolean named = *at == '{';
    char close = named ? '}' : ')';

    if (!take(&at, '{') && !take(&at, '('))
        return FALSE;
    for (guint i = 0; *at != close; i++) {
        g_autofree char *name = NULL;
        g_auto(GStrv) texts = NULL;
        gboolean is_list;

        if (!read_argument(&at, named, &name, &texts, &is_list) ||
            (!named && (i >= PLACES || names[i] == NULL)))
            return FALSE;
        if (is_list || strcmp(texts[0], "None") != 0)
            drover_log_section_set(section, named ? name : names[i], g_steal_pointer(&texts),
                                   is_list, entry->line, 1);
        if (!take(&at, ',') && *at != close)
            return FALSE;
    }
    return TRUE;
}

/* ---- Sections ---- */

static IniSection *
find_section(const Reader *reader, const char *name)
{
    for (guint i = reader->sections->len; i > 0; i--) {
        IniSection *section = reader->sections->pdata[i - 1];

        if (strcmp(section->name, name) == 0)
            return section;
    }
    return NULL;
}

static char **
split_names(const char *text)
{
    g_auto(GStrv) parts = g_strsplit(text, ",", -1);
    GPtrArray *names = g_ptr_array_new();

    for (guint i = 0; parts[i] != NULL; i++)
        if (*g_strstrip(parts[i]) != '\0')
            g_ptr_array_add(names, g_strdup(parts[i]));
    g_ptr_array_add(names, NULL);
    return (char **)g_ptr_array_free(names, FALSE);
}

static void
set_text(DroverLogSection *section, const char *name, const Entry *entry)
{
    char **texts = g_new0(char *, 2);

    texts[0] = g_strdup(entry->text->str);
    drover_log_section_set(section, name, texts, FALSE, entry->line, 1);
}

static void
read_arguments(const Reader *reader, const IniSection *ini, DroverLogSection *section)
{
    static const char *const none[PLACES];
    const Entry *class = g_hash_table_lookup(ini->values, "class");
    const char *const *names = class != NULL ? parameters_of(class->text->str) : NULL;
    static const char *const keys[] = {"args", "kwargs"};

    for (guint i = 0; i < G_N_ELEMENTS(keys); i++) {
        const Entry *entry = g_hash_table_lookup(ini->values, keys[i]);

        /* Of a class that Drover does not know they mean nothing. */
        if (entry != NULL && (names != NULL || class == NULL) &&
            !read_call(section, entry, names != NULL ? names : none))
            complain(reader, DROVER_CONFIG_ERROR, entry->line,
                     "[%s] %s: must be values in %s that this class takes", ini->name, keys[i],
                     i == 0 ? "parentheses" : "braces, with names,");
    }
}

/* Adds the section [KIND_KEY], with its options in the dictionary's terms. */
static void
read_section(const Reader *reader, const char *kind, const char *key, const Entry *keys,
             GPtrArray *sections)
{
    static const char *const plain[] = {"class", "datefmt",   "format", "formatter",
                                        "level", "propagate", "style"};
    g_autofree char *full = g_strdup_printf("%s_%s", kind, key);
    const IniSection *ini = find_section(reader, full);
    const Entry *name, *handlers;
    DroverLogSection *section;

    if (ini == NULL) {
        complain(reader, DROVER_CONFIG_ERROR, keys->line, "there is no section [%s]", full);
        return;
    }
    name = g_hash_table_lookup(ini->values, "qualname");
    section = drover_log_section_add(sections,
                                     strcmp(full, "logger_root") == 0 ? ""
                                     : name != NULL                   ? name->text->str
                                                                      : key,
                                     ini->line, 1);
    for (guint i = 0; i < G_N_ELEMENTS(plain); i++) {
        const Entry *entry = g_hash_table_lookup(ini->values, plain[i]);

        if (entry != NULL && entry->text->len > 0)
            set_text(section, plain[i], entry);
    }
    handlers = g_hash_table_lookup(ini->values, "handlers");
    if (handlers != NULL)
        drover_log_section_set(section, "handlers", split_names(handlers->text->str), TRUE,
                               handlers->line, 1);
    read_arguments(reader, ini, section);
}

static void
read_sections(const Reader *reader, const char *kind, GPtrArray *sections)
{
    g_autofree char *list = g_strconcat(kind, "s", NULL);
    const IniSection *ini = find_section(reader, list);
    const Entry *keys = ini != NULL ? g_hash_table_lookup(ini->values, "keys") : NULL;
    g_auto(GStrv) names = NULL;

    if (keys == NULL) {
        complain(reader, DROVER_CONFIG_ERROR, ini != NULL ? ini->line : 1,
                 "there is no section [%s] with keys", list);
        return;
    }
    names = split_names(keys->text->str);
    for (guint i = 0; names[i] != NULL; i++)
        read_section(reader, kind, names[i], keys, sections);
}

DroverLogSpec *
drover_log_spec_from_ini(const char *path, const DroverConfigSource *source)
{
    g_autoptr(GPtrArray) sections = g_ptr_array_new_with_free_func(section_free);
    g_autoptr(DroverLogSpec) spec = drover_log_spec_new();
    Reader reader = {spec, source, sections};
    g_autoptr(GError) error = NULL;
    g_autofree char *text = NULL;

    if (!g_file_get_contents(path, &text, NULL, &error)) {
        drover_config_report_add(source, DROVER_CONFIG_ERROR, 0, 0, NULL,
                                 "the file cannot be read: %s", error->message);
        return NULL;
    }
    if (!read_lines(&reader, text))
        return NULL;
    read_sections(&reader, "formatter", spec->formatters);
    read_sections(&reader, "handler", spec->handlers);
    read_sections(&reader, "logger", spec->loggers);
    return g_steal_pointer(&spec);
}
