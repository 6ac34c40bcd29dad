/* What the SDK itself tells a provider's host. */
#pragma once

#include <drover/host.h>

/* A try of a request has ended; see struct drover_provider_host. */
void drover_provider_note_call(struct drover_provider *provider, const char *method,
                               const char *url, int status, int64_t milliseconds);

void drover_provider_call_backing(struct drover_provider *provider,
                                  const struct drover_backing_call *call);
