/*
 * The fake OpenStack (tests/support/fake_openstack) and the driver "openstack" for the fixture.
 */
#pragma once

#include "integration/testcloud/fixture.h"
#include "integration/testcloud/image-file.h"

int openstack_run_tests(int argc, char **argv, const CloudTest *tests);
/* With an image's file, as long as they run. */
int openstack_run_tests_with_image(int argc, char **argv, const CloudTest *tests, ImageFile *file);

/* A member of the first object of that collection of the cloud; NULL: there is none. Free with
 * g_free(). */
char *openstack_first(const char *collection, const char *member);
/* The cloud has understood all requests. */
void openstack_assert_understood(void);
