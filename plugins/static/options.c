#include "options.h"

#include <string.h>

#define NODE "pools[].nodes[]."

/*
 * LENIENT is where Nodepool converts what stands in the file, so that a number in quotes has always
 * worked.
 */
const struct drover_option static_options[] = {
    {
        .path = "pools[].nodes[]",
        .type = DROVER_OPTION_LIST,
        .unique = "name,username,connection-port",
        .help = "The machines of the pool.",
    },
    {
        .path = NODE "name",
        .type = DROVER_OPTION_STRING,
        .flags = DROVER_OPTION_REQUIRED,
        .help = "Host name or address, as those who use the machine reach it.",
    },
    {
        .path = NODE "labels",
        .type = DROVER_OPTION_STRINGS,
        .flags = DROVER_OPTION_REQUIRED | DROVER_OPTION_SPLIT,
        .refers_to = "labels",
        .help = "Labels whose requests the machine serves; a single string is split at blanks.",
    },
    {
        .path = NODE "username",
        .type = DROVER_OPTION_STRING,
        .fallback = "zuul",
        .help = "Account that those who use the machine log in to.",
    },
    {
        .path = NODE "connection-type",
        .type = DROVER_OPTION_STRING,
        .fallback = "ssh",
        .help = "How the machine is used: ssh, network_cli, winrm or another type of Ansible's. "
                "Host keys are collected for the first two.",
    },
    {
        .path = NODE "connection-port",
        .type = DROVER_OPTION_INTEGER,
        .flags = DROVER_OPTION_LENIENT,
        .fallback = "22",
        .fallback_when = "connection-type=winrm: 5986",
        .allowed = "1..65535",
        .old_name = "ssh-port",
        .help = "TCP port of the connection.",
    },
    {
        .path = NODE "shell-type",
        .type = DROVER_OPTION_STRING,
        .help = "Ansible's shell type, for instance cmd or powershell on Windows.",
    },
    {
        .path = NODE "python-path",
        .type = DROVER_OPTION_STRING,
        .fallback = "auto",
        .help = "Python interpreter that Ansible uses on the machine.",
    },
    {
        .path = NODE "host-key",
        .type = DROVER_OPTION_STRINGS,
        .fallback = "[]",
        .help = "SSH host keys that the machine must have, each as \"type base64\".",
    },
    {
        .path = NODE "host-key-checking",
        .type = DROVER_OPTION_BOOLEAN,
        .flags = DROVER_OPTION_LENIENT,
        .fallback = "true",
        .help = "Whether the machine is contacted before it is registered and given away.",
    },
    {
        .path = NODE "timeout",
        .type = DROVER_OPTION_INTEGER,
        .flags = DROVER_OPTION_LENIENT,
        .fallback = "5",
        .allowed = "0..",
        .help = "Seconds in which the machine has to be reached.",
    },
    {
        .path = NODE "max-parallel-jobs",
        .type = DROVER_OPTION_INTEGER,
        .flags = DROVER_OPTION_LENIENT,
        .fallback = "1",
        .allowed = "0..",
        .help = "Slots of the machine: how many nodes it is registered as.",
    },
    {.path = NULL},
};

const char *
machine_name(const struct drover_value *machine)
{
    return drover_value_get_string(machine, "name", "");
}

const char *
machine_username(const struct drover_value *machine)
{
    return drover_value_get_string(machine, "username", "zuul");
}

uint16_t
machine_port(const struct drover_value *machine)
{
    return (uint16_t)drover_value_get_integer(machine, "connection-port", 22);
}

static uint32_t
get_amount(const struct drover_value *machine, const char *option, int64_t otherwise, int64_t most)
{
    int64_t amount = drover_value_get_integer(machine, option, otherwise);

    return (uint32_t)(amount < most ? amount : most);
}

uint32_t
machine_timeout(const struct drover_value *machine)
{
    return get_amount(machine, "timeout", 5, UINT32_MAX / 1000) * 1000;
}

uint32_t
machine_slots(const struct drover_value *machine)
{
    return get_amount(machine, "max-parallel-jobs", 1, UINT32_MAX);
}

int
machine_checks_host_keys(const struct drover_value *machine)
{
    return drover_value_get_boolean(machine, "host-key-checking", 1);
}

int
machine_has_host_keys(const struct drover_value *machine)
{
    const char *type = drover_value_get_string(machine, "connection-type", "ssh");

    return strcmp(type, "ssh") == 0 || strcmp(type, "network_cli") == 0;
}
