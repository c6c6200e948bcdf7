/* Decoding follows go-yaml step by step, because users can see the order: all syntax errors come before all others, merges write
 * into the mapping when they are read, and the limit on aliases counts the nodes that go-yaml would visit. A node is decoded
 * once. An alias shares the result; only the counts grow as if the node were decoded again. */
#include "yaml.h"

#include "base64.h"
#include "buf.h"
#include "limits.h"
#include "map.h"
#include "number.h"
#include "utf8.h"
#include "vec.h"
#include "yaml-compose.h"
#include "yaml-gosyntax.h"
#include "yaml-scalar.h"

#include <math.h>

/* The result of decoding a node. */
struct yaml_decoded {
        struct value value;
        uint64_t weight;     /* nodes visited to decode it, aliases expanded */
        uint64_t text_bytes; /* of its strings, aliases expanded */
        uint32_t height;     /* of the value: 0 for a scalar */
        /* The node's duplicate keys in strict mode, as a range of reader.duplicates: an alias reports them again. */
        size_t first_duplicate;
        size_t end_duplicate;
};

struct duplicate {
        uint32_t line; /* from 1 */
        struct str key;
};

/* A key that JSON cannot represent. It is an error only if its object is part of the result. Until that is known, the object
 * holds it under a name that no text can have. */
struct bad_key {
        struct str name;
        const struct yaml_node *key;
        const struct yaml_node *value;
};

struct reader {
        struct arena *arena;   /* of the result */
        struct arena *scratch; /* of the nodes */
        struct str text;
        bool refuses_duplicates;
        uint32_t max_depth;
        uint64_t n_decoded; /* nodes visited, aliases expanded */
        uint64_t n_aliased; /* ... of these inside aliases */
        uint64_t aliased_bytes;
        size_t n_mappings;
        uint32_t alias_depth;
        bool has_special_float; /* infinity or NaN: JSON cannot have them */
        VEC(struct duplicate) duplicates;
        VEC(struct bad_key) bad_keys;
};

/* Members of a mapping that is being decoded; if there are more than a few, they are looked up by hash. */
struct members {
        VEC(struct member) list;
        struct map index; /* key to place in the list + 1 */
        struct map typed; /* strict mode: keys by type and text */
        size_t number;    /* of the mapping in the document */
};

#define SCANNED_MEMBERS 12

static int decode(struct reader *r, struct yaml_node *n, uint32_t depth, struct yaml_decoded **ret, struct err *err);

static void reader_done(struct reader *r)
{
        vec_done(&r->duplicates);
        vec_done(&r->bad_keys);
}

static void members_done(struct members *m)
{
        vec_done(&m->list);
        map_done(&m->index);
        map_done(&m->typed);
}

static int fail_at(struct reader *r, const struct yaml_node *n, int code, struct err *err)
{
        if (err)
                err_set_position(err, yaml_node_position(r->text, n));
        return code;
}

/* The bound on aliases */

static double allowed_ratio(uint64_t n_decoded)
{
        const double low = LIMIT_YAML_ALIAS_LOW_NODES, high = LIMIT_YAML_ALIAS_HIGH_NODES;

        if (n_decoded <= LIMIT_YAML_ALIAS_LOW_NODES)
                return LIMIT_YAML_ALIAS_LOW_RATIO;
        if (n_decoded >= LIMIT_YAML_ALIAS_HIGH_NODES)
                return LIMIT_YAML_ALIAS_HIGH_RATIO;
        return LIMIT_YAML_ALIAS_LOW_RATIO -
               (LIMIT_YAML_ALIAS_LOW_RATIO - LIMIT_YAML_ALIAS_HIGH_RATIO) * (((double)n_decoded - low) / (high - low));
}

/* Counts visited nodes. Inside an alias both counts grow by the same amount, so one check after the last node is as good as a
 * check after each. */
static int count_nodes(struct reader *r, const struct yaml_node *n, uint64_t count, struct err *err)
{
        if (__builtin_add_overflow(r->n_decoded, count, &r->n_decoded))
                r->n_decoded = UINT64_MAX;
        if (r->alias_depth && __builtin_add_overflow(r->n_aliased, count, &r->n_aliased))
                r->n_aliased = UINT64_MAX;
        if ((r->n_aliased > LIMIT_YAML_ALIAS_FREE && r->n_decoded > LIMIT_YAML_ALIAS_FREE_NODES &&
             (double)r->n_aliased / (double)r->n_decoded > allowed_ratio(r->n_decoded)) ||
            r->aliased_bytes > LIMIT_YAML_ALIAS_BYTES)
                return fail_at(r, n, err_set(err, ERR_LIMIT, "yaml: document contains excessive aliasing"), err);
        return 0;
}

static int check_depth(struct reader *r, const struct yaml_node *n, uint32_t depth, struct err *err)
{
        if (depth <= r->max_depth)
                return 0;
        return fail_at(r, n, err_set(err, ERR_LIMIT, "yaml: exceeded max depth of %u", r->max_depth), err);
}

/* Scalars */

/* JSON has no bytes that are not UTF-8; Go writes each of them as U+FFFD. */
static struct str replace_invalid(struct arena *a, struct str s)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        while (s.n) {
                size_t valid = utf8_valid_prefix(s);

                buf_append_str(&b, str_first(s, valid));
                if (valid < s.n)
                        buf_append_literal(&b, "\xEF\xBF\xBD");
                s = str_skip(s, valid + 1);
        }
        return buf_to_arena(&b, a);
}

static int resolve(struct reader *r, const struct yaml_node *n, struct yaml_scalar *ret, struct str *ret_text,
                   struct err *err)
{
        int code = yaml_node_resolve(r->scratch, n, ret, ret_text, err);

        return code < 0 ? fail_at(r, n, code, err) : 0;
}

/* The value that a JSON reader returns for a double that was written as JSON: the text decides whether it is an int. */
static struct value value_of_float(double d)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        int64_t i;

        if (!isfinite(d) || (fabs(d) < 0x1p53 && d != trunc(d)))
                return value_of_double(d);
        if (fabs(d) < 0x1p53)
                return value_of_int((int64_t)d);
        number_append_json(&b, d);
        return number_parse_int(buf_str(&b), &i, NULL) < 0 ? value_of_double(d) : value_of_int(i);
}

/* The value of a scalar that is not a string. */
static struct value value_of_scalar(struct reader *r, const struct yaml_scalar *s)
{
        if (s->kind == YAML_KIND_BOOL)
                return value_of_bool(s->boolean);
        if (s->kind == YAML_KIND_INT)
                return value_of_int(s->integer);
        if (s->kind == YAML_KIND_UINT)
                return value_of_double((double)s->natural);
        if (s->kind != YAML_KIND_FLOAT)
                return value_of_null();
        r->has_special_float = r->has_special_float || !isfinite(s->number);
        return value_of_float(s->number);
}

static int decode_scalar(struct reader *r, struct yaml_node *n, struct yaml_decoded *d, struct err *err)
{
        struct yaml_scalar s = { 0 };
        struct str text;
        int code = resolve(r, n, &s, &text, err);

        if (code < 0)
                return code;
        switch (s.kind) {
        case YAML_KIND_NULL:
        case YAML_KIND_BOOL:
        case YAML_KIND_INT:
        case YAML_KIND_UINT:
        case YAML_KIND_FLOAT:
                d->value = value_of_scalar(r, &s);
                break;
        case YAML_KIND_STRING:
        case YAML_KIND_TIMESTAMP:
        case YAML_KIND_MERGE:
        case YAML_KIND_BINARY:
                d->value = value_of_str(utf8_is_valid(text) ? arena_copy(r->arena, text)
                                                            : replace_invalid(r->arena, text));
                d->text_bytes = text.n;
                break;
        }
        return 0;
}

/* Keys */

struct key {
        struct str text;
        struct yaml_scalar scalar;
        const struct yaml_node *node; /* with aliases resolved */
};

static struct str text_of_key(struct reader *r, const struct members *m, const struct yaml_scalar *s, struct str text)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        if (!yaml_append_key(&b, s, text)) {
                /* Two bytes that are not UTF-8, so that no text equals it. */
                buf_appendf(&b, "\xFF\xFF%zu ", m->number);
                if (s->kind == YAML_KIND_UINT)
                        buf_append_uint(&b, s->natural);
                return buf_to_arena(&b, r->scratch);
        }
        return utf8_is_valid(buf_str(&b)) ? buf_to_arena(&b, r->arena) : replace_invalid(r->arena, buf_str(&b));
}

static void append_go(struct reader *r, struct buf *b, const struct yaml_node *n, bool is_in_interface)
{
        struct yaml_go_syntax g = { .scratch = r->scratch,
                                    .keeps_first = r->refuses_duplicates,
                                    .is_in_interface = is_in_interface };

        yaml_append_go_syntax(&g, b, n);
}

static int decode_key(struct reader *r, struct yaml_node *n, uint32_t depth, const struct members *m, struct key *ret,
                      struct err *err)
{
        struct yaml_decoded *d;
        struct str text;
        int code;

        ret->node = yaml_behind_alias(n);
        if (ret->node->type != YAML_NODE_SCALAR) {
                _cleanup_buf_ struct buf b = BUF_INIT(YAML_GO_SYNTAX_BYTES);

                code = decode(r, n, depth, &d, err);
                if (code < 0)
                        return code;
                append_go(r, &b, n, true);
                code = err_set(err, ERR_INVALID, "yaml: invalid map key: %.*s", STR_ARG(buf_str(&b)));
                return fail_at(r, n, code, err);
        }
        code = count_nodes(r, n, n->type == YAML_NODE_ALIAS ? 2 : 1, err);
        if (code >= 0)
                code = resolve(r, ret->node, &ret->scalar, &text, err);
        if (code < 0)
                return code;
        ret->text = text_of_key(r, m, &ret->scalar, text);
        /* The text is copied each time, so it counts against the limit; count_nodes of the value checks the limit. */
        if (r->alias_depth || n->type == YAML_NODE_ALIAS)
                r->aliased_bytes += ret->text.n;
        return 0;
}

/* A key with its type: 1, 1.0 and "1" are three keys. */
static struct str typed_text(struct reader *r, const struct key *k)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        buf_appendf(&b, "%d ",
                    (int)k->scalar.kind == YAML_KIND_TIMESTAMP || k->scalar.kind == YAML_KIND_MERGE ||
                                    k->scalar.kind == YAML_KIND_BINARY
                            ? YAML_KIND_STRING
                            : (int)k->scalar.kind);
        if (k->scalar.kind == YAML_KIND_FLOAT)
                number_append_go(&b, k->scalar.number, 'g', -1);
        else if (k->scalar.kind == YAML_KIND_UINT)
                buf_append_uint(&b, k->scalar.natural);
        else if (k->scalar.kind != YAML_KIND_NULL)
                buf_append_str(&b, k->text);
        return buf_to_arena(&b, r->scratch);
}

/* The error names the line of the value. */
static void note_duplicate(struct reader *r, struct members *m, const struct yaml_node *node,
                           const struct yaml_node *value, const struct key *k)
{
        _cleanup_buf_ struct buf b = BUF_INIT(YAML_GO_SYNTAX_BYTES);
        struct duplicate d = { .line = value->line + 1 };

        if (map_add(&m->typed, typed_text(r, k), m) || r->duplicates.n >= LIMIT_YAML_DUPLICATES)
                return;
        append_go(r, &b, node, false);
        d.key = buf_to_arena(&b, r->scratch);
        vec_push(&r->duplicates, d);
}

/* Mappings */

static size_t find_member(struct members *m, struct str key)
{
        if (m->list.n <= SCANNED_MEMBERS) {
                for (size_t i = 0; i < m->list.n; i++)
                        if (str_equal(m->list.p[i].key, key))
                                return i;
                return m->list.n;
        }
        if (m->index.n == 0)
                for (size_t i = 0; i < m->list.n; i++)
                        map_add(&m->index, m->list.p[i].key, (void *)(uintptr_t)(i + 1));
        return map_has(&m->index, key) ? (uintptr_t)map_get(&m->index, key) - 1 : m->list.n;
}

static void set_member(struct members *m, struct str key, struct value v)
{
        size_t i = find_member(m, key);

        if (i < m->list.n) {
                m->list.p[i].value = v;
                return;
        }
        if (m->index.n)
                map_add(&m->index, key, (void *)(uintptr_t)(i + 1));
        vec_push(&m->list, (struct member) { key, v });
}

/* Adds a child's counts to its container. */
static void add_up(struct yaml_decoded *d, const struct yaml_decoded *child)
{
        d->height = MAX(d->height, child->height + 1);
        if (__builtin_add_overflow(d->text_bytes, child->text_bytes, &d->text_bytes))
                d->text_bytes = UINT64_MAX;
}

static int decode_members(struct reader *r, struct yaml_node *n, uint32_t depth, struct members *m,
                          struct yaml_decoded *d, struct err *err);

static int merge_mapping(struct reader *r, struct yaml_node *n, uint32_t depth, struct members *m,
                         struct yaml_decoded *d, struct err *err)
{
        struct yaml_node *mapping = n->type == YAML_NODE_ALIAS ? n->target : n;
        bool is_alias = mapping != n;
        int code;

        if (mapping->type != YAML_NODE_MAPPING) {
                code = err_set(err, ERR_INVALID, "yaml: map merge requires map or sequence of maps as the value");
                return fail_at(r, n, code, err);
        }
        if (is_alias && mapping->is_open) {
                code = err_set(err, ERR_INVALID, "yaml: anchor '%.*s' value contains itself", STR_ARG(n->text));
                return fail_at(r, n, code, err);
        }
        code = check_depth(r, n, depth, err);
        if (code >= 0 && is_alias)
                code = count_nodes(r, n, 1, err);
        if (code < 0)
                return code;
        r->alias_depth += is_alias;
        mapping->is_open = true;
        code = count_nodes(r, n, 1, err);
        if (code >= 0)
                code = decode_members(r, mapping, depth + 1, m, d, err);
        mapping->is_open = false;
        r->alias_depth -= is_alias;
        return code;
}

/* Among several mappings the first wins, so they are merged from last to first. */
static int merge_sequence(struct reader *r, struct yaml_node *n, uint32_t depth, struct members *m,
                          struct yaml_decoded *d, struct err *err)
{
        _cleanup_free_ struct yaml_node **nodes = xmalloc((n->n_children + 1) * sizeof(*nodes));
        size_t count = 0;
        int code = 0;

        for (struct yaml_node *child = n->first; child; child = child->next)
                nodes[count++] = child;
        while (code >= 0 && count > 0)
                code = merge_mapping(r, nodes[--count], depth, m, d, err);
        return code;
}

static int decode_member(struct reader *r, struct yaml_node *key, struct yaml_node *value, uint32_t depth,
                         struct members *m, struct yaml_decoded *d, struct err *err)
{
        struct yaml_decoded *decoded;
        struct key k = { 0 };
        int code;

        code = decode_key(r, key, depth, m, &k, err);
        if (code >= 0)
                code = decode(r, value, depth, &decoded, err);
        if (code < 0)
                return code;
        if (k.scalar.kind == YAML_KIND_NULL || k.scalar.kind == YAML_KIND_UINT)
                vec_push(&r->bad_keys, (struct bad_key) { k.text, k.node, value });
        if (r->refuses_duplicates)
                note_duplicate(r, m, key, value, &k);
        set_member(m, k.text, decoded->value);
        add_up(d, decoded);
        d->text_bytes += k.text.n;
        return arena_check(r->arena, err);
}

static int decode_members(struct reader *r, struct yaml_node *n, uint32_t depth, struct members *m,
                          struct yaml_decoded *d, struct err *err)
{
        int code = 0;

        for (struct yaml_node *key = n->first; code >= 0 && key; key = key->next->next) {
                struct yaml_node *value = key->next;

                if (!yaml_node_is_merge(key))
                        code = decode_member(r, key, value, depth, m, d, err);
                else if (value->type == YAML_NODE_SEQUENCE)
                        code = merge_sequence(r, value, depth, m, d, err);
                else
                        code = merge_mapping(r, value, depth, m, d, err);
        }
        return code;
}

static int decode_mapping(struct reader *r, struct yaml_node *n, uint32_t depth, struct yaml_decoded *d,
                          struct err *err)
{
        _cleanup_(members_done)
        struct members m = { 0 };
        struct object_builder b;
        int code = decode_members(r, n, depth + 1, &m, d, err);

        if (code < 0)
                return code;
        object_builder_init(&b, r->arena, m.list.n);
        for (size_t i = 0; i < m.list.n; i++)
                object_builder_add(&b, m.list.p[i].key, m.list.p[i].value);
        d->value = object_builder_finish(&b);
        return 0;
}

static int decode_leaves(struct reader *r, const struct yaml_node *n, uint32_t depth, struct array_builder *b,
                         struct yaml_decoded *d, struct err *err)
{
        int code = check_depth(r, n, depth, err);

        for (uint32_t i = 0; code >= 0 && i < n->leaves->n; i++) {
                array_builder_add(b, value_of_scalar(r, &n->leaves->items[i]));
                code = count_nodes(r, n, 1, err);
        }
        d->height = MAX(d->height, 1u);
        return code;
}

static int decode_item(struct reader *r, struct yaml_node *n, uint32_t depth, struct array_builder *b,
                       struct yaml_decoded *d, struct err *err)
{
        struct yaml_decoded *item;
        int code;

        if (n->type == YAML_NODE_LEAVES)
                return decode_leaves(r, n, depth, b, d, err);
        code = decode(r, n, depth, &item, err);
        if (code < 0)
                return code;
        array_builder_add(b, item->value);
        add_up(d, item);
        return 0;
}

static int decode_sequence(struct reader *r, struct yaml_node *n, uint32_t depth, struct yaml_decoded *d,
                           struct err *err)
{
        struct array_builder b;

        array_builder_init(&b, r->arena, n->n_children);
        for (struct yaml_node *child = n->first; child; child = child->next) {
                int code = decode_item(r, child, depth + 1, &b, d, err);

                if (code >= 0)
                        code = arena_check(r->arena, err);
                if (code < 0)
                        return code;
        }
        d->value = array_builder_finish(&b);
        return 0;
}

/* Any node */

/* Replaces a second decoding: counts and reports everything that it would count and report. */
static int decode_again(struct reader *r, struct yaml_node *n, uint32_t depth, struct yaml_decoded *d, struct err *err)
{
        int code = check_depth(r, n, depth + d->height, err);

        if (code < 0)
                return code;
        if (__builtin_add_overflow(r->aliased_bytes, d->text_bytes, &r->aliased_bytes))
                r->aliased_bytes = UINT64_MAX;
        for (size_t i = d->first_duplicate; i < d->end_duplicate && r->duplicates.n < LIMIT_YAML_DUPLICATES; i++) {
                struct duplicate again = r->duplicates.p[i];

                vec_push(&r->duplicates, again);
        }
        return count_nodes(r, n, d->weight, err);
}

static int decode_alias(struct reader *r, struct yaml_node *n, uint32_t depth, struct yaml_decoded **ret,
                        struct err *err)
{
        int code = count_nodes(r, n, 1, err);

        if (code < 0)
                return code;
        if (n->target->is_open) {
                code = err_set(err, ERR_INVALID, "yaml: anchor '%.*s' value contains itself", STR_ARG(n->text));
                return fail_at(r, n, code, err);
        }
        r->alias_depth++;
        code = decode(r, n->target, depth, ret, err);
        r->alias_depth--;
        return code;
}

static int decode_new(struct reader *r, struct yaml_node *n, uint32_t depth, struct yaml_decoded *d, struct err *err)
{
        switch ((enum yaml_node_type)n->type) {
        case YAML_NODE_SCALAR:
                return decode_scalar(r, n, d, err);
        case YAML_NODE_SEQUENCE:
                return decode_sequence(r, n, depth, d, err);
        case YAML_NODE_MAPPING:
                return decode_mapping(r, n, depth, d, err);
        case YAML_NODE_ALIAS:
        case YAML_NODE_LEAVES:
                break;
        }
        return 0;
}

/* depth is the number of containers around the value. */
static int decode(struct reader *r, struct yaml_node *n, uint32_t depth, struct yaml_decoded **ret, struct err *err)
{
        uint64_t weight = r->n_decoded;
        uint32_t height = n->type == YAML_NODE_SCALAR ? 0 : 1;
        struct yaml_decoded *d = n->decoded;
        int code;

        if (n->type == YAML_NODE_ALIAS)
                return decode_alias(r, n, depth, ret, err);
        if (d) {
                *ret = d;
                return decode_again(r, n, depth, d, err);
        }
        code = check_depth(r, n, depth + height, err);
        if (code >= 0)
                code = count_nodes(r, n, 1, err);
        if (code < 0)
                return code;
        d = ARENA_NEW(r->scratch, struct yaml_decoded);
        d->height = height;
        d->first_duplicate = r->duplicates.n;
        n->is_open = true;
        code = decode_new(r, n, depth, d, err);
        n->is_open = false;
        if (code < 0)
                return code;
        d->end_duplicate = r->duplicates.n;
        d->weight = r->n_decoded - weight;
        *ret = n->decoded = d;
        return 0;
}

/* Values that JSON cannot represent */

static int fail_bad_key(struct reader *r, struct str name, struct err *err)
{
        _cleanup_buf_ struct buf b = BUF_INIT(YAML_GO_SYNTAX_BYTES);
        const struct bad_key *bad = NULL;

        for (size_t i = 0; i < r->bad_keys.n; i++)
                if (str_equal(r->bad_keys.p[i].name, name))
                        bad = &r->bad_keys.p[i];
        assert(bad);
        if (yaml_resolve_plain(bad->key->text).kind == YAML_KIND_UINT) {
                buf_append_literal(&b, "uint64, key: ");
                append_go(r, &b, bad->key, false);
        } else {
                buf_append_literal(&b, "%!s(<nil>), key: <nil>");
        }
        buf_append_literal(&b, ", value: ");
        append_go(r, &b, bad->value, false);
        return fail_at(r, bad->key,
                       err_set(err, ERR_INVALID, "unsupported map key of type: %.*s", STR_ARG(buf_str(&b))), err);
}

static int check_keys(struct reader *r, const struct value *v, struct err *err)
{
        int code = 0;

        VALUE_FOREACH_ITEM (item, v)
                if (code >= 0)
                        code = check_keys(r, item, err);
        VALUE_FOREACH_MEMBER (m, v) {
                if (code >= 0 && str_starts_with(m->key, STR("\xFF\xFF")))
                        code = fail_bad_key(r, m->key, err);
                if (code >= 0)
                        code = check_keys(r, &m->value, err);
        }
        return code;
}

/* JSON is written with sorted keys, so the error names the first infinity or NaN in that order. */
static int check_floats(struct reader *r, const struct value *v, struct err *err)
{
        int code = 0;

        if (value_is_double(v) && !isfinite(v->number))
                return err_set(err, ERR_INVALID, "json: unsupported value: %s",
                               isnan(v->number) ? "NaN"
                               : v->number > 0  ? "+Inf"
                                                : "-Inf");
        VALUE_FOREACH_ITEM (item, v)
                if (code >= 0)
                        code = check_floats(r, item, err);
        if (value_is_object(v))
                v = value_sorted(r->scratch, v);
        VALUE_FOREACH_MEMBER (m, v)
                if (code >= 0)
                        code = check_floats(r, &m->value, err);
        return code;
}

static int fail_duplicates(struct reader *r, struct err *err)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        int code;

        buf_append_literal(&b, "yaml: unmarshal errors:");
        for (size_t i = 0; i < r->duplicates.n; i++)
                buf_appendf(&b, "\n  line %u: key %.*s already set in map", r->duplicates.p[i].line,
                            STR_ARG(r->duplicates.p[i].key));
        code = err_set(err, ERR_INVALID, "%.*s", STR_ARG(buf_str(&b)));
        if (err)
                err_set_position(err, (struct position) { .line = r->duplicates.p[0].line, .column = 1 });
        return code;
}

static int decode_document(struct reader *r, struct yaml_node *root, struct value *ret, struct err *err)
{
        struct yaml_decoded *d;
        int code;

        code = count_nodes(r, root, 1, err); /* the document itself */
        if (code >= 0)
                code = decode(r, root, 0, &d, err);
        if (code < 0)
                return code;
        if (r->duplicates.n)
                return fail_duplicates(r, err);
        if (r->bad_keys.n)
                code = check_keys(r, &d->value, err);
        if (code >= 0 && r->has_special_float)
                code = check_floats(r, &d->value, err);
        *ret = d->value;
        return code;
}

int yaml_parse(struct arena *a, struct str text, const struct yaml_read_options *options, const struct value **ret,
               struct err *err)
{
        static const struct yaml_read_options defaults;
        const struct yaml_read_options *o = options ? options : &defaults;
        size_t max_bytes = o->max_bytes ? o->max_bytes : LIMIT_DOCUMENT_BYTES;
        _cleanup_arena_ struct arena scratch;
        _cleanup_(reader_done)
        struct reader r = { .arena = a, .scratch = &scratch, .text = text };
        struct yaml_node *root = NULL;
        struct value v = value_of_null();
        int code;

        arena_init(&scratch, a->name, a->budget_bytes);
        if (text.n > max_bytes)
                return err_set(err, ERR_LIMIT, "yaml: text is larger than the limit of %zu bytes", max_bytes);
        r.refuses_duplicates = o->is_strict;
        r.max_depth = o->max_depth ? o->max_depth : LIMIT_DEPTH;
        code = yaml_compose(&scratch, text, r.max_depth, true, &root, err);
        if (code >= 0 && root)
                code = decode_document(&r, root, &v, err);
        if (code < 0)
                return code;
        *ret = value_put(a, v);
        return 0;
}
