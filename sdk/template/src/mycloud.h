/* What the two files of the driver share. */
#ifndef MYCLOUD_H
#define MYCLOUD_H

#include <drover/driver.h>
#include <drover/http.h>

/*
 * A provider of the configuration. All that the driver knows is in here or in the state of an
 * operation, never in a static variable: there may be several providers in one process, each on a
 * thread of its own.
 */
struct cloud {
    struct drover_provider *provider;
    const char *url, *token;
    double boot_timeout; /* seconds */
    struct drover_http *http;
};

/* The functions of the table, in machine.c. */
enum drover_step machine_create(void *self, struct drover_operation *op);
enum drover_step machine_delete(void *self, struct drover_operation *op);
enum drover_step machine_list(void *self, struct drover_operation *op);
void operation_cancel(void *self, struct drover_operation *op);
char *operation_save(void *self, struct drover_operation *op);
int operation_resume(void *self, struct drover_operation *op, const char *saved);

#endif
