/*
 * A small world of backing nodes, for drivers that ask for some: each request is answered with a
 * node, each slot is given away, and what was released is gone. Answers come in a later turn.
 */
#include <string.h>

#include "check/bench-private.h"

typedef struct {
    DroverBench *bench;
    enum drover_backing_event event;
    struct drover_value *facts;
} Answer;

static void
answer_free(gpointer data)
{
    Answer *answer = data;

    drover_value_free(answer->facts);
    g_free(answer);
}

static gboolean
on_answer(gpointer data)
{
    const Answer *answer = data;
    DroverBench *bench = answer->bench;
    gint64 entered = drover_bench_enter();

    if (!g_atomic_int_get(&bench->closed))
        bench->subject->driver->backing_event(bench->self, answer->event, answer->facts);
    drover_bench_leave(bench, entered, "backing_event");
    return G_SOURCE_REMOVE;
}

static void
tell(DroverBench *bench, enum drover_backing_event event, struct drover_value *facts)
{
    Answer *answer = g_new0(Answer, 1);
    GSource *source = g_idle_source_new();

    answer->bench = bench;
    answer->event = event;
    answer->facts = facts;
    g_source_set_callback(source, on_answer, answer, answer_free);
    g_source_attach(source, bench->context);
    g_ptr_array_add(bench->answers, source);
}

static struct drover_value *
facts_of(const char *backing_node)
{
    struct drover_value *facts = drover_value_new_map();

    drover_value_set(facts, "backing_node", drover_value_new_string(backing_node));
    return facts;
}

static void
answer_request(DroverBench *bench, const struct drover_backing_call *call)
{
    g_autofree char *node = g_strdup_printf("%010u", ++bench->backing_nodes);
    struct drover_value *facts = facts_of(node), *fields = drover_value_new_map();

    drover_value_set(fields, "interface_ip", drover_value_new_string("127.0.0.1"));
    drover_value_set(fields, "connection_type", drover_value_new_string("ssh"));
    drover_value_set(fields, "connection_port", drover_value_new_integer(22));
    drover_value_set(facts, "ticket", drover_value_new_integer((int64_t)call->ticket));
    drover_value_set(facts, "fields", fields);
    tell(bench, DROVER_BACKING_READY, facts);
}

static void
answer_assign(DroverBench *bench, const struct drover_backing_call *call)
{
    struct drover_value *facts = facts_of(call->backing_node);

    drover_value_set(facts, "node", drover_value_new_string(call->node_id));
    drover_value_set(facts, "slot", drover_value_new_integer(call->slot));
    tell(bench, DROVER_BACKING_ASSIGNED, facts);
}

void
drover_bench_on_backing(void *data, const struct drover_backing_call *call)
{
    DroverBench *bench = data;

    drover_bench_hear(bench, "drover_backing_request", "the user data", call->user_data);
    if (g_atomic_int_get(&bench->closed))
        drover_bench_complain(bench, "it asks for backing after it was closed");
    else if (call->kind == DROVER_BACKING_REQUEST)
        answer_request(bench, call);
    else if (call->kind == DROVER_BACKING_ASSIGN && call->node_id != NULL)
        answer_assign(bench, call);
    else if (call->kind == DROVER_BACKING_RELEASE)
        tell(bench, DROVER_BACKING_GONE, facts_of(call->backing_node));
}

void
drover_bench_begin_backing(DroverBench *bench)
{
    if ((bench->subject->driver->capabilities & DROVER_CAN_BACKING) != 0)
        tell(bench, DROVER_BACKING_LISTED, drover_value_new_map());
}

void
drover_bench_end_answer(gpointer source)
{
    g_source_destroy(source);
    g_source_unref(source);
}
