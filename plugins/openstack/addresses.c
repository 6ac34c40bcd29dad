#include "addresses.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "list.h"
#include "network.h"

/* ---- All that a record has ---- */

struct address {
    const char *network; /* its name */
    const char *text, *mac;
    int version;
    gboolean floating;
};

/* 4 or 6; 0: it is no address. */
static int
version_of(const char *text)
{
    struct in6_addr address;

    if (text == NULL)
        return 0;
    if (inet_pton(AF_INET, text, &address) == 1)
        return 4;
    return inet_pton(AF_INET6, text, &address) == 1 ? 6 : 0;
}

static void
add_network(GArray *all, const char *network, const json_t *items)
{
    size_t index;
    json_t *item;

    json_array_foreach((json_t *)items, index, item)
    {
        struct address address = {
            .network = network,
            .text = list_text(item, "addr"),
            .mac = list_text(item, "OS-EXT-IPS-MAC:mac_addr"),
            .version = version_of(list_text(item, "addr")),
            .floating = g_strcmp0(list_text(item, "OS-EXT-IPS:type"), "floating") == 0,
        };

        if (address.version != 0)
            g_array_append_val(all, address);
    }
}

/* Floating ones first, else in the record's order. Free with g_array_unref(). */
static GArray *
all_of(const json_t *server)
{
    g_autoptr(GArray) found = g_array_new(FALSE, FALSE, sizeof(struct address));
    GArray *sorted = g_array_new(FALSE, FALSE, sizeof(struct address));
    const char *network;
    json_t *items;

    json_object_foreach(json_object_get(server, "addresses"), network, items)
    {
        add_network(found, network, items);
    }
    for (int pass = 0; pass < 2; pass++)
        for (guint i = 0; i < found->len; i++) {
            const struct address *address = &g_array_index(found, struct address, i);

            if (address->floating == (pass == 0))
                g_array_append_vals(sorted, address, 1);
        }
    return sorted;
}

/* ---- Conditions ---- */

struct choice {
    const struct settings *settings;
    const json_t *networks;
    const char *wanted; /* a network's name */
    const char *mac;
};

typedef gboolean (*condition)(const struct choice *choice, const struct address *address);

static gboolean
is_on_external(const struct choice *choice, const struct address *address)
{
    const json_t *network = list_find(choice->networks, "name", address->network);

    return address->version == 4 && network != NULL &&
           network_is_external(choice->settings, network);
}

static gboolean
is_floating(const struct choice *choice, const struct address *address)
{
    return address->version == 4 && address->floating;
}

static gboolean
is_ipv4_on_wanted(const struct choice *choice, const struct address *address)
{
    return address->version == 4 && g_strcmp0(address->network, choice->wanted) == 0;
}

static gboolean
is_ipv6_on_wanted(const struct choice *choice, const struct address *address)
{
    return address->version == 6 && g_strcmp0(address->network, choice->wanted) == 0;
}

static gboolean
is_not_private(const struct choice *choice, const struct address *address)
{
    return address->version == 4 && !addresses_is_private_ipv4(address->text);
}

static gboolean
is_ipv6(const struct choice *choice, const struct address *address)
{
    return address->version == 6;
}

static gboolean
is_fixed_ipv4(const struct choice *choice, const struct address *address)
{
    return address->version == 4 && !address->floating;
}

static gboolean
is_on_internal(const struct choice *choice, const struct address *address)
{
    const json_t *network = list_find(choice->networks, "name", address->network);

    return is_fixed_ipv4(choice, address) && network != NULL &&
           network_is_internal(choice->settings, network);
}

static gboolean
is_behind_floating(const struct choice *choice, const struct address *address)
{
    return is_on_internal(choice, address) && choice->mac != NULL &&
           g_strcmp0(address->mac, choice->mac) == 0;
}

static const struct address *
first(const GArray *all, const struct choice *choice, condition fits)
{
    for (guint i = 0; i < all->len; i++) {
        const struct address *address = &g_array_index(all, struct address, i);

        if (fits(choice, address))
            return address;
    }
    return NULL;
}

static const char *
text_of(const struct address *address)
{
    return address != NULL ? address->text : "";
}

/* The first that fits the first condition that any fits; "" */
static const char *
pick(const GArray *all, const struct choice *choice, const condition *conditions)
{
    for (; *conditions != NULL; conditions++)
        if (first(all, choice, *conditions) != NULL)
            return text_of(first(all, choice, *conditions));
    return "";
}

/* ---- Choices ---- */

static const char *
access_address(const json_t *server, const char *member)
{
    const char *text = list_text(server, member);

    return version_of(text) != 0 ? text : "";
}

static const char *
public_ipv4(struct choice *choice, const GArray *all, const json_t *server)
{
    static const condition conditions[] = {is_on_external, is_floating, is_ipv4_on_wanted,
                                           is_not_private, NULL};

    if (!settings_flag(choice->settings, "use_external_network", TRUE))
        return "";
    choice->wanted = "public";
    if (*access_address(server, "accessIPv4") != '\0')
        return access_address(server, "accessIPv4");
    return pick(all, choice, conditions);
}

static gboolean
forces_ipv4(const struct settings *settings)
{
    const json_t *client = json_object_get(settings->values, "client");

    return settings_flag(settings, "force_ipv4", FALSE) ||
           json_is_true(json_object_get(client, "force_ipv4"));
}

static const char *
public_ipv6(struct choice *choice, const GArray *all, const json_t *server)
{
    if (forces_ipv4(choice->settings))
        return "";
    if (*access_address(server, "accessIPv6") != '\0')
        return access_address(server, "accessIPv6");
    return text_of(first(all, choice, is_ipv6));
}

static const char *
private_ipv4(struct choice *choice, const GArray *all)
{
    static const condition conditions[] = {is_behind_floating, is_on_internal, is_ipv4_on_wanted,
                                           NULL};
    const struct address *floating = first(all, choice, is_floating);

    if (!settings_flag(choice->settings, "use_internal_network", TRUE))
        return "";
    choice->wanted = "private";
    choice->mac = floating != NULL ? floating->mac : NULL;
    return pick(all, choice, conditions);
}

/* On the network that the settings want, if they want one. */
static const char *
default_interface(struct choice *choice, const GArray *all, gboolean host_has_ipv6)
{
    static const condition with_ipv6[] = {is_ipv6_on_wanted, is_ipv4_on_wanted, NULL};
    const char *wanted = network_with_part(choice->settings, "default_interface");
    const json_t *by_id = wanted != NULL ? list_find(choice->networks, "id", wanted) : NULL;

    if (wanted == NULL)
        return "";
    choice->wanted = by_id != NULL ? list_text(by_id, "name") : wanted;
    return pick(all, choice,
                host_has_ipv6 && !forces_ipv4(choice->settings) ? with_ipv6 : with_ipv6 + 1);
}

/* The first that is one. */
static const char *
first_text(const char *const *texts)
{
    while (*texts != NULL && **texts == '\0')
        texts++;
    return *texts != NULL ? *texts : "";
}

struct addresses
addresses_choose(const struct settings *settings, const json_t *networks, const json_t *server,
                 gboolean host_has_ipv6)
{
    struct choice choice = {.settings = settings, .networks = networks};
    g_autoptr(GArray) all = all_of(server);
    struct addresses chosen = {
        .public_ipv4 = public_ipv4(&choice, all, server),
        .public_ipv6 = public_ipv6(&choice, all, server),
        .private_ipv4 = private_ipv4(&choice, all),
        .has_floating = first(all, &choice, is_floating) != NULL,
        .has_fixed_ipv4 = first(all, &choice, is_fixed_ipv4) != NULL,
    };
    const char *const reached[] = {
        default_interface(&choice, all, host_has_ipv6),
        settings_flag(settings, "private", FALSE) ? chosen.private_ipv4 : "",
        host_has_ipv6 ? chosen.public_ipv6 : "",
        chosen.public_ipv4,
        chosen.private_ipv4,
        chosen.public_ipv6,
        NULL,
    };

    chosen.interface = first_text(reached);
    return chosen;
}

gboolean
addresses_are_on_known_networks(const json_t *networks, const json_t *server)
{
    const char *network;
    json_t *items;

    json_object_foreach(json_object_get(server, "addresses"), network, items)
    {
        if (list_find(networks, "name", network) == NULL)
            return FALSE;
    }
    return TRUE;
}

gboolean
addresses_need_floating_ip(const struct settings *settings, const struct addresses *addresses)
{
    return network_has_floating_ips(settings) && *addresses->public_ipv4 == '\0' &&
           !addresses->has_floating && addresses->has_fixed_ipv4 &&
           !settings_flag(settings, "private", FALSE);
}

json_t *
addresses_with_floating_ip(const json_t *server, const char *floating_ip)
{
    json_t *copy = json_deep_copy(server);
    json_t *addresses = json_object_get(copy, "addresses");
    void *network = json_object_iter(addresses);

    if (network != NULL)
        json_array_append_new(json_object_iter_value(network),
                              json_pack("{s:i, s:s, s:s}", "version", 4, "addr", floating_ip,
                                        "OS-EXT-IPS:type", "floating"));
    return copy;
}

/* ---- Kinds of addresses ---- */

gboolean
addresses_is_private_ipv4(const char *text)
{
    static const struct {
        guint32 network;
        int bits;
    } ranges[] = {
        {0x00000000, 8},  {0x0a000000, 8},  {0x7f000000, 8},  {0xa9fe0000, 16},
        {0xac100000, 12}, {0xc0000000, 24}, {0xc0000200, 24}, {0xc0a80000, 16},
        {0xc6120000, 15}, {0xc6336400, 24}, {0xcb007100, 24}, {0xf0000000, 4},
    };
    struct in_addr address;

    if (inet_pton(AF_INET, text, &address) != 1)
        return TRUE;
    for (gsize i = 0; i < G_N_ELEMENTS(ranges); i++)
        if ((ntohl(address.s_addr) ^ ranges[i].network) >> (32 - ranges[i].bits) == 0)
            return TRUE;
    return FALSE;
}

/* Nothing is sent: the system only looks for a route, to an address that is in public use. */
gboolean
addresses_host_has_ipv6(void)
{
    struct sockaddr_in6 there = {.sin6_family = AF_INET6, .sin6_port = htons(53)};
    int handle = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    gboolean found;

    if (handle < 0)
        return FALSE;
    inet_pton(AF_INET6, "2001:500:2::c", &there.sin6_addr);
    found = connect(handle, (struct sockaddr *)&there, sizeof there) == 0;
    close(handle);
    return found;
}
