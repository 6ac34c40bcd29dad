#include "zk/tree.h"

#include "zk/lock.h"
#include "zk/operation.h"

typedef struct {
    DroverSession *session;
    gint32 version;
    gboolean even_locked;
    GPtrArray *paths; /* parents before their children */
    guint listed;     /* how many of them */
    DroverTreeFunc done;
    gpointer user_data;
} Removal;

static void list_next(Removal *removal);

static void
finish(Removal *removal, int rc)
{
    removal->done(rc, removal->user_data);
    g_ptr_array_unref(removal->paths);
    g_free(removal);
}

static void
on_committed(const DroverCommitReply *reply, gpointer user_data)
{
    finish(user_data, reply->rc);
}

static void
commit(Removal *removal)
{
    DroverTransaction *transaction = drover_transaction_new();

    for (guint i = removal->paths->len; i > 0; i--)
        drover_transaction_delete(transaction, removal->paths->pdata[i - 1],
                                  i == 1 ? removal->version : -1);
    drover_session_commit(removal->session, transaction, on_committed, removal);
}

static void
on_listed(const DroverReadReply *reply, gpointer user_data)
{
    Removal *removal = user_data;
    const char *parent = removal->paths->pdata[removal->listed];

    if (reply->rc == ZNONODE && removal->listed > 0) {
        g_ptr_array_remove_index(removal->paths, removal->listed);
    } else if (reply->rc != ZOK) {
        finish(removal, reply->rc);
        return;
    } else {
        removal->listed++;
    }
    for (guint i = 0; i < reply->n_children; i++) {
        if (!removal->even_locked && drover_lock_sequence(reply->children[i]) != NULL) {
            finish(removal, ZNOTEMPTY);
            return;
        }
        g_ptr_array_add(removal->paths, g_strconcat(parent, "/", reply->children[i], NULL));
    }
    list_next(removal);
}

static void
list_next(Removal *removal)
{
    if (removal->listed == removal->paths->len)
        commit(removal);
    else
        drover_session_list(removal->session, removal->paths->pdata[removal->listed], FALSE,
                            on_listed, removal);
}

void
drover_tree_delete(DroverSession *session, const char *path, gint32 version, gboolean even_locked,
                   DroverTreeFunc done, gpointer user_data)
{
    Removal *removal = g_new0(Removal, 1);

    removal->session = session;
    removal->version = version;
    removal->even_locked = even_locked;
    removal->paths = g_ptr_array_new_with_free_func(g_free);
    removal->done = done;
    removal->user_data = user_data;
    g_ptr_array_add(removal->paths, g_strdup(path));
    list_next(removal);
}
