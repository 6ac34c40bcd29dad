/*
 * Waiting for something that the default main context makes happen.
 */
#pragma once

#include <glib.h>

typedef gboolean (*TestCondition)(gpointer user_data);

/* Iterates the default main context until the condition holds. FALSE after `milliseconds`. */
gboolean test_wait_until(TestCondition condition, gpointer user_data, guint milliseconds);

/* The same for a flag that a callback sets. */
gboolean test_wait_for(const gboolean *flag, guint milliseconds);
