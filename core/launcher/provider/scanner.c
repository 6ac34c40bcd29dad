#include "launcher/provider/scanner.h"

#include "driver/channel.h"

typedef struct {
    char *provider;
    guint running;
    GQueue *waiting; /* of DroverScannerJob */
} Queue;

struct _DroverScanner {
    guint most; /* of a queue at a time */
    GThread *thread;
    GMainContext *context;
    GMainLoop *loop;
    DroverChannel *to_thread, *to_core;
    GHashTable *queues; /* provider -> Queue */
    GHashTable *jobs;   /* all that are not freed */
};

/* The core loop's, but for the scan and its result, which are the thread's until it has ended. */
struct _DroverScannerJob {
    gint references; /* atomic: the scanner, and a cancel on its way */
    DroverScanner *scanner;
    Queue *queue;
    enum drover_scan_kind kind;
    char *host;
    guint16 port;
    guint limit;
    gboolean running;
    DroverScannerFunc done; /* NULL once cancelled */
    gpointer user_data;
    struct drover_scan *scan;
    gint64 began;
    char *message;
    const char *failure; /* a literal */
    char **keys;
};

static void
job_unref(gpointer data)
{
    DroverScannerJob *job = data;

    if (!g_atomic_int_dec_and_test(&job->references))
        return;
    drover_scan_free(job->scan);
    g_free(job->host);
    g_free(job->message);
    g_strfreev(job->keys);
    g_free(job);
}

/* ---- The thread ---- */

static char **
copy_keys(const struct drover_scan *scan)
{
    size_t n = drover_scan_key_count(scan);
    char **keys = g_new0(char *, n + 1);

    for (size_t i = 0; i < n; i++)
        keys[i] = g_strdup(drover_scan_key(scan, i));
    return keys;
}

static const char *
failure_word(const struct drover_scan *scan)
{
    if (drover_scan_failure(scan) == 0)
        return NULL;
    if (drover_scan_failure(scan) == DROVER_FAILURE_TIMEOUT)
        return "timeout";
    return drover_scan_address(scan) == NULL ? "resolve" : "protocol";
}

static void on_ended(gpointer data);

static void
on_scanned(struct drover_scan *scan, void *data)
{
    DroverScannerJob *job = data;

    job->message = g_strdup(drover_scan_message(scan));
    job->failure = failure_word(scan);
    job->keys = copy_keys(scan);
    g_clear_pointer(&job->scan, drover_scan_free);
    drover_channel_post(job->scanner->to_core, on_ended, job, NULL);
}

static void
on_begin(gpointer data)
{
    DroverScannerJob *job = data;

    job->began = g_get_monotonic_time();
    job->scan = drover_scan_new(job->kind, job->host, job->port);
    drover_scan_set_limit(job->scan, job->limit * 1000);
    drover_scan_start(job->scan, on_scanned, job);
}

static void
on_cancel(gpointer data)
{
    DroverScannerJob *job = data;

    /* Without one its end is on the way already. */
    if (job->scan == NULL)
        return;
    g_clear_pointer(&job->scan, drover_scan_free);
    drover_channel_post(job->scanner->to_core, on_ended, job, NULL);
}

static gpointer
run(gpointer data)
{
    DroverScanner *scanner = data;

    g_main_context_push_thread_default(scanner->context);
    g_main_loop_run(scanner->loop);
    g_main_context_pop_thread_default(scanner->context);
    return NULL;
}

static void
on_quit(gpointer data)
{
    g_main_loop_quit(data);
}

/* ---- The core loop ---- */

static void
run_waiting(Queue *queue, guint most)
{
    while (queue->running < most && !g_queue_is_empty(queue->waiting)) {
        DroverScannerJob *job = g_queue_pop_head(queue->waiting);

        queue->running++;
        job->running = TRUE;
        drover_channel_post(job->scanner->to_thread, on_begin, job, NULL);
    }
}

static void
on_ended(gpointer data)
{
    DroverScannerJob *job = data;
    Queue *queue = job->queue;
    DroverScanner *scanner = job->scanner;

    queue->running--;
    g_hash_table_steal(scanner->jobs, job);
    if (job->done != NULL) {
        char *none[] = {NULL};
        DroverScannerResult result = {job->message, job->failure, job->began,
                                      job->keys != NULL ? job->keys : none};

        job->done(&result, job->user_data);
    }
    job_unref(job);
    run_waiting(queue, scanner->most);
}

static Queue *
need_queue(DroverScanner *scanner, const char *provider)
{
    Queue *queue = g_hash_table_lookup(scanner->queues, provider);

    if (queue == NULL) {
        queue = g_new0(Queue, 1);
        queue->provider = g_strdup(provider);
        queue->waiting = g_queue_new();
        g_hash_table_insert(scanner->queues, queue->provider, queue);
    }
    return queue;
}

static void
queue_free(gpointer data)
{
    Queue *queue = data;

    g_queue_free(queue->waiting);
    g_free(queue->provider);
    g_free(queue);
}

DroverScannerJob *
drover_scanner_start(DroverScanner *scanner, const char *provider, enum drover_scan_kind kind,
                     const char *host, guint16 port, guint limit, DroverScannerFunc done,
                     gpointer user_data)
{
    DroverScannerJob *job = g_new0(DroverScannerJob, 1);

    job->references = 1;
    job->scanner = scanner;
    job->queue = need_queue(scanner, provider);
    job->kind = kind;
    job->host = g_strdup(host);
    job->port = port;
    job->limit = limit;
    job->done = done;
    job->user_data = user_data;
    g_hash_table_add(scanner->jobs, job);
    g_queue_push_tail(job->queue->waiting, job);
    run_waiting(job->queue, scanner->most);
    return job;
}

void
drover_scanner_cancel(DroverScannerJob *job)
{
    job->done = NULL;
    if (job->running) {
        g_atomic_int_inc(&job->references);
        drover_channel_post(job->scanner->to_thread, on_cancel, job, job_unref);
        return;
    }
    g_queue_remove(job->queue->waiting, job);
    g_hash_table_remove(job->scanner->jobs, job);
}

DroverScanner *
drover_scanner_new(guint most)
{
    DroverScanner *scanner = g_new0(DroverScanner, 1);

    scanner->most = most;
    scanner->context = g_main_context_new();
    scanner->loop = g_main_loop_new(scanner->context, FALSE);
    scanner->to_thread = drover_channel_new(scanner->context);
    scanner->to_core = drover_channel_new(NULL);
    scanner->queues = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, queue_free);
    scanner->jobs = g_hash_table_new_full(NULL, NULL, job_unref, NULL);
    scanner->thread = g_thread_new("scanner", run, scanner);
    return scanner;
}

void
drover_scanner_free(DroverScanner *scanner)
{
    if (scanner == NULL)
        return;
    drover_channel_post(scanner->to_thread, on_quit, scanner->loop, NULL);
    g_thread_join(scanner->thread);
    drover_channel_close(scanner->to_thread);
    drover_channel_close(scanner->to_core);
    /* Their sockets are on the context of the thread that is gone; nobody else uses it now. */
    g_main_context_push_thread_default(scanner->context);
    g_hash_table_unref(scanner->jobs);
    g_main_context_pop_thread_default(scanner->context);
    g_hash_table_unref(scanner->queues);
    drover_channel_unref(scanner->to_thread);
    drover_channel_unref(scanner->to_core);
    g_main_loop_unref(scanner->loop);
    g_main_context_unref(scanner->context);
    g_free(scanner);
}
