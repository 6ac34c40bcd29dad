/*
 * What logging in, or asking Nova for its versions, failed with the last time, and when it may be
 * tried again: after pauses that grow.
 */
#ifndef OPENSTACK_TROUBLE_H
#define OPENSTACK_TROUBLE_H

#include "cloud.h"

struct trouble {
    struct cloud *cloud;
    enum drover_failure failure;
    char *message; /* NULL: there was none */
    unsigned times;
    int64_t until;
};

/* Logged, "what: why", unless it is what was logged last. */
void trouble_note(struct trouble *trouble, enum drover_failure failure, const char *what,
                  const char *why);
/* The request failed. */
void trouble_note_request(struct trouble *trouble, const struct drover_http_request *request,
                          const char *what);
/* Whether nothing is to be tried now. */
gboolean trouble_lasts(const struct trouble *trouble);
/* It worked, or all is different now. */
void trouble_clear(struct trouble *trouble);

/* The pause after so many failures, in milliseconds. */
int64_t trouble_pause(unsigned times, int64_t longest);

#endif
