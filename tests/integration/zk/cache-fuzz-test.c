/*
 * A tree that kazoo and two sessions of Drover change at random, while connections are cut and
 * sessions end: when it is quiet again, a cache equals the tree.
 */
#include "mirror.h"

#include <string.h>

enum { ROUNDS = 400, NAMES = 12, PAUSE = 8 };

typedef struct {
    char *root;
    TestSession *test, *other; /* the cache's, and one that writes */
    Mirror *mirror;
    guint calls[PAUSE];
    guint n_calls;
    guint number; /* for texts that are never the same */
} Playground;

static char *
any_child(const Playground *ground)
{
    return below(ground->root, "n%d", g_random_int_range(0, NAMES));
}

/* ---- kazoo ---- */

static void
let_kazoo_do_something(Playground *ground)
{
    g_autofree char *child = any_child(ground), *lock = below(child, "lock"),
                    *contender = below(lock, "x%d__lock__", g_random_int_range(0, 3)),
                    *text = g_strdup_printf("k%u", ++ground->number);
    guint call;

    switch (g_random_int_range(0, 7)) {
    case 0:
    case 1:
        call = test_kazoo_peer_send(peer, "create", "{s:s, s:s}", "path", child, "data", text);
        break;
    case 2:
        call = test_kazoo_peer_send(peer, "set", "{s:s, s:s}", "path", child, "data", text);
        break;
    case 3:
        call = test_kazoo_peer_send(peer, "delete", "{s:s, s:b}", "path", child, "recursive", 1);
        break;
    case 4:
        call = test_kazoo_peer_send(peer, "create", "{s:s}", "path", lock);
        break;
    case 5:
        call = test_kazoo_peer_send(peer, "create", "{s:s, s:b, s:b}", "path", contender,
                                    "ephemeral", 1, "sequence", 1);
        break;
    default:
        call = test_kazoo_peer_send(peer, "delete", "{s:s, s:b}", "path", lock, "recursive", 1);
    }
    ground->calls[ground->n_calls++] = call;
}

/* Whether they succeeded is of no interest. */
static void
await_kazoo(Playground *ground)
{
    while (ground->n_calls > 0)
        json_decref(test_kazoo_peer_wait(peer, ground->calls[--ground->n_calls], NULL));
}

/* ---- Drover ---- */

static void
do_something(Playground *ground)
{
    g_autofree char *child = any_child(ground), *lock = below(child, "lock"),
                    *text = g_strdup_printf("d%u", ++ground->number);
    g_autoptr(GBytes) data = g_bytes_new(text, strlen(text));
    DroverChange *change =
        drover_change_new(g_random_boolean() ? ground->test->session : ground->other->session);

    switch (g_random_int_range(0, 4)) {
    case 0:
        drover_change_create(change, child, data, 0);
        break;
    case 1:
        drover_change_set(change, child, data, -1);
        break;
    case 2:
        drover_change_claim(change, lock, g_random_boolean());
        drover_change_set(change, child, data, -1);
        break;
    default:
        drover_change_delete_claimed(change, child, g_random_boolean(), -1);
    }
    drover_change_commit(change, NULL, NULL);
}

static void
watch_locks(Playground *ground)
{
    for (guint i = 0; i < NAMES; i++) {
        g_autofree char *name = g_strdup_printf("n%u", i);

        drover_cache_lock(ground->mirror->cache, name);
    }
}

/* ---- Comparing ---- */

static gboolean
same_contenders(const Playground *ground, const char *name)
{
    g_autofree char *directory = below(ground->root, "%s/lock", name);
    const char *const *known = drover_cache_contenders(ground->mirror->cache, name);
    g_auto(GStrv) none = g_new0(char *, 1), names = NULL, sorted = NULL;
    guint n;

    /* The first question about the lock begins the look. */
    if (drover_cache_lock(ground->mirror->cache, name) == DROVER_CACHE_LOCK_UNKNOWN)
        return FALSE;
    sorted = g_strdupv(known != NULL ? (char **)known : none);
    n = g_strv_length(sorted);
    names = peer_count(directory) > 0 ? peer_children(directory) : g_strdupv(none);
    for (guint i = 0; i < n; i++)
        if (!g_strv_contains((const char *const *)names, sorted[i]))
            return FALSE;
    return n == g_strv_length(names);
}

static gboolean
equals_tree(gpointer user_data)
{
    const Playground *ground = user_data;
    g_auto(GStrv) names = peer_children(ground->root);

    if (!drover_cache_is_settled(ground->mirror->cache) ||
        g_strv_length(names) != drover_cache_size(ground->mirror->cache))
        return FALSE;
    for (guint i = 0; names[i] != NULL; i++) {
        g_autofree char *path = below(ground->root, "%s", names[i]), *text = peer_get(path);
        const char *shown = mirror_text(ground->mirror, names[i]);

        if (!drover_cache_exists(ground->mirror->cache, names[i]) ||
            g_strcmp0(shown != NULL ? shown : "", text) != 0 || !same_contenders(ground, names[i]))
            return FALSE;
    }
    return TRUE;
}

static void
disturb(Playground *ground)
{
    if (g_random_int_range(0, 6) == 0)
        test_tcp_proxy_cut(proxy);
    if (g_random_int_range(0, 60) == 0)
        expire_session(ground->test);
    watch_locks(ground);
}

static void
test_equals_the_tree(void)
{
    Playground ground = {.root = new_root()};

    ground.test = open_session(NULL);
    ground.other = open_session(NULL);
    ground.mirror = mirror_new(ground.test->session, ground.root);
    for (guint round = 1; round <= ROUNDS; round++) {
        for (guint i = 0; i < PAUSE; i++) {
            let_kazoo_do_something(&ground);
            do_something(&ground);
            g_main_context_iteration(NULL, FALSE);
        }
        disturb(&ground);
        await_kazoo(&ground);
        if (round % 20 == 0) {
            wait_connected(ground.test);
            wait_connected(ground.other);
            sync_session(ground.other);
            wait_until(equals_tree, &ground);
        }
    }
    g_test_message("%u records decoded, %u changes, %u changes of locks, %u times complete",
                   ground.mirror->decoded, ground.mirror->changes, ground.mirror->lock_changes,
                   ground.mirror->completions);
    mirror_free(ground.mirror);
    close_session(ground.test);
    close_session(ground.other);
    g_free(ground.root);
}

static void
add_tests(void)
{
    g_test_add_func("/zk/cache-fuzz/Z-38-F-01-equals-the-tree", test_equals_the_tree);
}

int
main(int argc, char **argv)
{
    return run_with_cluster(&argc, &argv, add_tests);
}
