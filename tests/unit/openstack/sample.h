/*
 * JSON, clouds and operations for tests.
 */
#ifndef TESTS_UNIT_OPENSTACK_SAMPLE_H
#define TESTS_UNIT_OPENSTACK_SAMPLE_H

#include <drover/host.h>

#include "cloud.h"

/* JSON with ' for ". A new reference. */
json_t *sample_json(const char *text);
/* The same as a value of the configuration. Free with drover_value_free(). */
struct drover_value *sample_value(const char *text);

/* The settings of cloud "c", whose entry in clouds.yaml is the JSON. Free with settings_free(). */
struct settings *sample_settings(const char *entry);

/* Whether they are equal; says what there is when they are not. Takes `found` over. */
void sample_check(json_t *found, const char *expected);

/* A provider "p" of the configuration, without a session. */
struct cloud *sample_cloud(const char *config, const char *entry);
void sample_cloud_free(struct cloud *cloud);

/* An operation for node "0000000007" of pool "main" and the label, with tags of the host. It
 * belongs to the cloud. */
struct drover_operation *sample_operation(struct cloud *cloud, const char *label);

#endif
