/*
 * A driver that means harm, as its option "attack" says: each operation, or each call of a
 * provider's life, does what no driver may.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <drover/driver.h>

#define MANY 300000
#define LONG (1024 * 1024)

struct self {
    struct drover_provider *provider;
    const char *attack;
};

/* Handles of what has long ended. */
static struct drover_provider *_Atomic old_provider;
static struct drover_inventory *_Atomic old_inventory;
static struct drover_operation *_Atomic old_operation;

/* ---- Blocking: while the file "gate" is there ---- */

static void
block(const struct drover_provider *provider, const char *where)
{
    const struct drover_value *config = drover_provider_config(provider);
    const char *gate = drover_value_get_string(config, "gate", "");

    if (strcmp(drover_value_get_string(config, "attack", ""), where) != 0)
        return;
    drover_provider_log(provider, DROVER_INFO, "blocking");
    while (access(gate, F_OK) == 0)
        usleep(10000);
}

/* ---- Attacks of one operation ---- */

static char *
long_text(void)
{
    char *text = malloc(LONG + 1);

    memset(text, 'x', LONG);
    text[LONG] = '\0';
    return text;
}

static enum drover_step
say_long_things(struct self *self, struct drover_operation *op)
{
    char *text = long_text();
    enum drover_step outcome;

    drover_operation_set_string(op, "external_id", text);
    drover_operation_set_string(op, text, "x");
    drover_operation_set_json(op, "driver_data", text);
    drover_operation_add_host_key(op, text);
    drover_operation_set_resource(op, text, 1);
    drover_operation_set_status(op, text);
    drover_operation_log(op, DROVER_INFO, "%s", text);
    drover_provider_log(self->provider, DROVER_INFO, "%s", text);
    drover_operation_add_item(op, text, text);
    outcome = drover_operation_fail(op, DROVER_FAILURE_QUOTA, "%s", text);
    free(text);
    return outcome;
}

static enum drover_step
add_items_without_end(struct self *self, struct drover_operation *op)
{
    for (int i = 0; i < MANY; i++)
        drover_operation_add_item(op, "machine", "of many");
    return DROVER_DONE;
}

static enum drover_step
append_without_end(struct self *self, struct drover_operation *op)
{
    char *text = long_text();

    for (int i = 0; i < 64; i++)
        drover_operation_append_text(op, text, LONG);
    free(text);
    return DROVER_DONE;
}

static enum drover_step
change_without_end(struct self *self, struct drover_operation *op)
{
    char text[64];

    for (int i = 0; i < MANY; i++) {
        snprintf(text, sizeof(text), "number %d", i);
        drover_operation_set_string(op, "external_id", text);
        drover_operation_set_status(op, text);
        drover_operation_set_resource(op, text, i);
    }
    return DROVER_DONE;
}

/* Everything that a driver may call, with these handles. */
static void
say_everything(struct drover_provider *provider, struct drover_inventory *inventory,
               struct drover_operation *op)
{
    drover_provider_log(provider, DROVER_ERR, "speaks of what is not there");
    drover_provider_fail(provider, DROVER_FAILURE_PERMANENT, "of what is not there");
    drover_inventory_add(inventory, "main", drover_provider_config(provider), 1);
    drover_operation_set_string(op, "external_id", "of another");
    drover_operation_add_item(op, NULL, NULL);
    drover_operation_append_text(op, "of another", 10);
    drover_operation_set_status(op, "of another");
    drover_operation_call_after(op, 0);
    drover_operation_wake(op);
    drover_operation_set_state(op, NULL, NULL);
    drover_operation_fail(op, DROVER_FAILURE_PERMANENT, "of another");
    drover_report_error(NULL, NULL, "of no report");
}

static enum drover_step
take_wrong_handles(struct self *self, struct drover_operation *op)
{
    void *of_provider = self->provider, *of_operation = op;
    void *never = (void *)(uintptr_t)0x7fffffffffff;

    say_everything(NULL, NULL, NULL);
    say_everything(of_operation, of_operation, of_provider);
    say_everything(never, never, never);
    say_everything(old_provider, old_inventory, old_operation);
    return DROVER_DONE;
}

static enum drover_step
pass_nothing(struct self *self, struct drover_operation *op)
{
    drover_operation_set_string(op, NULL, NULL);
    drover_operation_set_string(op, "hostname", NULL);
    drover_operation_set_json(op, NULL, NULL);
    drover_operation_set_json(op, "driver_data", NULL);
    drover_operation_set_integer(op, NULL, 0);
    drover_operation_add_host_key(op, NULL);
    drover_operation_set_resource(op, NULL, 0);
    drover_operation_append_text(op, NULL, 100);
    drover_operation_set_status(op, NULL);
    drover_operation_add_item(op, NULL, NULL);
    return DROVER_DONE;
}

static enum drover_step
pass_bytes(struct self *self, struct drover_operation *op)
{
    drover_operation_set_string(op, "\xff", "\xff");
    drover_operation_set_string(op, "hostname", "\xc0\x80");
    drover_operation_set_json(op, "driver_data", "\"\xff\"");
    drover_operation_add_host_key(op, "\xfe");
    drover_operation_set_resource(op, "\xff", 1);
    drover_operation_append_text(op, "\xff\0\xff", 3);
    drover_operation_set_status(op, "\xff");
    drover_operation_log(op, DROVER_WARNING, "bytes \xff\n\x1b[31m");
    drover_operation_add_item(op, "\xff", "\xff");
    return drover_operation_fail(op, (enum drover_failure) - 5, "bytes \xff");
}

static enum drover_step
answer_zero(struct self *self, struct drover_operation *op)
{
    return (enum drover_step)0;
}

static enum drover_step
answer_less_than_zero(struct self *self, struct drover_operation *op)
{
    return (enum drover_step) - 1;
}

static enum drover_step
block_in_operation(struct self *self, struct drover_operation *op)
{
    block(self->provider, "block-operation");
    return DROVER_DONE;
}

static enum drover_step
crash(struct self *self, struct drover_operation *op)
{
    abort();
}

/* Where the process that has it speaks to its launcher. */
static enum drover_step
write_to_the_socket(struct self *self, struct drover_operation *op)
{
    static const char garbage[] = "\x00\x00\x00\x05hello";

    return write(3, garbage, sizeof(garbage)) > 0 ? DROVER_RUNNING : DROVER_DONE;
}

static enum drover_step
leave(struct self *self, struct drover_operation *op)
{
    _exit(0);
}

static void *
clean_elsewhere(void *provider)
{
    for (int i = 0; i < 100; i++)
        drover_provider_cleaned(provider, "elsewhere", 1);
    return NULL;
}

/* Names and numbers that no metric can have, and more names than there should be, while another
 * thread says how much it has cleaned, as it may. */
static enum drover_step
clean_what_there_is_not(struct self *self, struct drover_operation *op)
{
    static const char *const names[] = {NULL,  "",         "Ports",        "1st", "a b",
                                        "a.b", "a:1|c\nb", "p\xc3\xb6rts", "\xff"};
    char *text = long_text(), name[32];
    void *of_operation = op;
    pthread_t thread;

    pthread_create(&thread, NULL, clean_elsewhere, self->provider);
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        drover_provider_cleaned(self->provider, names[i], 1);
    drover_provider_cleaned(self->provider, text, 1);
    free(text);
    drover_provider_cleaned(NULL, "ports", 1);
    drover_provider_cleaned(of_operation, "ports", 1);
    drover_provider_cleaned(self->provider, "ports", (uint32_t)-1);
    drover_provider_cleaned(self->provider, "ports", 0);
    for (int i = 0; i < 300; i++) {
        snprintf(name, sizeof(name), "name-%d", i);
        drover_provider_cleaned(self->provider, name, 1);
    }
    pthread_join(thread, NULL);
    drover_provider_cleaned(self->provider, "ports", 2);
    return DROVER_DONE;
}

static const struct {
    const char *attack;
    enum drover_step (*run)(struct self *self, struct drover_operation *op);
} attacks[] = {
    {"long", say_long_things},
    {"items", add_items_without_end},
    {"text", append_without_end},
    {"changes", change_without_end},
    {"handles", take_wrong_handles},
    {"nothing", pass_nothing},
    {"bytes", pass_bytes},
    {"zero", answer_zero},
    {"negative", answer_less_than_zero},
    {"block-operation", block_in_operation},
    {"crash", crash},
    {"socket", write_to_the_socket},
    {"leave", leave},
    {"cleaned", clean_what_there_is_not},
};

static enum drover_step
attack(void *data, struct drover_operation *op)
{
    struct self *self = data;

    for (size_t i = 0; i < sizeof(attacks) / sizeof(*attacks); i++)
        if (strcmp(attacks[i].attack, self->attack) == 0)
            return attacks[i].run(self, op);
    old_operation = op;
    return DROVER_DONE;
}

/* ---- Attacks of a provider's life ---- */

static int
provider_open(struct drover_provider *provider, void **self)
{
    struct self *own = calloc(1, sizeof(*own));

    own->provider = provider;
    own->attack =
        drover_value_get_string(drover_provider_config(provider), "attack", "none at all");
    *self = own;
    block(provider, "block-open");
    return 0;
}

static void
provider_start(void *self)
{
    block(((struct self *)self)->provider, "block-start");
}

static void
provider_stop(void *self)
{
    block(((struct self *)self)->provider, "block-stop");
}

static void
provider_close(void *self)
{
    old_provider = ((struct self *)self)->provider;
    free(self);
}

static int
inventory_list(void *data, struct drover_inventory *inventory)
{
    const struct self *self = data;
    const struct drover_value *config = drover_provider_config(self->provider);

    old_inventory = inventory;
    if (strcmp(self->attack, "machines") != 0)
        return 0;
    drover_inventory_add(inventory, NULL, config, 1);
    drover_inventory_add(inventory, "\xff", config, 1);
    drover_inventory_add(inventory, "main", NULL, 1);
    drover_inventory_add(inventory, "main", (const void *)self, 1);
    drover_inventory_add(inventory, "main", config, UINT32_MAX);
    drover_inventory_add(inventory, "nobody's", config, 1);
    drover_inventory_add(inventory, "main", config, 0);
    return 0;
}

/* ---- Attacks of the check of a section ---- */

__attribute__((noinline)) static void
complain_without_end(struct drover_report *report)
{
    for (;;)
        drover_report_error(report, NULL, "and another thing");
}

/* Warns of what it is about to do, at the value that says so. */
static void
config_check(const struct drover_value *config, struct drover_report *report)
{
    const char *attack = drover_value_get_string(config, "attack", "");

    if (strncmp(attack, "check", strlen("check")) != 0)
        return;
    drover_report_warning(report, drover_value_get(config, "attack"), "here it comes");
    if (strcmp(attack, "check-crash") == 0)
        abort();
    if (strcmp(attack, "check-leave") == 0)
        _exit(5);
    if (strcmp(attack, "check-complain") == 0)
        complain_without_end(report);
    while (strcmp(attack, "check-hang") == 0)
        pause();
    if (strcmp(attack, "check-socket") == 0 && write(3, "\0\0\0\5hello", 9) < 0)
        return;
    drover_report_warning(report, (const void *)report, "of no value");
    drover_report_warning(report, config, "bytes \xff");
}

static const struct drover_option options[] = {
    {.path = "attack", .type = DROVER_OPTION_STRING, .help = "What it does."},
    {.path = "gate",
     .type = DROVER_OPTION_STRING,
     .help = "It blocks as long as this file exists."},
    {.path = "pools[]", .type = DROVER_OPTION_LIST},
    {.path = "pools[].labels[]", .type = DROVER_OPTION_LIST},
    {.path = "pools[].labels[].name", .type = DROVER_OPTION_STRING, .refers_to = "labels"},
    {.path = NULL},
};

static const struct drover_driver driver = {
    DROVER_DRIVER_HEADER,
    .name = "hostile",
    .version = "1.0",
    .description = "means harm",
    .licence = "Apache-2.0",
    .capabilities = CAPABILITIES,
    .options = options,
    .config_check = config_check,
    .provider_open = provider_open,
    .provider_start = provider_start,
    .provider_stop = provider_stop,
    .provider_close = provider_close,
    .inventory_list = inventory_list,
    .slot_register = attack,
    .slot_check = attack,
    .machine_create = attack,
    .machine_delete = attack,
    .resource_list = attack,
    .resource_delete = attack,
};
DROVER_DRIVER(driver)
