/* News for a driver: said on the provider's thread, in the order of events, without an answer. */
#include "driver/runner-private.h"

typedef struct {
    DroverRunner *runner;
    const char *function;
    void (*say)(const struct drover_driver *driver, void *self, const char *first,
                const char *second);
    char *first, *second;
} News;

static void
news_free(gpointer data)
{
    News *news = data;

    drover_runner_unref(news->runner);
    g_free(news->first);
    g_free(news->second);
    g_free(news);
}

static void
on_news(gpointer data)
{
    News *news = data;
    DroverRunner *runner = news->runner;

    if (!drover_runner_is_open(runner))
        return;
    drover_runner_enter(runner, news->function);
    news->say(drover_runner_driver(runner), drover_runner_self(runner), news->first, news->second);
    drover_runner_leave(runner);
}

static void
post(DroverRunner *runner, const char *function,
     void (*say)(const struct drover_driver *driver, void *self, const char *first,
                 const char *second),
     const char *first, const char *second)
{
    News *news = g_new0(News, 1);

    news->runner = drover_runner_ref(runner);
    news->function = function;
    news->say = say;
    news->first = g_strdup(first);
    news->second = g_strdup(second);
    drover_runner_tell_thread(runner, on_news, news, news_free);
}

static void
say_idle(const struct drover_driver *driver, void *self, const char *first, const char *second)
{
    if (driver->provider_idle != NULL)
        driver->provider_idle(self);
}

static void
say_deleted(const struct drover_driver *driver, void *self, const char *node_id, const char *second)
{
    if (driver->node_deleted != NULL)
        driver->node_deleted(self, node_id);
}

static void
say_reused(const struct drover_driver *driver, void *self, const char *node_id,
           const char *request_id)
{
    if (driver->node_reused != NULL)
        driver->node_reused(self, node_id, request_id);
}

static void
say_scan_failed(const struct drover_driver *driver, void *self, const char *label,
                const char *external_id)
{
    if (driver->scan_failed != NULL)
        driver->scan_failed(self, label, external_id);
}

void
drover_runner_idle(DroverRunner *runner)
{
    post(runner, "provider_idle", say_idle, NULL, NULL);
}

void
drover_runner_node_deleted(DroverRunner *runner, const char *node_id)
{
    post(runner, "node_deleted", say_deleted, node_id, NULL);
}

void
drover_runner_node_reused(DroverRunner *runner, const char *node_id, const char *request_id)
{
    post(runner, "node_reused", say_reused, node_id, request_id);
}

void
drover_runner_scan_failed(DroverRunner *runner, const char *label, const char *external_id)
{
    post(runner, "scan_failed", say_scan_failed, label, external_id);
}
