#include "launcher/cluster/verdict-board.h"

#include "model/component.h"
#include "zk/registration.h"

/* Of one record. ZooKeeper takes 1 MiB. */
#define MOST_REQUESTS 500
#define MOST_BYTES    (256 * 1024)
/* What a board may write on average. */
#define BYTES_PER_SECOND 8192
#define SHORTEST_PAUSE   2 /* seconds */

struct _DroverVerdictBoard {
    DroverSession *session;
    const DroverVerdicts *verdicts;
    DroverRegistration *registration; /* NULL until something was published */
    guint64 changes;                  /* that were published */
    json_t *limits;                   /* that were published, or NULL */
    gint64 not_before;                /* monotonic, microseconds */
};

DroverVerdictBoard *
drover_verdict_board_new(DroverSession *session, const DroverVerdicts *verdicts)
{
    DroverVerdictBoard *board = g_new0(DroverVerdictBoard, 1);

    board->session = session;
    board->verdicts = verdicts;
    return board;
}

void
drover_verdict_board_free(DroverVerdictBoard *board)
{
    drover_registration_free(board->registration);
    json_decref(board->limits);
    g_free(board);
}

static GBytes *
board_record(const DroverVerdictBoard *board, const DroverVerdictBoardContent *content)
{
    g_autoptr(json_t) record = json_object();
    guint left_out;

    drover_record_set_string(record, "launcher", content->launcher_id);
    drover_record_set_string(record, "provider", content->provider);
    drover_record_set_string(record, "pool", content->pool);
    json_object_set_new(record, "limits", json_deep_copy(content->limits));
    json_object_set_new(record, "requests",
                        drover_verdicts_list(board->verdicts, content->requests, MOST_REQUESTS,
                                             MOST_BYTES, &left_out));
    json_object_set_new(record, "left_out", json_integer(left_out));
    return drover_record_bytes(record);
}

/* What an earlier process of this session left, by its name that of this pool. */
static gboolean
take_over(GBytes *data, gpointer user_data)
{
    return TRUE;
}

static void
publish(DroverVerdictBoard *board, const char *launcher_id, GBytes *record)
{
    /* The id has the provider's name in it, which may be any text. */
    g_autofree char *escaped = g_uri_escape_string(launcher_id, NULL, FALSE);
    g_autofree char *name = g_strconcat(escaped, "-", NULL);

    if (board->registration == NULL)
        board->registration = drover_registration_new(board->session, DROVER_DECISIONS_PATH, name,
                                                      record, take_over, NULL, NULL);
    else
        drover_registration_update(board->registration, record);
}

gboolean
drover_verdict_board_is_due(const DroverVerdictBoard *board)
{
    return g_get_monotonic_time() >= board->not_before;
}

void
drover_verdict_board_step(DroverVerdictBoard *board, const DroverVerdictBoardContent *content)
{
    guint64 changes = drover_verdicts_changes(board->verdicts);
    g_autoptr(GBytes) record = NULL;
    gint64 pause;

    if (!drover_verdict_board_is_due(board) ||
        (board->registration != NULL && changes == board->changes &&
         json_equal(board->limits, content->limits)))
        return;
    record = board_record(board, content);
    publish(board, content->launcher_id, record);
    board->changes = changes;
    json_decref(board->limits);
    board->limits = json_deep_copy(content->limits);
    pause = MAX(SHORTEST_PAUSE, (gint64)g_bytes_get_size(record) / BYTES_PER_SECOND);
    board->not_before = g_get_monotonic_time() + pause * G_USEC_PER_SEC;
}
