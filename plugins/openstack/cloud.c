#include "cloud.h"

#include "cleaning.h"
#include "clouds-file.h"
#include "list.h"
#include "session.h"

/* How often the files are looked at. */
#define LOOK_MILLISECONDS 1000
#define ANSWER_LIMIT      ((int64_t)64 << 20)
#define CALL_MILLISECONDS 60000
/* Of a service that was not called for a while. */
#define MOST_CALLS_AT_ONCE 10

/* ---- Settings ---- */

static struct settings *
load(const struct cloud *cloud, GError **error)
{
    struct settings *settings =
        settings_load(drover_value_get_string(cloud->config, "cloud", ""),
                      drover_value_get_string(cloud->config, "region-name", NULL), error);

    if (settings != NULL && settings_check(settings, error))
        return settings;
    settings_free(settings);
    return NULL;
}

static void
warn(const struct cloud *cloud)
{
    g_autofree char *authorities = settings_path(cloud->settings, "cacert");
    size_t index;
    json_t *text;

    json_array_foreach(cloud->settings->warnings, index, text)
    {
        drover_provider_log(cloud->provider, DROVER_WARNING, "%s", json_string_value(text));
    }
    if (!settings_verify(cloud->settings))
        drover_provider_log(cloud->provider, DROVER_WARNING,
                            "Cloud %s: the certificates of its servers are not checked%s",
                            cloud->settings->cloud,
                            authorities != NULL ? ", cacert has no effect" : "");
}

static void
set_up_http(const struct cloud *cloud, struct drover_http *http)
{
    const struct settings *settings = cloud->settings;
    const char *limit = settings_text(settings, "api_timeout");
    double seconds = limit != NULL ? g_ascii_strtod(limit, NULL) : 0;
    g_autofree char *authorities = settings_path(settings, "cacert");
    g_autofree char *certificate = settings_path(settings, "cert");
    g_autofree char *key = settings_path(settings, "key");

    drover_http_set_text(http, DROVER_HTTP_CA_FILE, authorities);
    drover_http_set_text(http, DROVER_HTTP_CERTIFICATE_FILE, certificate);
    drover_http_set_text(http, DROVER_HTTP_KEY_FILE, key);
    drover_http_set_text(http, DROVER_HTTP_USER_AGENT, "drover/" DROVER_VERSION);
    drover_http_set_number(http, DROVER_HTTP_VERIFY, settings_verify(settings));
    drover_http_set_number(http, DROVER_HTTP_BODY_LIMIT, ANSWER_LIMIT);
    drover_http_set_number(http, DROVER_HTTP_TRY_LIMIT,
                           seconds > 0 ? (int64_t)(seconds * 1000) : CALL_MILLISECONDS);
}

gboolean
cloud_refresh(struct cloud *cloud)
{
    int64_t now = drover_now();
    g_autofree char *stamp = NULL;
    g_autoptr(GError) error = NULL;
    struct settings *settings;

    if (cloud->stamp_checked != 0 && now < cloud->stamp_checked + LOOK_MILLISECONDS)
        return FALSE;
    cloud->stamp_checked = now;
    stamp = clouds_file_stamp();
    if (g_strcmp0(stamp, cloud->stamp) == 0)
        return FALSE;
    g_free(cloud->stamp);
    cloud->stamp = g_steal_pointer(&stamp);
    settings = load(cloud, &error);
    if (settings == NULL) {
        drover_provider_log(cloud->provider, DROVER_ERR,
                            "The files of the cloud have changed and cannot be used, what they "
                            "said before stays: %s",
                            error->message);
        return FALSE;
    }
    if (settings_equal(settings, cloud->settings)) {
        settings_free(settings);
        return FALSE;
    }
    drover_provider_log(cloud->provider, DROVER_INFO, "Cloud %s has new settings", settings->cloud);
    settings_free(cloud->former);
    cloud->former = cloud->settings;
    cloud->settings = settings;
    set_up_http(cloud, cloud->http);
    set_up_http(cloud, cloud->shared_http);
    warn(cloud);
    for (int i = 0; i < LISTS; i++)
        list_expire(cloud, (enum list_kind)i);
    return TRUE;
}

void
cloud_doubt(struct cloud *cloud)
{
    cloud->stamp_checked = 0;
}

void
cloud_forget(struct cloud *cloud)
{
    list_expire(cloud, LIST_FLAVORS);
    list_expire(cloud, LIST_ZONES);
    list_expire(cloud, LIST_IMAGES);
    list_expire(cloud, LIST_NETWORKS);
}

/* ---- Life ---- */

struct cloud *
cloud_open(struct drover_provider *provider)
{
    g_autoptr(GError) error = NULL;
    struct cloud *cloud = g_new0(struct cloud, 1);
    double interval;

    cloud->provider = provider;
    cloud->config = drover_provider_config(provider);
    cloud->told = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    cloud->stamp = clouds_file_stamp();
    cloud->settings = load(cloud, &error);
    if (cloud->settings == NULL) {
        drover_provider_fail(provider, DROVER_FAILURE_PERMANENT, "%s", error->message);
        cloud_close(cloud);
        return NULL;
    }
    cloud->http = drover_http_new(provider);
    set_up_http(cloud, cloud->http);
    cloud->shared_http = drover_http_new(provider);
    set_up_http(cloud, cloud->shared_http);
    warn(cloud);
    interval = drover_value_get_number(cloud->config, "rate", 1.0);
    for (int i = 0; i < SERVICES; i++) {
        cloud->limiters[i] = drover_limiter_new(interval > 0 ? 1 / interval : 0);
        drover_limiter_set_burst(cloud->limiters[i], MOST_CALLS_AT_ONCE);
    }
    cloud->session = session_new(cloud);
    for (int i = 0; i < LISTS; i++)
        cloud->lists[i] = list_new(cloud, (enum list_kind)i);
    cloud->cleaning = cleaning_new(cloud);
    return cloud;
}

void
cloud_close(struct cloud *cloud)
{
    cleaning_free(cloud->cleaning);
    for (int i = 0; i < LISTS; i++)
        list_free(cloud->lists[i]);
    session_free(cloud->session);
    for (int i = 0; i < SERVICES; i++)
        drover_limiter_free(cloud->limiters[i]);
    drover_http_free(cloud->shared_http);
    drover_http_free(cloud->http);
    settings_free(cloud->settings);
    settings_free(cloud->former);
    g_hash_table_unref(cloud->told);
    g_free(cloud->stamp);
    g_free(cloud);
}
