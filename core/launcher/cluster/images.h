/*
 * The images that builders have uploaded: which one a new machine of a provider is made from. Only
 * what is asked for is watched.
 *
 *     /nodepool/images/<image>/builds/<build>/providers/<provider>/images/<upload>
 *                       one cache ─┘        one cache for each build ─┘
 */
#pragma once

#include "zk/cache.h"

typedef struct _DroverImages DroverImages;

typedef enum {
    DROVER_IMAGE_UNKNOWN, /* being read */
    DROVER_IMAGE_NONE,    /* no upload is ready */
    DROVER_IMAGE_READY,
} DroverImageState;

/* Valid until the next change. */
typedef struct {
    const char *path; /* the upload's znode: a node's image_id */
    const char *external_id;
} DroverImageUpload;

/* An upload became ready, or is not any more. */
typedef void (*DroverImagesFunc)(gpointer user_data);

DroverImages *drover_images_new(DroverSession *session, DroverImagesFunc changed,
                                gpointer user_data);
/* Not from within `changed`. */
void drover_images_free(DroverImages *images);

/* The most recent upload of the image to the provider. The first question begins to watch. */
DroverImageState drover_images_find(DroverImages *images, const char *image, const char *provider,
                                    DroverImageUpload *upload);
