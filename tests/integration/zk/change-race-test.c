/*
 * Claims of two sessions of Drover against kazoo, which locks at the same moment, thousands of
 * times: as long as kazoo holds the lock, nobody else writes or removes the record.
 */
#include "fixture.h"

#include <string.h>

enum { ROUNDS = 1500, ACTORS = 2 };

typedef struct _Arena Arena;

typedef struct {
    Arena *arena;
    TestSession *test;
} Actor;

struct _Arena {
    char *node, *directory;
    GBytes *data;
    gboolean ending;
    guint busy; /* actors */
    guint outcomes[DROVER_CHANGE_REFUSED + 1];
    void (*act)(Actor *actor);
    Actor actors[ACTORS];

    guint call; /* of kazoo */
    enum { LOCKING, READING, READING_AGAIN, UNLOCKING } doing;
    guint rounds, held;
    json_int_t version;
};

/* ---- Drover ---- */

static void
on_result(const DroverChangeResult *result, gpointer user_data)
{
    Actor *actor = user_data;

    actor->arena->outcomes[result->outcome]++;
    actor->arena->act(actor);
}

static gboolean
ends(Actor *actor)
{
    if (actor->arena->ending)
        actor->arena->busy--;
    return actor->arena->ending;
}

static void
claim_and_set(Actor *actor)
{
    DroverChange *change;

    if (ends(actor))
        return;
    change = drover_change_new(actor->test->session);
    drover_change_claim(change, actor->arena->directory, g_random_boolean());
    drover_change_set(change, actor->arena->node, actor->arena->data, -1);
    drover_change_commit(change, on_result, actor);
}

static void
create_and_delete(Actor *actor)
{
    DroverChange *change;

    if (ends(actor))
        return;
    change = drover_change_new(actor->test->session);
    if (g_random_boolean())
        drover_change_create(change, actor->arena->node, actor->arena->data, 0);
    else
        drover_change_delete_claimed(change, actor->arena->node, g_random_boolean(), -1);
    drover_change_commit(change, on_result, actor);
}

/* ---- kazoo ---- */

static void
ask_kazoo(Arena *arena)
{
    const char *path = arena->directory;

    if (arena->doing == LOCKING)
        arena->call = test_kazoo_peer_send(peer, "lock", "{s:s, s:b}", "path", path, "blocking", 0);
    else if (arena->doing == UNLOCKING)
        arena->call = test_kazoo_peer_send(peer, "unlock", "{s:s}", "path", path);
    else
        arena->call = test_kazoo_peer_send(peer, "get", "{s:s}", "path", arena->node);
}

static void
next(Arena *arena, json_t *answer)
{
    json_int_t version = json_integer_value(json_object_get(answer, "version"));

    switch (arena->doing) {
    case LOCKING:
        arena->rounds++;
        if (json_is_true(answer)) {
            arena->held++;
            arena->doing = READING;
        }
        break;
    case READING:
        arena->version = version;
        arena->doing = READING_AGAIN;
        break;
    case READING_AGAIN:
        g_assert_cmpint(version, ==, arena->version);
        arena->doing = UNLOCKING;
        break;
    case UNLOCKING:
        arena->doing = LOCKING;
        break;
    }
}

static void
step_kazoo(Arena *arena)
{
    g_autoptr(GError) error = NULL;
    json_t *answer;

    if (!test_kazoo_peer_is_answered(peer, arena->call))
        return;
    answer = test_kazoo_peer_wait(peer, arena->call, &error);
    /* The directory may vanish before the contender is made; but not while the lock is held. */
    if (arena->doing != LOCKING || error == NULL ||
        !g_str_has_prefix(error->message, "NoNodeError"))
        g_assert_no_error(error);
    next(arena, answer);
    json_decref(answer);
    ask_kazoo(arena);
}

/* ---- Together ---- */

static gboolean
all_end(gpointer user_data)
{
    return ((Arena *)user_data)->busy == 0;
}

static void
run(Arena *arena, void (*act)(Actor *actor))
{
    g_autofree char *root = new_root();

    arena->node = below(root, "node");
    arena->directory = below(arena->node, "lock");
    arena->data = g_bytes_new_static("drover", 6);
    arena->act = act;
    peer_create(arena->node, "kazoo");
    for (guint i = 0; i < ACTORS; i++) {
        arena->actors[i] = (Actor){arena, open_session(NULL)};
        arena->busy++;
        act(&arena->actors[i]);
    }
    ask_kazoo(arena);
    while (arena->rounds < ROUNDS || arena->doing != LOCKING) {
        g_main_context_iteration(NULL, TRUE);
        step_kazoo(arena);
    }
    json_decref(test_kazoo_peer_wait(peer, arena->call, NULL));
    arena->ending = TRUE;
    wait_until(all_end, arena);
    g_test_message("kazoo held it %u times of %u; Drover: done %u, busy %u, conflict %u, gone %u",
                   arena->held, arena->rounds, arena->outcomes[DROVER_CHANGE_DONE],
                   arena->outcomes[DROVER_CHANGE_BUSY], arena->outcomes[DROVER_CHANGE_CONFLICT],
                   arena->outcomes[DROVER_CHANGE_GONE]);
    g_assert_cmpuint(arena->held, >, 0);
    g_assert_cmpuint(arena->outcomes[DROVER_CHANGE_DONE], >, 0);
    g_assert_cmpuint(arena->outcomes[DROVER_CHANGE_BUSY], >, 0);
    g_assert_cmpuint(arena->outcomes[DROVER_CHANGE_UNKNOWN], ==, 0);
    g_assert_cmpuint(arena->outcomes[DROVER_CHANGE_REFUSED], ==, 0);
}

static void
arena_clear(Arena *arena)
{
    for (guint i = 0; i < ACTORS; i++)
        close_session(arena->actors[i].test);
    g_free(arena->node);
    g_free(arena->directory);
    g_bytes_unref(arena->data);
}

static void
test_set(void)
{
    Arena arena = {0};

    run(&arena, claim_and_set);
    g_assert_cmpuint(arena.outcomes[DROVER_CHANGE_CONFLICT], ==, 0);
    g_assert_cmpuint(arena.outcomes[DROVER_CHANGE_GONE], ==, 0);
    g_assert_cmpint(peer_stat(arena.node, "version"), ==, arena.outcomes[DROVER_CHANGE_DONE]);
    arena_clear(&arena);
}

static void
test_delete(void)
{
    Arena arena = {0};

    run(&arena, create_and_delete);
    arena_clear(&arena);
}

static void
add_tests(void)
{
    g_test_add_func("/zk/change-race/Z-41-claim-and-set", test_set);
    g_test_add_func("/zk/change-race/F-01-create-and-delete", test_delete);
}

int
main(int argc, char **argv)
{
    return run_with_cluster(&argc, &argv, add_tests);
}
