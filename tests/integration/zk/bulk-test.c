/* Many reads in few requests. */
#include "fixture.h"

#include <string.h>

#include "zk/bulk.h"
#include "zk/jute.h"

enum { ZNODES = 1010, TIMEOUT = 10 };

typedef struct {
    int rc;
    struct Stat stat;
    char *text; /* the data, or the sorted names */
} Answer;

typedef struct {
    GPtrArray *paths;
    DroverBulkRead *reads;
    Answer *answers;
    guint answered;
} Reading;

static int
compare_names(gconstpointer a, gconstpointer b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void
keep(const DroverReadReply *reply, gpointer user_data)
{
    Answer *answer = user_data;
    g_autoptr(GPtrArray) names = g_ptr_array_new();

    g_assert_null(answer->text);
    answer->rc = reply->rc;
    answer->stat = reply->stat;
    for (guint i = 0; i < reply->n_children; i++)
        g_ptr_array_add(names, (gpointer)reply->children[i]);
    g_ptr_array_sort(names, compare_names);
    g_ptr_array_add(names, NULL);
    if (reply->data != NULL && g_bytes_get_size(reply->data) > 0)
        answer->text =
            g_strndup(g_bytes_get_data(reply->data, NULL), g_bytes_get_size(reply->data));
    else
        answer->text = g_strjoinv(" ", (char **)names->pdata);
}

static Reading *
reading_new(void)
{
    Reading *reading = g_new0(Reading, 1);

    reading->paths = g_ptr_array_new_with_free_func(g_free);
    return reading;
}

static void
reading_free(Reading *reading)
{
    for (guint i = 0; i < reading->paths->len && reading->answers != NULL; i++)
        g_free(reading->answers[i].text);
    g_free(reading->answers);
    g_free(reading->reads);
    g_ptr_array_unref(reading->paths);
    g_free(reading);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Reading, reading_free)

/* Every third path is asked for its children. */
static gboolean
run(Reading *reading, TestSession *test, GError **error)
{
    guint n = reading->paths->len;
    gboolean ok;

    reading->reads = g_new0(DroverBulkRead, n);
    reading->answers = g_new0(Answer, n);
    for (guint i = 0; i < n; i++)
        reading->reads[i] = (DroverBulkRead){.path = reading->paths->pdata[i],
                                             .of_children = i % 3 == 0,
                                             .user_data = &reading->answers[i]};
    ok = drover_bulk_read(test->session, reading->reads, n, TIMEOUT, keep, error);
    for (guint i = 0; i < n; i++)
        reading->answered += reading->answers[i].text != NULL;
    return ok;
}

/* One after the other, for comparison. */
typedef struct {
    Answer answer;
    gboolean is_there;
} Single;

static void
keep_single(const DroverReadReply *reply, gpointer user_data)
{
    Single *single = user_data;

    keep(reply, &single->answer);
    single->is_there = TRUE;
}

static void
assert_same_stat(const struct Stat *a, const struct Stat *b)
{
    g_assert_cmpint(a->czxid, ==, b->czxid);
    g_assert_cmpint(a->mzxid, ==, b->mzxid);
    g_assert_cmpint(a->ctime, ==, b->ctime);
    g_assert_cmpint(a->mtime, ==, b->mtime);
    g_assert_cmpint(a->version, ==, b->version);
    g_assert_cmpint(a->cversion, ==, b->cversion);
    g_assert_cmpint(a->aversion, ==, b->aversion);
    g_assert_cmpint(a->ephemeralOwner, ==, b->ephemeralOwner);
    g_assert_cmpint(a->dataLength, ==, b->dataLength);
    g_assert_cmpint(a->numChildren, ==, b->numChildren);
    g_assert_cmpint(a->pzxid, ==, b->pzxid);
}

static void
assert_same(TestSession *test, const DroverBulkRead *read)
{
    const Answer *answer = read->user_data;
    Single single = {0};

    if (read->of_children)
        drover_session_list(test->session, read->path, FALSE, keep_single, &single);
    else
        drover_session_get(test->session, read->path, FALSE, keep_single, &single);
    wait_for(&single.is_there);
    g_assert_cmpint(answer->rc, ==, single.answer.rc);
    g_assert_cmpstr(answer->text, ==, single.answer.text);
    if (!read->of_children)
        assert_same_stat(&answer->stat, &single.answer.stat);
    g_free(single.answer.text);
}

/* ---- What it answers ---- */

static void
make_znodes(TestSession *test, const char *root, guint n)
{
    for (guint begun = 0; begun < n;) {
        DroverChange *change = drover_change_new(test->session);

        for (guint end = MIN(begun + 100, n); begun < end; begun++) {
            g_autofree char *path = below(root, "%u", begun), *text = NULL;
            g_autoptr(GBytes) data = NULL;

            text = g_strnfill(begun % 50 * 37, (char)('a' + begun % 26));
            data = g_bytes_new(text, strlen(text));
            drover_change_create(change, path, data, 0);
        }
        g_assert_cmpint(commit(change), ==, DROVER_CHANGE_DONE);
    }
}

static void
test_answers_as_single_reads_do(void)
{
    g_autofree char *root = new_root(), *one = below(root, "3/one"), *two = below(root, "3/two");
    g_autoptr(TestSession) test = open_session(NULL);
    g_autoptr(Reading) reading = reading_new();
    g_autoptr(GError) error = NULL;

    make_znodes(test, root, ZNODES);
    peer_create(one, "");
    peer_create(two, "");
    for (guint i = 0; i < ZNODES; i++)
        g_ptr_array_add(reading->paths, below(root, i % 100 == 98 ? "missing%u" : "%u", i));
    g_assert_true(run(reading, test, &error));
    g_assert_no_error(error);
    g_assert_cmpuint(reading->answered, ==, ZNODES);
    g_assert_cmpint(reading->answers[98].rc, ==, ZNONODE);
    g_assert_cmpstr(reading->answers[3].text, ==, "one two");
    for (guint i = 0; i < ZNODES; i++)
        assert_same(test, &reading->reads[i]);
}

static void
test_nothing_asked(void)
{
    g_autoptr(TestSession) test = open_session(NULL);
    g_autoptr(Reading) reading = reading_new();
    g_autoptr(GError) error = NULL;

    g_assert_true(run(reading, test, &error));
    g_assert_no_error(error);
}

static void
read_secret(const char *chroot, const char *digest, int expected)
{
    TestSessionSetup setup = {.chroot = chroot, .digest = digest, .leave_chroot = TRUE};
    g_autoptr(TestSession) test = open_session(&setup);
    g_autoptr(Reading) reading = reading_new();
    g_autoptr(GError) error = NULL;

    g_ptr_array_add(reading->paths, g_strdup("/"));
    g_ptr_array_add(reading->paths, g_strdup("/x"));
    g_assert_true(run(reading, test, &error));
    g_assert_no_error(error);
    g_assert_cmpint(reading->answers[0].rc, ==, expected);
    g_assert_cmpint(reading->answers[1].rc, ==, expected);
    g_assert_cmpstr(reading->answers[0].text, ==, expected == ZOK ? "x" : "");
}

static void
test_chroot_and_digest(void)
{
    g_autofree char *root = new_root(), *chroot = below(root, "secret");
    TestSessionSetup setup = {.chroot = chroot, .digest = "drover:password"};
    TestSession *test = open_session(&setup);
    DroverChange *change = drover_change_new(test->session);

    drover_change_create(change, "/x", NULL, 0);
    g_assert_cmpint(commit(change), ==, DROVER_CHANGE_DONE);
    close_session(test);
    read_secret(chroot, "drover:password", ZOK);
    read_secret(chroot, NULL, ZNOAUTH);
}

/* ---- Where it gives up ---- */

static void
assert_fails(TestSession *test)
{
    g_autoptr(Reading) reading = reading_new();
    g_autoptr(GError) error = NULL;

    g_ptr_array_add(reading->paths, g_strdup("/zookeeper"));
    g_assert_false(run(reading, test, &error));
    g_assert_nonnull(error);
    g_assert_cmpuint(reading->answered, ==, 0);
}

static void
test_not_connected(void)
{
    g_autoptr(TestSession) test = open_session(NULL);

    suspend_session(test);
    assert_fails(test);
    resume_session(test);
}

static void
test_second_connection_is_refused(void)
{
    g_autoptr(TestSession) test = open_session(NULL);

    test_tcp_proxy_set_mode(proxy, TEST_PROXY_REFUSE);
    assert_fails(test);
    g_assert_cmpint(exists(test, "/zookeeper"), ==, ZOK);
    test_tcp_proxy_set_mode(proxy, TEST_PROXY_PASS);
}

/* ---- Answers that are no answers ---- */

static DroverJute
jute(GBytes *answer)
{
    return (DroverJute){.answer = answer};
}

static void
test_short_answers(void)
{
    static const guint8 bytes[] = {0, 0, 0, 2, 0, 0, 0, 1, 'a', 0x7f, 0xff, 0xff, 0xff, 'b'};
    g_autoptr(GBytes) answer = g_bytes_new_static(bytes, sizeof(bytes));
    DroverJute in = jute(answer);
    g_autoptr(GBytes) data = NULL;
    g_auto(GStrv) texts = NULL;
    guint n;

    texts = drover_jute_take_texts(&in, &n);
    g_assert_true(in.is_short);
    g_assert_cmpuint(n, ==, 1);
    g_assert_cmpstr(texts[0], ==, "a");
    data = drover_jute_take_data(&in);
    g_assert_cmpuint(g_bytes_get_size(data), ==, 0);
    g_assert_cmpint(drover_jute_take_long(&in), ==, 0);
    g_assert_false(drover_jute_take_boolean(&in));
    g_assert_null(drover_jute_take_text(&in));
}

static void
test_numbers(void)
{
    g_autoptr(GByteArray) out = g_byte_array_new();
    g_autoptr(GBytes) answer = NULL;
    g_autofree char *text = NULL;
    DroverJute in;

    drover_jute_put_int(out, -2);
    drover_jute_put_long(out, G_MININT64);
    drover_jute_put_boolean(out, TRUE);
    drover_jute_put_text(out, "text");
    drover_jute_put_int(out, -1); /* the length of none */
    answer = g_byte_array_free_to_bytes(g_steal_pointer(&out));
    in = jute(answer);
    g_assert_cmpint(drover_jute_take_int(&in), ==, -2);
    g_assert_cmpint(drover_jute_take_long(&in), ==, G_MININT64);
    g_assert_true(drover_jute_take_boolean(&in));
    text = drover_jute_take_text(&in);
    g_assert_cmpstr(text, ==, "text");
    g_bytes_unref(drover_jute_take_data(&in));
    g_assert_false(in.is_short);
}

static void
add_tests(void)
{
    g_test_add_func("/zk/bulk/answers-as-single-reads-do", test_answers_as_single_reads_do);
    g_test_add_func("/zk/bulk/nothing-asked", test_nothing_asked);
    g_test_add_func("/zk/bulk/chroot-and-digest", test_chroot_and_digest);
    g_test_add_func("/zk/bulk/not-connected", test_not_connected);
    g_test_add_func("/zk/bulk/second-connection-is-refused", test_second_connection_is_refused);
    g_test_add_func("/zk/bulk/short-answers", test_short_answers);
    g_test_add_func("/zk/bulk/numbers", test_numbers);
}

int
main(int argc, char **argv)
{
    return run_with_cluster(&argc, &argv, add_tests);
}
