/*
 * A fake cloud as a child process, a provider of its driver, run as the launcher runs it, and the
 * work it is given. Names and rules of the cloud: tests/support/fake_cloud, or those of the kind.
 */
#pragma once

#include "driver/host.h"
#include "driver/runner.h"

enum { LONGEST_WAIT = 60000 }; /* milliseconds */

/* ---- The cloud ---- */

typedef struct {
    const char *path;
    void (*function)(gconstpointer data);
    gconstpointer data;
} CloudTest;

/* A fake cloud, and the driver for it. */
typedef struct {
    const char *program;            /* below tests/support */
    const char *driver, *directory; /* the driver's, below the build folder */
    json_t *(*provider)(void);      /* the usual section of a provider, but for its pool */
    const char *label;              /* the usual members of a label */
} CloudKind;

/* The main program: runs the tests, up to a NULL path, each with the cloud as new. */
int cloud_run_tests(int argc, char **argv, const CloudTest *tests);
/* The same with another cloud than the test driver's. */
int cloud_run_tests_with(const CloudKind *kind, int argc, char **argv, const CloudTest *tests);

/* For another process: the cloud is there already. `kind`: NULL for the test driver's. */
void cloud_use(const CloudKind *kind, const char *url);
/* "http://127.0.0.1:PORT" */
const char *cloud_url(void);
/* POSTs to /control/NAME; text as JSON in single quotes ('a': 1). */
void cloud_tell(const char *name, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* The same to a collection of the cloud, such as "volumes": makes an object that is nobody's. */
void cloud_make(const char *collection, const char *text);
/* Replaces the rules by one: "'path': ..., 'status': 500". */
void cloud_fault(const char *rule);
/* GETs /control/NAME. */
json_t *cloud_ask(const char *name);
/* How many there are now: of "machines", "volumes", "addresses", "images". */
guint cloud_count(const char *what);
/* How many requests there were in this test: a method, and the beginning of a path. */
guint cloud_requests(const char *method, const char *path);
/* Until there were so many. */
void cloud_wait_requests(const char *method, const char *path, guint count);
/* Until one was carried out, whether its answer was heard or not. */
void cloud_wait_carried_out(const char *method, const char *path);
/* Nothing at all is left of what this account had. */
void cloud_assert_empty(void);

/* ---- The provider ---- */

typedef struct {
    DroverDriverHost *host;
    DroverRunner *runner;
    struct drover_value *config;
    gboolean open, closed;
} Provider;

/*
 * `options`: of the provider, over the usual ones; `label`: of the pool's only label. Members of
 * objects as JSON in single quotes, or NULL.
 */
Provider *provider_open(const char *options, const char *label);
/* Cancels what is under way. */
void provider_close(Provider *provider);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Provider, provider_close)

/* ---- Work ---- */

typedef struct {
    DroverTask *task; /* until it is done */
    gboolean done, ok;
    enum drover_failure failure;
    gint64 retry_after;
    char *message, *text;
    json_t *fields, *resources, *items;
    GPtrArray *ids;   /* external ids as they became known */
    GPtrArray *saved; /* likewise */
    guint64 progress_done, progress_total;
} Work;

void work_free(Work *work);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Work, work_free)

/* For the node 0000000001 and the provider's label, with the usual inputs of a create. */
Work *work_begin(Provider *provider, DroverTaskKind kind, const char *external_id);
/* With `inputs` in place of the usual ones, and what was saved of other work; both may be NULL. */
Work *work_begin_with(Provider *provider, DroverTaskKind kind, const char *external_id,
                      const char *const *inputs, const char *saved);
void work_wait(Work *work);
/* Both. */
Work *work_run(Provider *provider, DroverTaskKind kind, const char *external_id);
/* The external id that it has shown last; NULL: none. */
const char *work_id(const Work *work);
/* The same, as soon as it has shown one, at least the COUNTth. */
const char *work_wait_id(Work *work, guint count);

/* Has the driver delete one of its resources, and waits until it has. */
void remove_resource(Provider *provider, const char *kind, const char *id);

void assert_done(const Work *work);
void assert_failed(const Work *work, enum drover_failure failure, const char *text);
/* A field of the node's record; NULL: null, or not set. */
void assert_field(const Work *work, const char *name, const char *expected);
