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

/* Whose board it is, and what is on it; all of it is borrowed. */
typedef struct {
    const char *launcher_id, *provider, *pool;
    const json_t *limits;      /* see DROVER_DECISIONS_PATH */
    const GPtrArray *requests; /* of DroverRequest, in the order in which they are served */
} DroverVerdictBoardContent;

/* FALSE: something was published a moment ago, and a step does nothing. */
gboolean drover_verdict_board_is_due(const DroverVerdictBoard *board);
/*
 * Publishes what is new, if it is due. To be called again and again, once the launcher id is final.
 */
void drover_verdict_board_step(DroverVerdictBoard *board, const DroverVerdictBoardContent *content);
