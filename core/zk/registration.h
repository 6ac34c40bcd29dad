/*
 * An ephemeral, sequential znode that says that this process is there:
 * <directory>/<name><sequence>. It is created again whenever it is gone, and its record is kept up
 * to date. One that an earlier process left in the same session, or whose creation's answer was
 * lost, is adopted; a second one is deleted. The directory is created when it is missing.
 */
#pragma once

#include "zk/session.h"

typedef struct _DroverRegistration DroverRegistration;

/*
 * TRUE for a record of this very component that an earlier process of the same session left. It may
 * take over what that process was called. May be NULL.
 */
typedef gboolean (*DroverRegistrationMatch)(GBytes *data, gpointer user_data);
/* The znode's name is known (again), or it is gone (NULL). May be NULL. */
typedef void (*DroverRegistrationFunc)(const char *name, gpointer user_data);

DroverRegistration *drover_registration_new(DroverSession *session, const char *directory,
                                            const char *name, GBytes *record,
                                            DroverRegistrationMatch match,
                                            DroverRegistrationFunc registered, gpointer user_data);
/* Writes only when the record differs. */
void drover_registration_update(DroverRegistration *registration, GBytes *record);
/* The znode's name below the directory; NULL while not registered. */
const char *drover_registration_name(const DroverRegistration *registration);
/* Somebody saw that the znode is not there any more: it is looked for, and created if need be. */
void drover_registration_vanished(DroverRegistration *registration);
/* Deletes the znode, after a reconnection if need be, and frees. Before the session is closed. */
void drover_registration_free(DroverRegistration *registration);
