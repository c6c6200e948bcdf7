/* Texts from the function: C strings and formats. */
#include <stdio.h>

#include "sdk.h"

#include "buf.h"
#include "utf8.h"

struct str sdk_text(struct arena *a, const char *s)
{
        struct str text = str_from(s);
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        if (utf8_is_valid(text))
                return arena_copy(a, text);
        while (text.n > 0) {
                char bytes[4];
                size_t width;

                buf_append(&b, bytes, utf8_encode(utf8_decode(text, &width), bytes));
                text = str_skip(text, width);
        }
        return buf_to_arena(&b, a);
}

/* A text that is being formatted; one byte is reserved for the NUL. */
struct output {
        char *p;
        size_t n;
        size_t size;
};

static bool put(struct output *o, const char *p, size_t n)
{
        if (n >= o->size - o->n)
                return false;
        memcpy(o->p + o->n, p, n);
        o->n += n;
        return true;
}

static bool put_number(struct output *o, uint64_t magnitude, bool is_negative)
{
        char digits[21];
        size_t at = sizeof(digits);

        do {
                digits[--at] = (char)('0' + magnitude % 10);
                magnitude /= 10;
        } while (magnitude > 0);
        if (is_negative)
                digits[--at] = '-';
        return put(o, digits + at, sizeof(digits) - at);
}

static bool put_signed(struct output *o, int64_t i)
{
        return put_number(o, i < 0 ? -(uint64_t)i : (uint64_t)i, i < 0);
}

/* Appends the argument for the conversion at *f, just after its %; afterwards *f is the last character of the conversion. */
static bool put_argument(struct output *o, const char **f, va_list *arguments)
{
        bool is_long = **f == 'l' || **f == 'z';
        const char *s;

        static_assert(sizeof(long) == sizeof(int64_t) && sizeof(size_t) == sizeof(int64_t), "l, ll and z are one");
        if (is_long)
                *f += (*f)[0] == 'l' && (*f)[1] == 'l' ? 2 : 1;
        switch (**f) {
        case 'd':
        case 'i':
                return put_signed(o, is_long ? va_arg(*arguments, int64_t) : va_arg(*arguments, int));
        case 'u':
                return put_number(o, is_long ? va_arg(*arguments, uint64_t) : va_arg(*arguments, unsigned), false);
        case 's':
                s = is_long ? NULL : va_arg(*arguments, const char *);
                return s && put(o, s, strlen(s));
        case '%':
                return !is_long && put(o, "%", 1);
        default:
                return false;
        }
}

/* Formats %s, %d, %i and %u (with l, ll or z) and %%, which covers nearly all formats of functions. It avoids the C library's
 * printf, which would cost more than all other work on such a text. False: the format has other conversions, or there is no
 * room. */
static bool format_plain(struct output *o, const char *format, va_list *arguments)
{
        for (const char *f = format; *f; f++) {
                size_t n = strcspn(f, "%");

                if (!put(o, f, n))
                        return false;
                f += n;
                if (!*f)
                        break;
                f++;
                if (!put_argument(o, &f, arguments))
                        return false;
        }
        o->p[o->n] = '\0';
        return true;
}

struct str sdk_format(struct arena *a, const char *format, va_list arguments)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        char text[512];
        struct output o = { .p = text, .size = sizeof(text) };
        va_list again;
        bool is_done;

        va_copy(again, arguments);
        is_done = format_plain(&o, format, &again);
        va_end(again);
        if (is_done)
                return sdk_text(a, text);
        buf_appendv(&b, format, arguments);
        return sdk_text(a, buf_cstring(&b));
}
