#include "cli/terminal.h"

#include <glib-unix.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

/* The other screen, without a cursor and without a line that goes on in the next one; and back. */
#define ENTER "\033[?1049h\033[?25l\033[?7l\033[2J"
#define LEAVE "\033[?7h\033[?25h\033[?1049l"

#define CTRL_Z 26

static const int deadly[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGQUIT};

struct _DroverTerminal {
    void (*key)(guint key, gpointer user_data);
    void (*resized)(gpointer user_data);
    gpointer user_data;
    GString *input; /* the beginning of a key's code */
    guint input_source, size_source;
};

/* For signal handlers. */
static struct termios before;
static volatile sig_atomic_t has_input, is_open;

/* ---- The state of the terminal ---- */

static void
put(const char *codes)
{
    while (*codes != '\0') {
        ssize_t n = write(STDOUT_FILENO, codes, strlen(codes));

        if (n <= 0)
            return;
        codes += n;
    }
}

static void
leave(void)
{
    if (!is_open)
        return;
    is_open = FALSE;
    put(LEAVE);
    if (has_input)
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &before);
}

static void
enter(void)
{
    struct termios raw;

    has_input = tcgetattr(STDIN_FILENO, &before) == 0;
    if (has_input) {
        raw = before;
        raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
        raw.c_cc[VSUSP] = _POSIX_VDISABLE; /* comes as a key */
        raw.c_cc[VMIN] = 1;
        raw.c_cc[VTIME] = 0;
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw);
    }
    is_open = TRUE;
    put(ENTER);
}

static void
on_deadly_signal(int number)
{
    leave();
    signal(number, SIG_DFL);
    raise(number);
}

static void
handle_deadly_signals(void (*handler)(int number))
{
    for (guint i = 0; i < G_N_ELEMENTS(deadly); i++)
        signal(deadly[i], handler);
}

/* The shell takes the terminal back; it is ours again when this returns. */
static void
stop(DroverTerminal *terminal)
{
    leave();
    kill(getpid(), SIGSTOP);
    enter();
    terminal->resized(terminal->user_data);
}

/* ---- Keys ---- */

static const struct {
    const char *code;
    DroverKey key;
} codes[] = {
    {"\033[A", DROVER_KEY_UP},   {"\033[B", DROVER_KEY_DOWN},     {"\033OA", DROVER_KEY_UP},
    {"\033OB", DROVER_KEY_DOWN}, {"\033[5~", DROVER_KEY_PAGE_UP}, {"\033[6~", DROVER_KEY_PAGE_DOWN},
    {"\033[H", DROVER_KEY_HOME}, {"\033[F", DROVER_KEY_END},      {"\033OH", DROVER_KEY_HOME},
    {"\033OF", DROVER_KEY_END},  {"\033[1~", DROVER_KEY_HOME},    {"\033[4~", DROVER_KEY_END},
};

/* How long the code at the beginning is: ESC, '[' or 'O', parameters, a last character; 0: not
 * ended yet. */
static gsize
code_length(const char *input)
{
    gsize length = 2;

    if (input[0] != '\033')
        return 1;
    if (input[1] == '\0')
        return 0;
    if (input[1] != '[' && input[1] != 'O')
        return 1;
    while (input[length] != '\0' && (input[length] < '@' || input[length] > '~'))
        length++;
    return input[length] != '\0' ? length + 1 : 0;
}

static guint
find_key(const char *input, gsize length)
{
    if (length == 1)
        return (guchar)input[0];
    for (guint i = 0; i < G_N_ELEMENTS(codes); i++)
        if (strlen(codes[i].code) == length && strncmp(codes[i].code, input, length) == 0)
            return codes[i].key;
    return DROVER_KEY_OTHER;
}

static gboolean
on_input(gint fd, GIOCondition condition, gpointer user_data)
{
    DroverTerminal *terminal = user_data;
    char piece[256];
    ssize_t n = read(fd, piece, sizeof(piece) - 1);
    gsize length;

    if (n <= 0) {
        terminal->input_source = 0;
        return G_SOURCE_REMOVE;
    }
    for (ssize_t i = 0; i < n; i++)
        if (piece[i] != '\0')
            g_string_append_c(terminal->input, piece[i]);
    while (terminal->input->len > 0 && (length = code_length(terminal->input->str)) > 0) {
        guint key = find_key(terminal->input->str, length);

        g_string_erase(terminal->input, 0, (gssize)length);
        if (key == CTRL_Z)
            stop(terminal);
        else
            terminal->key(key, terminal->user_data);
    }
    return G_SOURCE_CONTINUE;
}

/* ---- Size ---- */

void
drover_terminal_size(guint *rows, guint *columns)
{
    struct winsize size = {0};

    ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
    *rows = size.ws_row > 0 ? size.ws_row : 24;
    *columns = size.ws_col > 0 ? size.ws_col : 80;
}

static gboolean
on_resized(gpointer user_data)
{
    DroverTerminal *terminal = user_data;

    put("\033[2J");
    terminal->resized(terminal->user_data);
    return G_SOURCE_CONTINUE;
}

/* ---- Life ---- */

gboolean
drover_terminal_is_there(void)
{
    const char *kind = g_getenv("TERM");

    return isatty(STDOUT_FILENO) && kind != NULL && *kind != '\0' && strcmp(kind, "dumb") != 0;
}

DroverTerminal *
drover_terminal_open(void (*key)(guint key, gpointer user_data),
                     void (*resized)(gpointer user_data), gpointer user_data)
{
    DroverTerminal *terminal = g_new0(DroverTerminal, 1);

    terminal->key = key;
    terminal->resized = resized;
    terminal->user_data = user_data;
    terminal->input = g_string_new(NULL);
    handle_deadly_signals(on_deadly_signal);
    enter();
    if (has_input)
        terminal->input_source =
            g_unix_fd_add(STDIN_FILENO, G_IO_IN | G_IO_HUP, on_input, terminal);
    terminal->size_source = g_unix_signal_add(SIGWINCH, on_resized, terminal);
    return terminal;
}

void
drover_terminal_close(DroverTerminal *terminal)
{
    leave();
    handle_deadly_signals(SIG_DFL);
    g_clear_handle_id(&terminal->input_source, g_source_remove);
    g_source_remove(terminal->size_source);
    g_string_free(terminal->input, TRUE);
    g_free(terminal);
}
