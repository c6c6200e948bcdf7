#include "test.h"

#include "buf.h"
#include "clock.h"
#include "limits.h"
#include "log.h"
#include "park.h"
#include "utf8.h"

#include <fcntl.h>
#include <math.h>
#include <sys/mman.h>
#include <unistd.h>

/* Everything is written to a file in memory, at one moment: 2026-01-31T12:00:00.123Z. */
static struct sim_clock test_clock;
static struct buf output;
static int output_fd = -1;

static void begin(enum log_format format)
{
        sim_clock_init(&test_clock, (struct instant) { 1769860800, 123456789 });
        clock_use_here(&test_clock);
        log_set_level(LOG_DEBUG);
        log_flush(); /* what an earlier test left */
        if (output_fd >= 0)
                close(output_fd);
        output_fd = memfd_create("log", MFD_CLOEXEC);
        log_set_output(output_fd, format);
}

/* The text that was written since the last call. */
static struct str written(void)
{
        char chunk[4096];
        ssize_t n;

        buf_clear(&output);
        lseek(output_fd, 0, SEEK_SET);
        while ((n = read(output_fd, chunk, sizeof(chunk))) > 0)
                buf_append(&output, chunk, (size_t)n);
        if (ftruncate(output_fd, 0) < 0)
                abort();
        lseek(output_fd, 0, SEEK_SET);
        return buf_str(&output);
}

#define JSON_HEAD  "{\"time\":\"2026-01-31T12:00:00.123Z\",\"level\":\"info\",\"message\":"
#define JSON(rest) STR(JSON_HEAD rest "}\n")
#define TEXT(rest) STR("2026-01-31T12:00:00.123Z INFO  " rest "\n")

TEST(forms)
{
        _cleanup_err_ struct err err = { 0 };

        err_set(&err, ERR_NOT_FOUND, "cannot get \"x\"");
        begin(LOG_FORMAT_JSON);
        log_info("composed", LOG_STR("xr", STR("db-1")), LOG_INT("count", -3), LOG_UINT("big", UINT64_MAX),
                 LOG_BOOL("ready", true), LOG_BOOL("late", false), LOG_DOUBLE("load", 0.1),
                 LOG_DURATION("took", 1500 * NS_PER_MS), LOG_ERR("error", &err), LOG_TEXT("none", NULL));
        ASSERT_STR(written(),
                   JSON("\"composed\",\"xr\":\"db-1\",\"count\":-3,\"big\":18446744073709551615,\"ready\":true,"
                        "\"late\":false,\"load\":0.1,\"took\":\"1.5s\",\"error\":\"cannot get \\\"x\\\"\","
                        "\"none\":\"\""));
        begin(LOG_FORMAT_TEXT);
        log_info("composed it", LOG_STR("xr", STR("db-1")), LOG_INT("count", -3), LOG_ERR("error", &err),
                 LOG_TEXT("empty", ""), LOG_TEXT("equation", "a=b"), LOG_TEXT("path", "a\\b"), LOG_DOUBLE("load", 2),
                 LOG_DURATION("took", 0));
        ASSERT_STR(written(), TEXT("composed it xr=db-1 count=-3 error=\"cannot get \\\"x\\\"\" empty=\"\" "
                                   "equation=\"a=b\" path=\"a\\\\b\" load=2 took=0s"));
        log_info("bare");
        ASSERT_STR(written(), TEXT("bare"));
}

TEST(levels)
{
        static const struct {
                enum log_level level;
                const char *name, *shown;
        } cases[] = {
                { LOG_DEBUG, "debug", "DEBUG" },
                { LOG_INFO, "info", "INFO " },
                { LOG_WARN, "warn", "WARN " },
                { LOG_ERROR, "error", "ERROR" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_buf_ struct buf wanted = BUF_INIT(0);
                enum log_level level = _LOG_LEVEL_COUNT;

                begin(LOG_FORMAT_TEXT);
                log_set_level(cases[i].level);
                log_debug("x");
                log_info("x");
                log_warn("x");
                log_error("x");
                for (size_t j = i; j < ARRAY_SIZE(cases); j++)
                        buf_appendf(&wanted, "2026-01-31T12:00:00.123Z %s x\n", cases[j].shown);
                ASSERT_STR_CASE(cases[i].name, written(), buf_str(&wanted));
                ASSERT_TEXT(log_level_name(cases[i].level), cases[i].name);
                ASSERT(log_level_from_name(str_from(cases[i].name), &level) && level == cases[i].level);
        }
        log_set_level(LOG_ERROR);
        log_write(LOG_INFO, (struct log_site) { "x.c", 1 }, "not on", NULL, 0);
        ASSERT_STR(written(), STR(""));
        ASSERT(log_level_from_name(STR("WARN"), &(enum log_level) { 0 }));
        ASSERT(!log_level_from_name(STR("loud"), &(enum log_level) { 0 }));
}

static int evaluated(int *n)
{
        return ++*n;
}

TEST(arguments_are_looked_at_only_if_on)
{
        int n = 0;

        begin(LOG_FORMAT_JSON);
        log_set_level(LOG_INFO);
        log_debug("off", LOG_INT("n", evaluated(&n)));
        ASSERT_INT(n, 0);
        log_info("on", LOG_INT("n", evaluated(&n)));
        ASSERT_INT(n, 1);
}

TEST(hostile_text)
{
        static const struct {
                const char *name;
                struct str value, json, text;
        } cases[] = {
                { "new line", STR_INIT("a\nb"), STR_INIT("\"a\\nb\""), STR_INIT("\"a\\nb\"") },
                { "tab, return", STR_INIT("\t\r"), STR_INIT("\"\\t\\r\""), STR_INIT("\"\\t\\r\"") },
                { "nul", STR_INIT("a\0b"), STR_INIT("\"a\\u0000b\""), STR_INIT("\"a\\u0000b\"") },
                { "escape", STR_INIT("\033[31mred"), STR_INIT("\"\\u001b[31mred\""), STR_INIT("\"\\u001b[31mred\"") },
                { "delete", STR_INIT("\177"), STR_INIT("\"\\u007f\""), STR_INIT("\"\\u007f\"") },
                { "c1 control", STR_INIT("\xc2\x9b"), STR_INIT("\"\\u009b\""), STR_INIT("\\u009b") },
                { "line separator", STR_INIT("\xe2\x80\xa8"), STR_INIT("\"\\u2028\""), STR_INIT("\\u2028") },
                { "quotes", STR_INIT("\"\\"), STR_INIT("\"\\\"\\\\\""), STR_INIT("\"\\\"\\\\\"") },
                { "invalid", STR_INIT("a\xff\xc3"), STR_INIT("\"a\xef\xbf\xbd\xef\xbf\xbd\""),
                  STR_INIT("\"a\xef\xbf\xbd\xef\xbf\xbd\"") },
                { "surrogate", STR_INIT("\xed\xa0\x80"), STR_INIT("\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""),
                  STR_INIT("\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"") },
                { "valid", STR_INIT("gr\xc3\xbc\xc3\x9f \xf0\x9f\x98\x80"),
                  STR_INIT("\"gr\xc3\xbc\xc3\x9f \xf0\x9f\x98\x80\""),
                  STR_INIT("\"gr\xc3\xbc\xc3\x9f \xf0\x9f\x98\x80\"") },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_buf_ struct buf wanted = BUF_INIT(0);

                begin(LOG_FORMAT_JSON);
                log_info("x", LOG_STR("v", cases[i].value));
                buf_appendf(&wanted, JSON_HEAD "\"x\",\"v\":%.*s}\n", STR_ARG(cases[i].json));
                ASSERT_STR_CASE(cases[i].name, written(), buf_str(&wanted));
                begin(LOG_FORMAT_TEXT);
                log_info("x", LOG_STR("v", cases[i].value));
                buf_clear(&wanted);
                buf_appendf(&wanted, "2026-01-31T12:00:00.123Z INFO  x v=%.*s\n", STR_ARG(cases[i].text));
                ASSERT_STR_CASE(cases[i].name, written(), buf_str(&wanted));
        }
        log_info("two\nlines \033[0m", LOG_INT("a key", 1));
        ASSERT_STR(written(), TEXT("two\\nlines \\u001b[0m a key=1"));
        begin(LOG_FORMAT_JSON);
        log_info("two\nlines", LOG_INT("a\"key", 1), LOG_INT("time", 2), LOG_INT("level", 3), LOG_INT("message", 4));
        ASSERT_STR(written(), JSON("\"two\\nlines\",\"a\\\"key\":1,\"time_\":2,\"level_\":3,\"message_\":4"));
}

TEST(doubles)
{
        static const struct {
                double d;
                const char *text;
        } cases[] = {
                { 0, "0" },
                { -0.0, "-0" },
                { 1.5, "1.5" },
                { 1e300, "1e+300" },
                { 5e-324, "5e-324" },
                { 1.0 / 3, "0.3333333333333333" },
                { 0.1 + 0.2, "0.30000000000000004" },
                { NAN, "\"NaN\"" },
                { INFINITY, "\"+Inf\"" },
                { -INFINITY, "\"-Inf\"" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_buf_ struct buf wanted = BUF_INIT(0);

                begin(LOG_FORMAT_JSON);
                log_info("x", LOG_DOUBLE("d", cases[i].d));
                buf_appendf(&wanted, JSON_HEAD "\"x\",\"d\":%s}\n", cases[i].text);
                ASSERT_STR_CASE(cases[i].text, written(), buf_str(&wanted));
        }
}

TEST(secrets)
{
        static const char *const secret[] = { "password",      "dbPassword",      "PASSWD",      "token",
                                              "access_token",  "Authorization",   "api-key",     "x-api-key",
                                              "client_secret", "secretData",      "credentials", "Set-Cookie",
                                              "private_key",   "tls.private-key", "kubeconfig",  "bearer",
                                              "passphrase" };
        static const char *const open[] = { "xr", "name", "key", "keys", "path", "author", "pass", "took", "" };

        for (size_t i = 0; i < ARRAY_SIZE(secret); i++)
                ASSERT_CASE(secret[i], log_key_is_secret(str_from(secret[i])));
        for (size_t i = 0; i < ARRAY_SIZE(open); i++)
                ASSERT_CASE(open[i], !log_key_is_secret(str_from(open[i])));
        begin(LOG_FORMAT_JSON);
        log_info("x", LOG_SECRET("data", "hunter2"), LOG_TEXT("apiToken", "hunter2"), LOG_INT("password", 4711),
                 LOG_TEXT("user", "me"));
        ASSERT_STR(written(),
                   JSON("\"x\",\"data\":\"(redacted)\",\"apiToken\":\"(redacted)\",\"password\":\"(redacted)\","
                        "\"user\":\"me\""));
        begin(LOG_FORMAT_TEXT);
        log_debug("x", LOG_SECRET("data", "hunter2"), LOG_STR("apiToken", STR("hunter2")));
        ASSERT(str_find(written(), STR("hunter2")) < 0);
}

/* Ends in a new line, has no other control character, is valid UTF-8, and its quotes and braces match. */
static bool is_json_line(struct str s)
{
        bool in_string = false;

        if (!str_cut_suffix(&s, STR("}\n")) || !str_cut_prefix(&s, STR("{")) || !utf8_is_valid(s))
                return false;
        for (size_t i = 0; i < s.n; i++) {
                if ((unsigned char)s.p[i] < ' ' || (!in_string && (s.p[i] == '{' || s.p[i] == '}')))
                        return false;
                if (in_string && s.p[i] == '\\')
                        i++;
                else if (s.p[i] == '"')
                        in_string = !in_string;
        }
        return !in_string;
}

TEST(lines_are_cut)
{
        static const char *const fills[] = { "x", "\n", "\xc3\xbc", "\xff", "\"" };
        static char text[3 * LIMIT_LOG_LINE_BYTES];

        for (size_t i = 0; i < ARRAY_SIZE(fills); i++) {
                size_t width = strlen(fills[i]);

                for (size_t n = 0; n + width < sizeof(text); n += width)
                        memcpy(text + n, fills[i], width);
                begin(LOG_FORMAT_JSON);
                log_info("x", LOG_STR("value", str_make(text, sizeof(text) - 1)), LOG_INT("lost", 1),
                         LOG_INT("too", 2));
                ASSERT_CASE(fills[i], is_json_line(written()));
                ASSERT_CASE(fills[i], output.n <= LIMIT_LOG_LINE_BYTES && output.n > LIMIT_LOG_LINE_BYTES - 100);
                ASSERT_CASE(fills[i], str_ends_with(buf_str(&output), STR("...(cut)\",\"cutFields\":2}\n")));
                begin(LOG_FORMAT_TEXT);
                log_info("x", LOG_STR("value", str_make(text, sizeof(text) - 1)), LOG_INT("lost", 1));
                ASSERT_CASE(fills[i], written().n <= LIMIT_LOG_LINE_BYTES);
                ASSERT_CASE(fills[i], str_find(buf_str(&output), STR("...(cut)")) > 0);
                ASSERT_CASE(fills[i], str_ends_with(buf_str(&output), STR(" cutFields=1\n")));
        }
        memset(text, 'm', sizeof(text) - 1);
        begin(LOG_FORMAT_JSON);
        log_info(text, LOG_INT("lost", 1));
        ASSERT(is_json_line(written()) && output.n <= LIMIT_LOG_LINE_BYTES);
        ASSERT(str_ends_with(buf_str(&output), STR("m...(cut)\",\"cutFields\":1}\n")));
        text[200] = '\0';
        log_info("x", LOG_INT(text, 1)); /* keys are cut as well */
        ASSERT_INT(written().n, strlen(JSON_HEAD "\"x\",\"\":1}\n") + 128);
}

/* --- Repeats --- */

static void say(const char *message)
{
        log_info(message);
}

static size_t count_lines(struct str s)
{
        size_t n = 0;

        for (size_t i = 0; i < s.n; i++)
                n += s.p[i] == '\n';
        return n;
}

TEST(repeats_are_counted)
{
        begin(LOG_FORMAT_JSON);
        for (int i = 0; i < LIMIT_LOG_REPEATS + 7; i++)
                say("again");
        ASSERT_INT(count_lines(written()), LIMIT_LOG_REPEATS);
        log_info("again"); /* another place */
        say("other");      /* another message */
        ASSERT_INT(count_lines(written()), 2);
        log_tick();
        ASSERT_INT(written().n, 0); /* its time is not over */
        sim_clock_advance(&test_clock, LIMIT_LOG_WINDOW_MS * NS_PER_MS);
        log_tick();
        ASSERT_STR(written(), STR("{\"time\":\"2026-01-31T12:00:10.123Z\",\"level\":\"info\",\"message\":"
                                  "\"repeated 7 times: again\",\"repeats\":7}\n"));
        log_tick();
        ASSERT_INT(written().n, 0);
        say("again"); /* a new window */
        ASSERT_INT(count_lines(written()), 1);
}

TEST(repeats_are_reported_by_the_next_line)
{
        begin(LOG_FORMAT_TEXT);
        for (int i = 0; i < LIMIT_LOG_REPEATS + 1; i++)
                say("again");
        written();
        sim_clock_advance(&test_clock, LIMIT_LOG_WINDOW_MS * NS_PER_MS);
        say("news");
        ASSERT_STR(written(), STR("2026-01-31T12:00:10.123Z INFO  repeated 1 times: again repeats=1\n"
                                  "2026-01-31T12:00:10.123Z INFO  news\n"));
}

TEST(repeats_are_flushed)
{
        begin(LOG_FORMAT_TEXT);
        for (int i = 0; i < LIMIT_LOG_REPEATS + 2; i++)
                say("again");
        written();
        log_flush();
        ASSERT_STR(written(), TEXT("repeated 2 times: again repeats=2"));
        log_flush();
        ASSERT_INT(written().n, 0);
}

/* Messages that take turns do not drive each other out of the table. */
TEST(repeats_of_several_messages)
{
        begin(LOG_FORMAT_TEXT);
        for (int i = 0; i < 50; i++)
                for (int m = 0; m < 40; m++) {
                        char message[16];

                        snprintf(message, sizeof(message), "hot %d", m);
                        say(message);
                }
        ASSERT_INT(count_lines(written()), 40 * LIMIT_LOG_REPEATS);
        log_flush();
        ASSERT_INT(count_lines(written()), 40);
}

/* More messages than the table has room for: each is written or part of a report. */
TEST(many_messages)
{
        size_t n = 0, total = 0;
        struct str rest, line;

        begin(LOG_FORMAT_TEXT);
        for (int i = 0; i < 20; i++)
                for (int m = 0; m < 600; m++) {
                        char message[16];

                        snprintf(message, sizeof(message), "message %d", m);
                        say(message);
                        total++;
                }
        log_flush();
        rest = written();
        while (str_split(&rest, '\n', &line)) {
                ptrdiff_t at = str_find(line, STR(" repeats="));

                n += at < 0 ? 1 : (size_t)atoi(line.p + at + strlen(" repeats="));
        }
        ASSERT_INT(n, total);
}

/* --- Where it goes --- */

/* The text that a terminal shows after one line, with TERM and NO_COLOR as given. */
static struct str on_terminal(const char *term, const char *no_color)
{
        int master = posix_openpt(O_RDWR | O_NOCTTY), slave;
        static char shown[1024];
        size_t n = 0;

        if (master < 0 || grantpt(master) < 0 || unlockpt(master) < 0)
                return STR("no terminal");
        slave = open(ptsname(master), O_RDWR | O_NOCTTY);
        term ? setenv("TERM", term, 1) : unsetenv("TERM");
        no_color ? setenv("NO_COLOR", no_color, 1) : unsetenv("NO_COLOR");
        log_set_output(slave, LOG_FORMAT_AUTO);
        log_warn("look");
        while (n < sizeof(shown) && (n == 0 || shown[n - 1] != '\n')) {
                ssize_t got = read(master, shown + n, sizeof(shown) - n); /* a terminal may give a line in pieces */

                if (got <= 0)
                        break;
                n += (size_t)got;
        }
        log_set_output(output_fd, LOG_FORMAT_AUTO);
        close(slave);
        close(master);
        return str_make(shown, n);
}

TEST(terminals_get_text)
{
        struct str plain = STR("2026-01-31T12:00:00.123Z WARN  look\r\n");
        struct str coloured = STR("2026-01-31T12:00:00.123Z \033[33mWARN \033[0m look\r\n");

        begin(LOG_FORMAT_AUTO);
        ASSERT_STR(on_terminal("xterm", NULL), coloured);
        ASSERT_STR(on_terminal("xterm", ""), coloured);
        ASSERT_STR(on_terminal("xterm", "1"), plain);
        ASSERT_STR(on_terminal("dumb", NULL), plain);
        ASSERT_STR(on_terminal(NULL, NULL), plain);
        log_info("file");
        ASSERT_STR(written(), JSON("\"file\""));
}

TEST(lost_lines_are_counted)
{
        int fds[2];
        char chunk[65536];
        ssize_t n;

        begin(LOG_FORMAT_TEXT);
        log_set_output(-1, LOG_FORMAT_TEXT);
        say("one");
        say("two");
        log_flush(); /* still no luck */
        ASSERT(pipe2(fds, O_NONBLOCK) == 0);
        log_set_output(fds[1], LOG_FORMAT_TEXT);
        while (write(fds[1], "x", 1) == 1)
                ;
        say("three"); /* full, and nobody reads: given up after a while */
        while ((n = read(fds[0], chunk, sizeof(chunk))) > 0)
                ;
        say("four");
        n = read(fds[0], chunk, sizeof(chunk));
        ASSERT_STR(str_make(chunk, (size_t)n), STR("2026-01-31T12:00:00.123Z WARN  log lines were lost count=1\n"
                                                   "2026-01-31T12:00:00.123Z INFO  four\n"));
        log_set_output(output_fd, LOG_FORMAT_TEXT);
        close(fds[0]);
        close(fds[1]);
}

enum { WRITERS = 6, LINES = 200 };

static void write_lines(void *arg)
{
        char message[64];

        for (int i = 0; i < LINES; i++) {
                snprintf(message, sizeof(message), "thread %d line %d", *(int *)arg, i);
                say(message);
        }
}

TEST(lines_of_threads_do_not_mix)
{
        struct thread *t[WRITERS];
        int numbers[WRITERS], seen[WRITERS] = { 0 };
        struct str rest, line;

        begin(LOG_FORMAT_JSON);
        for (int i = 0; i < WRITERS; i++) {
                numbers[i] = i;
                ASSERT_INT(thread_start("writer", write_lines, &numbers[i], &t[i], NULL), 0);
        }
        for (int i = 0; i < WRITERS; i++)
                thread_join(t[i]);
        rest = written();
        while (str_split(&rest, '\n', &line)) {
                ptrdiff_t at = str_find(line, STR("\"thread "));
                int thread, number;

                ASSERT(at > 0 && str_starts_with(line, STR("{\"time\":\"")) && str_ends_with(line, STR("\"}")));
                ASSERT_INT(sscanf(line.p + at, "\"thread %d line %d\"}", &thread, &number), 2);
                ASSERT_INT(number, seen[thread]++);
        }
        for (int i = 0; i < WRITERS; i++)
                ASSERT_INT(seen[i], LINES);
        log_set_output(STDERR_FILENO, LOG_FORMAT_AUTO);
        buf_done(&output);
}
