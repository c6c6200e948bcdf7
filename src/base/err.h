/* Errors: a code to act on, a Kubernetes reason for the API, and a text `outer: inner` for people.
 *
 * A function that can fail returns 0 or one of the negative codes and fills the struct err it was given. The err may be NULL if
 * the caller needs only the code. An err is filled once and then wrapped on the way up; the function that drops an error logs
 * it. An err owns heap memory: declare it with _cleanup_err_, or pass one in from the caller. A text beyond LIMIT_ERROR_BYTES is
 * cut off and ends in `...`. */
#pragma once

#include "str.h"

enum err_code {
        ERR_FAILED = -1,       /* any error without a more specific code */
        ERR_INVALID = -2,      /* bad input: syntax, type, value */
        ERR_NOT_FOUND = -3,    /* the requested thing does not exist */
        ERR_EXISTS = -4,       /* the thing exists already */
        ERR_CONFLICT = -5,     /* another writer changed the thing */
        ERR_LIMIT = -6,        /* a limit of limits.h was reached; the text names it */
        ERR_TIMEOUT = -7,      /* the deadline passed */
        ERR_CANCELED = -8,     /* the cancel token was triggered */
        ERR_FORBIDDEN = -9,    /* refused */
        ERR_UNSUPPORTED = -10, /* understood, but not supported */
        ERR_SYSTEM = -11,      /* a system call failed; the text has strerror(errno) */
        ERR_CLOSED = -12,      /* the queue, connection or stream is closed */
        ERR_EXPIRED = -13,     /* the requested version is no longer kept */
        ERR_BUSY = -14,        /* no place is free; the caller gives way and is told when there is one */
};

/* metav1.StatusReason, by the names the API uses. */
enum reason {
        REASON_UNKNOWN = 0,
        REASON_UNAUTHORIZED,
        REASON_FORBIDDEN,
        REASON_NOT_FOUND,
        REASON_ALREADY_EXISTS,
        REASON_CONFLICT,
        REASON_GONE,
        REASON_INVALID,
        REASON_SERVER_TIMEOUT,
        REASON_TIMEOUT,
        REASON_TOO_MANY_REQUESTS,
        REASON_BAD_REQUEST,
        REASON_METHOD_NOT_ALLOWED,
        REASON_NOT_ACCEPTABLE,
        REASON_REQUEST_ENTITY_TOO_LARGE,
        REASON_UNSUPPORTED_MEDIA_TYPE,
        REASON_INTERNAL_ERROR,
        REASON_EXPIRED,
        REASON_SERVICE_UNAVAILABLE,
        _REASON_COUNT,
};

/* A position in a text. line and column count from 1, columns in characters; line 0 means unknown. */
struct position {
        uint32_t line;
        uint32_t column;
        size_t offset; /* bytes from the start */
};

struct err {
        int code; /* 0: no error */
        enum reason reason;
        char *message;            /* heap; NULL without an error */
        char *path;               /* heap; path of the value in its document, or NULL */
        char *details;            /* heap; JSON text of a Kubernetes Status' details, or NULL */
        struct position position; /* in the text that was parsed */
};

void err_done(struct err *err);

/* Fills *err and returns code. Replaces an earlier error in *err. The reason follows from the code (ERR_NOT_FOUND gives
 * REASON_NOT_FOUND, ERR_INVALID gives REASON_INVALID, ...) unless err_set_reason sets another. */
int err_set(struct err *err, int code, const char *format, ...) _printf_(3, 4);
void err_set_reason(struct err *err, enum reason reason);
void err_set_position(struct err *err, struct position position);
void err_set_path(struct err *err, struct str path);
void err_set_details(struct err *err, struct str json);

/* ERR_SYSTEM with `TEXT: strerror(errno_value)`. */
int err_set_errno(struct err *err, int errno_value, const char *format, ...) _printf_(3, 4);

/* Puts `TEXT: ` before the message; code, reason, path and position stay. Returns the code. If err is NULL, returns the code
 * that this thread last set on a NULL err, so that the result is the same with and without an err. */
int err_wrap(struct err *err, const char *format, ...) _printf_(2, 3);

/* Moves *from into *to (whose own error is dropped); returns the code. */
int err_move(struct err *to, struct err *from);

/* Makes *to (whose own error is dropped) the same as *from; returns the code. */
int err_copy(struct err *to, const struct err *from);

/* The message, or "no error"; borrowed. */
const char *err_message(const struct err *err);

/* "NotFound", ... as the API spells it ("" for REASON_UNKNOWN), and back (REASON_UNKNOWN when not known). */
const char *reason_name(enum reason reason);
enum reason reason_from_name(struct str name);

/* The HTTP status that the Kubernetes API uses for a reason. */
int reason_http_status(enum reason reason);

/* These functions always return negative numbers. The macros show that to the compiler, so that it does not warn about outputs
 * that a failed call leaves unset. */
#define err_set(err, code, ...)                           \
        ({                                                \
                int _err_code = (code);                   \
                (err_set)((err), _err_code, __VA_ARGS__); \
                _err_code;                                \
        })
#define err_set_errno(err, errno_value, ...)                        \
        ({                                                          \
                (err_set_errno)((err), (errno_value), __VA_ARGS__); \
                (int)ERR_SYSTEM;                                    \
        })
#define err_wrap(err, ...)                                     \
        ({                                                     \
                int _wrapped = (err_wrap)((err), __VA_ARGS__); \
                if (_wrapped >= 0)                             \
                        __builtin_unreachable();               \
                _wrapped;                                      \
        })

#define _cleanup_err_ _cleanup_(err_done)
