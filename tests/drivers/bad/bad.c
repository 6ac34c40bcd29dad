/*
 * A driver whose cloud is a list in this file, with a mistake that the build chooses; without one,
 * it is a good one. A machine is made in three steps.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <drover/driver.h>

/* The table's last function that is used here is resource_delete(). */
#if defined(SHORTER)
#define SIZE offsetof(struct drover_driver, image_upload)
#elif defined(LONGER)
#define SIZE sizeof(struct longer)
#elif !defined(SIZE)
#define SIZE sizeof(struct drover_driver)
#endif
#ifndef MINOR
#define MINOR DROVER_ABI_MINOR
#endif
#ifndef MAJOR
#define MAJOR DROVER_ABI_MAJOR
#endif
#ifndef CALLED
#define CALLED NAME
#endif
#ifndef VERSION
#define VERSION "1"
#endif
#ifndef CAPABILITIES
#define CAPABILITIES (DROVER_CAN_MACHINES | DROVER_CAN_RESOURCES)
#endif
#ifndef DEFAULT
#define DEFAULT "low"
#endif
#ifndef HELP
#define HELP "How loud it is."
#endif

#ifdef EXPORTS_MORE
DROVER_EXPORT int list_free;
DROVER_EXPORT int list_free = 1;
#endif

#ifdef LEAVES_AT_ONCE
static void leave(void) __attribute__((constructor));

static void
leave(void)
{
    _exit(3);
}
#endif

/* ---- The cloud ---- */

#define MOST_MACHINES 64

static struct {
    char id[32];
    char *tags;
} machines[MOST_MACHINES];
static int last_id;

static int
cloud_create(const char *tags)
{
    for (int i = 0; i < MOST_MACHINES; i++) {
        if (machines[i].tags != NULL)
            continue;
        snprintf(machines[i].id, sizeof(machines[i].id), "machine-%d", ++last_id);
        machines[i].tags = strdup(tags != NULL ? tags : "{}");
        return i;
    }
    abort();
}

static int
cloud_delete(const char *id)
{
    for (int i = 0; i < MOST_MACHINES; i++) {
        if (machines[i].tags == NULL || strcmp(machines[i].id, id) != 0)
            continue;
        free(machines[i].tags);
        machines[i].tags = NULL;
        return 1;
    }
    return 0;
}

/* ---- The provider ---- */

struct self {
    struct drover_provider *provider;
};

__attribute__((unused)) static const char *
token(const struct drover_provider *provider)
{
    return drover_value_get_string(drover_provider_config(provider), "token", "none");
}

__attribute__((unused)) static void *
speak_late(void *data)
{
    usleep(50000);
    drover_provider_log(data, DROVER_INFO, "still here");
    return NULL;
}

__attribute__((unused)) static void *
stay(void *data)
{
    for (;;)
        pause();
    return NULL;
}

__attribute__((unused)) static void
begin(void *(*run)(void *), void *data)
{
    pthread_t thread;

    pthread_create(&thread, NULL, run, data);
    pthread_detach(thread);
}

static void
close_provider(void *self)
{
    struct self *own = self;

#ifdef LOGS_LATE
    begin(speak_late, own->provider);
#elif defined(LEAVES_THREADS)
    begin(stay, NULL);
#elif defined(LEAVES_FILES)
    if (open("/dev/null", O_RDONLY) < 0)
        abort();
#endif
#if !defined(LEAVES_MEMORY) && !defined(ONE_FOR_ALL)
    free(own);
#endif
    (void)own;
}

static int
open_provider(struct drover_provider *provider, void **self)
{
#ifdef USES_PRIVATE
    extern struct drover_value *drover_value_new_null(void);
    extern void drover_value_free(struct drover_value * value);

    drover_value_free(drover_value_new_null());
#endif
#ifdef CANNOT_OPEN
    return -1;
#elif defined(OPENS_WITH_TOKEN)
    return drover_provider_fail(provider, DROVER_FAILURE_AUTH, "%s is refused", token(provider));
#elif defined(ONE_FOR_ALL)
    static struct self own;

    own.provider = provider;
    *self = &own;
#else
    struct self *own = malloc(sizeof(*own));

    own->provider = provider;
    *self = own;
#endif
    return 0;
}

/* ---- Mistakes in a step ---- */

__attribute__((unused)) static enum drover_step
crash(struct drover_operation *op)
{
    abort();
}

__attribute__((unused)) static enum drover_step
hang(struct drover_operation *op)
{
    for (;;)
        pause();
    return DROVER_DONE;
}

__attribute__((unused)) static enum drover_step
dawdle(struct drover_operation *op)
{
    nanosleep(&(struct timespec){.tv_sec = 1, .tv_nsec = 100000000}, NULL);
    return DROVER_DONE;
}

__attribute__((unused)) static enum drover_step
answer_nonsense(struct drover_operation *op)
{
    return (enum drover_step)42;
}

__attribute__((unused)) static enum drover_step
fail_without_reason(struct drover_operation *op)
{
    return DROVER_FAILED;
}

__attribute__((unused)) static enum drover_step
set_unknown_field(struct drover_operation *op)
{
    drover_operation_set_string(op, "ip_address", "192.0.2.1");
    return DROVER_DONE;
}

__attribute__((unused)) static enum drover_step
set_bytes(struct drover_operation *op)
{
    drover_operation_set_string(op, "hostname", "\xff\xfe");
    return DROVER_DONE;
}

__attribute__((unused)) static void *
set_address(void *op)
{
    for (int i = 0; i < 1000; i++) {
        usleep(1000);
        drover_operation_set_string(op, "interface_ip", "192.0.2.1");
    }
    return NULL;
}

/* ---- Machines ---- */

struct creation {
    int step;    /* asked for, made, up */
    int machine; /* in the cloud's list; -1: none yet */
    int64_t due;
};

static struct creation *
creation_of(struct drover_operation *op)
{
    struct creation *creation = drover_operation_state(op);

    if (creation == NULL) {
        creation = calloc(1, sizeof(*creation));
        creation->machine = -1;
        drover_operation_set_state(op, creation, free);
#ifdef SPEAKS_LATE
        begin(set_address, op);
#endif
    }
    return creation;
}

static enum drover_step
cancelled(struct creation *creation, struct drover_operation *op)
{
#ifdef FORGETS
    (void)creation;
#else
    if (creation->machine >= 0)
        cloud_delete(machines[creation->machine].id);
#endif
    return drover_operation_fail(op, DROVER_FAILURE_OTHER, "cancelled");
}

static enum drover_step
done(const struct creation *creation, struct drover_operation *op)
{
#ifndef NO_ID
    drover_operation_set_string(op, "external_id", machines[creation->machine].id);
#endif
    drover_operation_set_string(op, "interface_ip", "192.0.2.1");
#ifdef WRONG_STEP
    return WRONG_STEP(op);
#else
    return DROVER_DONE;
#endif
}

static enum drover_step
create(void *self, struct drover_operation *op)
{
    struct creation *creation = creation_of(op);

    drover_operation_call_after(op, 1);
#ifdef LOGS_TOKEN
    drover_operation_log(op, DROVER_DEBUG, "X-Token: %s", token(((struct self *)self)->provider));
#endif
#ifdef DEAF
    if (drover_operation_cancelled(op))
        return DROVER_RUNNING;
#endif
    if (drover_operation_cancelled(op))
        return cancelled(creation, op);
#ifdef COUNTS_STEPS
    /* As if each step were due. */
    if (drover_now() < creation->due)
        return drover_operation_fail(op, DROVER_FAILURE_OTHER, "stepped too early");
    creation->due = drover_now() + 20;
    drover_operation_call_after(op, 25);
#endif
    if (creation->machine < 0 && creation->step > 0)
        creation->machine = cloud_create(drover_operation_input(op, "tags"));
    else if (creation->machine >= 0)
        return done(creation, op);
    creation->step++;
    return DROVER_RUNNING;
}

static enum drover_step
remove_machine(void *self, struct drover_operation *op)
{
    if (cloud_delete(drover_operation_external_id(op)))
        return DROVER_DONE;
#ifdef TELLS_TOKEN
    return drover_operation_fail(op, DROVER_FAILURE_NOT_FOUND, "no such machine for %s",
                                 token(((struct self *)self)->provider));
#elif defined(NO_DELETE_TWICE)
    return drover_operation_fail(op, DROVER_FAILURE_OTHER, "there is no such machine");
#else
    return drover_operation_fail(op, DROVER_FAILURE_NOT_FOUND, "there is no such machine");
#endif
}

static enum drover_step
list(void *self, struct drover_operation *op)
{
#ifdef CLEANS
    drover_provider_cleaned(((struct self *)self)->provider, CLEANS);
#endif
    for (int i = 0; i < MOST_MACHINES; i++) {
        if (machines[i].tags == NULL)
            continue;
        drover_operation_add_item(op, "machine", machines[i].id);
#ifndef NO_TAGS
        drover_operation_set_string(op, "tags", machines[i].tags);
#endif
    }
    return DROVER_DONE;
}

/* ---- Written out and taken up ---- */

static char *
save(void *self, struct drover_operation *op)
{
    const struct creation *creation = drover_operation_state(op);
    char *text = NULL;

#ifdef SAVES_TOKEN
    if (creation == NULL || asprintf(&text, "%d %d %s", creation->step, creation->machine,
                                     token(((struct self *)self)->provider)) < 0)
        return NULL;
    return text;
#endif
    if (creation == NULL || asprintf(&text, "%d %d", creation->step, creation->machine) < 0)
        return NULL;
    return text;
}

static int
resume(void *self, struct drover_operation *op, const char *saved)
{
    int step = 0, machine = -1;

#ifdef RESUMES_BADLY
    if (strlen(saved) > 2)
        return -1;
#endif
#ifdef TAKES_NONSENSE
    if (strchr(saved, ' ') == NULL)
        abort();
#endif
    if (sscanf(saved, "%d %d", &step, &machine) != 2 || machine >= MOST_MACHINES)
        return -1;
    creation_of(op)->step = step;
    creation_of(op)->machine = machine;
    return 0;
}

/* ---- The table ---- */

/* Of a later minor's size, whatever is in there. */
#ifdef LONGER
struct sized_option {
    struct drover_option option;
    const char *from_the_future;
};
#define OPTION(...)                                                                                \
    {                                                                                              \
        .option = {__VA_ARGS__}, .from_the_future = "new"                                          \
    }
struct longer {
    struct drover_driver driver;
    const char *from_the_future;
};
#else
#define sized_option drover_option
#define OPTION(...)                                                                                \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
#endif

static const struct sized_option options[] = {
    OPTION(.path = "volume", .type = DROVER_OPTION_STRING, .fallback = DEFAULT,
           .allowed = "low|high", .help = HELP),
    OPTION(.path = "token", .type = DROVER_OPTION_STRING, .flags = DROVER_OPTION_SECRET,
           .help = "What the cloud knows us by."),
#ifdef OPTION_TWICE
    OPTION(.path = "volume", .type = DROVER_OPTION_STRING, .help = "How loud it is."),
#endif
#ifdef ORPHAN
    OPTION(.path = "speaker.name", .type = DROVER_OPTION_STRING, .help = "Its name."),
#endif
    OPTION(.path = "pools[].labels[]", .type = DROVER_OPTION_LIST, .unique = "name",
           .help = "Labels that the pool serves."),
    OPTION(.path = "pools[].labels[].name", .type = DROVER_OPTION_STRING,
           .flags = DROVER_OPTION_REQUIRED, .refers_to = "labels", .help = "Name of the label."),
    OPTION(.path = NULL),
};

#define TABLE                                                                                      \
    .size = SIZE, .abi_major = MAJOR, .abi_minor = MINOR, .option_size = sizeof(*options),         \
    .name = CALLED, .version = VERSION, .description = "machines of a list",                       \
    .licence = "Apache-2.0", .capabilities = CAPABILITIES,                                         \
    .options = (const struct drover_option *)options, .provider_open = open_provider,              \
    .provider_close = close_provider, .operation_save = save, .operation_resume = resume,          \
    .machine_create = create, .machine_delete = remove_machine, .resource_list = list,             \
    .resource_delete = remove_machine

#ifdef LONGER
static const struct longer longer = {.driver = {TABLE}, .from_the_future = "new"};
#else
static const struct drover_driver driver = {TABLE};
#endif

#if defined(NO_ENTRY)
const struct drover_driver *entry(void);
const struct drover_driver *
entry(void)
{
    return &driver;
}
#elif defined(LONGER)
DROVER_DRIVER(longer.driver)
#elif defined(SHORTER)
DROVER_EXPORT const struct drover_driver *drover_driver_entry(void);

/* In memory of that size, so that a sanitizer sees who reads beyond it. */
const struct drover_driver *
drover_driver_entry(void)
{
    static struct drover_driver *table;

    if (table == NULL)
        table = memcpy(malloc(SIZE), &driver, SIZE);
    return table;
}
#else
DROVER_DRIVER(driver)
#endif
