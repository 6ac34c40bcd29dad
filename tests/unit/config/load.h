/*
 * Loading configurations from text, and looking at what came of it. Both files lie in a temporary
 * folder that is gone with the result.
 */
#pragma once

#include "drivers.h"

/* The least that a file needs; for files that are about something else. */
#define SERVERS "zookeeper-servers: [{host: zk}]\n"

typedef struct {
    char *folder, *path, *secure_path;
    DroverConfigReport *report;
    DroverConfig *config; /* NULL when there were errors */
} TestLoad;

/* As the daemons load. `secure` may be NULL. */
TestLoad *test_load(const char *text, const char *secure);
/* As config-validate loads. */
TestLoad *test_validate(const char *text, const char *secure);
/* nodepool-sample.yaml, which uses every common option. */
TestLoad *test_load_sample(gboolean strict);
void test_load_free(TestLoad *load);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TestLoad, test_load_free)

/* The sample's text, as a new string. */
char *test_sample_text(void);

/* ---- What must be there. Each fails the test with all problems in its message. ---- */

guint test_warnings(const TestLoad *load);
guint test_errors(const TestLoad *load);
/* No problem at all. */
void test_assert_clean(const TestLoad *load);
/* It loaded, and some warning's text holds each of the strings. */
#define test_assert_warning(load, ...)                                                             \
    test_assert_problem(load, DROVER_CONFIG_WARNING, (const char *const[]){__VA_ARGS__, NULL})
/* It did not load, and some error's text holds each of the strings. */
#define test_assert_error(load, ...)                                                               \
    test_assert_problem(load, DROVER_CONFIG_ERROR, (const char *const[]){__VA_ARGS__, NULL})
void test_assert_problem(const TestLoad *load, DroverConfigSeverity severity,
                         const char *const *parts);
/* The text is in no message. */
void test_assert_unsaid(const TestLoad *load, const char *text);

/* Short ways to write the commonest tests. */
void test_loads(const char *text);
void test_refuses(const char *text, const char *part);
