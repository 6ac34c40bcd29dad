/*
 * Handles that drivers are given: numbers in the clothes of pointers, never given out twice. A
 * driver that uses one late, or one of another kind, or none, is simply not heard, whichever thread
 * it is on, and can touch nothing. Any thread.
 */
#pragma once

#include <glib.h>

/* The first member of what a handle stands for. */
typedef struct {
    gint references; /* atomic: the handle's, and one for each call under way */
    /* Called once, when nothing uses the object any more; also tells the kinds of handles apart. */
    void (*release)(gpointer object);
} DroverHandled;

/* A new handle, which has the object's first reference. */
gpointer drover_handle_new(gpointer object, void (*release)(gpointer object));
/* A new reference to what the handle stands for; NULL when it has ended or is of another kind. */
gpointer drover_handle_find(const void *handle, void (*release)(gpointer object));
/* Ends the handle: its reference is the caller's. NULL when it has ended. */
gpointer drover_handle_end(const void *handle);
void drover_handled_unref(gpointer object);
