#include "fault.h"

#include <string.h>

#define LONGEST_WORDS 500

/* ---- Words ---- */

/* Glance puts its words into HTML. */
static char *
without_markup(const char *text)
{
    g_autoptr(GRegex) markup = g_regex_new("<[^>]*>", 0, 0, NULL);
    g_autoptr(GRegex) blanks = g_regex_new("\\s+", 0, 0, NULL);
    g_autofree char *plain = g_regex_replace_literal(markup, text, -1, 0, " ", 0, NULL);
    char *words = g_regex_replace_literal(blanks, plain, -1, 0, " ", 0, NULL);

    if (strlen(words) > LONGEST_WORDS)
        *g_utf8_find_prev_char(words, words + LONGEST_WORDS) = '\0';
    return g_strstrip(words);
}

/* "message" of the answer itself, or of the first object in it. */
static const char *
message_in(const json_t *answer)
{
    const char *key, *text = json_string_value(json_object_get(answer, "message"));
    json_t *member;

    json_object_foreach((json_t *)answer, key, member)
    {
        if (text == NULL)
            text = json_string_value(json_object_get(member, "message"));
    }
    return text;
}

char *
fault_words(const char *body)
{
    json_t *answer = body != NULL ? json_loads(body, 0, NULL) : NULL;
    const char *text = message_in(answer);
    char *words = text != NULL && *text != '\0' ? without_markup(text) : NULL;

    json_decref(answer);
    return words;
}

/* ---- Meanings ---- */

struct meaning {
    int status; /* 0: any */
    const char *words;
    enum drover_failure failure;
};

/* The first that fits; `otherwise`: none does. */
static enum drover_failure
find_meaning(const struct meaning *meanings, int status, const char *words,
             enum drover_failure otherwise)
{
    for (; meanings->failure != 0; meanings++)
        if ((meanings->status == 0 || meanings->status == status) &&
            (meanings->words == NULL ||
             (words != NULL && strcasestr(words, meanings->words) != NULL)))
            return meanings->failure;
    return otherwise;
}

static const struct meaning meanings_of_calls[] = {
    {403, "quota", DROVER_FAILURE_QUOTA},
    {409, "quota exceeded", DROVER_FAILURE_QUOTA},
    {409, "no more ip addresses", DROVER_FAILURE_CAPACITY},
    {409, "unable to find any ip address", DROVER_FAILURE_CAPACITY},
    {413, "quota", DROVER_FAILURE_QUOTA},
    {413, NULL, DROVER_FAILURE_RATE_LIMITED},
    {429, NULL, DROVER_FAILURE_RATE_LIMITED},
    {503, NULL, DROVER_FAILURE_RATE_LIMITED},
    {0},
};

static const struct meaning meanings_of_creates[] = {
    {403, "quota exceeded", DROVER_FAILURE_QUOTA},
    {403, "number of ports exceeded", DROVER_FAILURE_QUOTA},
    {400, "can not find requested image", DROVER_FAILURE_NOT_FOUND},
    {409, "multiple possible networks found", DROVER_FAILURE_PERMANENT},
    {413, NULL, DROVER_FAILURE_RATE_LIMITED},
    {429, NULL, DROVER_FAILURE_RATE_LIMITED},
    {503, NULL, DROVER_FAILURE_RATE_LIMITED},
    {0},
};

static const struct meaning meanings_of_servers[] = {
    {0, "quota", DROVER_FAILURE_QUOTA},
    {0, "number of ports exceeded", DROVER_FAILURE_QUOTA},
    {0, "no valid host", DROVER_FAILURE_CAPACITY},
    {0, "exceeded maximum number of retries", DROVER_FAILURE_CAPACITY},
    {0, "no fixed ip", DROVER_FAILURE_CAPACITY},
    {0, "no more ip addresses", DROVER_FAILURE_CAPACITY},
    {0},
};

enum drover_failure
fault_of_call(int status, const char *words, enum drover_failure failure)
{
    return find_meaning(meanings_of_calls, status, words, failure);
}

enum drover_failure
fault_of_create(int status, const char *words, enum drover_failure failure)
{
    return find_meaning(meanings_of_creates, status, words, failure);
}

enum drover_failure
fault_of_server(const char *words)
{
    return find_meaning(meanings_of_servers, 0, words, DROVER_FAILURE_BROKEN);
}
