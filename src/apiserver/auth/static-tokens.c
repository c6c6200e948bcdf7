#include "static-tokens.h"

#include "buf.h"
#include "digest.h"
#include "vec.h"

#define MIN_FIELDS  3
#define GROUP_FIELD 3

struct entry {
        uint8_t digest[SHA256_BYTES]; /* of the token, which itself is not kept */
        struct user user;
};

/* immutable after creation */
struct static_tokens {
        struct arena arena;
        VEC(struct entry) entries;
};

/* --- CSV --- */

/* A reader of the file: the text that it has not read yet. */
struct reader {
        struct str rest;
        size_t line;
        struct arena *arena;
        VEC(struct str) fields; /* of the current record */
};

static int bad_quote(const struct reader *r, const char *name, struct err *err)
{
        return err_set(err, ERR_INVALID, "%s:%zu: a quote stands in the wrong place", name, r->line);
}

/* A field in quotes; two quotes in it are one. Leaves the text after the closing quote. */
static int read_quoted(struct reader *r, const char *name, struct err *err)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        r->rest = str_skip(r->rest, 1);
        for (;;) {
                ptrdiff_t at = str_find_char(r->rest, '"');

                if (at < 0)
                        return err_set(err, ERR_INVALID, "%s:%zu: a quote is not closed", name, r->line);
                buf_append_str(&b, str_first(r->rest, (size_t)at));
                r->rest = str_skip(r->rest, (size_t)at + 1);
                if (!str_starts_with(r->rest, STR("\"")))
                        break;
                buf_append_char(&b, '"');
                r->rest = str_skip(r->rest, 1);
        }
        if (r->rest.n > 0 && !strchr(",\r\n", r->rest.p[0]))
                return bad_quote(r, name, err);
        vec_push(&r->fields, buf_to_arena(&b, r->arena));
        return 0;
}

static int read_bare(struct reader *r, const char *name, struct err *err)
{
        size_t n = 0;
        struct str field;

        while (n < r->rest.n && r->rest.p[n] != ',' && r->rest.p[n] != '\n')
                n++;
        field = str_first(r->rest, n);
        r->rest = str_skip(r->rest, n);
        if (r->rest.n == 0 || r->rest.p[0] == '\n')
                str_cut_suffix(&field, STR("\r"));
        if (str_find_char(field, '"') >= 0)
                return bad_quote(r, name, err);
        vec_push(&r->fields, arena_copy(r->arena, field));
        return 0;
}

/* The next record that is not an empty line. 0 at the end. */
static int read_record(struct reader *r, const char *name, struct err *err)
{
        int result;

        while (str_cut_prefix(&r->rest, STR("\n")) || str_cut_prefix(&r->rest, STR("\r\n")))
                r->line++;
        if (r->rest.n == 0)
                return 0;
        vec_clear(&r->fields);
        do {
                result = r->rest.n > 0 && r->rest.p[0] == '"' ? read_quoted(r, name, err) : read_bare(r, name, err);
                if (result < 0)
                        return result;
        } while (str_cut_prefix(&r->rest, STR(",")));
        str_cut_prefix(&r->rest, STR("\r"));
        if (r->rest.n > 0 && !str_cut_prefix(&r->rest, STR("\n")))
                return bad_quote(r, name, err);
        return 1;
}

/* --- Tokens --- */

static void set_groups(struct user *u, struct arena *a, struct str text)
{
        struct str_list groups;
        struct str group;
        bool has_more = true;

        str_list_init(&groups, a);
        while (has_more) {
                has_more = str_split(&text, ',', &group);
                str_list_add(&groups, group);
        }
        u->groups = groups.p;
        u->n_groups = groups.n;
}

static void add(struct static_tokens *t, const struct str *fields, size_t n)
{
        struct entry e = { .user = { .name = fields[1], .uid = fields[2] } };

        if (fields[0].n == 0)
                return;
        sha256(fields[0], e.digest);
        if (n > GROUP_FIELD && fields[GROUP_FIELD].n > 0)
                set_groups(&e.user, &t->arena, fields[GROUP_FIELD]);
        vec_push(&t->entries, e);
}

int static_tokens_parse(struct str text, const char *name, struct static_tokens **ret, struct err *err)
{
        struct static_tokens *t = xcalloc(1, sizeof(*t));
        struct reader reader = { .rest = text, .line = 1, .arena = &t->arena };
        int r;

        arena_init(&t->arena, "static tokens", 0);
        while ((r = read_record(&reader, name, err)) > 0) {
                if (reader.fields.n < MIN_FIELDS) {
                        r = err_set(err, ERR_INVALID,
                                    "%s:%zu: a line needs the fields token, user and uid, and has only %zu", name,
                                    reader.line, reader.fields.n);
                        break;
                }
                add(t, reader.fields.p, reader.fields.n);
                reader.line++;
        }
        vec_done(&reader.fields);
        if (r < 0) {
                static_tokens_free(t);
                return r;
        }
        *ret = t;
        return 0;
}

void static_tokens_free(struct static_tokens *t)
{
        if (!t)
                return;
        vec_done(&t->entries);
        arena_done(&t->arena);
        free(t);
}

static bool is_same(const uint8_t *a, const uint8_t *b)
{
        uint8_t difference = 0;

        for (size_t i = 0; i < SHA256_BYTES; i++)
                difference |= a[i] ^ b[i];
        return difference == 0;
}

const struct user *static_tokens_find(const struct static_tokens *t, struct str token)
{
        const struct user *found = NULL;
        uint8_t digest[SHA256_BYTES];

        sha256(token, digest);
        for (size_t i = 0; i < t->entries.n; i++) /* all of them, whichever it is */
                if (is_same(digest, t->entries.p[i].digest))
                        found = &t->entries.p[i].user;
        return found;
}

size_t static_tokens_count(const struct static_tokens *t)
{
        return t->entries.n;
}
