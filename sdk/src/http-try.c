/* One transfer of libcurl for a request: what goes out, and collecting what comes in. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "http-private.h"

#define MOST_HEADERS 1000

/* ---- What comes in ---- */

static void
clear_answer(struct drover_http_request *request)
{
    request->status = 0;
    g_string_truncate(request->answer, 0);
    g_ptr_array_set_size(request->answer_headers, 0);
}

/* A status line begins the headers anew: one comes for "100 Continue" and from a proxy too. */
static size_t
on_header(char *line, size_t size, size_t count, void *data)
{
    struct drover_http_request *request = data;
    g_autofree char *text = g_strndup(line, count);
    char *value = strchr(text, ':');
    HttpHeader *header;

    if (g_str_has_prefix(text, "HTTP/")) {
        clear_answer(request);
    } else if (value != NULL && request->answer_headers->len < MOST_HEADERS) {
        *value++ = '\0';
        header = g_new(HttpHeader, 1);
        *header = (HttpHeader){.name = g_strdup(g_strstrip(text)),
                               .value = g_utf8_make_valid(g_strstrip(value), -1)};
        g_ptr_array_add(request->answer_headers, header);
    }
    return count;
}

static size_t
on_body(char *bytes, size_t size, size_t count, void *data)
{
    struct drover_http_request *request = data;

    request->too_large =
        request->answer->len + count > (guint64)drover_http_number(request, DROVER_HTTP_BODY_LIMIT);
    if (request->too_large)
        return 0;
    g_string_append_len(request->answer, bytes, (gssize)count);
    return count;
}

static int
on_progress(void *data, curl_off_t to_receive, curl_off_t received, curl_off_t to_send,
            curl_off_t sent)
{
    struct drover_http_request *request = data;

    request->received = (uint64_t)received;
    request->sent = (uint64_t)sent;
    return 0;
}

/* ---- What goes out: a file ---- */

static size_t
on_read(char *buffer, size_t size, size_t count, void *data)
{
    struct drover_http_request *request = data;
    uint64_t left = request->length - request->file_position;
    ssize_t got = pread(request->fd, buffer, MIN(size * count, left),
                        (off_t)(request->offset + request->file_position));

    if (got < 0)
        return CURL_READFUNC_ABORT;
    request->file_position += (uint64_t)got;
    return (size_t)got;
}

static int
on_seek(void *data, curl_off_t offset, int origin)
{
    struct drover_http_request *request = data;

    if (origin != SEEK_SET)
        return CURL_SEEKFUNC_CANTSEEK;
    request->file_position = (uint64_t)offset;
    return CURL_SEEKFUNC_OK;
}

/* The length becomes what is there. */
static gboolean
open_file(struct drover_http_request *request)
{
    struct stat about;

    request->fd = open(request->path, O_RDONLY | O_CLOEXEC);
    if (request->fd < 0 || fstat(request->fd, &about) != 0) {
        drover_http_set_mistake(request, "%s cannot be read: %s", request->path, g_strerror(errno));
        return FALSE;
    }
    if (request->offset > (uint64_t)about.st_size) {
        drover_http_set_mistake(request, "%s ends before the part to be sent", request->path);
        return FALSE;
    }
    request->length = MIN(request->length, (uint64_t)about.st_size - request->offset);
    request->file_position = 0;
    return TRUE;
}

static gboolean
set_file(struct drover_http_request *request)
{
    if (!open_file(request))
        return FALSE;
    curl_easy_setopt(request->easy, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(request->easy, CURLOPT_READFUNCTION, on_read);
    curl_easy_setopt(request->easy, CURLOPT_READDATA, request);
    curl_easy_setopt(request->easy, CURLOPT_SEEKFUNCTION, on_seek);
    curl_easy_setopt(request->easy, CURLOPT_SEEKDATA, request);
    curl_easy_setopt(request->easy, CURLOPT_INFILESIZE_LARGE, (curl_off_t)request->length);
    return TRUE;
}

/* ---- What goes out: everything else ---- */

static void
set_body(struct drover_http_request *request)
{
    gsize length = 0;
    const void *bytes = request->body != NULL ? g_bytes_get_data(request->body, &length) : NULL;

    curl_easy_setopt(request->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)length);
    curl_easy_setopt(request->easy, CURLOPT_POSTFIELDS, bytes != NULL ? bytes : "");
}

static gboolean
set_method(struct drover_http_request *request)
{
    static const char *const without_body[] = {"GET", "HEAD", "OPTIONS", "DELETE", NULL};

    if (strcmp(request->method, "HEAD") == 0)
        curl_easy_setopt(request->easy, CURLOPT_NOBODY, 1L);
    else if (request->path != NULL && !set_file(request))
        return FALSE;
    else if (request->path == NULL &&
             (request->body != NULL || !g_strv_contains(without_body, request->method)))
        set_body(request);
    curl_easy_setopt(request->easy, CURLOPT_CUSTOMREQUEST, request->method);
    return TRUE;
}

static void
add_header(struct drover_http_request *request, const char *name, const char *value)
{
    g_autofree char *line = NULL;

    if (value == NULL)
        line = g_strdup_printf("%s:", name);
    else if (*value == '\0')
        line = g_strdup_printf("%s;", name);
    else
        line = g_strdup_printf("%s: %s", name, value);
    request->header_list = curl_slist_append(request->header_list, line);
}

/* What libcurl would send of itself and must not: a form's type, and a wait before the body. */
static void
set_headers(struct drover_http_request *request)
{
    static const char *const unwanted[] = {"Content-Type", "Expect"};

    for (guint i = 0; i < request->headers->len; i++) {
        const HttpHeader *header = request->headers->pdata[i];

        add_header(request, header->name, header->value);
    }
    for (guint i = 0; i < G_N_ELEMENTS(unwanted); i++)
        if (drover_http_find_header(request->headers, unwanted[i]) == NULL)
            add_header(request, unwanted[i], NULL);
    curl_easy_setopt(request->easy, CURLOPT_HTTPHEADER, request->header_list);
}

static void
set_texts(struct drover_http_request *request)
{
    static const struct {
        enum drover_http_text setting;
        CURLoption option;
        gboolean is_blob;
    } texts[] = {
        {DROVER_HTTP_CA_FILE, CURLOPT_CAINFO, FALSE},
        {DROVER_HTTP_CA_TEXT, CURLOPT_CAINFO_BLOB, TRUE},
        {DROVER_HTTP_CERTIFICATE_FILE, CURLOPT_SSLCERT, FALSE},
        {DROVER_HTTP_CERTIFICATE_TEXT, CURLOPT_SSLCERT_BLOB, TRUE},
        {DROVER_HTTP_KEY_FILE, CURLOPT_SSLKEY, FALSE},
        {DROVER_HTTP_KEY_TEXT, CURLOPT_SSLKEY_BLOB, TRUE},
        {DROVER_HTTP_KEY_PASSWORD, CURLOPT_KEYPASSWD, FALSE},
        {DROVER_HTTP_PROXY, CURLOPT_PROXY, FALSE},
        {DROVER_HTTP_NO_PROXY, CURLOPT_NOPROXY, FALSE},
    };
    const char *agent = request->http->texts[DROVER_HTTP_USER_AGENT];

    for (guint i = 0; i < G_N_ELEMENTS(texts); i++) {
        char *text = request->http->texts[texts[i].setting];
        struct curl_blob blob = {.data = text, .flags = CURL_BLOB_COPY};

        if (text == NULL)
            continue;
        blob.len = strlen(text);
        if (texts[i].is_blob)
            curl_easy_setopt(request->easy, texts[i].option, &blob);
        else
            curl_easy_setopt(request->easy, texts[i].option, text);
    }
    curl_easy_setopt(request->easy, CURLOPT_USERAGENT, agent != NULL ? agent : "drover");
}

/* The time left of all tries, at most `limit`; both 0 for none. */
static long
within_limit(const struct drover_http_request *request, int64_t limit)
{
    int64_t whole = drover_http_number(request, DROVER_HTTP_LIMIT);
    int64_t left;

    if (whole == 0)
        return (long)limit;
    left = MAX(request->started + whole - drover_now(), 1);
    return (long)(limit > 0 ? MIN(limit, left) : left);
}

static void
set_numbers(struct drover_http_request *request)
{
    long verify = drover_http_number(request, DROVER_HTTP_VERIFY) != 0;
    int64_t stall = drover_http_number(request, DROVER_HTTP_STALL_LIMIT);

    curl_easy_setopt(request->easy, CURLOPT_SSL_VERIFYPEER, verify);
    curl_easy_setopt(request->easy, CURLOPT_SSL_VERIFYHOST, verify ? 2L : 0L);
    curl_easy_setopt(request->easy, CURLOPT_CONNECTTIMEOUT_MS,
                     (long)drover_http_number(request, DROVER_HTTP_CONNECT_LIMIT));
    curl_easy_setopt(request->easy, CURLOPT_TIMEOUT_MS,
                     within_limit(request, drover_http_number(request, DROVER_HTTP_TRY_LIMIT)));
    curl_easy_setopt(request->easy, CURLOPT_LOW_SPEED_LIMIT, stall > 0 ? 1L : 0L);
    curl_easy_setopt(request->easy, CURLOPT_LOW_SPEED_TIME, (long)((stall + 999) / 1000));
}

/* ---- The name in the server's certificate ---- */

/*
 * libcurl takes it from the address. So the address names the server as its certificate does, the
 * connection goes to the real host, and so does the Host header.
 */
static gboolean
set_server_name(struct drover_http_request *request, CURLU *address, const char *server_name)
{
    char *host = NULL, *port = NULL, *written_port = NULL;
    gboolean done = curl_url_get(address, CURLUPART_HOST, &host, 0) == CURLUE_OK &&
                    curl_url_get(address, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT) == CURLUE_OK;

    curl_url_get(address, CURLUPART_PORT, &written_port, 0);
    if (done && curl_url_set(address, CURLUPART_HOST, server_name, 0) == CURLUE_OK) {
        g_autofree char *route = g_strdup_printf("%s:%s:%s:%s", server_name, port, host, port);
        g_autofree char *shown =
            written_port != NULL ? g_strdup_printf("%s:%s", host, written_port) : g_strdup(host);

        request->connect_to = curl_slist_append(NULL, route);
        curl_easy_setopt(request->easy, CURLOPT_CONNECT_TO, request->connect_to);
        if (drover_http_find_header(request->headers, "Host") == NULL)
            add_header(request, "Host", shown);
    }
    curl_free(host);
    curl_free(port);
    curl_free(written_port);
    return done;
}

static gboolean
set_address(struct drover_http_request *request)
{
    const char *server_name = request->http->texts[DROVER_HTTP_SERVER_NAME];
    CURLU *address;
    char *url = NULL;
    gboolean done;

    if (server_name == NULL || g_ascii_strncasecmp(request->url->str, "https:", 6) != 0) {
        curl_easy_setopt(request->easy, CURLOPT_URL, request->url->str);
        return TRUE;
    }
    address = curl_url();
    done = curl_url_set(address, CURLUPART_URL, request->url->str, CURLU_PATH_AS_IS) == CURLUE_OK &&
           set_server_name(request, address, server_name) &&
           curl_url_get(address, CURLUPART_URL, &url, 0) == CURLUE_OK;
    if (done)
        curl_easy_setopt(request->easy, CURLOPT_URL, url);
    else
        drover_http_set_mistake(request, "the address cannot be read");
    curl_free(url);
    curl_url_cleanup(address);
    return done;
}

/* ---- A try ---- */

static void
set_callbacks(struct drover_http_request *request)
{
    CURL *easy = request->easy;

    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, request->curl_text);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, request);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, request);
    curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, on_progress);
    curl_easy_setopt(easy, CURLOPT_XFERINFODATA, request);
}

gboolean
drover_http_try_set_up(struct drover_http_request *request)
{
    clear_answer(request);
    request->sent = request->received = 0;
    request->too_large = FALSE;
    request->curl_text[0] = '\0';
    request->easy = curl_easy_init();
    curl_easy_setopt(request->easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(request->easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(request->easy, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(request->easy, CURLOPT_ACCEPT_ENCODING, "");
    curl_easy_setopt(request->easy, CURLOPT_TCP_KEEPALIVE, 1L);
    /* On a connection used before, libcurl repeats by itself what was not answered. */
    if (!request->idempotent)
        curl_easy_setopt(request->easy, CURLOPT_FRESH_CONNECT, 1L);
    set_callbacks(request);
    set_numbers(request);
    set_texts(request);
    if (!set_method(request) || !set_address(request))
        return FALSE;
    set_headers(request);
    return TRUE;
}

void
drover_http_try_clear(struct drover_http_request *request)
{
    g_clear_pointer(&request->easy, curl_easy_cleanup);
    g_clear_pointer(&request->header_list, curl_slist_free_all);
    g_clear_pointer(&request->connect_to, curl_slist_free_all);
    if (request->fd >= 0)
        close(request->fd);
    request->fd = -1;
}
