/* What the words of clouds mean. */
#include "fault.h"

static void
check_words(const char *body, const char *expected)
{
    g_autofree char *words = fault_words(body);

    g_assert_cmpstr(words, ==, expected);
}

static void
test_words(void)
{
    check_words("{\"forbidden\": {\"code\": 403, \"message\": \"No.\"}}", "No.");
    check_words("{\"NeutronError\": {\"type\": \"OverQuota\", \"message\": \"Too many\", "
                "\"detail\": \"\"}}",
                "Too many");
    check_words("{\"message\": \"Not<br /><br />\\n\\n here\", \"code\": \"404 Not Found\"}",
                "Not here");
    check_words("{\"error\": {\"code\": 401, \"title\": \"Unauthorized\", \"message\": \"Log "
                "in\"}}",
                "Log in");
    check_words("<html>", NULL);
    check_words("", NULL);
    check_words("{\"a\": []}", NULL);
}

static void
test_creates(void)
{
    static const struct {
        int status;
        const char *words;
        enum drover_failure given, expected;
    } cases[] = {
        {403, "Quota exceeded for instances: Requested 1, but already used 3 of 3 instances",
         DROVER_FAILURE_AUTH, DROVER_FAILURE_QUOTA},
        {403, "Maximum number of ports exceeded", DROVER_FAILURE_AUTH, DROVER_FAILURE_QUOTA},
        {403, "Policy doesn't allow it", DROVER_FAILURE_AUTH, DROVER_FAILURE_AUTH},
        {409, "Multiple possible networks found, use a Network ID to be more specific.",
         DROVER_FAILURE_OTHER, DROVER_FAILURE_PERMANENT},
        {409, "something else", DROVER_FAILURE_OTHER, DROVER_FAILURE_OTHER},
        {400, "Can not find requested image", DROVER_FAILURE_OTHER, DROVER_FAILURE_NOT_FOUND},
        {400, "The requested availability zone is not available", DROVER_FAILURE_OTHER,
         DROVER_FAILURE_OTHER},
        {413, NULL, DROVER_FAILURE_OTHER, DROVER_FAILURE_RATE_LIMITED},
        {429, "quota", DROVER_FAILURE_RATE_LIMITED, DROVER_FAILURE_RATE_LIMITED},
        {503, NULL, DROVER_FAILURE_OTHER, DROVER_FAILURE_RATE_LIMITED},
        {500, NULL, DROVER_FAILURE_OTHER, DROVER_FAILURE_OTHER},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++)
        g_assert_cmpint(fault_of_create(cases[i].status, cases[i].words, cases[i].given), ==,
                        cases[i].expected);
}

static void
test_servers(void)
{
    static const struct {
        const char *words;
        enum drover_failure expected;
    } cases[] = {
        {"VolumeSizeExceedsAvailableQuota: Requested volume or snapshot exceeds allowed gigabytes "
         "quota.",
         DROVER_FAILURE_QUOTA},
        {"VolumeLimitExceeded: Maximum number of volumes allowed (2) exceeded for quota 'volumes'.",
         DROVER_FAILURE_QUOTA},
        {"Maximum number of ports exceeded", DROVER_FAILURE_QUOTA},
        {"No valid host was found. ", DROVER_FAILURE_CAPACITY},
        {"Exceeded maximum number of retries. Exhausted all hosts", DROVER_FAILURE_CAPACITY},
        {"No fixed IP addresses available for network", DROVER_FAILURE_CAPACITY},
        {"No more IP addresses available on network", DROVER_FAILURE_CAPACITY},
        {"Build of instance aborted", DROVER_FAILURE_BROKEN},
        {NULL, DROVER_FAILURE_BROKEN},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++)
        g_assert_cmpint(fault_of_server(cases[i].words), ==, cases[i].expected);
}

static void
test_calls(void)
{
    g_assert_cmpint(
        fault_of_call(409, "Quota exceeded for resources: ['floatingip'].", DROVER_FAILURE_OTHER),
        ==, DROVER_FAILURE_QUOTA);
    g_assert_cmpint(
        fault_of_call(409, "No more IP addresses available on network n.", DROVER_FAILURE_OTHER),
        ==, DROVER_FAILURE_CAPACITY);
    g_assert_cmpint(fault_of_call(409, "Unable to find any IP address on external network n.",
                                  DROVER_FAILURE_OTHER),
                    ==, DROVER_FAILURE_CAPACITY);
    g_assert_cmpint(fault_of_call(413, "image quota", DROVER_FAILURE_OTHER), ==,
                    DROVER_FAILURE_QUOTA);
    g_assert_cmpint(fault_of_call(404, NULL, DROVER_FAILURE_NOT_FOUND), ==,
                    DROVER_FAILURE_NOT_FOUND);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/openstack/fault/words", test_words);
    g_test_add_func("/openstack/fault/OS-35-OS-38-OS-73-creates", test_creates);
    g_test_add_func("/openstack/fault/OS-36-OS-37-OS-40-OS-41-servers", test_servers);
    g_test_add_func("/openstack/fault/calls", test_calls);
    return g_test_run();
}
