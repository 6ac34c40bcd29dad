/*
 * What the parts of one launcher have in common. Core loop only; everything outlives its users.
 */
#pragma once

#include "launcher/cluster/cluster.h"
#include "launcher/cluster/images.h"
#include "launcher/cluster/usage.h"
#include "launcher/provider/journal.h"
#include "launcher/provider/scanner.h"
#include "launcher/telemetry/telemetry.h"

typedef struct {
    guint delete_timeout;   /* of one attempt to delete a machine, in seconds */
    DroverCluster *cluster; /* NULL while the session is being closed at the very end */
    DroverImages *images;
    DroverScanner *scanner;
    DroverUsage *usage;
    DroverJournal *journal;
    DroverTelemetry *telemetry;
    GHashTable *work;       /* launches and deletions under way, see manager.h */
    GHashTable *busy_nodes; /* ids of the nodes that they are about */
    GPtrArray *backings;    /* of providers, also retired ones, whose nodes are others' */
    GHashTable *taken_up;   /* ids of the requests that pools took up from an earlier process */
    /* Requests that are being accepted or put back, and what is called when one has been: a stop
     * waits. */
    guint closing;
    void (*closed)(gpointer user_data);
    gpointer closed_data;
} DroverParts;
