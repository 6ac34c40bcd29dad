/*
 * The journal keeps what drivers save of their operations, in the state folder, one small file for
 * each node that is being made. The next process of the same session takes them up from there. It
 * is written for processes that die, not for hosts that do: nothing is synchronised to the disk.
 */
#pragma once

#include <glib.h>

typedef struct _DroverJournal DroverJournal;

typedef struct {
    char *provider;
    gboolean made; /* the driver had ended: the machine only has to be reached */
    char *saved;   /* the driver's text; NULL when it cannot go on from anywhere */
} DroverJournalEntry;

/* `state_dir` may be NULL: nothing is kept then. */
DroverJournal *drover_journal_new(const char *state_dir);
void drover_journal_free(DroverJournal *journal);

/* A file that cannot be written is logged; the launch goes on without it. */
void drover_journal_write(DroverJournal *journal, const char *node_id,
                          const DroverJournalEntry *entry);
void drover_journal_remove(DroverJournal *journal, const char *node_id);
/* NULL when there is none of this provider. */
DroverJournalEntry *drover_journal_read(DroverJournal *journal, const char *node_id,
                                        const char *provider);
void drover_journal_entry_free(DroverJournalEntry *entry);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DroverJournalEntry, drover_journal_entry_free)

/* Removes the entries of nodes that are not wanted any more. */
typedef gboolean (*DroverJournalWanted)(const char *node_id, gpointer user_data);
void drover_journal_prune(DroverJournal *journal, DroverJournalWanted wanted, gpointer user_data);
