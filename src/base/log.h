/* The log: lines for people on a terminal, JSON lines for machines otherwise.
 *
 *     log_info("composed resources are ready", LOG_STR("xr", name), LOG_INT("count", 3));
 *
 * Text:  2026-01-31T12:00:00.123Z INFO  composed resources are ready xr=db-1 count=3
 * JSON:  {"time":"2026-01-31T12:00:00.123Z","level":"info","message":"composed resources are ready","xr":"db-1","count":3}
 *
 * A line is one write(2), is always valid JSON in that form, holds no control characters in either form, and is never longer
 * than LIMIT_LOG_LINE_BYTES: a text that does not fit is cut with `...(cut)`, fields that do not fit at all are counted as
 * `cutFields`. A message that one place repeats more than LIMIT_LOG_REPEATS times within LIMIT_LOG_WINDOW_MS is counted instead
 * and reported once, as `repeated N times: MESSAGE`, by the first line, log_tick or log_flush after that time.
 *
 * Secret values never reach the log: LOG_SECRET prints `(redacted)`, and so does every field whose key sounds like a secret.
 *
 * Any thread may log. Library code logs at debug level only; the function that drops an error logs it, once, with context. */
#pragma once

#include <stdatomic.h>

#include "err.h"

enum log_level {
        LOG_DEBUG,
        LOG_INFO,
        LOG_WARN,
        LOG_ERROR,
        _LOG_LEVEL_COUNT,
};

enum log_type {
        LOG_TYPE_NONE, /* pads the array of a call without fields */
        LOG_TYPE_STR,
        LOG_TYPE_INT,
        LOG_TYPE_UINT,
        LOG_TYPE_BOOL,
        LOG_TYPE_DOUBLE,
        LOG_TYPE_DURATION,
        LOG_TYPE_SECRET,
};

struct log_field {
        const char *key;
        enum log_type type;
        union {
                struct str s;
                int64_t i;
                uint64_t u;
                double d;
                bool b;
        };
};

/* The place in the source that logs a message. Repeats are counted per site and message. */
struct log_site {
        const char *file;
        int line;
};

#define LOG_STR(k, value) ((struct log_field) { .key = (k), .type = LOG_TYPE_STR, .s = (value) }) /* struct str */
#define LOG_TEXT(k, value) \
        ((struct log_field) { .key = (k), .type = LOG_TYPE_STR, .s = str_from(value) }) /* C string */
#define LOG_INT(k, value)      ((struct log_field) { .key = (k), .type = LOG_TYPE_INT, .i = (value) })
#define LOG_UINT(k, value)     ((struct log_field) { .key = (k), .type = LOG_TYPE_UINT, .u = (value) })
#define LOG_BOOL(k, value)     ((struct log_field) { .key = (k), .type = LOG_TYPE_BOOL, .b = (value) })
#define LOG_DOUBLE(k, value)   ((struct log_field) { .key = (k), .type = LOG_TYPE_DOUBLE, .d = (value) })
#define LOG_DURATION(k, ns)    ((struct log_field) { .key = (k), .type = LOG_TYPE_DURATION, .i = (ns) }) /* as 1.5s */
#define LOG_ERR(k, error)      ((struct log_field) { .key = (k), .type = LOG_TYPE_STR, .s = str_from(err_message(error)) })
#define LOG_SECRET(k, ignored) ((struct log_field) { .key = (k), .type = LOG_TYPE_SECRET, .b = sizeof(ignored) > 0 })

/* The arguments are evaluated only if the level is on. */
#define log_at(level, text, ...)                                                                              \
        do {                                                                                                  \
                if (log_is_on(level)) {                                                                       \
                        const struct log_field _log_fields[] = { { .type = LOG_TYPE_NONE }, ##__VA_ARGS__ };  \
                                                                                                              \
                        log_write((level), (struct log_site) { __FILE__, __LINE__ }, (text), _log_fields + 1, \
                                  ARRAY_SIZE(_log_fields) - 1);                                               \
                }                                                                                             \
        } while (0)

#define log_debug(text, ...) log_at(LOG_DEBUG, text, ##__VA_ARGS__)
#define log_info(text, ...)  log_at(LOG_INFO, text, ##__VA_ARGS__)
#define log_warn(text, ...)  log_at(LOG_WARN, text, ##__VA_ARGS__)
#define log_error(text, ...) log_at(LOG_ERROR, text, ##__VA_ARGS__)

/* message is a C string. */
void log_write(enum log_level level, struct log_site site, const char *message, const struct log_field *fields,
               size_t n_fields);

extern _Atomic int log_lowest_level;

static inline bool log_is_on(enum log_level level)
{
        return (int)level >= atomic_load_explicit(&log_lowest_level, memory_order_relaxed);
}

/* The default is LOG_INFO. */
void log_set_level(enum log_level level);

const char *log_level_name(enum log_level level); /* "debug", ... */

/* False, and *ret untouched, if there is no such level. */
bool log_level_from_name(struct str name, enum log_level *ret);

enum log_format {
        LOG_FORMAT_AUTO, /* text if fd is a terminal, JSON otherwise */
        LOG_FORMAT_TEXT,
        LOG_FORMAT_JSON,
};

/* The default is standard error and LOG_FORMAT_AUTO. The caller still owns the fd. Repeats that were counted before are first
 * reported to the old output. Text is coloured if fd is a terminal, TERM is neither unset nor "dumb", and NO_COLOR is unset or
 * empty. */
void log_set_output(int fd, enum log_format format);

/* Reports repeats whose window is over. A timer calls it, so that repeats are reported even if nothing else is logged. */
void log_tick(void);

/* Reports all repeats that were only counted, even if their window is not over. For the end of the program. */
void log_flush(void);

/* True if a field with this key would be redacted: it has password, token, authorization, ... in it, in any case and with any
 * separators. */
bool log_key_is_secret(struct str key);
