/*
 * Many launches while everything goes wrong now and then, some of them cancelled at any time: each
 * ends, and what is left of them has tags by which it is found and removed.
 */
#include <string.h>

#include "fixture.h"

enum { LAUNCHES = 200, AT_ONCE = 40 };

#define NOW_AND_THEN(seed) "'probability': 0.04, 'seed': " #seed ", "

static const char rules[] =
    "'faults': ["
    "{" NOW_AND_THEN(
        1) "'status': 500},"
           "{" NOW_AND_THEN(
               2) "'drop': 'before'},"
                  "{" NOW_AND_THEN(
                      3) "'drop': 'after'},"
                         "{" NOW_AND_THEN(
                             4) "'half': true},"
                                "{" NOW_AND_THEN(
                                    5) "'garbage': 'text'},"
                                       "{" NOW_AND_THEN(
                                           6) "'garbage': 'types'},"
                                              "{" NOW_AND_THEN(
                                                  7) "'garbage': 'missing'},"
                                                     "{" NOW_AND_THEN(
                                                         8) "'delay': 0.3},"
                                                            "{" NOW_AND_THEN(
                                                                9) "'never': 'after'},"
                                                                   "{" NOW_AND_THEN(
                                                                       10) "'lag': 0.5},"
                                                                           "{" NOW_AND_THEN(
                                                                               11) "'machine': "
                                                                                   "{'error': "
                                                                                   "'broken'}},"
                                                                                   "{" NOW_AND_THEN(
                                                                                       12) "'machin"
                                                                                           "e': "
                                                                                           "{'"
                                                                                           "vanishe"
                                                                                           "s': "
                                                                                           "0.2}},"
                                                                                           "{" NOW_AND_THEN(
                                                                                               13) "'delete': 'stays'},"
                                                                                                   "{'probability': 0.005, 'seed': 14, 'restart': {'down': 0.1}}]";

typedef struct {
    Provider *provider;
    GRand *random;
    GPtrArray *running, *removals; /* Work */
    guint done;
} Storm;

static void
begin_launch(Storm *storm)
{
    Work *work = work_begin(storm->provider, DROVER_TASK_MACHINE_CREATE, NULL);

    g_ptr_array_add(storm->running, work);
    if (g_rand_int_range(storm->random, 0, 4) == 0)
        drover_task_cancel(work->task);
}

/* What a delete does not remove in this weather is left for later. */
static void
end_launch(Storm *storm, Work *work)
{
    storm->done += work->ok;
    if (work_id(work) != NULL)
        g_ptr_array_add(storm->removals,
                        work_begin(storm->provider, DROVER_TASK_MACHINE_DELETE, work_id(work)));
    g_ptr_array_remove_fast(storm->running, work);
    begin_launch(storm);
}

static void
wait_for_removals(Storm *storm)
{
    for (guint i = 0; i < storm->removals->len; i++)
        work_wait(storm->removals->pdata[i]);
}

static void
run_storm(Storm *storm)
{
    for (guint i = 0; i < AT_ONCE; i++)
        begin_launch(storm);
    for (guint i = 0; i < LAUNCHES; i++) {
        Work *work =
            storm->running->pdata[g_rand_int_range(storm->random, 0, (gint32)storm->running->len)];

        if (!work->done && g_rand_int_range(storm->random, 0, 8) == 0)
            drover_task_cancel(work->task);
        work_wait(work);
        end_launch(storm, work);
    }
}

/* Two rounds, as for leaks. */
static void
clean_up(Provider *provider)
{
    for (guint round = 0; round < 2; round++) {
        g_autoptr(Work) list = work_run(provider, DROVER_TASK_RESOURCE_LIST, NULL);
        size_t index;
        json_t *item;

        assert_done(list);
        json_array_foreach(list->items, index, item)
        {
            g_assert_nonnull(
                strstr(json_string_value(json_object_get(item, "tags")), "0000000001"));
            remove_resource(provider, json_string_value(json_object_get(item, "kind")),
                            json_string_value(json_object_get(item, "id")));
        }
    }
}

static void
test_storm(gconstpointer label)
{
    guint32 seed = g_test_rand_int_range(0, G_MAXINT32);
    Storm storm = {.random = g_rand_new_with_seed(seed),
                   .running = g_ptr_array_new_with_free_func((GDestroyNotify)work_free),
                   .removals = g_ptr_array_new_with_free_func((GDestroyNotify)work_free)};

    storm.provider = provider_open("'call-timeout': 0.5, 'list-interval': 0.1", label);
    cloud_tell("settings", "'limits': {'instances': 100, 'cores': -1, 'volumes': 60}");
    cloud_tell("faults", "%s", rules);
    run_storm(&storm);
    wait_for_removals(&storm);
    cloud_tell("faults", "'faults': []");
    g_ptr_array_unref(storm.running);
    g_ptr_array_unref(storm.removals);
    g_test_message("%u of %u launches were successful", storm.done, LAUNCHES);
    g_assert_cmpuint(storm.done, >, 0);
    clean_up(storm.provider);
    cloud_assert_empty();
    provider_close(storm.provider);
    g_rand_free(storm.random);
}

int
main(int argc, char **argv)
{
    static const CloudTest tests[] = {
        {"/testcloud/FT-05-storm", test_storm, NULL},
        {"/testcloud/FT-05-storm-with-all", test_storm, "'extra-objects': ['address', 'volume']"},
        {NULL, NULL, NULL},
    };

    return cloud_run_tests(argc, argv, tests);
}
