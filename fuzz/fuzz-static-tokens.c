/* A file of static tokens that can be read can still be read with one more line, whose token is then found. */
#include "fuzz.h"

#include "buf.h"
#include "static-tokens.h"

static void check_one_more(struct str text, size_t count)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        struct static_tokens *t = NULL;
        const struct user *u;
        int r;

        buf_append_str(&b, text);
        buf_append_literal(&b, "\n\"one more\",user,uid,\"a,b\"\n");
        r = static_tokens_parse(buf_str(&b), "file", &t, NULL);
        assert(r == 0 && static_tokens_count(t) == count + 1);
        u = static_tokens_find(t, STR("one more"));
        assert(u && str_equal(u->name, STR("user")) && u->n_groups == 2 && str_equal(u->groups[1], STR("b")));
        assert(!static_tokens_find(t, STR("")));
        static_tokens_free(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct str s = str_make((const char *)data, size);
        _cleanup_err_ struct err err = { 0 };
        struct static_tokens *t = NULL;
        int r = static_tokens_parse(s, "file", &t, &err);

        if (r < 0) {
                assert(r == ERR_INVALID && str_starts_with(str_from(err_message(&err)), STR("file:")));
                return 0;
        }
        check_one_more(s, static_tokens_count(t));
        static_tokens_free(t);
        return 0;
}
