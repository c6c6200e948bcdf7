/* Live progress on a terminal: lines that stay, and below them a block of lines about objects that are not ready yet, which is drawn anew
 * at each look. Elsewhere there is no block. */
#include "up.h"

#include "buf.h"
#include "log.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>

#define WIDTH_DEFAULT  80
#define HEIGHT_DEFAULT 24

void up_screen_init(struct up_screen *s, bool is_debug)
{
        const char *term = getenv("TERM");

        *s = (struct up_screen) { .is_live = isatty(STDOUT_FILENO) && term && *term && strcmp(term, "dumb") != 0 &&
                                             !is_debug };
}

/* Lines of a log between two looks would move the block: what they tell of objects is in the block. */
void up_screen_hold_log(struct up_screen *s)
{
        if (!s->is_live || s->holds_log || !isatty(STDERR_FILENO))
                return;
        s->null_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
        s->holds_log = s->null_fd >= 0;
        if (s->holds_log)
                log_set_output(s->null_fd, LOG_FORMAT_AUTO);
}

void up_screen_release_log(struct up_screen *s)
{
        if (!s->holds_log)
                return;
        log_set_output(STDERR_FILENO, LOG_FORMAT_AUTO);
        close(s->null_fd);
        s->holds_log = false;
}

void up_screen_clear(struct up_screen *s)
{
        if (s->n_drawn)
                printf("\033[%uA\033[J", s->n_drawn);
        fflush(stdout);
        s->n_drawn = 0;
        s->drawn_hash = 0;
}

static struct winsize size_of_screen(void)
{
        struct winsize size = { 0 };

        if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0 || size.ws_col == 0 || size.ws_row == 0)
                size = (struct winsize) { .ws_col = WIDTH_DEFAULT, .ws_row = HEIGHT_DEFAULT };
        return size;
}

/* The text in one line of the screen: no control characters, and not wider than it. */
static void print_cut(struct str text, size_t width)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        size_t n = 0;

        for (size_t i = 0; i < text.n && n < width; i++) {
                unsigned char c = (unsigned char)text.p[i];

                n += (c & 0xc0) != 0x80; /* the first byte of a character */
                if (n < width || (c & 0xc0) == 0x80)
                        buf_append_char(&b, c < ' ' || c == 0x7f ? ' ' : (char)c);
        }
        printf("%.*s%s\n", STR_ARG(buf_str(&b)), n >= width ? "~" : "");
}

static void draw(struct up_screen *s, const struct str *lines, size_t n)
{
        struct winsize size = size_of_screen();
        size_t room = size.ws_row > 3 ? size.ws_row - 2u : 1, shown = MIN(n, room);

        for (size_t i = 0; i < shown; i++)
                print_cut(lines[i], size.ws_col);
        if (shown < n)
                printf("... and %zu more\n", n - shown);
        s->n_drawn = (unsigned)(shown + (shown < n));
}

static uint64_t hash_lines(const struct str *lines, size_t n)
{
        uint64_t hash = n + 1;

        for (size_t i = 0; i < n; i++)
                hash = hash * 31 + str_hash(lines[i]);
        return hash;
}

void up_screen_show(struct up_screen *s, const struct str *stays, size_t n_stays, const struct str *block, size_t n)
{
        uint64_t hash = hash_lines(block, n);

        if (n_stays == 0 && (!s->is_live || hash == s->drawn_hash))
                return;
        up_screen_clear(s);
        for (size_t i = 0; i < n_stays; i++)
                printf("%.*s\n", STR_ARG(stays[i]));
        if (s->is_live) {
                draw(s, block, n);
                s->drawn_hash = hash;
        }
        fflush(stdout);
}
