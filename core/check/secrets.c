#include "check/secrets.h"

#include <string.h>

#include "config/schema.h"

#define SHORTEST 6 /* bytes */
#define MASK     "(a secret)"

typedef struct {
    char *option, *text;
} Secret;

struct _DroverCheckSecrets {
    GPtrArray *list; /* of Secret */
};

static void
secret_free(gpointer data)
{
    Secret *secret = data;

    explicit_bzero(secret->text, strlen(secret->text));
    g_free(secret->text);
    g_free(secret->option);
    g_free(secret);
}

static void
add(DroverCheckSecrets *secrets, const char *option, const char *text)
{
    Secret *secret;

    if (text == NULL || strlen(text) < SHORTEST)
        return;
    secret = g_new0(Secret, 1);
    secret->option = g_strdup(option);
    secret->text = g_strdup(text);
    g_ptr_array_add(secrets->list, secret);
}

static void
gather(DroverCheckSecrets *secrets, const DroverSchema *schema, const struct drover_value *value)
{
    gboolean secret = (schema->flags & DROVER_OPTION_SECRET) != 0;

    if (secret)
        add(secrets, schema->name, drover_value_string(value));
    for (gsize i = 0; i < drover_value_length(value); i++) {
        const char *key = drover_value_key(value, i);
        const DroverSchema *member = key != NULL ? drover_schema_member(schema, key) : schema;

        /* Of a secret map all members are secret, also those that no table names. */
        if (member == NULL && secret)
            member = schema;
        if (member != NULL)
            gather(secrets, member, drover_value_item(value, i));
    }
}

DroverCheckSecrets *
drover_check_secrets_new(const struct drover_driver *driver, const struct drover_value *config)
{
    g_autoptr(DroverSchema) schema = drover_schema_new();
    DroverCheckSecrets *secrets = g_new0(DroverCheckSecrets, 1);

    secrets->list = g_ptr_array_new_with_free_func(secret_free);
    drover_schema_add(schema, driver->options, driver->option_size, "", NULL);
    gather(secrets, schema, config);
    return secrets;
}

void
drover_check_secrets_free(DroverCheckSecrets *secrets)
{
    g_ptr_array_unref(secrets->list);
    g_free(secrets);
}

const char *
drover_check_secrets_find(const DroverCheckSecrets *secrets, const char *text)
{
    for (guint i = 0; secrets != NULL && text != NULL && i < secrets->list->len; i++) {
        const Secret *secret = secrets->list->pdata[i];

        if (strstr(text, secret->text) != NULL)
            return secret->option;
    }
    return NULL;
}

char *
drover_check_secrets_mask(const DroverCheckSecrets *secrets, const char *text)
{
    g_autoptr(GString) masked = g_string_new(text);

    for (guint i = 0; secrets != NULL && i < secrets->list->len; i++)
        g_string_replace(masked, ((Secret *)secrets->list->pdata[i])->text, MASK, 0);
    return g_string_free(g_steal_pointer(&masked), FALSE);
}
