#include "launcher/provider/journal.h"

#include <errno.h>
#include <glib/gstdio.h>

#include "base/json.h"
#include "base/log.h"

#define LOGGER "journal"
#define FOLDER "operations"

struct _DroverJournal {
    char *folder; /* NULL: nothing is kept */
};

DroverJournal *
drover_journal_new(const char *state_dir)
{
    DroverJournal *journal = g_new0(DroverJournal, 1);

    if (state_dir == NULL)
        return journal;
    journal->folder = g_build_filename(state_dir, FOLDER, NULL);
    if (g_mkdir_with_parents(journal->folder, 0700) != 0) {
        drover_log_for(DROVER_LOG_WARNING, LOGGER,
                       "Cannot make the folder %s: %s; launches will not outlive this process",
                       journal->folder, g_strerror(errno));
        g_clear_pointer(&journal->folder, g_free);
    }
    return journal;
}

void
drover_journal_free(DroverJournal *journal)
{
    if (journal == NULL)
        return;
    g_free(journal->folder);
    g_free(journal);
}

static char *
file_of(const DroverJournal *journal, const char *node_id)
{
    return g_build_filename(journal->folder, node_id, NULL);
}

void
drover_journal_write(DroverJournal *journal, const char *node_id, const DroverJournalEntry *entry)
{
    g_autoptr(json_t) record = NULL;
    g_autofree char *path = NULL, *text = NULL;
    g_autoptr(GError) error = NULL;

    if (journal->folder == NULL)
        return;
    record = json_object();
    json_object_set_new(record, "provider", json_string(entry->provider));
    json_object_set_new(record, "made", json_boolean(entry->made));
    json_object_set_new(record, "saved", drover_json_from_string(entry->saved));
    text = drover_json_text(record);
    path = file_of(journal, node_id);
    if (!g_file_set_contents_full(path, text, -1, G_FILE_SET_CONTENTS_CONSISTENT, 0600, &error))
        drover_log(DROVER_LOG_WARNING, &(DroverLogSubject){.logger = LOGGER, .node_id = node_id},
                   "The operation is not saved: %s", error->message);
}

void
drover_journal_remove(DroverJournal *journal, const char *node_id)
{
    g_autofree char *path = NULL;

    if (journal->folder == NULL)
        return;
    path = file_of(journal, node_id);
    g_unlink(path);
}

DroverJournalEntry *
drover_journal_read(DroverJournal *journal, const char *node_id, const char *provider)
{
    g_autofree char *path = NULL, *text = NULL;
    g_autoptr(json_t) record = NULL;
    DroverJournalEntry *entry;
    gsize length;

    if (journal->folder == NULL)
        return NULL;
    path = file_of(journal, node_id);
    if (!g_file_get_contents(path, &text, &length, NULL))
        return NULL;
    record = drover_json_parse_object(text, length, NULL);
    if (g_strcmp0(drover_json_string(record, "provider"), provider) != 0)
        return NULL;
    entry = g_new0(DroverJournalEntry, 1);
    entry->provider = g_strdup(provider);
    entry->made = drover_json_boolean(record, "made", FALSE);
    entry->saved = g_strdup(drover_json_string(record, "saved"));
    return entry;
}

void
drover_journal_entry_free(DroverJournalEntry *entry)
{
    if (entry == NULL)
        return;
    g_free(entry->provider);
    g_free(entry->saved);
    g_free(entry);
}

void
drover_journal_prune(DroverJournal *journal, DroverJournalWanted wanted, gpointer user_data)
{
    GDir *folder = journal->folder != NULL ? g_dir_open(journal->folder, 0, NULL) : NULL;
    const char *name;

    while (folder != NULL && (name = g_dir_read_name(folder)) != NULL)
        if (!wanted(name, user_data))
            drover_journal_remove(journal, name);
    if (folder != NULL)
        g_dir_close(folder);
}
