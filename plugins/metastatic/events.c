#include "events.h"

#include "create.h"

static const char *
text_of(const struct drover_value *facts, const char *name)
{
    return drover_value_get_string(facts, name, "");
}

static guint
slot_of(const struct drover_value *facts)
{
    return (guint)drover_value_get_integer(facts, "slot", 0);
}

static struct record *
record_in(struct metastatic *self, const struct drover_value *facts)
{
    return record_of_node(self, text_of(facts, "backing_node"));
}

static struct creation *
creation_in(struct metastatic *self, const struct drover_value *facts)
{
    return g_hash_table_lookup(self->creations, text_of(facts, "node"));
}

/* ---- Backing nodes ---- */

static void
hear_listed(struct metastatic *self, const struct drover_value *facts)
{
    GHashTableIter iter;
    gpointer creation;

    self->listed = TRUE;
    g_hash_table_iter_init(&iter, self->creations);
    while (g_hash_table_iter_next(&iter, NULL, &creation))
        drover_operation_wake(((struct creation *)creation)->op);
}

/* An operator wants it back, or another process has seen that it is of no use. */
static void
fail_from_outside(struct metastatic *self, struct record *record)
{
    drover_provider_log(self->provider, DROVER_WARNING,
                        "the backing node %s gets no new nodes: its user data says so",
                        record->node);
    if (self->listed && !self->idle)
        record_look(self, record);
}

static void
hear_node(struct metastatic *self, const struct drover_value *facts)
{
    const char *node = text_of(facts, "backing_node"), *user_data = text_of(facts, "user_data");
    struct record *record = record_in(self, facts);
    gboolean had_failed;

    if (record == NULL)
        record = record_take(self, node, user_data);
    if (record == NULL) {
        drover_provider_log(self->provider, DROVER_WARNING,
                            "the user data of the backing node %s makes no sense", node);
        return;
    }
    had_failed = record->failed;
    record_update(record, user_data, drover_value_get(facts, "fields"));
    if (record->failed && !had_failed)
        fail_from_outside(self, record);
}

static void
hear_gone(struct metastatic *self, const struct drover_value *facts)
{
    struct record *record = record_in(self, facts);

    if (record != NULL)
        record_note_gone(self, record);
}

static void
hear_ready(struct metastatic *self, const struct drover_value *facts)
{
    struct record *record =
        record_of_ticket(self, (uint64_t)drover_value_get_integer(facts, "ticket", 0));

    if (record == NULL) {
        /* It was withdrawn in the same moment. */
        drover_backing_release(self->provider, text_of(facts, "backing_node"));
        return;
    }
    record->node = g_strdup(text_of(facts, "backing_node"));
    record_update(record, NULL, drover_value_get(facts, "fields"));
    creations_begin(self, record);
}

static void
hear_failed(struct metastatic *self, const struct drover_value *facts)
{
    struct record *record =
        record_of_ticket(self, (uint64_t)drover_value_get_integer(facts, "ticket", 0));

    if (record == NULL)
        return;
    creations_lose(self, record, text_of(facts, "reason"));
    record_remove(self, record);
}

static void
hear_kept(struct metastatic *self, const struct drover_value *facts)
{
    struct record *record = record_in(self, facts);

    if (record == NULL)
        return;
    record->releasing = FALSE;
    record->last_used = drover_now();
}

/* ---- Slots ---- */

static void
hear_slot(struct metastatic *self, const struct drover_value *facts)
{
    struct record *record = record_in(self, facts);

    if (record != NULL)
        record_note_occupant(self, record, slot_of(facts), text_of(facts, "node"));
}

static void
hear_free(struct metastatic *self, const struct drover_value *facts)
{
    struct record *record = record_of_occupant(self, text_of(facts, "node"));

    record_vacate(self, text_of(facts, "node"), NULL, 0);
    /* Nobody waits for one that is not used any more. */
    if (record != NULL && !self->idle)
        record_look(self, record);
}

static void
hear_assigned(struct metastatic *self, const struct drover_value *facts)
{
    struct creation *creation = creation_in(self, facts);
    struct record *record = record_in(self, facts);

    if (record == NULL)
        return;
    record_note_occupant(self, record, slot_of(facts), text_of(facts, "node"));
    record_vacate(self, text_of(facts, "node"), record, slot_of(facts));
    if (creation == NULL)
        return;
    creation->state = ASSIGNED;
    drover_operation_wake(creation->op);
}

static void
hear_refused(struct metastatic *self, const struct drover_value *facts)
{
    struct creation *creation = creation_in(self, facts);

    if (creation == NULL) {
        /* It was cancelled before the slot was written down. */
        hear_free(self, facts);
        return;
    }
    if (creation->state != ASSIGN)
        return;
    creation->state = FIND;
    creation->record = NULL;
    drover_operation_wake(creation->op);
}

/* ---- All ---- */

void
hear_event(void *self, enum drover_backing_event event, const struct drover_value *facts)
{
    static void (*const heard[])(struct metastatic *, const struct drover_value *) = {
        [DROVER_BACKING_LISTED] = hear_listed,   [DROVER_BACKING_NODE] = hear_node,
        [DROVER_BACKING_SLOT] = hear_slot,       [DROVER_BACKING_FREE] = hear_free,
        [DROVER_BACKING_GONE] = hear_gone,       [DROVER_BACKING_READY] = hear_ready,
        [DROVER_BACKING_FAILED] = hear_failed,   [DROVER_BACKING_ASSIGNED] = hear_assigned,
        [DROVER_BACKING_REFUSED] = hear_refused, [DROVER_BACKING_KEPT] = hear_kept,
    };

    if (event < G_N_ELEMENTS(heard) && heard[event] != NULL)
        heard[event](self, facts);
}
