/*
 * The images in ZooKeeper with their builds and uploads. Launchers hardly need them, so they are
 * read when somebody asks, all at once, and remembered for a second.
 */
#pragma once

#include <jansson.h>

#include "zk/session.h"

typedef struct _DroverImageTree DroverImageTree;
typedef void (*DroverImageTreeFunc)(gpointer user_data);

/* `changed` is called when something has been read. */
DroverImageTree *drover_image_tree_new(DroverSession *session, DroverImageTreeFunc changed,
                                       gpointer user_data);
/* Before the session is closed. */
void drover_image_tree_free(DroverImageTree *tree);

/* As model/image-reading.h describes them. Borrowed; NULL while they are being read. */
const json_t *drover_image_tree_get(DroverImageTree *tree);
