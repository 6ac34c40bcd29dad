/*
 * Nodepool's status pages: lists as text tables or JSON, remade at most once a second. What is not
 * known yet is waited for for a few seconds.
 */
#pragma once

#include "http/server.h"
#include "launcher/launcher.h"

typedef struct _DroverPages DroverPages;

DroverPages *drover_pages_new(DroverLauncher *launcher);
/* Before the server whose requests it answers: those that wait are answered. */
void drover_pages_free(DroverPages *pages);

/* A DroverHttpHandler; the data is the DroverPages. */
void drover_pages_answer(DroverHttpExchange *exchange, gpointer pages);
