/* Labels that cannot work as they are configured, until the cloud is another. */
#include "launcher/provider/label-errors.h"

#define SECOND G_USEC_PER_SEC

static void
test_time(void)
{
    DroverLabelErrors *errors = drover_label_errors_new();
    gint64 begin = 1000 * SECOND, end = begin + DROVER_LABEL_ERROR_SECONDS * SECOND;

    g_assert_null(drover_label_errors_why(errors, "l", begin));
    g_assert_true(drover_label_errors_add(errors, "l", "no flavor", begin));
    g_assert_cmpstr(drover_label_errors_why(errors, "l", begin), ==, "no flavor");
    g_assert_cmpstr(drover_label_errors_why(errors, "l", end - 1), ==, "no flavor");
    g_assert_null(drover_label_errors_why(errors, "m", begin));
    g_assert_null(drover_label_errors_why(errors, "l", end));
    drover_label_errors_free(errors);
}

/* The same again is no news, something else is, and so is the same after it had worked. */
static void
test_news(void)
{
    DroverLabelErrors *errors = drover_label_errors_new();

    g_assert_true(drover_label_errors_add(errors, "l", "no flavor", 0));
    g_assert_false(drover_label_errors_add(errors, "l", "no flavor", 400 * SECOND));
    g_assert_cmpstr(drover_label_errors_why(errors, "l", 500 * SECOND), ==, "no flavor");
    g_assert_true(drover_label_errors_add(errors, "l", "no network", 800 * SECOND));
    drover_label_errors_remove(errors, "l");
    g_assert_null(drover_label_errors_why(errors, "l", 800 * SECOND));
    g_assert_true(drover_label_errors_add(errors, "l", "no network", 900 * SECOND));
    drover_label_errors_free(errors);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/launcher/label-errors/time", test_time);
    g_test_add_func("/launcher/label-errors/news", test_news);
    return g_test_run();
}
