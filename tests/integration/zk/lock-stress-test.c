/*
 * Thousands of acquisitions by three sessions of Drover and by kazoo, while connections are cut at
 * random. Two proofs that only one holds the lock at a time: the intervals in which each is known
 * to hold it do not overlap, and a counter that everybody reads and then writes misses nothing.
 */
#include "fixture.h"

#include <stdlib.h>
#include <string.h>

enum { SESSIONS = 3, LOCKS = 2, ACQUISITIONS = 2500, CUTS_EVERY_MS = 150 };

typedef struct {
    char *directory, *counter;
    const void *holder; /* who is known to hold the lock now */
    guint acquired, doubtful;
    guint done[DROVER_LOCK_FAILED + 1]; /* how often each outcome */
    gboolean ending;
    guint busy; /* workers */
} Arena;

typedef struct {
    Arena *arena;
    TestSession *test;
    DroverLock *lock;
    gint64 next; /* what the counter becomes */
    gboolean with_release;
} Worker;

static void begin(Worker *worker);

static void
enter(Arena *arena, const void *who)
{
    g_assert_null(arena->holder);
    arena->holder = who;
}

static void
leave(Arena *arena, const void *who)
{
    g_assert_true(arena->holder == who);
    arena->holder = NULL;
}

/* ---- Drover ---- */

static void read_counter(Worker *worker);

static gboolean
read_again(gpointer user_data)
{
    read_counter(user_data);
    return G_SOURCE_REMOVE;
}

static void
end_turn(Worker *worker)
{
    drover_lock_release(worker->lock);
    begin(worker);
}

static void
on_written(const DroverChangeResult *result, gpointer user_data)
{
    Worker *worker = user_data;

    if (result->outcome == DROVER_CHANGE_UNKNOWN && !worker->with_release) {
        read_counter(worker); /* nobody else writes */
        return;
    }
    g_assert_true(result->outcome == DROVER_CHANGE_DONE ||
                  result->outcome == DROVER_CHANGE_UNKNOWN);
    if (result->outcome == DROVER_CHANGE_DONE)
        worker->arena->acquired++;
    else
        worker->arena->doubtful++;
    if (!worker->with_release)
        leave(worker->arena, worker);
    end_turn(worker);
}

static void
write_counter(Worker *worker)
{
    g_autofree char *text = g_strdup_printf("%" G_GINT64_FORMAT, worker->next);
    g_autoptr(GBytes) data = g_bytes_new(text, strlen(text));
    DroverChange *change = drover_change_new(worker->test->session);

    worker->with_release = g_random_boolean();
    if (worker->with_release) {
        leave(worker->arena, worker); /* others may have it before we hear of our success */
        drover_change_release(change, worker->lock);
    } else {
        drover_change_hold(change, worker->lock);
    }
    drover_change_set(change, worker->arena->counter, data, -1);
    drover_change_commit(change, on_written, worker);
}

static void
on_counter(const DroverReadReply *reply, gpointer user_data)
{
    Worker *worker = user_data;
    g_autofree char *text = NULL;
    gint64 value;

    if (reply->rc != ZOK) {
        g_assert_true(drover_rc_is_unknown(reply->rc));
        g_timeout_add(1, read_again, worker);
        return;
    }
    text = g_strndup(g_bytes_get_data(reply->data, NULL), g_bytes_get_size(reply->data));
    value = g_ascii_strtoll(text, NULL, 10);
    if (value == worker->next) { /* written, and not answered */
        worker->arena->acquired++;
        leave(worker->arena, worker);
        end_turn(worker);
        return;
    }
    worker->next = value + 1;
    write_counter(worker);
}

static void
read_counter(Worker *worker)
{
    drover_session_get(worker->test->session, worker->arena->counter, FALSE, on_counter, worker);
}

static void
on_lock(DroverLock *lock, DroverLockOutcome outcome, gpointer user_data)
{
    Worker *worker = user_data;

    worker->arena->done[outcome]++;
    if (outcome == DROVER_LOCK_HELD) {
        enter(worker->arena, worker);
        worker->next = -1;
        read_counter(worker);
    } else {
        g_assert_true(outcome == DROVER_LOCK_BUSY || outcome == DROVER_LOCK_TIMEOUT ||
                      outcome == DROVER_LOCK_UNKNOWN);
        begin(worker);
    }
}

static gboolean
acquire_now(gpointer user_data)
{
    static const gint64 waits[] = {DROVER_LOCK_DO_NOT_WAIT, 2, 50, 1000, DROVER_LOCK_WAIT_FOREVER};
    Worker *worker = user_data;

    if (worker->arena->ending)
        worker->arena->busy--;
    else
        drover_lock_acquire(worker->lock, waits[g_random_int_range(0, G_N_ELEMENTS(waits))],
                            on_lock, worker);
    return G_SOURCE_REMOVE;
}

static void
begin(Worker *worker)
{
    g_timeout_add((guint)g_random_int_range(0, 3), acquire_now, worker);
}

/* ---- kazoo ---- */

typedef struct {
    Arena *arena;
    guint call; /* 0: none */
    enum { LOCKING, READING, WRITING, UNLOCKING } doing;
    guint acquired;
} Kazoo;

static void
ask_kazoo(Kazoo *kazoo, json_t *answer)
{
    Arena *arena = kazoo->arena;
    g_autofree char *text = NULL;

    switch (kazoo->doing) {
    case LOCKING:
        kazoo->call = test_kazoo_peer_send(peer, "lock", "{s:s, s:b}", "path", arena->directory,
                                           "blocking", g_random_boolean());
        break;
    case READING:
        kazoo->call = test_kazoo_peer_send(peer, "get", "{s:s}", "path", arena->counter);
        break;
    case WRITING:
        text = g_strdup_printf("%d", atoi(json_string_value(json_object_get(answer, "data"))) + 1);
        kazoo->call =
            test_kazoo_peer_send(peer, "set", "{s:s, s:s}", "path", arena->counter, "data", text);
        break;
    case UNLOCKING:
        leave(arena, kazoo);
        kazoo->acquired++;
        kazoo->call = test_kazoo_peer_send(peer, "unlock", "{s:s}", "path", arena->directory);
        break;
    }
}

static void
step_kazoo(Kazoo *kazoo)
{
    g_autoptr(GError) error = NULL;
    json_t *answer;

    if (kazoo->call == 0 || !test_kazoo_peer_is_answered(peer, kazoo->call))
        return;
    answer = test_kazoo_peer_wait(peer, kazoo->call, &error);
    g_assert_no_error(error);
    kazoo->call = 0;
    if (kazoo->doing == LOCKING && json_is_true(answer))
        enter(kazoo->arena, kazoo);
    if (kazoo->doing != LOCKING || json_is_true(answer))
        kazoo->doing = (kazoo->doing + 1) % 4;
    if (kazoo->doing != LOCKING || !kazoo->arena->ending)
        ask_kazoo(kazoo, answer);
    json_decref(answer);
}

/* ---- Together ---- */

static gboolean
cut(gpointer user_data)
{
    test_tcp_proxy_cut(proxy);
    return G_SOURCE_CONTINUE;
}

static void
start_workers(Arena *arena, TestSession **sessions, Worker *workers)
{
    for (guint i = 0; i < SESSIONS; i++) {
        sessions[i] = open_session(NULL);
        for (guint k = 0; k < LOCKS; k++) {
            Worker *worker = &workers[i * LOCKS + k];

            worker->arena = arena;
            worker->test = sessions[i];
            worker->lock = drover_lock_new(sessions[i]->session, arena->directory, FALSE, NULL);
            arena->busy++;
            begin(worker);
        }
    }
}

static gboolean
all_end(gpointer user_data)
{
    Kazoo *kazoo = user_data;

    step_kazoo(kazoo);
    return kazoo->arena->busy == 0 && kazoo->call == 0;
}

static gboolean
is_empty(gpointer directory)
{
    return peer_count(directory) == 0;
}

static void
test_one_at_a_time(void)
{
    g_autofree char *root = new_root(), *directory = below(root, "lock"),
                    *counter = below(root, "counter"), *text = NULL;
    Arena arena = {.directory = directory, .counter = counter};
    Kazoo kazoo = {.arena = &arena};
    TestSession *sessions[SESSIONS];
    Worker workers[SESSIONS * LOCKS] = {0};
    guint cuts;

    peer_create(counter, "0");
    start_workers(&arena, sessions, workers);
    ask_kazoo(&kazoo, NULL);
    cuts = g_timeout_add(CUTS_EVERY_MS, cut, NULL);
    while (arena.acquired + kazoo.acquired < ACQUISITIONS) {
        g_main_context_iteration(NULL, TRUE);
        step_kazoo(&kazoo);
    }
    g_source_remove(cuts);
    arena.ending = TRUE;
    wait_until(all_end, &kazoo);

    g_test_message("Drover %u and %u in doubt, kazoo %u; busy %u, time-out %u, unknown %u",
                   arena.acquired, arena.doubtful, kazoo.acquired, arena.done[DROVER_LOCK_BUSY],
                   arena.done[DROVER_LOCK_TIMEOUT], arena.done[DROVER_LOCK_UNKNOWN]);
    g_assert_cmpuint(arena.done[DROVER_LOCK_HELD], ==, arena.acquired + arena.doubtful);
    text = peer_get(counter);
    g_assert_cmpint(atoi(text), >=, (int)(arena.acquired + kazoo.acquired));
    g_assert_cmpint(atoi(text), <=, (int)(arena.acquired + kazoo.acquired + arena.doubtful));
    for (guint i = 0; i < G_N_ELEMENTS(workers); i++)
        drover_lock_free(workers[i].lock);
    wait_until(is_empty, directory);
    for (guint i = 0; i < SESSIONS; i++) {
        g_assert_cmpuint(sessions[i]->lost, ==, 0);
        close_session(sessions[i]);
    }
}

static void
add_tests(void)
{
    g_test_add_func("/zk/lock-stress/F-51-one-at-a-time", test_one_at_a_time);
}

int
main(int argc, char **argv)
{
    return run_with_cluster(&argc, &argv, add_tests);
}
