/*
 * A provider of the sample driver in one of its modes, and what it answered.
 */
#pragma once

#include "driver/host.h"
#include "driver/runner.h"

typedef struct {
    DroverDriverHost *host;
    DroverRunner *runner;
    gboolean opened, closed;
    GError *open_error;
    guint machines;

    guint answers;
    gboolean ok;
    enum drover_failure failure;
    gint64 retry_after;
    char *message, *fields, *resources, *text;
    guint items;
    GPtrArray *ids;      /* as they became known */
    GPtrArray *saved;    /* likewise */
    DroverTask *watched; /* set by a test that submits only this one */
    char *status;        /* its status and progress when it answered */
    guint64 progress_done, progress_total;
} Fixture;

void fixture_begin(Fixture *fixture, const char *mode);
/* The same with any driver and configuration. */
void fixture_begin_driver(Fixture *fixture, const char *directory, const char *name,
                          const struct drover_value *config);
/* The same in a process of its own; the configuration gets the driver's name. */
void fixture_begin_isolated(Fixture *fixture, const char *directory, const char *name,
                            struct drover_value *config);
/* Opens what was begun, and waits for it, or not. */
void fixture_start(Fixture *fixture);
void fixture_start_soon(Fixture *fixture);
/* Begins to close it: `closed` is set at the end. */
void fixture_close_soon(Fixture *fixture, gboolean cancel);
/* The same, and waits until it is open. */
void fixture_open(Fixture *fixture, const char *mode);
/* Closes the provider and waits for it. */
void fixture_close(Fixture *fixture, gboolean cancel);
void fixture_clear(Fixture *fixture);
/* Both. */
void fixture_finish(Fixture *fixture, gboolean cancel);

DroverTask *fixture_submit(Fixture *fixture, DroverTaskKind kind);
DroverTask *fixture_submit_input(Fixture *fixture, DroverTaskKind kind,
                                 const DroverTaskInput *input);
/* Until so many tasks have answered. */
void fixture_wait_answers(Fixture *fixture, guint answers);
void fixture_run(Fixture *fixture, DroverTaskKind kind);
/* Until the driver has been in a call for some time. */
void fixture_wait_blocked(Fixture *fixture);
