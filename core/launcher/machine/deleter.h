/*
 * The deleter looks after nodes that their user left: used, abandoned and failed ones are deleted,
 * ready ones of requests that are gone are freed. Steps each node when its record or its lock
 * changes; every few seconds all of them, in case anything was missed.
 *
 *     used, in-use, building, failed, ... ─► nobody has it locked? ─► a deletion begins; what is in
 *                                             an inventory stays: its record alone is deleted
 *     ready, allocated, request gone      ─► nobody has it locked? ─► allocation cleared
 */
#pragma once

#include "launcher/provider/manager.h"

typedef struct _DroverDeleter DroverDeleter;

/* The running manager of a provider; NULL when there is none in the configuration. */
typedef DroverManager *(*DroverFindManager)(const char *provider, gpointer user_data);

DroverDeleter *drover_deleter_new(DroverCluster *cluster, DroverFindManager find_manager,
                                  gpointer user_data);
void drover_deleter_free(DroverDeleter *deleter);

/* News. */
void drover_deleter_note_node(DroverDeleter *deleter, const char *id);
void drover_deleter_note_request_gone(DroverDeleter *deleter, const DroverRequest *request);
/* Looks at every node. */
void drover_deleter_sweep(DroverDeleter *deleter);
