/* JSON Patch and JSON merge patch.
 *
 * A JSON Patch is applied to a working copy. A container is opened, that is, copied into an editable form, when an operation
 * first edits it. Values that no operation touches stay the immutable originals, and a container that thousands of operations
 * touch is copied only once. */
#include "patch.h"

#include "limits.h"
#include "number.h"
#include "path.h"

/* Maximum number of bytes of a path, op or key in a message. */
#define MESSAGE_TEXT_BYTES 256

struct container;

/* A place in the working copy. */
struct node {
        const struct value *value; /* until something below it is edited */
        struct container *open;    /* after the first edit; both are NULL for a removed member */
};

struct addition {
        struct str key;
        struct node node;
};

struct container {
        const struct value *base; /* of an object: the value it was; NULL for an array */
        struct node *nodes;       /* the items of an array; for an object one for each member of base */
        size_t n;
        size_t capacity;
        struct addition *additions; /* members that base does not have */
        size_t n_additions;
        size_t additions_capacity;
};

struct patching {
        struct arena *arena;
        struct node root;
        size_t copied_bytes;
        struct err *err;
};

/* A JSON pointer, cut at its slashes. The text before the first slash is ignored, as upstream does. */
struct pointer {
        struct str text;
        struct str *tokens;
        size_t n;
};

/* Working copy */

static bool node_exists(const struct node *node)
{
        return node->value || node->open;
}

static bool node_is_array(const struct node *node)
{
        return node->open ? !node->open->base : value_is_array(node->value);
}

static bool node_is_object(const struct node *node)
{
        return node->open ? node->open->base != NULL : value_is_object(node->value);
}

static size_t node_count(const struct node *node)
{
        size_t count;

        if (!node->open)
                return value_count(node->value);
        if (node_is_array(node))
                return node->open->n;
        count = 0;
        for (size_t i = 0; i < node->open->n; i++)
                count += node_exists(&node->open->nodes[i]);
        for (size_t i = 0; i < node->open->n_additions; i++)
                count += node_exists(&node->open->additions[i].node);
        return count;
}

/* The place of a member in an open object, present or removed; NULL if there is none. */
static struct node *open_member(const struct container *c, struct str key)
{
        const struct value *v = value_get(c->base, key);

        if (v) {
                const struct member *m = CONTAINER_OF(v, struct member, value);

                return &c->nodes[m - c->base->members];
        }
        for (size_t i = 0; i < c->n_additions; i++)
                if (str_equal(c->additions[i].key, key))
                        return &c->additions[i].node;
        return NULL;
}

static void node_open(struct arena *a, struct node *node)
{
        const struct value *v = node->value;
        struct container *c;

        if (node->open)
                return;
        c = ARENA_NEW(a, struct container);
        c->base = value_is_object(v) ? v : NULL;
        c->n = c->capacity = value_count(v);
        c->nodes = ARENA_NEW_ARRAY(a, struct node, c->n);
        for (size_t i = 0; i < c->n; i++)
                c->nodes[i].value = c->base ? &value_member(v, i)->value : value_item(v, i);
        *node = (struct node) { .open = c };
}

static struct value node_close(struct arena *a, const struct node *node);

static struct value close_array(struct arena *a, const struct container *c)
{
        struct array_builder b;

        array_builder_init(&b, a, c->n);
        for (size_t i = 0; i < c->n; i++)
                array_builder_add(&b, node_close(a, &c->nodes[i]));
        return array_builder_finish(&b);
}

static struct value close_object(struct arena *a, const struct container *c)
{
        struct object_builder b;

        object_builder_init(&b, a, c->n + c->n_additions);
        for (size_t i = 0; i < c->n; i++)
                if (node_exists(&c->nodes[i]))
                        object_builder_add(&b, value_member(c->base, i)->key, node_close(a, &c->nodes[i]));
        for (size_t i = 0; i < c->n_additions; i++)
                if (node_exists(&c->additions[i].node))
                        object_builder_add(&b, c->additions[i].key, node_close(a, &c->additions[i].node));
        return object_builder_finish(&b);
}

/* Turns the node back into a value. */
static struct value node_close(struct arena *a, const struct node *node)
{
        if (!node->open)
                return *node->value;
        return node->open->base ? close_object(a, node->open) : close_array(a, node->open);
}

static size_t node_depth(const struct node *node)
{
        size_t depth = 0;

        if (!node_exists(node))
                return 0;
        if (!node->open)
                return value_depth(node->value);
        for (size_t i = 0; i < node->open->n; i++)
                depth = MAX(depth, node_depth(&node->open->nodes[i]));
        for (size_t i = 0; i < node->open->n_additions; i++)
                depth = MAX(depth, node_depth(&node->open->additions[i].node));
        return depth + 1;
}

static bool node_equals(const struct node *node, const struct value *v)
{
        if (!node->open)
                return value_equal(node->value, v);
        if (!value_is(v, node->open->base ? VALUE_OBJECT : VALUE_ARRAY) || node_count(node) != v->n)
                return false;
        for (uint32_t i = 0; i < v->n; i++) {
                const struct node *child;
                const struct value *wanted;

                if (node->open->base) {
                        child = open_member(node->open, value_member(v, i)->key);
                        wanted = &value_member(v, i)->value;
                } else {
                        child = &node->open->nodes[i];
                        wanted = value_item(v, i);
                }
                if (!child || !node_exists(child) || !node_equals(child, wanted))
                        return false;
        }
        return true;
}

/* Pointers */

/* Cuts a text for use in a message, at a character boundary: texts in a patch may have any length. */
static struct str clip(struct str s)
{
        size_t n = MESSAGE_TEXT_BYTES;

        if (s.n <= n)
                return s;
        while (n > 0 && ((unsigned char)s.p[n] & 0xc0) == 0x80)
                n--;
        return str_first(s, n);
}

/* ~1 is a slash and ~0 a tilde; a tilde before anything else is a tilde. */
static struct str decode_token(struct arena *a, struct str s)
{
        char *out;
        size_t n = 0;

        if (str_find_char(s, '~') < 0)
                return s;
        out = arena_alloc(a, s.n);
        for (size_t i = 0; i < s.n; i++) {
                bool is_escape = s.p[i] == '~' && i + 1 < s.n && (s.p[i + 1] == '0' || s.p[i + 1] == '1');

                out[n++] = is_escape ? (s.p[++i] == '0' ? '~' : '/') : s.p[i];
        }
        return str_make(out, n);
}

static void pointer_parse(struct arena *a, struct str text, struct pointer *ret)
{
        struct str rest = text, token;
        size_t n = 0;
        bool has_more;

        for (size_t i = 0; i < text.n; i++)
                n += text.p[i] == '/';
        *ret = (struct pointer) { .text = text, .tokens = ARENA_NEW_ARRAY(a, struct str, n) };
        has_more = str_split(&rest, '/', &token);
        while (has_more) {
                has_more = str_split(&rest, '/', &token);
                ret->tokens[ret->n++] = decode_token(a, token);
        }
}

/* A decimal number with an optional sign. Leading zeros are an error, although some versions of the library accept them. */
static int parse_index(struct str token, int64_t *ret, struct err *err)
{
        struct str digits = token, text = clip(token);

        if (digits.n && (digits.p[0] == '-' || digits.p[0] == '+'))
                digits = str_skip(digits, 1);
        if ((digits.n > 1 && digits.p[0] == '0') || number_parse_int(token, ret, NULL) < 0)
                return err_set(err, ERR_INVALID, "'%.*s' is not an array index", STR_ARG(text));
        return 0;
}

/* The index below `end` that a token denotes; a negative one counts from the end. */
static int resolve_index(struct str token, size_t end, size_t *ret, struct err *err)
{
        int64_t i;
        int r = parse_index(token, &i, err);

        if (r < 0)
                return r;
        if (i >= (int64_t)end || i < -(int64_t)end)
                return err_set(err, ERR_INVALID, "index %.*s is out of range", STR_ARG(token));
        *ret = (size_t)(i < 0 ? i + (int64_t)end : i);
        return 0;
}

/* The child for reading; for an absent member *ret has neither value nor container. */
static int node_child(struct node node, struct str token, struct node *ret, struct err *err)
{
        struct node *open = NULL;
        size_t i;
        int r;

        if (node_is_object(&node)) {
                if (node.open)
                        open = open_member(node.open, token);
                *ret = open ? *open : (struct node) { .value = node.open ? NULL : value_get(node.value, token) };
                return 0;
        }
        r = resolve_index(token, node_count(&node), &i, err);
        if (r < 0)
                return r;
        *ret = node.open ? node.open->nodes[i] : (struct node) { .value = value_item(node.value, i) };
        return 0;
}

static int missing_parent(const struct pointer *p, struct err *err)
{
        struct str text = clip(p->text);

        return err_set(err, ERR_INVALID, "nothing to hold '%.*s' exists", STR_ARG(text));
}

/* The array or object that contains the pointer's target, for reading. */
static int find_parent(const struct patching *patching, const struct pointer *p, struct node *ret, struct err *err)
{
        struct node node = patching->root;

        if (p->n == 0)
                return missing_parent(p, err);
        for (size_t i = 0;; i++) {
                if (!node_is_object(&node) && !node_is_array(&node))
                        return missing_parent(p, err);
                if (i + 1 == p->n)
                        break;
                if (node_child(node, p->tokens[i], &node, NULL) < 0)
                        return missing_parent(p, err);
        }
        *ret = node;
        return 0;
}

/* The same container, opened for editing. find_parent must have succeeded for the pointer. */
static struct container *open_parent(struct patching *patching, const struct pointer *p)
{
        struct node *node = &patching->root;

        for (size_t i = 0; i + 1 < p->n; i++) {
                node_open(patching->arena, node);
                if (node_is_object(node)) {
                        node = open_member(node->open, p->tokens[i]);
                } else {
                        size_t index = 0;
                        int r = resolve_index(p->tokens[i], node->open->n, &index, NULL);

                        assert(r >= 0);
                        node = &node->open->nodes[index];
                }
        }
        node_open(patching->arena, node);
        return node->open;
}

/* Edits of an open container */

static void *grow(struct arena *a, void *old, size_t n, size_t *capacity, size_t size_bytes)
{
        size_t grown = *capacity ? *capacity * 2 : 4;
        void *p;

        if (n < *capacity)
                return old;
        p = arena_alloc(a, grown * size_bytes);
        if (n)
                memcpy(p, old, n * size_bytes);
        *capacity = grown;
        return p;
}

static void set_member(struct arena *a, struct container *c, struct str key, struct node node)
{
        struct node *place = open_member(c, key);

        if (place) {
                *place = node;
                return;
        }
        c->additions = grow(a, c->additions, c->n_additions, &c->additions_capacity, sizeof(*c->additions));
        c->additions[c->n_additions++] = (struct addition) { .key = key, .node = node };
}

static void insert_item(struct arena *a, struct container *c, size_t i, struct node node)
{
        c->nodes = grow(a, c->nodes, c->n, &c->capacity, sizeof(*c->nodes));
        memmove(c->nodes + i + 1, c->nodes + i, (c->n - i) * sizeof(*c->nodes));
        c->nodes[i] = node;
        c->n++;
}

static void remove_item(struct container *c, size_t i)
{
        memmove(c->nodes + i, c->nodes + i + 1, (c->n - i - 1) * sizeof(*c->nodes));
        c->n--;
}

/* Operations */

static int check_depth(const struct pointer *p, const struct node *node, struct err *err)
{
        if (p->n > LIMIT_DEPTH || p->n + node_depth(node) > LIMIT_DEPTH)
                return err_set(err, ERR_LIMIT, "value would be nested deeper than the limit of %u levels", LIMIT_DEPTH);
        return 0;
}

static int add_node(struct patching *p, const struct pointer *path, struct node node)
{
        struct str last;
        struct node parent;
        size_t i = 0;
        int r = find_parent(p, path, &parent, p->err);

        if (r < 0)
                return r;
        last = path->tokens[path->n - 1];
        if (node_is_array(&parent)) {
                i = node_count(&parent);
                r = str_equal(last, STR("-")) ? 0 : resolve_index(last, i + 1, &i, p->err);
        }
        if (r >= 0)
                r = check_depth(path, &node, p->err);
        if (r < 0)
                return r;
        if (node_is_array(&parent))
                insert_item(p->arena, open_parent(p, path), i, node);
        else
                set_member(p->arena, open_parent(p, path), last, node);
        return 0;
}

/* Removes the target of the pointer and returns it in *ret. */
static int take_node(struct patching *p, const struct pointer *path, struct node *ret)
{
        struct str last;
        struct node parent;
        struct container *c;
        size_t i = 0;
        int r = find_parent(p, path, &parent, p->err);

        if (r < 0)
                return r;
        last = path->tokens[path->n - 1];
        r = node_child(parent, last, ret, p->err);
        if (r < 0)
                return r;
        if (!node_exists(ret)) {
                last = clip(last);
                return err_set(p->err, ERR_INVALID, "no member '%.*s' exists", STR_ARG(last));
        }
        c = open_parent(p, path);
        if (c->base) {
                *open_member(c, last) = (struct node) { 0 };
        } else {
                r = resolve_index(last, c->n, &i, NULL);
                assert(r >= 0);
                remove_item(c, i);
        }
        return 0;
}

static const struct value *operation_value(const struct value *operation)
{
        const struct value *v = value_get(operation, STR("value"));

        return v ? v : &value_null;
}

static int apply_add(struct patching *p, const struct value *operation, const struct pointer *path)
{
        return add_node(p, path, (struct node) { .value = operation_value(operation) });
}

static int apply_remove(struct patching *p, const struct value *operation _unused_, const struct pointer *path)
{
        struct node removed;

        return take_node(p, path, &removed);
}

/* An item must exist; a member need not. The root may be replaced by anything. */
static int apply_replace(struct patching *p, const struct value *operation, const struct pointer *path)
{
        struct node updated = { .value = operation_value(operation) }, parent, old;
        struct container *c;
        struct str last;
        int r;

        if (path->text.n == 0) {
                p->root = updated;
                return 0;
        }
        r = find_parent(p, path, &parent, p->err);
        if (r < 0)
                return r;
        last = path->tokens[path->n - 1];
        r = node_child(parent, last, &old, p->err);
        if (r >= 0)
                r = check_depth(path, &updated, p->err);
        if (r < 0)
                return r;
        c = open_parent(p, path);
        if (c->base) {
                set_member(p->arena, c, last, updated);
        } else {
                size_t i = 0;

                r = resolve_index(last, c->n, &i, NULL);
                assert(r >= 0);
                c->nodes[i] = updated;
        }
        return 0;
}

static int parse_from(struct patching *p, const struct value *operation, struct pointer *ret)
{
        const struct value *from = value_get(operation, STR("from"));

        if (!value_is_string(from))
                return err_set(p->err, ERR_INVALID, "from is missing or no string");
        pointer_parse(p->arena, value_str(from), ret);
        return 0;
}

static int apply_move(struct patching *p, const struct value *operation, const struct pointer *path)
{
        struct pointer from;
        struct node moved;
        int r = parse_from(p, operation, &from);

        if (r >= 0)
                r = take_node(p, &from, &moved);
        if (r < 0)
                return r;
        return add_node(p, path, moved);
}

/* Copies are shared and cost nothing here, but each copy is written out in full later, so its full size counts. */
static int count_copy(struct patching *p, const struct value *copied)
{
        p->copied_bytes += value_size_bytes(copied);
        if (p->copied_bytes > LIMIT_PATCH_COPY_BYTES)
                return err_set(p->err, ERR_LIMIT, "copies are larger than the limit of %llu bytes",
                               LIMIT_PATCH_COPY_BYTES);
        return 0;
}

static int apply_copy(struct patching *p, const struct value *operation, const struct pointer *path)
{
        struct node parent, node;
        struct pointer from;
        int r = parse_from(p, operation, &from);

        if (r >= 0)
                r = find_parent(p, &from, &parent, p->err);
        if (r >= 0)
                r = node_child(parent, from.tokens[from.n - 1], &node, p->err);
        if (r < 0)
                return r;
        node.value = node_exists(&node) ? value_put(p->arena, node_close(p->arena, &node)) : &value_null;
        r = count_copy(p, node.value);
        if (r < 0)
                return r;
        return add_node(p, path, (struct node) { .value = node.value });
}

/* A missing member equals null. */
static int apply_test(struct patching *p, const struct value *operation, const struct pointer *path)
{
        const struct value *wanted = operation_value(operation);
        struct node parent, node = p->root;
        int r = 0;

        if (path->text.n) {
                r = find_parent(p, path, &parent, p->err);
                if (r >= 0)
                        r = node_child(parent, path->tokens[path->n - 1], &node, p->err);
        }
        if (r < 0)
                return r;
        if (node_exists(&node) ? node_equals(&node, wanted) : value_is_null(wanted))
                return 0;
        return err_set(p->err, ERR_INVALID, "test failed");
}

static const struct {
        struct str op;
        int (*apply)(struct patching *p, const struct value *operation, const struct pointer *path);
} operations[] = {
        { STR_INIT("add"), apply_add },   { STR_INIT("remove"), apply_remove }, { STR_INIT("replace"), apply_replace },
        { STR_INIT("move"), apply_move }, { STR_INIT("copy"), apply_copy },     { STR_INIT("test"), apply_test },
};

static int apply_operation(struct patching *p, const struct value *operation)
{
        const struct value *op = value_get(operation, STR("op")), *path = value_get(operation, STR("path"));
        struct pointer pointer;

        if (!value_is_object(operation))
                return err_set(p->err, ERR_INVALID, "not an object");
        if (!value_is_string(op))
                return err_set(p->err, ERR_INVALID, "op is missing or no string");
        for (size_t i = 0; i < ARRAY_SIZE(operations); i++) {
                if (!str_equal(operations[i].op, value_str(op)))
                        continue;
                if (!value_is_string(path))
                        return err_set(p->err, ERR_INVALID, "path is missing or no string");
                pointer_parse(p->arena, value_str(path), &pointer);
                return operations[i].apply(p, operation, &pointer);
        }
        return err_set(p->err, ERR_INVALID, "unknown op");
}

/* `operation 2 (replace /spec/x): ...`, with op and path in the parentheses as far as the operation has them. */
static void name_operation(struct err *err, uint32_t i, const struct value *operation)
{
        struct str op = clip(value_str(value_get(operation, STR("op"))));
        struct str path = clip(value_str(value_get(operation, STR("path"))));

        if (op.n && path.n)
                err_wrap(err, "operation %u (%.*s %.*s)", i, STR_ARG(op), STR_ARG(path));
        else if (op.n)
                err_wrap(err, "operation %u (%.*s)", i, STR_ARG(op));
        else
                err_wrap(err, "operation %u", i);
}

int json_patch_apply(struct arena *a, const struct value *document, const struct value *patch, const struct value **ret,
                     struct err *err)
{
        struct patching p = { .arena = a, .root = { .value = document }, .err = err };

        if (!value_is_array(patch) && !value_is_null(patch))
                return err_set(err, ERR_INVALID, "a JSON patch must be an array of operations");
        if (value_count(patch) > LIMIT_PATCH_OPERATIONS)
                return err_set(err, ERR_LIMIT, "patch has %zu operations, more than the limit of %u",
                               value_count(patch), LIMIT_PATCH_OPERATIONS);
        for (uint32_t i = 0; i < value_count(patch); i++) {
                int r = apply_operation(&p, &patch->items[i]);

                if (r >= 0)
                        r = arena_check(a, err);
                if (r < 0) {
                        name_operation(err, i, &patch->items[i]);
                        return r;
                }
        }
        *ret = p.root.open ? value_put(a, node_close(a, &p.root)) : p.root.value;
        return 0;
}

/* Merge patch */

static struct value apply_merge(struct arena *a, const struct value *document, const struct value *patch)
{
        struct object_builder b;

        if (!value_is_object(patch))
                return *patch;
        object_builder_init(&b, a, value_count(patch) + (value_is_object(document) ? document->n : 0));
        VALUE_FOREACH_MEMBER (m, document) {
                const struct value *p = value_get(patch, m->key);

                if (!p)
                        object_builder_add(&b, m->key, m->value);
                else if (!value_is_null(p))
                        object_builder_add(&b, m->key, apply_merge(a, &m->value, p));
        }
        VALUE_FOREACH_MEMBER (m, patch)
                if (!value_is_null(&m->value) && !value_get(document, m->key))
                        object_builder_add(&b, m->key, apply_merge(a, &value_null, &m->value));
        return object_builder_finish(&b);
}

const struct value *merge_patch_apply(struct arena *a, const struct value *document, const struct value *patch)
{
        return value_put(a, apply_merge(a, document, patch));
}

static struct value create_merge(struct arena *a, const struct value *from, const struct value *to)
{
        struct object_builder b;

        if (!value_is_object(from) || !value_is_object(to))
                return *to;
        object_builder_init(&b, a, 0);
        VALUE_FOREACH_MEMBER (m, from) {
                const struct value *updated = value_get(to, m->key);

                struct value patch;

                if (!updated) {
                        object_builder_add(&b, m->key, value_of_null());
                } else if (value_is_object(&m->value) && value_is_object(updated)) {
                        patch = create_merge(a, &m->value, updated);
                        if (patch.n)
                                object_builder_add(&b, m->key, patch);
                } else if (!value_equal(&m->value, updated)) {
                        object_builder_add(&b, m->key, *updated);
                }
        }
        VALUE_FOREACH_MEMBER (m, to)
                if (!value_get(from, m->key))
                        object_builder_add(&b, m->key, m->value);
        return object_builder_finish(&b);
}

const struct value *merge_patch_create(struct arena *a, const struct value *from, const struct value *to)
{
        return value_put(a, create_merge(a, from, to));
}
