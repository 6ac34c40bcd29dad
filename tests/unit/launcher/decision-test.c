/* Each rule of a pool's decision about a request, alone and in its order. */
#include "launcher/request/decision.h"
#include "records.h"

/* The pool that decides, and the registry of all pools. */
typedef struct {
    DroverPoolView view;
    GPtrArray *registered;
    GHashTable *stock;
} Scene;

static const char *const own_labels[] = {"a", "b", NULL};

static void
add_pool(Scene *scene, const char *id, const char *provider, const char *labels, gint64 priority)
{
    DroverComponent *pool = g_new0(DroverComponent, 1);

    pool->id = g_strdup(id);
    pool->name = g_strdup("main");
    pool->provider_name = g_strdup(provider);
    pool->supported_labels = g_strsplit(labels, " ", -1);
    pool->priority = priority;
    g_ptr_array_add(scene->registered, pool);
}

static void
set_up(Scene *scene, gconstpointer data)
{
    scene->registered = g_ptr_array_new_with_free_func((GDestroyNotify)drover_component_free);
    scene->view = (DroverPoolView){.launcher_id = "own",
                                   .provider = "p1",
                                   .priority = 100,
                                   .labels = own_labels,
                                   .registered = scene->registered};
    add_pool(scene, "own", "p1", "a b", 100);
}

static void
tear_down(Scene *scene, gconstpointer data)
{
    g_ptr_array_unref(scene->registered);
    g_clear_pointer(&scene->stock, g_hash_table_unref);
}

static void
put_in_stock(Scene *scene, const char *label, gint nodes)
{
    if (scene->stock == NULL)
        scene->stock = g_hash_table_new(g_str_hash, g_str_equal);
    g_hash_table_insert(scene->stock, (gpointer)label, GINT_TO_POINTER(nodes));
    scene->view.stock = scene->stock;
}

/* `text`: a part of the reason; NULL: no reason is given. */
static void
check(const Scene *scene, const char *request_json, DroverVerdict verdict, const char *text)
{
    g_autoptr(DroverRequest) request = test_request_new("200-0000000001", request_json);
    DroverDecision decision = drover_decide(&scene->view, request);
    g_autofree char *reason = decision.reason;

    g_assert_cmpstr(drover_verdict_name(decision.verdict), ==, drover_verdict_name(verdict));
    if (text == NULL)
        g_assert_null(reason);
    else if (strstr(reason, text) == NULL)
        g_error("the reason is '%s', without '%s'", reason, text);
}

static void
test_accepts(Scene *scene, gconstpointer data)
{
    check(scene, "{'state':'requested','node_types':['a']}", DROVER_VERDICT_ACCEPT, NULL);
    check(scene, "{'state':'requested','node_types':['a','b','a']}", DROVER_VERDICT_ACCEPT, NULL);
    check(scene, "{'state':'requested','node_types':[]}", DROVER_VERDICT_ACCEPT, NULL);
    put_in_stock(scene, "a", 2);
    check(scene, "{'state':'requested','node_types':['a','a']}", DROVER_VERDICT_ACCEPT, NULL);
}

static void
test_skips_what_is_not_requested(Scene *scene, gconstpointer data)
{
    static const char *const states[] = {"pending", "fulfilled", "failed", "frobnicated"};

    for (guint i = 0; i < G_N_ELEMENTS(states); i++) {
        g_autofree char *json =
            g_strdup_printf("{'state':'%s','node_types':['unknown']}", states[i]);
        check(scene, json, DROVER_VERDICT_SKIP, NULL);
    }
}

static void
test_skips_what_it_declined(Scene *scene, gconstpointer data)
{
    check(scene, "{'state':'requested','node_types':['a'],'declined_by':['x','own']}",
          DROVER_VERDICT_SKIP, NULL);
    check(scene, "{'state':'requested','node_types':['a'],'declined_by':['x']}",
          DROVER_VERDICT_ACCEPT, NULL);
}

/* ---- Missing labels ---- */

static void
test_declines_unknown_label(Scene *scene, gconstpointer data)
{
    check(scene, "{'state':'requested','node_types':['unknown']}", DROVER_VERDICT_DECLINE,
          "node type(s) [unknown] not available");
    check(scene, "{'state':'requested','node_types':['x','a','y']}", DROVER_VERDICT_DECLINE,
          "node type(s) [x, y] not available");
}

static void
test_leaves_it_to_a_pool_with_the_label(Scene *scene, gconstpointer data)
{
    add_pool(scene, "other", "p2", "a c", 100);
    check(scene, "{'state':'requested','node_types':['c']}", DROVER_VERDICT_YIELD,
          "another pool has all of its labels");
    /* It has one of them only. */
    check(scene, "{'state':'requested','node_types':['b','c']}", DROVER_VERDICT_DECLINE,
          "node type(s) [c] not available");
    check(scene, "{'state':'requested','node_types':['c'],'declined_by':['other']}",
          DROVER_VERDICT_DECLINE, "[c]");
}

static void
test_leaves_it_to_a_pool_that_is_coming(Scene *scene, gconstpointer data)
{
    char *labels[] = {"c", "d", NULL};
    g_autoptr(GPtrArray) coming = g_ptr_array_new();

    g_ptr_array_add(coming, labels);
    scene->view.coming = coming;
    check(scene, "{'state':'requested','node_types':['d']}", DROVER_VERDICT_YIELD,
          "about to register");
    check(scene, "{'state':'requested','node_types':['d','x']}", DROVER_VERDICT_DECLINE, "[d, x]");
    check(scene, "{'state':'requested','node_types':['a']}", DROVER_VERDICT_ACCEPT, NULL);
    scene->view.disabled = TRUE;
    check(scene, "{'state':'requested','node_types':['c']}", DROVER_VERDICT_YIELD, "about to");
    check(scene, "{'state':'requested','node_types':['a']}", DROVER_VERDICT_DECLINE, "disabled");
}

static void
test_declines_when_disabled(Scene *scene, gconstpointer data)
{
    scene->view.disabled = TRUE;
    check(scene, "{'state':'requested','node_types':['a']}", DROVER_VERDICT_DECLINE,
          "disabled by max_servers");
    add_pool(scene, "other", "p2", "a", 50);
    check(scene, "{'state':'requested','node_types':['a']}", DROVER_VERDICT_YIELD, "priority 50");
}

/* ---- Failing ---- */

static void
check_last(const Scene *scene, const char *request_json, gboolean last)
{
    g_autoptr(DroverRequest) request = test_request_new("200-0000000001", request_json);

    g_assert_cmpint(drover_decision_is_last(&scene->view, request), ==, last);
}

static void
test_fails_only_when_all_declined(Scene *scene, gconstpointer data)
{
    check_last(scene, "{'state':'requested','node_types':['x']}", TRUE);
    add_pool(scene, "second", "p2", "a", 100);
    add_pool(scene, "third", "p3", "a", 100);
    check_last(scene, "{'state':'requested','node_types':['x']}", FALSE);
    check_last(scene, "{'state':'requested','node_types':['x'],'declined_by':['third']}", FALSE);
    check_last(scene,
               "{'state':'requested','node_types':['x'],'declined_by':['third','gone','second']}",
               TRUE);
}

static void
test_fails_nothing_unregistered(Scene *scene, gconstpointer data)
{
    g_ptr_array_set_size(scene->registered, 0);
    check_last(scene, "{'state':'requested','node_types':['x']}", FALSE);
    add_pool(scene, "second", "p2", "a", 100);
    check_last(scene, "{'state':'requested','node_types':['x'],'declined_by':['second']}", FALSE);
}

/* ---- Priority and preference ---- */

static void
test_yields_to_better_priority(Scene *scene, gconstpointer data)
{
    DroverComponent *other;

    add_pool(scene, "other", "p2", "a", 60);
    other = g_ptr_array_index(scene->registered, 1);
    check(scene, "{'state':'requested','node_types':['a']}", DROVER_VERDICT_YIELD,
          "pool main of provider p2 has priority 60, this one 100");
    /* Not for labels that it does not have, */
    check(scene, "{'state':'requested','node_types':['b']}", DROVER_VERDICT_ACCEPT, NULL);
    /* nor when it declined, */
    check(scene, "{'state':'requested','node_types':['a'],'declined_by':['other']}",
          DROVER_VERDICT_ACCEPT, NULL);
    /* nor while it is paused, */
    other->paused = TRUE;
    check(scene, "{'state':'requested','node_types':['a']}", DROVER_VERDICT_ACCEPT, NULL);
    /* nor when it is no better. */
    other->paused = FALSE;
    other->priority = 100;
    check(scene, "{'state':'requested','node_types':['a']}", DROVER_VERDICT_ACCEPT, NULL);
    /* Between pools of one provider too. */
    g_free(other->provider_name);
    other->provider_name = g_strdup("p1");
    scene->view.priority = 101;
    check(scene, "{'state':'requested','node_types':['a']}", DROVER_VERDICT_YIELD, "priority 100");
}

static void
test_preferred_provider_with_worse_priority(Scene *scene, gconstpointer data)
{
    const char *wants_p1 = "{'state':'requested','node_types':['a'],'provider':'p1'}";

    add_pool(scene, "other", "p2", "a", 1);
    check(scene, wants_p1, DROVER_VERDICT_ACCEPT, NULL);
    /* Among the preferred provider's own pools priority counts. */
    add_pool(scene, "sibling", "p1", "a", 2);
    check(scene, wants_p1, DROVER_VERDICT_YIELD, "priority 2");
}

static void
test_yields_to_preferred_provider(Scene *scene, gconstpointer data)
{
    add_pool(scene, "other", "p2", "a", 100);
    check(scene, "{'state':'requested','node_types':['a'],'provider':'p2'}", DROVER_VERDICT_YIELD,
          "prefers provider p2");
}

static void
test_preferred_provider_not_registered(Scene *scene, gconstpointer data)
{
    add_pool(scene, "other", "p2", "a", 100);
    check(scene, "{'state':'requested','node_types':['a'],'provider':'p3'}", DROVER_VERDICT_ACCEPT,
          NULL);
}

static void
test_preferred_provider_without_label(Scene *scene, gconstpointer data)
{
    add_pool(scene, "other", "p2", "b", 100);
    check(scene, "{'state':'requested','node_types':['a'],'provider':'p2'}", DROVER_VERDICT_ACCEPT,
          NULL);
}

static void
test_preferred_provider_declined(Scene *scene, gconstpointer data)
{
    add_pool(scene, "other", "p2", "a", 100);
    check(scene, "{'state':'requested','node_types':['a'],'provider':'p2','declined_by':['other']}",
          DROVER_VERDICT_ACCEPT, NULL);
}

/* ---- What can change by itself ---- */

static void
test_defers_out_of_stock(Scene *scene, gconstpointer data)
{
    put_in_stock(scene, "a", 1);
    check(scene, "{'state':'requested','node_types':['b']}", DROVER_VERDICT_DEFER,
          "0 node(s) with label b are free, 1 wanted");
    check(scene, "{'state':'requested','node_types':['a','a']}", DROVER_VERDICT_DEFER,
          "1 node(s) with label a are free, 2 wanted");
    check(scene, "{'state':'requested','node_types':['a']}", DROVER_VERDICT_ACCEPT, NULL);
}

static void
test_fixed_stock_has_no_new_nodes(Scene *scene, gconstpointer data)
{
    const char *standby = "{'state':'requested','node_types':['a'],'reuse':false}";

    check(scene, standby, DROVER_VERDICT_ACCEPT, NULL);
    put_in_stock(scene, "a", 0);
    check(scene, standby, DROVER_VERDICT_DEFER, "0 node(s)");
    put_in_stock(scene, "a", 1);
    check(scene, standby, DROVER_VERDICT_DECLINE, "new nodes");
}

static void
test_defers_while_paused_or_busy(Scene *scene, gconstpointer data)
{
    const char *request = "{'state':'requested','node_types':['a']}";
    const char *impossible = "{'state':'requested','node_types':['x']}";

    scene->view.paused = TRUE;
    check(scene, request, DROVER_VERDICT_DEFER, "waits for quota");
    check(scene, impossible, DROVER_VERDICT_DECLINE, "[x]");
    scene->view.paused = FALSE;
    scene->view.at_max_concurrency = TRUE;
    check(scene, request, DROVER_VERDICT_DEFER, "max-concurrency");
    check(scene, impossible, DROVER_VERDICT_DECLINE, "[x]");
    scene->view.held = "held by the test";
    check(scene, request, DROVER_VERDICT_DEFER, "held by the test");
    check(scene, impossible, DROVER_VERDICT_DECLINE, "[x]");
}

/* ---- Clouds ---- */

/* What a cloud answers in a test. */
typedef struct {
    DroverRoom images, ever, tenant;
    const char *broken;
} Answers;

static DroverRoom
answer(DroverRoom room, const char *why, char **reason)
{
    if (room != DROVER_ROOM_FITS)
        *reason = g_strdup(why);
    return room;
}

static DroverRoom
ask_images(const DroverRequest *request, char **reason, gpointer user_data)
{
    return answer(((Answers *)user_data)->images, "images", reason);
}

static DroverRoom
ask_ever(const DroverRequest *request, char **reason, gpointer user_data)
{
    return answer(((Answers *)user_data)->ever, "quota", reason);
}

static DroverRoom
ask_tenant(const DroverRequest *request, char **reason, gpointer user_data)
{
    return answer(((Answers *)user_data)->tenant, "tenant", reason);
}

static gboolean
ask_broken(const char *label, gpointer user_data)
{
    return g_strcmp0(label, ((Answers *)user_data)->broken) == 0;
}

static void
check_cloud(Scene *scene, Answers answers, const char *label, DroverVerdict verdict,
            const char *text)
{
    DroverCloudView cloud = {
        .images = ask_images, .ever = ask_ever, .is_broken = ask_broken, .user_data = &answers};
    DroverTenantView tenant = {.room = ask_tenant, .user_data = &answers};
    g_autofree char *json =
        g_strdup_printf("{'state':'requested','node_types':['%s'],'reuse':false}", label);

    scene->view.cloud = &cloud;
    scene->view.tenant = &tenant;
    check(scene, json, verdict, text);
    scene->view.cloud = NULL;
    scene->view.tenant = NULL;
}

static void
test_asks_the_cloud(Scene *scene, gconstpointer data)
{
    const Answers fits = {.broken = NULL};

    check_cloud(scene, fits, "a", DROVER_VERDICT_ACCEPT, NULL);
    check_cloud(scene, (Answers){.images = DROVER_ROOM_FULL}, "a", DROVER_VERDICT_DECLINE,
                "images");
    check_cloud(scene, (Answers){.ever = DROVER_ROOM_FULL}, "a", DROVER_VERDICT_DECLINE, "quota");
    check_cloud(scene, (Answers){.tenant = DROVER_ROOM_FULL}, "a", DROVER_VERDICT_DEFER, "tenant");
    check_cloud(scene, (Answers){.tenant = DROVER_ROOM_NEVER}, "a", DROVER_VERDICT_DEFER, "tenant");
    /* The cloud is not asked about what this pool does not have. */
    check_cloud(scene, (Answers){.images = DROVER_ROOM_UNKNOWN}, "x", DROVER_VERDICT_DECLINE,
                "[x] not available");
}

static void
test_defers_what_is_not_known(Scene *scene, gconstpointer data)
{
    Answers answers = {.images = DROVER_ROOM_UNKNOWN};

    check_cloud(scene, answers, "a", DROVER_VERDICT_DEFER, "images");
    check_cloud(scene, (Answers){.ever = DROVER_ROOM_UNKNOWN}, "a", DROVER_VERDICT_DEFER, "quota");
    check_cloud(scene, (Answers){.tenant = DROVER_ROOM_UNKNOWN}, "a", DROVER_VERDICT_DEFER,
                "tenant");
    /* One answer that is known is enough to decline. */
    answers.ever = DROVER_ROOM_FULL;
    check_cloud(scene, answers, "a", DROVER_VERDICT_DECLINE, "quota");
}

static void
test_only_requested_labels_are_broken(Scene *scene, gconstpointer data)
{
    Answers answers = {.broken = "b"};

    check_cloud(scene, answers, "b", DROVER_VERDICT_DECLINE, "node type(s) [b] not available");
    check_cloud(scene, answers, "a", DROVER_VERDICT_ACCEPT, NULL);
}

static void
test_impossible_before_what_can_change(Scene *scene, gconstpointer data)
{
    Answers answers = {.ever = DROVER_ROOM_FULL, .tenant = DROVER_ROOM_FULL};

    scene->view.paused = scene->view.at_max_concurrency = TRUE;
    check_cloud(scene, answers, "a", DROVER_VERDICT_DECLINE, "quota");
    answers.ever = DROVER_ROOM_FITS;
    check_cloud(scene, answers, "a", DROVER_VERDICT_DEFER, "tenant");
    answers.tenant = DROVER_ROOM_FITS;
    check_cloud(scene, answers, "a", DROVER_VERDICT_DEFER, "waits for quota");
}

static void
test_obstacles(Scene *scene, gconstpointer data)
{
    Answers answers = {.tenant = DROVER_ROOM_FULL, .images = DROVER_ROOM_UNKNOWN};
    DroverCloudView cloud = {
        .images = ask_images, .ever = ask_ever, .is_broken = ask_broken, .user_data = &answers};
    DroverTenantView tenant = {.room = ask_tenant, .user_data = &answers};
    g_autoptr(DroverRequest) request =
        test_request_new("200-0000000001", "{'state':'pending','node_types':['a'],'reuse':false}");
    g_autofree char *reason = NULL;

    scene->view.tenant = &tenant;
    /* What it waits for, and what others could do, is none. */
    add_pool(scene, "other", "p2", "a", 1);
    scene->view.cloud = &cloud;
    scene->view.paused = scene->view.at_max_concurrency = TRUE;
    g_assert_null(drover_decision_find_obstacle(&scene->view, request));
    answers.ever = DROVER_ROOM_FULL;
    reason = drover_decision_find_obstacle(&scene->view, request);
    g_assert_cmpstr(reason, ==, "quota");
}

/* ---- Order ---- */

static void
test_missing_labels_are_counted(Scene *scene, gconstpointer data)
{
    g_autoptr(DroverRequest) none =
        test_request_new("100-0000000001", "{'state':'requested','node_types':['a','b','a']}");
    g_autoptr(DroverRequest) two =
        test_request_new("100-0000000002", "{'state':'requested','node_types':['x','b','x']}");

    g_assert_cmpuint(drover_decision_missing_labels(&scene->view, none), ==, 0);
    g_assert_cmpuint(drover_decision_missing_labels(&scene->view, two), ==, 2);
}

#define ADD(path, function) g_test_add(path, Scene, NULL, set_up, function, tear_down)

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    ADD("/launcher/decision/accepts", test_accepts);
    ADD("/launcher/decision/skips-what-is-not-requested", test_skips_what_is_not_requested);
    ADD("/launcher/decision/skips-what-it-declined", test_skips_what_it_declined);
    ADD("/launcher/decision/L-07-declines-unknown-label", test_declines_unknown_label);
    ADD("/launcher/decision/L-08-fails-only-when-all-declined", test_fails_only_when_all_declined);
    ADD("/launcher/decision/L-103-leaves-it-to-a-pool-that-is-coming",
        test_leaves_it_to_a_pool_that_is_coming);
    ADD("/launcher/decision/Z-45-fails-nothing-unregistered", test_fails_nothing_unregistered);
    ADD("/launcher/decision/L-09-declines-when-disabled", test_declines_when_disabled);
    ADD("/launcher/decision/L-41-paused-still-declines", test_defers_while_paused_or_busy);
    ADD("/launcher/decision/L-50-yields-to-better-priority", test_yields_to_better_priority);
    ADD("/launcher/decision/L-53-preferred-provider-with-worse-priority",
        test_preferred_provider_with_worse_priority);
    ADD("/launcher/decision/L-54-yields-to-preferred-provider", test_yields_to_preferred_provider);
    ADD("/launcher/decision/L-55-preferred-provider-not-registered",
        test_preferred_provider_not_registered);
    ADD("/launcher/decision/L-56-preferred-provider-without-label",
        test_preferred_provider_without_label);
    ADD("/launcher/decision/L-57-preferred-provider-declined", test_preferred_provider_declined);
    ADD("/launcher/decision/L-58-leaves-it-to-a-pool-with-the-label",
        test_leaves_it_to_a_pool_with_the_label);
    ADD("/launcher/decision/L-60-missing-labels-are-counted", test_missing_labels_are_counted);
    ADD("/launcher/decision/L-35-L-45-SM-27-asks-the-cloud", test_asks_the_cloud);
    ADD("/launcher/decision/L-25-L-38-defers-what-is-not-known", test_defers_what_is_not_known);
    ADD("/launcher/decision/L-22-only-requested-labels-are-broken",
        test_only_requested_labels_are_broken);
    ADD("/launcher/decision/L-41-impossible-before-what-can-change",
        test_impossible_before_what_can_change);
    ADD("/launcher/decision/L-96-obstacles", test_obstacles);
    ADD("/launcher/decision/ST-28-defers-out-of-stock", test_defers_out_of_stock);
    ADD("/launcher/decision/ST-41-fixed-stock-has-no-new-nodes", test_fixed_stock_has_no_new_nodes);
    return g_test_run();
}
