/*
 * The secrets of the configuration that a driver is tried with, which no text of the driver's may
 * hold.
 */
#pragma once

#include <drover/driver.h>
#include <glib.h>

typedef struct _DroverCheckSecrets DroverCheckSecrets;

/*
 * The texts of all options in a provider's section that the driver calls secret. Short ones are
 * left out: they may stand in any text by chance.
 */
DroverCheckSecrets *drover_check_secrets_new(const struct drover_driver *driver,
                                             const struct drover_value *config);
void drover_check_secrets_free(DroverCheckSecrets *secrets);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DroverCheckSecrets, drover_check_secrets_free)

/* The option whose secret stands in the text; NULL: none. Both arguments may be NULL. Any thread.
 */
const char *drover_check_secrets_find(const DroverCheckSecrets *secrets, const char *text);
/* The text with each secret replaced by words. `secrets` may be NULL. Free with g_free. Any thread.
 */
char *drover_check_secrets_mask(const DroverCheckSecrets *secrets, const char *text);
