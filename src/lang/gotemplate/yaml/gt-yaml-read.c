/* fromYaml: a composed document as values, by the rules of yaml.v3's decoder. */
#include "base64.h"
#include "buf.h"
#include "gotext.h"
#include "gt-print.h"
#include "gt-yaml.h"
#include "limits.h"
#include "vec.h"
#include "yaml-compose.h"
#include "yaml-scalar.h"

struct reader {
        struct gt_context *context;
        struct buf complaints; /* errors of the whole document, one per line */
        size_t n_decoded;
        size_t n_aliased; /* of the decoded nodes, those below aliases */
        unsigned alias_depth;
        unsigned depth;
};

/* Members of mappings that are merged into one: the first value of each key counts. */
typedef VEC(struct gt_member) members_t;

static int decode(struct reader *r, struct yaml_node *n, struct gt_value *ret, bool *ret_is_good);

/* --- Scalars --- */

static struct str short_tag(struct str tag)
{
        return str_cut_prefix(&tag, STR(YAML_TAG_PREFIX)) ? tag : STR("");
}

static bool is_indicated_string(const struct yaml_node *n)
{
        return str_equal(short_tag(n->tag), STR("str")) || (!n->is_plain && n->tag.n == 0);
}

static bool is_merge_key(const struct yaml_node *n)
{
        return n->type == YAML_NODE_SCALAR && str_equal(n->text, STR("<<")) &&
               ((n->tag.n == 0 && n->is_plain) || str_equal(short_tag(n->tag), STR("merge")));
}

static struct str name_of(struct gt_value v)
{
        switch ((enum gt_type)v.type) {
        case GT_NIL:
                return STR("null");
        case GT_BOOL:
                return STR("bool");
        case GT_INT:
        case GT_UINT64:
                return STR("int");
        case GT_FLOAT64:
                return STR("float");
        case GT_OBJECT:
                return STR("timestamp");
        default:
                return STR("str");
        }
}

static int decode_binary(struct reader *r, const struct yaml_node *n, struct gt_value *ret)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        if (base64_decode(&b, n->text, BASE64_STD, NULL) < 0)
                return gt_fail(r->context, "yaml: !!binary value contains invalid base64 data");
        *ret = gt_string(buf_to_arena(&b, r->context->arena));
        return 0;
}

static int decode_tagged(struct reader *r, const struct yaml_node *n, struct gt_value *ret)
{
        struct str tag = short_tag(n->tag);
        bool is_resolvable = str_equal(tag, STR("bool")) || str_equal(tag, STR("int")) ||
                             str_equal(tag, STR("float")) || str_equal(tag, STR("null")) ||
                             str_equal(tag, STR("timestamp"));

        if (str_equal(tag, STR("binary")))
                return decode_binary(r, n, ret);
        *ret = gt_string(n->text);
        if (!is_resolvable)
                return 0;
        *ret = gt_yaml_resolve(r->context, n->text);
        if (str_equal(tag, name_of(*ret)))
                return 0;
        if (str_equal(tag, STR("float")) && ret->type == GT_INT) {
                *ret = gt_float64((double)ret->integer);
                return 0;
        }
        return gt_fail(r->context, "yaml: cannot decode !!%.*s `%.*s` as a !!%.*s", STR_ARG(name_of(*ret)),
                       STR_ARG(n->text), STR_ARG(tag));
}

static int decode_scalar(struct reader *r, const struct yaml_node *n, struct gt_value *ret)
{
        *ret = gt_string(n->text);
        if (is_indicated_string(n) || is_merge_key(n))
                return 0;
        if (n->tag.n > 0)
                return decode_tagged(r, n, ret);
        *ret = gt_yaml_resolve(r->context, n->text);
        if (ret->type == GT_NONE)
                *ret = gt_string(n->text);
        return 0;
}

/* --- Lists --- */

static int decode_sequence(struct reader *r, struct yaml_node *n, struct gt_value *ret)
{
        struct gt_value list = gt_list_new(r->context, GT_LIST, n->n_children);
        size_t i = 0;
        int code;

        for (struct yaml_node *child = n->first; child; child = child->next) {
                struct gt_value v;
                bool is_good;

                code = decode(r, child, &v, &is_good);
                if (code < 0)
                        return code;
                if (is_good)
                        gt_list_put(list, i++, v);
        }
        *ret = i == n->n_children ? list : gt_list_slice(r->context, list, 0, i);
        return 0;
}

/* --- Maps --- */

static bool has_duplicates(struct reader *r, const struct yaml_node *n)
{
        size_t before = r->complaints.n;

        for (const struct yaml_node *a = n->first; a; a = a->next->next)
                for (const struct yaml_node *b = a->next->next; b; b = b->next->next)
                        if (a->type == b->type && str_equal(a->text, b->text)) {
                                buf_appendf(&r->complaints, "\n  line %u: mapping key ", b->line + 1);
                                go_append_quoted(&r->complaints, b->text);
                                buf_appendf(&r->complaints, " already defined at line %u", a->line + 1);
                        }
        return r->complaints.n > before;
}

/* True if all keys are strings; then the map is a map[string]interface {}. */
static bool is_string_map(struct reader *r, const struct yaml_node *n)
{
        for (const struct yaml_node *child = n->first; child; child = child->next->next) {
                const struct yaml_node *key = yaml_behind_alias(child);
                struct str tag = short_tag(key->tag);

                if (key->type != YAML_NODE_SCALAR)
                        return false;
                if (is_indicated_string(key) || is_merge_key(key))
                        continue;
                if (key->tag.n > 0 || tag.n > 0 || gt_yaml_resolve(r->context, key->text).type != GT_NONE)
                        return false;
        }
        return true;
}

static bool has_key(struct reader *r, const members_t *members, struct gt_value key)
{
        bool is_equal = false;

        for (size_t i = 0; i < members->n; i++)
                if (gt_deep_equal(r->context, members->p[i].key, key, &is_equal) == 0 && is_equal)
                        return true;
        return false;
}

static int refuse_key(struct reader *r, struct gt_value key)
{
        _cleanup_buf_ struct buf b = BUF_INIT(LIMIT_ERROR_BYTES / 2);

        gt_append_sprintf(r->context, &b, STR("%#v"), &key, 1);
        return gt_fail(r->context, "yaml: invalid map key: %.*s", STR_ARG(buf_str(&b)));
}

static int want_map(struct reader *r)
{
        return gt_fail(r->context, "yaml: map merge requires map or sequence of maps as the value");
}

static int collect(struct reader *r, struct yaml_node *n, members_t *members);

static int collect_merged(struct reader *r, struct yaml_node *n, members_t *members)
{
        struct yaml_node *target = n->type == YAML_NODE_ALIAS ? n->target : n;
        int code;

        if (target->type == YAML_NODE_MAPPING) {
                r->alias_depth += n->type == YAML_NODE_ALIAS;
                code = collect(r, target, members);
                r->alias_depth -= n->type == YAML_NODE_ALIAS;
                return code;
        }
        if (n->type != YAML_NODE_SEQUENCE)
                return want_map(r);
        for (struct yaml_node *child = n->first; child; child = child->next) {
                if (yaml_behind_alias(child)->type != YAML_NODE_MAPPING)
                        return want_map(r);
                code = collect_merged(r, child, members);
                if (code < 0)
                        return code;
        }
        return 0;
}

/* Adds the members of a mapping that are not in the list yet, then those of its merge keys. */
static int collect(struct reader *r, struct yaml_node *n, members_t *members)
{
        struct yaml_node *merged = NULL;
        int code;

        if (n->is_open)
                return gt_fail(r->context, "yaml: anchor value contains itself");
        code = gt_spend(r->context, (uint64_t)n->n_children * (n->n_children / 2 + 1) + members->n);
        if (code < 0 || has_duplicates(r, n))
                return code;
        n->is_open = true;
        for (struct yaml_node *key = n->first; key; key = key->next->next) {
                struct gt_member m;
                bool is_good;

                if (is_merge_key(key)) {
                        merged = key->next;
                        continue;
                }
                code = decode(r, key, &m.key, &is_good);
                if (code < 0)
                        return code;
                if (gt_is_list(m.key) || gt_is_map(m.key))
                        return refuse_key(r, m.key);
                if (has_key(r, members, m.key))
                        continue;
                code = decode(r, key->next, &m.value, &is_good);
                if (code < 0)
                        return code;
                if (is_good)
                        vec_push(members, m);
        }
        code = merged ? collect_merged(r, merged, members) : 0;
        n->is_open = false;
        return code;
}

static struct gt_value map_of(struct reader *r, const struct yaml_node *n, const members_t *members)
{
        struct gt_value map;

        if (!is_string_map(r, n))
                return gt_any_map(r->context, members->p, members->n);
        map = gt_map_new(r->context, GT_MAP);
        for (size_t i = 0; i < members->n; i++)
                gt_map_set(r->context, map, gt_str(members->p[i].key), members->p[i].value);
        return map;
}

static int decode_mapping(struct reader *r, struct yaml_node *n, struct gt_value *ret, bool *ret_is_good)
{
        size_t complaints = r->complaints.n;
        members_t members = { 0 };
        int code = collect(r, n, &members);

        if (code == 0)
                *ret = map_of(r, n, &members);
        *ret_is_good = r->complaints.n == complaints;
        vec_done(&members);
        return code;
}

/* --- Nodes --- */

static int check_aliases(struct reader *r)
{
        double ratio = r->n_decoded <= LIMIT_YAML_ALIAS_LOW_NODES    ? LIMIT_YAML_ALIAS_LOW_RATIO
                       : r->n_decoded >= LIMIT_YAML_ALIAS_HIGH_NODES ? LIMIT_YAML_ALIAS_HIGH_RATIO
                                                                     : 0.5;

        r->n_decoded++;
        r->n_aliased += r->alias_depth > 0;
        if (r->n_aliased > LIMIT_YAML_ALIAS_FREE && r->n_decoded > LIMIT_YAML_ALIAS_FREE_NODES &&
            (double)r->n_aliased / (double)r->n_decoded > ratio)
                return gt_fail(r->context, "yaml: document contains excessive aliasing");
        return gt_spend(r->context, 1);
}

static int decode_alias(struct reader *r, struct yaml_node *n, struct gt_value *ret, bool *ret_is_good)
{
        int code;

        if (n->target->is_open)
                return gt_fail(r->context, "yaml: anchor '%.*s' value contains itself", STR_ARG(n->text));
        r->alias_depth++;
        code = decode(r, n->target, ret, ret_is_good);
        r->alias_depth--;
        return code;
}

static int decode(struct reader *r, struct yaml_node *n, struct gt_value *ret, bool *ret_is_good)
{
        int code = check_aliases(r);

        *ret_is_good = true;
        if (code < 0)
                return code;
        if (r->depth >= LIMIT_DEPTH)
                return gt_fail(r->context, "yaml: document is nested too deeply");
        r->depth++;
        switch ((enum yaml_node_type)n->type) {
        case YAML_NODE_SCALAR:
                code = decode_scalar(r, n, ret);
                break;
        case YAML_NODE_SEQUENCE:
                n->is_open = true;
                code = decode_sequence(r, n, ret);
                n->is_open = false;
                break;
        case YAML_NODE_MAPPING:
                code = decode_mapping(r, n, ret, ret_is_good);
                break;
        case YAML_NODE_ALIAS:
                code = decode_alias(r, n, ret, ret_is_good);
                break;
        case YAML_NODE_LEAVES: /* never made for yaml.v3 */
                assert(false);
        }
        r->depth--;
        return code;
}

int gt_yaml_read(struct gt_context *c, struct str text, struct gt_value *ret)
{
        struct reader r = { .context = c, .complaints = BUF_INIT(LIMIT_ERROR_BYTES) };
        _cleanup_err_ struct err err = { 0 };
        struct yaml_node *root = NULL;
        bool is_good = true;
        int code;

        *ret = gt_nil();
        code = gt_spend(c, text.n / 8);
        if (code < 0)
                return code;
        code = yaml_compose_v3(c->arena, text, LIMIT_DEPTH, &root, &err);
        if (code < 0)
                return gt_fail(c, "%s", err_message(&err));
        if (root)
                code = decode(&r, root, ret, &is_good);
        if (code == 0 && r.complaints.n > 0)
                code = gt_fail(c, "yaml: unmarshal errors:%.*s", STR_ARG(buf_str(&r.complaints)));
        buf_done(&r.complaints);
        return code;
}
