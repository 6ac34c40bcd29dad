/*
 * Options of a label that a driver marks as templates may speak of the request for which a machine
 * is made, as Python's str.format() would: "{request.tenant_name}", "{request.labels[0]}",
 * "{request.requestor_data[key]!r:>10}".
 */
#pragma once

#include <drover/host.h>

#include "base/log.h"
#include "model/request.h"

/* What templates may speak of, by its name in Nodepool: id, labels, requestor, requestor_data,
 * relative_priority, event_id, created_time, tenant_name. New reference. */
json_t *drover_template_request(const DroverRequest *request);

/* NULL with DROVER_ERROR_MALFORMED for a template that makes no sense or says what is not there. */
char *drover_template_format(const char *text, const json_t *request, GError **error);

/*
 * The label's section with its templates filled in. One that cannot be is left out and logged. NULL
 * when the driver has no templates. Free with drover_value_free().
 */
struct drover_value *drover_template_fill(const struct drover_driver *driver,
                                          const struct drover_value *label,
                                          const DroverRequest *request,
                                          const DroverLogSubject *subject);
