#include <netinet/in.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "base/log.h"
#include "http/server-private.h"

#define LOGGER      "WebApp"
#define MOST_PLACES 1280
#define MOST_BYTES  (256 * 1024 * 1024) /* in answers that are being taken */
#define FILES_SHARE 4                   /* a listener takes at most that part of all files */
#define LOG_PERIOD  10                  /* seconds */
#define TOO_LATE    "HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"

/* What neither one address nor all that wait may go beyond: there is room for others. */
static guint
most_of(guint places)
{
    return places * 4 / 5;
}

/* ---- Addresses ---- */

static guint64
address_of(const struct sockaddr *from)
{
    const struct in6_addr *long_one;
    guint64 network;

    if (from != NULL && from->sa_family == AF_INET)
        return ((const struct sockaddr_in *)from)->sin_addr.s_addr;
    if (from == NULL || from->sa_family != AF_INET6)
        return 0;
    long_one = &((const struct sockaddr_in6 *)from)->sin6_addr;
    if (IN6_IS_ADDR_V4MAPPED(long_one))
        return long_one->s6_addr32[3];
    memcpy(&network, long_one, sizeof(network));
    return network;
}

static guint
count_of(const DroverGuests *guests, guint64 address)
{
    return GPOINTER_TO_UINT(g_hash_table_lookup(guests->addresses, &address));
}

static void
set_count(DroverGuests *guests, guint64 address, guint count)
{
    if (count > 0)
        g_hash_table_replace(guests->addresses, g_memdup2(&address, sizeof(address)),
                             GUINT_TO_POINTER(count));
    else
        g_hash_table_remove(guests->addresses, &address);
}

/* ---- Answers that are being taken: many may take the same one ---- */

static void
release_answer(DroverGuest *guest)
{
    DroverGuests *guests = &guest->server->guests;
    GBytes *answer = g_steal_pointer(&guest->answer);
    guint takers;

    if (answer == NULL)
        return;
    takers = GPOINTER_TO_UINT(g_hash_table_lookup(guests->answers, answer)) - 1;
    if (takers > 0) {
        g_hash_table_insert(guests->answers, answer, GUINT_TO_POINTER(takers));
    } else {
        g_hash_table_remove(guests->answers, answer);
        guests->answers_size -= g_bytes_get_size(answer);
    }
    g_bytes_unref(answer);
}

static void
hold_answer(DroverGuest *guest, GBytes *answer)
{
    DroverGuests *guests = &guest->server->guests;
    guint takers = GPOINTER_TO_UINT(g_hash_table_lookup(guests->answers, answer));

    guest->answer = g_bytes_ref(answer);
    g_hash_table_insert(guests->answers, answer, GUINT_TO_POINTER(takers + 1));
    if (takers == 0)
        guests->answers_size += g_bytes_get_size(answer);
}

/* ---- Cutting off ---- */

void
drover_guest_note_cut(DroverGuest *guest, DroverHttpCut why)
{
    DroverGuests *guests = &guest->server->guests;
    gint64 now = g_get_monotonic_time();

    guests->cut[why]++;
    if (guests->told != 0 && now - guests->told < LOG_PERIOD * G_USEC_PER_SEC)
        return;
    guests->told = now;
    drover_log_for(DROVER_LOG_INFO, LOGGER,
                   "%s: clients that were cut off so far: %" G_GUINT64_FORMAT
                   " were too slow, %" G_GUINT64_FORMAT " had to make room, %" G_GUINT64_FORMAT
                   " did not read",
                   guest->server->name, guests->cut[DROVER_HTTP_CUT_SLOW],
                   guests->cut[DROVER_HTTP_CUT_ROOM], guests->cut[DROVER_HTTP_CUT_UNREAD]);
}

/* The library has no call for it; but it closes what has been shut down. */
static void
dismiss(DroverGuest *guest)
{
    shutdown(guest->fd, SHUT_RDWR);
    drover_guest_enter(guest, DROVER_GUEST_LEAVING, NULL);
}

void
drover_guest_cut_off(DroverGuest *guest, DroverHttpCut why)
{
    if (guest->phase == DROVER_GUEST_LEAVING)
        return;
    drover_guest_note_cut(guest, why);
    if (why == DROVER_HTTP_CUT_SLOW && guest->phase == DROVER_GUEST_ASKING)
        send(guest->fd, TOO_LATE, strlen(TOO_LATE), MSG_DONTWAIT | MSG_NOSIGNAL);
    dismiss(guest);
}

static void
hurry(DroverGuest *guest)
{
    /* The library watches over who takes nothing. */
    if (guest->phase == DROVER_GUEST_TAKING)
        return;
    /* Who was served and asks for nothing more has done nothing wrong. */
    if (guest->phase == DROVER_GUEST_COMING && guest->served)
        dismiss(guest);
    else
        drover_guest_cut_off(guest, DROVER_HTTP_CUT_SLOW);
}

/* Those who are at it for too long; each second. */
static gboolean
on_time(gpointer user_data)
{
    DroverGuests *guests = user_data;
    gint64 latest = g_get_monotonic_time() - guests->patience * G_USEC_PER_SEC;

    for (GList *link = guests->queue.head, *next; link != NULL; link = next) {
        DroverGuest *guest = link->data;

        next = link->next;
        if (guest->since > latest)
            break;
        hurry(guest);
    }
    return G_SOURCE_CONTINUE;
}

/* Of those from there, or of all, the one that has been at it for longest; NULL: all wait for us.
 */
static DroverGuest *
find_slowest(const DroverGuests *guests, const guint64 *address)
{
    for (GList *link = guests->queue.head; link != NULL; link = link->next) {
        DroverGuest *guest = link->data;

        if (address == NULL || guest->address == *address)
            return guest;
    }
    return NULL;
}

/* Who comes in great numbers makes room among its own. */
static void
make_room(DroverGuests *guests, guint64 newcomer)
{
    DroverGuest *guest = NULL;

    if (count_of(guests, newcomer) > guests->share)
        guest = find_slowest(guests, &newcomer);
    if (guest == NULL && guests->present > guests->places)
        guest = find_slowest(guests, NULL);
    if (guest != NULL)
        drover_guest_cut_off(guest, DROVER_HTTP_CUT_ROOM);
}

/* Who takes its answer longest is asked to leave first. */
static void
save_memory(DroverGuests *guests)
{
    for (GList *link = guests->queue.head, *next; link != NULL && guests->answers_size > MOST_BYTES;
         link = next) {
        DroverGuest *guest = link->data;

        next = link->next;
        if (guest->phase == DROVER_GUEST_TAKING)
            drover_guest_cut_off(guest, DROVER_HTTP_CUT_ROOM);
    }
}

/* ---- Guests ---- */

static gboolean
is_in_queue(DroverGuestPhase phase)
{
    return phase != DROVER_GUEST_WAITING && phase != DROVER_GUEST_LEAVING;
}

void
drover_guest_enter(DroverGuest *guest, DroverGuestPhase phase, GBytes *answer)
{
    DroverGuests *guests = &guest->server->guests;

    if (guest->phase == DROVER_GUEST_LEAVING)
        return;
    if (is_in_queue(guest->phase))
        g_queue_unlink(&guests->queue, &guest->link);
    guests->waiting -= guest->phase == DROVER_GUEST_WAITING;
    release_answer(guest);
    guest->served |= guest->phase == DROVER_GUEST_TAKING;
    guest->phase = phase;
    guest->since = g_get_monotonic_time();
    if (is_in_queue(phase))
        g_queue_push_tail_link(&guests->queue, &guest->link);
    guests->waiting += phase == DROVER_GUEST_WAITING;
    if (phase == DROVER_GUEST_LEAVING) {
        guests->present--;
        set_count(guests, guest->address, count_of(guests, guest->address) - 1);
    }
    if (answer != NULL) {
        hold_answer(guest, answer);
        save_memory(guests);
    }
}

DroverGuest *
drover_guest_new(DroverHttpServer *server, int fd, const struct sockaddr *from)
{
    DroverGuests *guests = &server->guests;
    DroverGuest *guest = g_new0(DroverGuest, 1);

    guest->server = server;
    guest->fd = fd;
    guest->address = address_of(from);
    guest->link.data = guest;
    guest->phase = DROVER_GUEST_COMING;
    guest->since = g_get_monotonic_time();
    g_queue_push_tail_link(&guests->queue, &guest->link);
    guests->present++;
    set_count(guests, guest->address, count_of(guests, guest->address) + 1);
    make_room(guests, guest->address);
    if (guests->timer == 0)
        guests->timer = g_timeout_add_seconds(1, on_time, guests);
    return guest;
}

void
drover_guest_free(DroverGuest *guest)
{
    DroverGuests *guests = &guest->server->guests;

    drover_guest_enter(guest, DROVER_GUEST_LEAVING, NULL);
    if (guests->present == 0)
        g_clear_handle_id(&guests->timer, g_source_remove);
    g_free(guest);
}

gboolean
drover_guests_may_wait(const DroverGuests *guests)
{
    return guests->waiting < most_of(guests->places);
}

/* ---- Life ---- */

/* A listener leaves most of the files that may be open to what the launcher is there for. */
static guint
places_of_files(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return MOST_PLACES;
    return (guint)MIN(limit.rlim_cur / FILES_SHARE, MOST_PLACES);
}

void
drover_guests_init(DroverGuests *guests, guint patience)
{
    guests->places = places_of_files();
    guests->share = most_of(guests->places);
    guests->patience = patience;
    guests->addresses = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    g_queue_init(&guests->queue);
    guests->answers = g_hash_table_new(NULL, NULL);
}

void
drover_guests_clear(DroverGuests *guests)
{
    g_clear_handle_id(&guests->timer, g_source_remove);
    g_hash_table_unref(guests->addresses);
    g_hash_table_unref(guests->answers);
}
