/*
 * Reads the images in ZooKeeper with all their builds and uploads, once: few programs need them
 * often enough to watch them.
 */
#pragma once

#include <jansson.h>

#include "zk/session.h"

#define DROVER_IMAGES_PATH "/nodepool/images"

typedef struct _DroverImageReading DroverImageReading;

/*
 * `images` is NULL when the store could not be read; else borrowed, but may be referenced:
 *
 *     {image: {"paused": bool, "requested": seconds or null, "building": bool,
 *              "builds": {build: {"record": {...}, "uploads": [{"provider", "id", "record"}]}}}}
 *
 * A record that cannot be read is null.
 */
typedef void (*DroverImageReadingFunc)(const json_t *images, gpointer user_data);

/* `done` is called later, once. Before the session is closed; core loop only. */
DroverImageReading *drover_image_reading_begin(DroverSession *session, DroverImageReadingFunc done,
                                               gpointer user_data);
/* `done` is not called; it must not have been called yet. */
void drover_image_reading_cancel(DroverImageReading *reading);
