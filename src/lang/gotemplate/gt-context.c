#include "gt-context.h"

#include "buf.h"
#include "limits.h"

/* Steps between two checks of clock and memory. */
#define CHECK_STEPS 4096

int gt_fail(struct gt_context *c, const char *format, ...)
{
        va_list arguments;
        struct str text;

        va_start(arguments, format);
        text = arena_vprintf(c->arena, format, arguments);
        va_end(arguments);
        return err_set(c->err, ERR_INVALID, "%.*s", STR_ARG(text));
}

int gt_spend_slow(struct gt_context *c, uint64_t n)
{
        int r;

        if (n >= c->steps_left) {
                c->steps_left = 0;
                return err_set(c->err, ERR_LIMIT, "template takes more steps than its limit");
        }
        c->steps_left -= n;
        c->next_check = c->steps_left > CHECK_STEPS ? c->steps_left - CHECK_STEPS : 0;
        r = arena_check(c->arena, c->err);
        if (r < 0)
                return r;
        if (deadline_has_passed(c->deadline))
                return err_set(c->err, ERR_TIMEOUT, "deadline exceeded");
        return cancel_check(c->cancel, c->err);
}

size_t gt_max_text(const struct gt_context *c)
{
        return c->max_text_bytes ? c->max_text_bytes : LIMIT_TEMPLATE_OUTPUT_BYTES;
}

int gt_take_text(struct gt_context *c, struct buf *b, struct gt_value *ret)
{
        int r;

        if (b->has_failed && c->err->code < 0)
                return c->err->code;
        if (b->has_failed)
                return err_set(c->err, ERR_LIMIT, "text is larger than the limit of %zu bytes", b->max_bytes);
        r = gt_spend(c, b->n / 64);
        if (r < 0)
                return r;
        *ret = gt_string(buf_to_arena(b, c->arena));
        return 0;
}
