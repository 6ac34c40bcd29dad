/*
 * Removing a znode together with everything below it.
 */
#pragma once

#include "zk/session.h"

/*
 * ZOK; ZNONODE: there was none; ZNOTEMPTY: a lock below it has contenders, or something was created
 * there meanwhile; ZBADVERSION; or another error, also drover_rc_is_unknown().
 */
typedef void (*DroverTreeFunc)(int rc, gpointer user_data);

/*
 * All in one transaction, or nothing. `version` is that of the znode's own record, -1 for any.
 * Unless `even_locked`, a tree in which a lock is held or waited for is left alone. `done` is
 * called once, on the core loop, never before this returns.
 */
void drover_tree_delete(DroverSession *session, const char *path, gint32 version,
                        gboolean even_locked, DroverTreeFunc done, gpointer user_data);
