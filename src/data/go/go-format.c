/* The format of fmt.Sprintf: literal text, and verbs with their flags, width, precision and choice of operand. */
#include "gotext.h"

#include "go-print.h"
#include "limits.h"
#include "utf8.h"

struct scanner {
        struct go_printer p;
        struct str format;
        size_t at;
        size_t bracket_at; /* offset of the first `]` at or after an earlier `at`; format.n if there is none */
        const struct go_operands *operands;
        size_t n_arguments;
        size_t next_argument;
        bool is_reordered;   /* an explicit index was seen anywhere */
        bool is_good_index;  /* no bad index in this verb */
        bool is_after_index; /* the scanner has just read an index */
};

/* Digits at *at. False if there are none, or if the number is too large; then the remaining digits are skipped, as in Go. */
static bool scan_number(struct str s, size_t *at, size_t *ret)
{
        size_t i = *at, number = 0;

        for (; i < s.n && s.p[i] >= '0' && s.p[i] <= '9'; i++) {
                if (number > LIMIT_FORMAT_WIDTH) {
                        *at = s.n;
                        return false;
                }
                number = number * 10 + (size_t)(s.p[i] - '0');
        }
        if (i == *at)
                return false;
        *at = i;
        *ret = number;
        return true;
}

static bool is_at(const struct scanner *s, char c)
{
        return s->at < s->format.n && s->format.p[s->at] == c;
}

/* Offset of the next `]` from s->at on. The format is searched only once, however many brackets stay open. */
static size_t find_bracket(struct scanner *s)
{
        if (s->bracket_at < s->at) {
                ptrdiff_t found = str_find_char(str_skip(s->format, s->at), ']');

                s->bracket_at = found < 0 ? s->format.n : s->at + (size_t)found;
        }
        return s->bracket_at;
}

/* `[n]`, if there is one: the next operand is number n. */
static void scan_index(struct scanner *s)
{
        size_t number = 0, start = s->at + 1, end;
        bool is_number;

        s->is_after_index = false;
        if (!is_at(s, '['))
                return;
        s->is_reordered = true;
        end = find_bracket(s);
        if (s->format.n - s->at < 3 || end == s->format.n) {
                s->is_good_index = false;
                s->at++;
                return;
        }
        is_number = scan_number(str_first(s->format, end), &start, &number) && start == end;
        s->at = end + 1;
        s->is_after_index = is_number;
        if (is_number && number >= 1 && number <= s->n_arguments)
                s->next_argument = number - 1;
        else
                s->is_good_index = false;
}

/* The operand of a `*`: an int that is not too large. */
static bool take_int(struct scanner *s, int64_t *ret)
{
        int64_t i;

        if (s->next_argument >= s->n_arguments)
                return false;
        if (!s->operands->take_int(s->operands->context, s->next_argument++, &i) || i > LIMIT_FORMAT_WIDTH ||
            i < -LIMIT_FORMAT_WIDTH)
                return false;
        *ret = i;
        return true;
}

static void clear_flags(struct go_printer *p)
{
        p->has_plus = p->has_minus = p->has_sharp = p->has_space = p->has_zero = false;
        p->is_go_syntax = p->has_width = p->has_precision = false;
}

static void scan_flags(struct scanner *s)
{
        clear_flags(&s->p);
        for (; s->at < s->format.n; s->at++) {
                switch (s->format.p[s->at]) {
                case '#':
                        s->p.has_sharp = true;
                        break;
                case '0':
                        s->p.has_zero = true;
                        break;
                case '+':
                        s->p.has_plus = true;
                        break;
                case '-':
                        s->p.has_minus = true;
                        break;
                case ' ':
                        s->p.has_space = true;
                        break;
                default:
                        return;
                }
        }
}

static void scan_width(struct scanner *s)
{
        int64_t width;

        if (!is_at(s, '*')) {
                s->p.has_width = scan_number(s->format, &s->at, &s->p.width);
                if (s->p.has_width && s->is_after_index)
                        s->is_good_index = false;
                return;
        }
        s->at++;
        s->is_after_index = false;
        s->p.has_width = take_int(s, &width);
        if (!s->p.has_width) {
                buf_append_literal(s->p.out, "%!(BADWIDTH)");
                return;
        }
        s->p.has_minus = s->p.has_minus || width < 0;
        s->p.width = (size_t)(width < 0 ? -width : width);
}

static void scan_precision(struct scanner *s)
{
        int64_t precision;

        if (!is_at(s, '.') || s->at + 1 == s->format.n)
                return;
        s->at++;
        if (s->is_after_index)
                s->is_good_index = false;
        scan_index(s);
        if (!is_at(s, '*')) {
                if (!scan_number(s->format, &s->at, &s->p.precision))
                        s->p.precision = 0;
                s->p.has_precision = true;
                return;
        }
        s->at++;
        s->is_after_index = false;
        s->p.has_precision = take_int(s, &precision) && precision >= 0;
        if (s->p.has_precision)
                s->p.precision = (size_t)precision;
        else
                buf_append_literal(s->p.out, "%!(BADPREC)");
}

static void append_complaint(struct scanner *s, uint32_t verb, struct str complaint)
{
        buf_append_literal(s->p.out, "%!");
        go_append_rune(s->p.out, verb);
        buf_append_str(s->p.out, complaint);
}

/* Formats one verb; s->at is after its percent sign. */
static void format_verb(struct scanner *s)
{
        uint32_t verb;
        size_t width;

        s->is_good_index = true;
        scan_flags(s);
        scan_index(s);
        scan_width(s);
        scan_precision(s);
        if (!s->is_after_index)
                scan_index(s);
        if (s->at >= s->format.n) {
                buf_append_literal(s->p.out, "%!(NOVERB)");
                return;
        }
        verb = utf8_decode(str_skip(s->format, s->at), &width);
        s->at += width;
        if (verb == '%') {
                buf_append_char(s->p.out, '%');
        } else if (!s->is_good_index) {
                append_complaint(s, verb, STR("(BADINDEX)"));
        } else if (s->next_argument >= s->n_arguments) {
                append_complaint(s, verb, STR("(MISSING)"));
        } else {
                if (verb == 'v' || verb == 'w') {
                        s->p.is_go_syntax = s->p.has_sharp;
                        s->p.has_sharp = s->p.has_plus = false;
                }
                s->operands->print(&s->p, s->operands->context, s->next_argument++, verb);
        }
}

static void append_extra(struct scanner *s)
{
        clear_flags(&s->p);
        buf_append_literal(s->p.out, "%!(EXTRA ");
        for (size_t i = s->next_argument; i < s->n_arguments && !s->p.out->has_failed; i++) {
                if (i > s->next_argument)
                        buf_append_literal(s->p.out, ", ");
                s->operands->print_with_type(&s->p, s->operands->context, i);
        }
        buf_append_char(s->p.out, ')');
}

void go_format(struct buf *b, struct str format, const struct go_operands *operands, unsigned flags)
{
        struct scanner s = {
                .p = { .out = b, .scratch = BUF_INIT(b->max_bytes), .options = flags },
                .format = format,
                .operands = operands,
                .n_arguments = operands->n,
        };

        while (s.at < format.n && !b->has_failed) {
                struct str rest = str_skip(format, s.at);
                ptrdiff_t percent = str_find_char(rest, '%');

                if (percent < 0) {
                        buf_append_str(b, rest);
                        break;
                }
                buf_append(b, rest.p, (size_t)percent);
                s.at += (size_t)percent + 1;
                format_verb(&s);
        }
        if (!s.is_reordered && s.next_argument < s.n_arguments)
                append_extra(&s);
        buf_done(&s.p.scratch);
}

/* Operands of type struct value. */

static bool take_value_int(const void *context, size_t i, int64_t *ret)
{
        const struct value *v = ((const struct value *const *)context)[i];

        if (!value_is_int(v))
                return false;
        *ret = v->integer;
        return true;
}

static void print_value_operand(struct go_printer *p, const void *context, size_t i, uint32_t verb)
{
        go_print_argument(p, ((const struct value *const *)context)[i], verb);
}

static void print_value_with_type(struct go_printer *p, const void *context, size_t i)
{
        go_print_with_type(p, ((const struct value *const *)context)[i]);
}

void go_sprintf(struct buf *b, struct str format, const struct value *const *arguments, size_t n_arguments,
                unsigned flags)
{
        struct go_operands operands = {
                .n = n_arguments,
                .context = arguments,
                .take_int = take_value_int,
                .print = print_value_operand,
                .print_with_type = print_value_with_type,
        };

        go_format(b, format, &operands, flags);
}

void go_append_value(struct buf *b, const struct value *v)
{
        struct go_printer p = { .out = b, .scratch = BUF_INIT(b->max_bytes) };

        go_print_argument(&p, v, 'v');
        buf_done(&p.scratch);
}
