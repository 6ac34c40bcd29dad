#include "image.h"

#include <fnmatch.h>
#include <string.h>

#include "list.h"
#include "options.h"

/* ---- Choosing ---- */

static gboolean
is_equal(const json_t *image, const char *text)
{
    return g_strcmp0(list_text(image, "id"), text) == 0 ||
           g_strcmp0(list_text(image, "name"), text) == 0;
}

static gboolean
is_alike(const json_t *image, const char *text)
{
    const char *name = list_text(image, "name");

    return name != NULL && fnmatch(text, name, 0) == 0;
}

/* How many there are; `found` is the first. */
static guint
count(const json_t *images, const char *text, gboolean (*fits)(const json_t *, const char *),
      const json_t **found)
{
    guint number = 0;
    size_t index;
    json_t *image;

    json_array_foreach((json_t *)images, index, image)
    {
        if (g_strcmp0(list_text(image, "status"), "active") != 0 || !fits(image, text))
            continue;
        if (number++ == 0)
            *found = image;
    }
    return number;
}

const json_t *
image_choose(const json_t *images, const char *text, GError **error)
{
    const json_t *found = NULL;
    guint number = count(images, text, is_equal, &found);

    if (number == 0)
        number = count(images, text, is_alike, &found);
    if (number <= 1)
        return found;
    g_set_error(error, SETTINGS_ERROR, SETTINGS_ERROR_UNKNOWN,
                "the cloud has %u images that are called %s; image-id tells which one is meant",
                number, text);
    return NULL;
}

/* ---- Of labels ---- */

static const char *
called(const struct drover_value *image)
{
    return drover_value_get_string(image, "image-name", drover_value_get_string(image, "name", ""));
}

static enum drover_step
fail_without(const struct cloud *cloud, struct drover_operation *op, const char *text,
             const GError *error)
{
    return drover_operation_fail(
        op, error != NULL ? DROVER_FAILURE_OTHER : DROVER_FAILURE_NOT_FOUND,
        "provider %s has no image %s for label %s%s%s", drover_provider_name(cloud->provider), text,
        drover_operation_label(op), error != NULL ? ": " : "", error != NULL ? error->message : "");
}

static char *
look_up(struct cloud *cloud, struct drover_operation *op, const char *text, enum drover_step *step)
{
    g_autoptr(GError) error = NULL;
    const json_t *images, *image;

    *step = list_await(cloud, LIST_IMAGES, op, &images);
    if (*step != DROVER_DONE)
        return NULL;
    image = image_choose(images, text, &error);
    if (image != NULL)
        return g_strdup(list_text(image, "id"));
    *step = list_look_again(cloud, LIST_IMAGES, op);
    if (*step == DROVER_DONE)
        *step = fail_without(cloud, op, text, error);
    return NULL;
}

char *
image_of_label(struct cloud *cloud, struct drover_operation *op, enum drover_step *step)
{
    const struct drover_value *image =
        options_cloud_image(cloud->config, drover_operation_label_config(op));
    const char *uploaded = drover_operation_input(op, "image");
    const char *id = drover_value_get_string(image, "image-id", NULL);

    *step = DROVER_DONE;
    if (image == NULL && uploaded != NULL)
        return g_strdup(uploaded);
    if (image == NULL) {
        *step = drover_operation_fail(op, DROVER_FAILURE_NOT_FOUND, "label %s has no image",
                                      drover_operation_label(op));
        return NULL;
    }
    return id != NULL ? g_strdup(id) : look_up(cloud, op, called(image), step);
}

gboolean
image_is_fixed(const struct cloud *cloud, const struct drover_operation *op)
{
    return drover_value_get(options_cloud_image(cloud->config, drover_operation_label_config(op)),
                            "image-id") != NULL;
}

enum drover_step
image_check_label(struct cloud *cloud, struct drover_operation *op)
{
    enum drover_step step = DROVER_DONE;

    /* The host knows about those that it uploaded. */
    if (options_cloud_image(cloud->config, drover_operation_label_config(op)) != NULL)
        g_free(image_of_label(cloud, op, &step));
    return step;
}
