#include "log.h"

#include "buf.h"
#include "clock.h"
#include "limits.h"
#include "park.h"
#include "utf8.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>

#define CUT_MARK "...(cut)"
#define REDACTED "(redacted)"
/* Kept free for a cut mark, closing quotes and the number of cut fields. */
#define TAIL_BYTES 64
#define KEY_BYTES  128 /* of a key; longer ones are cut */
#define WAYS       8   /* slots of the table that the window of one message may use */
#define WRITE_MS   100 /* how long to wait for an output that accepts no data; only once, until it accepts data again */

_Atomic int log_lowest_level = LOG_INFO;

static const struct {
        const char *name;  /* in JSON and settings */
        const char *shown; /* in text, of one width */
        const char *colour;
} levels[_LOG_LEVEL_COUNT] = {
        [LOG_DEBUG] = { "debug", "DEBUG", "\033[90m" },
        [LOG_INFO] = { "info", "INFO ", "\033[32m" },
        [LOG_WARN] = { "warn", "WARN ", "\033[33m" },
        [LOG_ERROR] = { "error", "ERROR", "\033[31m" },
};

/* Counts of one message in its current window. */
struct repeat {
        uint64_t hash; /* of site and message; 0: unused */
        struct log_site site;
        enum log_level level;
        char *message;
        int64_t until_ns;
        uint64_t n;       /* times seen */
        uint64_t counted; /* times not written */
};

/* Guarded by the mutex. */
static struct {
        struct mutex mutex;
        int fd;
        enum log_format format;
        bool is_decided; /* is_text and is_coloured follow from fd and format */
        bool is_text;
        bool is_coloured;
        uint64_t lost;       /* lines that could not be written */
        int64_t next_end_ns; /* no window with counted repeats ends before this time */
        struct repeat repeats[LIMIT_LOG_TRACKED];
} state = { .mutex = MUTEX_INIT, .fd = STDERR_FILENO, .next_end_ns = INT64_MAX };

/* --- Secrets --- */

bool log_key_is_secret(struct str key)
{
        static const char *const words[] = { "password",   "passwd",        "passphrase", "secret",
                                             "token",      "authorization", "apikey",     "credential",
                                             "privatekey", "cookie",        "bearer",     "kubeconfig" };
        char plain[KEY_BYTES];
        size_t n = 0;

        for (size_t i = 0; i < key.n && n < sizeof(plain); i++) {
                char c = key.p[i];

                if (c >= 'A' && c <= 'Z')
                        c = (char)(c - 'A' + 'a');
                if (c >= 'a' && c <= 'z')
                        plain[n++] = c;
        }
        for (size_t i = 0; i < ARRAY_SIZE(words); i++)
                if (str_find(str_make(plain, n), str_from(words[i])) >= 0)
                        return true;
        return false;
}

/* --- Text that is safe for terminals and JSON readers --- */

static bool is_control(uint32_t rune)
{
        return rune < 0x20 || (rune >= 0x7f && rune < 0xa0) || rune == 0x2028 || rune == 0x2029;
}

static void append_escape(struct buf *b, uint32_t rune)
{
        switch (rune) {
        case '"':
                buf_append_literal(b, "\\\"");
                return;
        case '\\':
                buf_append_literal(b, "\\\\");
                return;
        case '\n':
                buf_append_literal(b, "\\n");
                return;
        case '\r':
                buf_append_literal(b, "\\r");
                return;
        case '\t':
                buf_append_literal(b, "\\t");
                return;
        }
        buf_appendf(b, "\\u%04x", rune);
}

/* Appends s with escapes, invalid UTF-8 as U+FFFD; stops with a mark before b grows beyond `limit`. */
static void append_escaped(struct buf *b, struct str s, bool in_quotes, size_t limit)
{
        while (s.n > 0) {
                char encoded[4];
                size_t width;
                uint32_t rune = utf8_decode(s, &width);

                if (b->n + 6 > limit) {
                        buf_append_literal(b, CUT_MARK);
                        return;
                }
                if (is_control(rune) || (in_quotes && (rune == '"' || rune == '\\')))
                        append_escape(b, rune);
                else
                        buf_append(b, encoded, utf8_encode(rune, encoded));
                s = str_skip(s, width);
        }
}

static void append_quoted(struct buf *b, struct str s, size_t limit)
{
        buf_append_char(b, '"');
        append_escaped(b, s, true, limit);
        buf_append_char(b, '"');
}

/* In text form plain words have no quotes; values that could be misread have. */
static bool needs_quotes(struct str s)
{
        if (s.n == 0)
                return true;
        for (size_t i = 0; i < s.n; i++)
                if ((unsigned char)s.p[i] <= ' ' || s.p[i] == '"' || s.p[i] == '=' || s.p[i] == '\\' || s.p[i] == 0x7f)
                        return true;
        return !utf8_is_valid(s);
}

/* --- Fields --- */

struct line {
        struct buf b;
        bool is_text;
        bool is_coloured;
        size_t limit; /* where contents end and the tail begins */
        uint64_t cut_fields;
};

static void append_text(struct line *l, struct str s)
{
        if (l->is_text && !needs_quotes(s))
                append_escaped(&l->b, s, false, l->limit);
        else
                append_quoted(&l->b, s, l->limit);
}

/* The shortest form that reads back equal; NaN and infinities, which JSON cannot write as numbers, are strings. */
static void append_double(struct line *l, double d)
{
        char text[32];

        if (!isfinite(d)) {
                append_text(l, isnan(d) ? STR("NaN") : d > 0 ? STR("+Inf") : STR("-Inf"));
                return;
        }
        for (int digits = 1; digits <= 17; digits++) {
                snprintf(text, sizeof(text), "%.*g", digits, d);
                if (strtod(text, NULL) == d)
                        break;
        }
        for (char *p = text; *p; p++)
                if (!strchr("0123456789+-e", *p))
                        *p = '.'; /* replaces the decimal point of the locale */
        buf_append_str(&l->b, str_from(text));
}

static void append_duration(struct line *l, int64_t ns)
{
        _cleanup_buf_ struct buf text = BUF_INIT(0);

        duration_append(&text, ns);
        append_text(l, buf_str(&text));
}

static void append_value(struct line *l, const struct log_field *f)
{
        if (log_key_is_secret(str_from(f->key))) {
                append_text(l, STR(REDACTED));
                return;
        }
        switch (f->type) {
        case LOG_TYPE_NONE:
        case LOG_TYPE_SECRET:
                append_text(l, STR(REDACTED));
                return;
        case LOG_TYPE_STR:
                append_text(l, f->s);
                return;
        case LOG_TYPE_INT:
                buf_append_int(&l->b, f->i);
                return;
        case LOG_TYPE_UINT:
                buf_append_uint(&l->b, f->u);
                return;
        case LOG_TYPE_BOOL:
                buf_append_str(&l->b, f->b ? STR("true") : STR("false"));
                return;
        case LOG_TYPE_DOUBLE:
                append_double(l, f->d);
                return;
        case LOG_TYPE_DURATION:
                append_duration(l, f->i);
                return;
        }
}

static bool is_reserved(struct str key)
{
        return str_equal(key, STR("time")) || str_equal(key, STR("level")) || str_equal(key, STR("message"));
}

/* A caller's key that equals one of our own keys gets an underscore, so that no key appears twice. */
static void append_key(struct line *l, const char *text)
{
        struct str key = str_first(str_from(text), KEY_BYTES);

        if (l->is_text) {
                buf_append_char(&l->b, ' ');
                append_escaped(&l->b, key, true, SIZE_MAX);
                buf_append_char(&l->b, '=');
                return;
        }
        buf_append_literal(&l->b, ",\"");
        append_escaped(&l->b, key, true, SIZE_MAX);
        buf_append_str(&l->b, is_reserved(key) ? STR("_\":") : STR("\":"));
}

static void append_field(struct line *l, const struct log_field *f)
{
        /* A key may grow to six times its bytes when escaped; a value needs room for the longest number at least. */
        size_t room = MIN(strlen(f->key), (size_t)KEY_BYTES) * 6 + 48;

        if (l->cut_fields > 0 || l->b.n + room > l->limit) {
                l->cut_fields++;
                return;
        }
        append_key(l, f->key);
        append_value(l, f);
}

/* --- Lines --- */

static void begin_line(struct line *l, enum log_level level, const char *message)
{
        size_t limit = l->limit;

        if (l->is_text) {
                time_append_rfc3339(&l->b, clock_wall(), 3);
                buf_appendf(&l->b, " %s%s%s ", l->is_coloured ? levels[level].colour : "", levels[level].shown,
                            l->is_coloured ? "\033[0m" : "");
                append_escaped(&l->b, str_from(message), false, limit);
                return;
        }
        buf_append_literal(&l->b, "{\"time\":\"");
        time_append_rfc3339(&l->b, clock_wall(), 3);
        buf_appendf(&l->b, "\",\"level\":\"%s\",\"message\":", levels[level].name);
        append_quoted(&l->b, str_from(message), limit);
}

static void end_line(struct line *l)
{
        if (l->cut_fields > 0)
                buf_appendf(&l->b, l->is_text ? " cutFields=%llu" : ",\"cutFields\":%llu",
                            (unsigned long long)l->cut_fields);
        if (!l->is_text)
                buf_append_char(&l->b, '}');
        buf_append_char(&l->b, '\n');
        assert(l->b.n <= LIMIT_LOG_LINE_BYTES);
}

static void decide_form(void)
{
        const char *term = getenv("TERM"), *no_color = getenv("NO_COLOR");
        bool is_terminal = isatty(state.fd);

        state.is_text = state.format == LOG_FORMAT_TEXT || (state.format == LOG_FORMAT_AUTO && is_terminal);
        state.is_coloured = is_terminal && term && strcmp(term, "dumb") != 0 && !(no_color && *no_color);
        state.is_decided = true;
}

static bool wait_for_room(void)
{
        struct pollfd p = { .fd = state.fd, .events = POLLOUT };

        return poll(&p, 1, WRITE_MS) > 0;
}

/* Writes the whole line, in one write unless the system accepts less. A line that it does not accept at all is counted. */
static void write_out(struct str s)
{
        while (s.n > 0) {
                ssize_t written = write(state.fd, s.p, s.n);

                if (written >= 0)
                        s = str_skip(s, (size_t)written);
                else if (errno == EAGAIN && state.lost == 0 && wait_for_room())
                        continue;
                else if (errno != EINTR) {
                        state.lost++;
                        return;
                }
        }
}

/* Called with the mutex held. */
static void put_line(enum log_level level, const char *message, const struct log_field *fields, size_t n_fields)
{
        struct line l = { .limit = LIMIT_LOG_LINE_BYTES - TAIL_BYTES };

        if (!state.is_decided)
                decide_form();
        l.is_text = state.is_text;
        l.is_coloured = state.is_coloured;
        begin_line(&l, level, message);
        for (size_t i = 0; i < n_fields; i++)
                append_field(&l, &fields[i]);
        end_line(&l);
        write_out(buf_str(&l.b));
        buf_done(&l.b);
}

static void report_lost(void)
{
        uint64_t lost = state.lost;

        if (lost == 0)
                return;
        state.lost = 0;
        put_line(LOG_WARN, "log lines were lost", &LOG_UINT("count", lost), 1);
        if (state.lost > 0)
                state.lost = lost; /* still not written; this line itself does not count */
}

/* --- Repeats --- */

static void end_window(struct repeat *r)
{
        if (r->counted > 0) {
                _cleanup_buf_ struct buf text = BUF_INIT(0);

                buf_appendf(&text, "repeated %llu times: %s", (unsigned long long)r->counted, r->message);
                put_line(r->level, buf_cstring(&text), &LOG_UINT("repeats", r->counted), 1);
        }
        free(r->message);
        *r = (struct repeat) { 0 };
}

static void end_windows(int64_t now_ns, bool all)
{
        int64_t next = INT64_MAX;

        if (!all && now_ns < state.next_end_ns)
                return;
        for (size_t i = 0; i < LIMIT_LOG_TRACKED; i++) {
                struct repeat *r = &state.repeats[i];

                if (r->hash && (all || r->until_ns <= now_ns))
                        end_window(r);
                if (r->counted > 0)
                        next = MIN(next, r->until_ns);
        }
        state.next_end_ns = next;
}

static bool is_same(const struct repeat *r, uint64_t hash, struct log_site site, const char *message)
{
        return r->hash == hash && r->site.line == site.line && strcmp(r->site.file, site.file) == 0 &&
               strcmp(r->message, message) == 0;
}

/* The best place to reuse: a free one, else one whose window is over, else the one with the fewest lines. */
static struct repeat *find_place(struct repeat *set, int64_t now_ns)
{
        struct repeat *place = set;

        for (size_t i = 0; i < WAYS; i++) {
                if (!set[i].hash || set[i].until_ns <= now_ns)
                        return &set[i];
                if (set[i].n < place->n)
                        place = &set[i];
        }
        return place;
}

/* The window of this message, new if there is none; the window that had its place before is reported and forgotten. */
static struct repeat *find_window(enum log_level level, struct log_site site, const char *message, int64_t now_ns)
{
        uint64_t hash =
                str_hash_seeded(str_from(message), str_hash_seeded(str_from(site.file), (uint64_t)site.line)) | 1;
        struct repeat *set = &state.repeats[(hash >> 1) % (LIMIT_LOG_TRACKED / WAYS) * WAYS], *r;

        for (size_t i = 0; i < WAYS; i++)
                if (set[i].hash && set[i].until_ns > now_ns && is_same(&set[i], hash, site, message))
                        return &set[i];
        r = find_place(set, now_ns);
        end_window(r);
        *r = (struct repeat) { .hash = hash,
                               .site = site,
                               .level = level,
                               .message = str_to_cstring(str_from(message)),
                               .until_ns = now_ns + LIMIT_LOG_WINDOW_MS * NS_PER_MS };
        return r;
}

static bool is_repeat(enum log_level level, struct log_site site, const char *message, int64_t now_ns)
{
        struct repeat *r = find_window(level, site, message, now_ns);

        if (r->n++ < LIMIT_LOG_REPEATS)
                return false;
        r->counted++;
        state.next_end_ns = MIN(state.next_end_ns, r->until_ns);
        return true;
}

/* --- The interface --- */

void log_write(enum log_level level, struct log_site site, const char *message, const struct log_field *fields,
               size_t n_fields)
{
        int64_t now_ns = clock_mono_ns();

        if (!log_is_on(level))
                return;
        mutex_lock(&state.mutex);
        end_windows(now_ns, false);
        if (!is_repeat(level, site, message, now_ns)) {
                report_lost();
                put_line(level, message, fields, n_fields);
        }
        mutex_unlock(&state.mutex);
}

void log_tick(void)
{
        mutex_lock(&state.mutex);
        end_windows(clock_mono_ns(), false);
        mutex_unlock(&state.mutex);
}

void log_flush(void)
{
        mutex_lock(&state.mutex);
        end_windows(0, true);
        report_lost();
        mutex_unlock(&state.mutex);
}

void log_set_output(int fd, enum log_format format)
{
        mutex_lock(&state.mutex);
        end_windows(0, true);
        state.fd = fd;
        state.format = format;
        state.is_decided = false;
        state.lost = 0;
        mutex_unlock(&state.mutex);
}

void log_set_level(enum log_level level)
{
        atomic_store_explicit(&log_lowest_level, (int)level, memory_order_relaxed);
}

const char *log_level_name(enum log_level level)
{
        assert((unsigned)level < _LOG_LEVEL_COUNT);
        return levels[level].name;
}

bool log_level_from_name(struct str name, enum log_level *ret)
{
        for (size_t i = 0; i < ARRAY_SIZE(levels); i++)
                if (str_equal_ignore_case(name, str_from(levels[i].name))) {
                        *ret = (enum log_level)i;
                        return true;
                }
        return false;
}
