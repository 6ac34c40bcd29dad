/*
 * Where a pool tells the cluster what it decided: an ephemeral znode, see DROVER_DECISIONS_PATH,
 * which `drover explain` reads. It is written when something has changed, and seldom enough that it
 * costs next to nothing: the more there is to write, the longer a board waits.
 */
#pragma once

#include "launcher/cluster/verdicts.h"
#include "zk/session.h"

typedef struct _DroverVerdictBoard DroverVerdictBoard;

/* `verdicts` is the pool's, and outlives the board. */
DroverVerdictBoard *drover_verdict_board_new(DroverSession *session,
                                             const DroverVerdicts *verdicts);
/* Removes the znode. Before the session is closed. */
void drover_verdict_board_free(DroverVerdictBoard *board);

/*
 * Publishes what is new, unless that was done a moment ago. To be called again and again, once the
 * launcher id is final. `requests` holds DroverRequest, in the order in which they are served.
 */
void drover_verdict_board_step(DroverVerdictBoard *board, const char *launcher_id,
                               const char *provider, const char *pool, const GPtrArray *requests);
