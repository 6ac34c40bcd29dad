/* One value of the configuration: a scalar, a list or a map with its place in the file. */
#include <drover/host.h>

#include <glib.h>
#include <math.h>

struct drover_value {
    enum drover_value_type type;
    unsigned line, column;
    union {
        int boolean;
        int64_t integer;
        double number;
        char *string;
        GPtrArray *items; /* of struct drover_value: a list's items, a map's members */
    };
    GPtrArray *keys; /* a map's keys, in step with `items`; else NULL */
};

static struct drover_value *
value_new(enum drover_value_type type)
{
    struct drover_value *value = g_new0(struct drover_value, 1);

    value->type = type;
    return value;
}

static void
free_item(gpointer item)
{
    drover_value_free(item);
}

static int
is_type(const struct drover_value *value, enum drover_value_type type)
{
    return value != NULL && value->type == type;
}

static int
is_container(const struct drover_value *value)
{
    return is_type(value, DROVER_VALUE_LIST) || is_type(value, DROVER_VALUE_MAP);
}

/* Where the member stands, or -1. */
static int
find_member(const struct drover_value *map, const char *key)
{
    if (!is_type(map, DROVER_VALUE_MAP) || key == NULL)
        return -1;
    for (guint i = 0; i < map->keys->len; i++)
        if (g_str_equal(g_ptr_array_index(map->keys, i), key))
            return (int)i;
    return -1;
}

/* ---- Making ---- */

struct drover_value *
drover_value_new_null(void)
{
    return value_new(DROVER_VALUE_NULL);
}

struct drover_value *
drover_value_new_boolean(int boolean)
{
    struct drover_value *value = value_new(DROVER_VALUE_BOOLEAN);

    value->boolean = boolean != 0;
    return value;
}

struct drover_value *
drover_value_new_integer(int64_t integer)
{
    struct drover_value *value = value_new(DROVER_VALUE_INTEGER);

    value->integer = integer;
    return value;
}

struct drover_value *
drover_value_new_number(double number)
{
    struct drover_value *value = value_new(DROVER_VALUE_NUMBER);

    value->number = number;
    return value;
}

struct drover_value *
drover_value_new_string(const char *string)
{
    struct drover_value *value;

    if (string == NULL)
        return drover_value_new_null();
    value = value_new(DROVER_VALUE_STRING);
    value->string = g_strdup(string);
    return value;
}

struct drover_value *
drover_value_new_list(void)
{
    struct drover_value *value = value_new(DROVER_VALUE_LIST);

    value->items = g_ptr_array_new_with_free_func(free_item);
    return value;
}

struct drover_value *
drover_value_new_map(void)
{
    struct drover_value *value = value_new(DROVER_VALUE_MAP);

    value->items = g_ptr_array_new_with_free_func(free_item);
    value->keys = g_ptr_array_new_with_free_func(g_free);
    return value;
}

void
drover_value_free(struct drover_value *value)
{
    if (value == NULL)
        return;
    if (value->type == DROVER_VALUE_STRING)
        g_free(value->string);
    if (is_container(value))
        g_ptr_array_unref(value->items);
    if (value->keys != NULL)
        g_ptr_array_unref(value->keys);
    g_free(value);
}

void
drover_value_set(struct drover_value *map, const char *key, struct drover_value *value)
{
    int place = find_member(map, key);

    if (!is_type(map, DROVER_VALUE_MAP) || key == NULL || value == NULL) {
        drover_value_free(value);
        return;
    }
    if (place >= 0) {
        drover_value_free(map->items->pdata[place]);
        map->items->pdata[place] = value;
        return;
    }
    g_ptr_array_add(map->keys, g_strdup(key));
    g_ptr_array_add(map->items, value);
}

void
drover_value_append(struct drover_value *list, struct drover_value *value)
{
    if (is_type(list, DROVER_VALUE_LIST) && value != NULL)
        g_ptr_array_add(list->items, value);
    else
        drover_value_free(value);
}

void
drover_value_set_place(struct drover_value *value, unsigned line, unsigned column)
{
    if (value == NULL)
        return;
    value->line = line;
    value->column = column;
}

struct drover_value *
drover_value_copy(const struct drover_value *value)
{
    struct drover_value *copy;

    if (value == NULL)
        return NULL;
    copy = g_memdup2(value, sizeof *value);
    if (value->type == DROVER_VALUE_STRING)
        copy->string = g_strdup(value->string);
    if (is_container(value)) {
        copy->items = g_ptr_array_new_with_free_func(free_item);
        for (guint i = 0; i < value->items->len; i++)
            g_ptr_array_add(copy->items, drover_value_copy(value->items->pdata[i]));
    }
    if (value->keys != NULL) {
        copy->keys = g_ptr_array_new_with_free_func(g_free);
        for (guint i = 0; i < value->keys->len; i++)
            g_ptr_array_add(copy->keys, g_strdup(value->keys->pdata[i]));
    }
    return copy;
}

/* ---- Reading ---- */

unsigned
drover_value_line(const struct drover_value *value)
{
    return value != NULL ? value->line : 0;
}

unsigned
drover_value_column(const struct drover_value *value)
{
    return value != NULL ? value->column : 0;
}

enum drover_value_type
drover_value_type(const struct drover_value *value)
{
    return value != NULL ? value->type : DROVER_VALUE_NULL;
}

const struct drover_value *
drover_value_get(const struct drover_value *map, const char *key)
{
    int place = find_member(map, key);
    const struct drover_value *value = place >= 0 ? map->items->pdata[place] : NULL;

    return is_type(value, DROVER_VALUE_NULL) ? NULL : value;
}

size_t
drover_value_length(const struct drover_value *value)
{
    return is_container(value) ? value->items->len : 0;
}

const struct drover_value *
drover_value_item(const struct drover_value *value, size_t index)
{
    return index < drover_value_length(value) ? value->items->pdata[index] : NULL;
}

const char *
drover_value_key(const struct drover_value *map, size_t index)
{
    if (!is_type(map, DROVER_VALUE_MAP) || index >= map->keys->len)
        return NULL;
    return map->keys->pdata[index];
}

const char *
drover_value_string(const struct drover_value *value)
{
    return is_type(value, DROVER_VALUE_STRING) ? value->string : NULL;
}

const char *
drover_value_get_string(const struct drover_value *map, const char *key, const char *otherwise)
{
    const char *string = drover_value_string(drover_value_get(map, key));

    return string != NULL ? string : otherwise;
}

int64_t
drover_value_integer(const struct drover_value *value, int64_t otherwise)
{
    return is_type(value, DROVER_VALUE_INTEGER) ? value->integer : otherwise;
}

int64_t
drover_value_get_integer(const struct drover_value *map, const char *key, int64_t otherwise)
{
    return drover_value_integer(drover_value_get(map, key), otherwise);
}

double
drover_value_number(const struct drover_value *value, double otherwise)
{
    if (is_type(value, DROVER_VALUE_INTEGER))
        return (double)value->integer;
    return is_type(value, DROVER_VALUE_NUMBER) ? value->number : otherwise;
}

double
drover_value_get_number(const struct drover_value *map, const char *key, double otherwise)
{
    return drover_value_number(drover_value_get(map, key), otherwise);
}

int
drover_value_boolean(const struct drover_value *value, int otherwise)
{
    return is_type(value, DROVER_VALUE_BOOLEAN) ? value->boolean : otherwise;
}

int
drover_value_get_boolean(const struct drover_value *map, const char *key, int otherwise)
{
    return drover_value_boolean(drover_value_get(map, key), otherwise);
}

/* ---- Comparing ---- */

static int
equal_numbers(const struct drover_value *a, const struct drover_value *b)
{
    double x, y;

    if (a->type == DROVER_VALUE_INTEGER && b->type == DROVER_VALUE_INTEGER)
        return a->integer == b->integer;
    x = a->type == DROVER_VALUE_INTEGER ? (double)a->integer : a->number;
    y = b->type == DROVER_VALUE_INTEGER ? (double)b->integer : b->number;
    return x == y || (isnan(x) && isnan(y));
}

static int
equal_lists(const struct drover_value *a, const struct drover_value *b)
{
    if (a->items->len != b->items->len)
        return 0;
    for (guint i = 0; i < a->items->len; i++)
        if (!drover_value_equal(a->items->pdata[i], b->items->pdata[i]))
            return 0;
    return 1;
}

static int
equal_maps(const struct drover_value *a, const struct drover_value *b)
{
    if (a->items->len != b->items->len)
        return 0;
    for (guint i = 0; i < a->items->len; i++) {
        const char *key = a->keys->pdata[i];
        int place = g_str_equal(key, b->keys->pdata[i]) ? (int)i : find_member(b, key);

        if (place < 0 || !drover_value_equal(a->items->pdata[i], b->items->pdata[place]))
            return 0;
    }
    return 1;
}

static int
is_number(const struct drover_value *value)
{
    return is_type(value, DROVER_VALUE_INTEGER) || is_type(value, DROVER_VALUE_NUMBER);
}

int
drover_value_equal(const struct drover_value *a, const struct drover_value *b)
{
    if (a == b)
        return 1;
    if (is_number(a) && is_number(b))
        return equal_numbers(a, b);
    if (drover_value_type(a) != drover_value_type(b))
        return 0;
    switch (drover_value_type(a)) {
    case DROVER_VALUE_BOOLEAN:
        return a->boolean == b->boolean;
    case DROVER_VALUE_STRING:
        return g_str_equal(a->string, b->string);
    case DROVER_VALUE_LIST:
        return equal_lists(a, b);
    case DROVER_VALUE_MAP:
        return equal_maps(a, b);
    default:
        return 1; /* both null */
    }
}
