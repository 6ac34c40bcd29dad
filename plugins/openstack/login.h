/*
 * The login at Keystone: the address of its version 3 is found, and a token is asked for, which
 * brings the catalog and the project. Of one that has to be renewed the old token is there until
 * the new one is.
 */
#ifndef OPENSTACK_LOGIN_H
#define OPENSTACK_LOGIN_H

#include "trouble.h"

struct login;

/* `ended` is called when a login has worked, or failed and become trouble; never before
 * login_begin() has returned. */
struct login *login_new(struct cloud *cloud, struct trouble *trouble, void (*ended)(void *data),
                        void *data);
void login_free(struct login *login);
/* Forgets everything, also a login under way. */
void login_reset(struct login *login);

/* Not while one is under way. */
void login_begin(struct login *login);
gboolean login_is_under_way(const struct login *login);

/* Whether the settings say that nobody has to log in. */
gboolean login_is_needless(const struct login *login);
/* There is a token that has not ended. */
gboolean login_is_usable(const struct login *login);
/* It does not end soon, either. */
gboolean login_is_fresh(const struct login *login);

/* What the last login gave, each may be NULL. Valid until the next one, or a reset. */
const char *login_token(const struct login *login);
const char *login_project(const struct login *login);
const json_t *login_catalog(const struct login *login);
/* Counts logins. */
unsigned login_generation(const struct login *login);

/* It was refused. */
void login_drop_token(struct login *login);

#endif
