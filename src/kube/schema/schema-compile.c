/* Compiles a schema as written to the block of schema-node.h, in three steps: read it (schema-props.c), check it
 * (schema-structural.c), and compile it here. Compiling goes from the leaves up and numbers every different node, list of
 * properties and extra; then it lays them out one after the other and turns the numbers into distances. */
#include "schema.h"

#include "buf.h"
#include "map.h"
#include "schema-formats.h"
#include "schema-node.h"
#include "schema-props.h"
#include "vec.h"

/* The different pieces of one type, numbered from 1 in the order in which they were added. A piece is a sequence of bytes, so equal
 * content must have equal bytes: no padding, and numbers instead of pointers. */
struct pieces {
        struct map numbers;
        VEC(struct str) p;
        size_t bytes;
};

struct compiler {
        struct arena *arena;
        struct schema *schema; /* owns the values */
        struct pieces nodes;
        struct pieces entries;
        struct pieces extras;
        struct pieces sets; /* sets of nodes and of strings, as uint32_t numbers */
        struct pieces names;
        struct pieces formats;
        struct pieces patterns;
        VEC(const struct value *) values;
        bool has_rules;
};

/* An entry before the layout: every reference is a number, 0 for none. */
struct draft_entry {
        uint32_t name;
        uint32_t flags;
        uint32_t node;
};

static void pieces_done(struct pieces *s)
{
        map_done(&s->numbers);
        vec_done(&s->p);
}

static uint32_t piece_number(struct compiler *c, struct pieces *s, const void *p, size_t n)
{
        struct str key = { p, n };
        uintptr_t number;

        if (n == 0 && !p)
                key.p = "";
        number = (uintptr_t)map_get(&s->numbers, key);
        if (number == 0) {
                /* The copy is aligned, so that structs can be read from it. */
                char *copy = arena_alloc(c->arena, n + 1);

                if (n)
                        memcpy(copy, key.p, n);
                key.p = copy;
                vec_push(&s->p, key);
                number = s->p.n;
                map_set(&s->numbers, key, (void *)number);
                s->bytes += n;
        }
        return (uint32_t)number;
}

static uint32_t name_number(struct compiler *c, struct str name)
{
        return piece_number(c, &c->names, name.p, name.n);
}

static uint64_t value_number(struct compiler *c, const struct value *v)
{
        for (size_t i = 0; i < c->values.n && c->values.n < 64; i++)
                if (value_equal(c->values.p[i], v))
                        return i + 1;
        vec_push(&c->values, value_copy(&c->schema->values, v));
        return c->values.n;
}

/* Extras */

struct draft_extra {
        uint64_t has;
        union extra_content words[_EXTRA_COUNT];
};

static uint64_t strings_number(struct compiler *c, const struct value *list)
{
        uint32_t *numbers = ARENA_NEW_ARRAY(c->arena, uint32_t, list->n);

        for (uint32_t i = 0; i < list->n; i++)
                numbers[i] = name_number(c, value_str(&list->items[i]));
        return piece_number(c, &c->sets, numbers, list->n * sizeof(*numbers));
}

static void draft_id(struct draft_extra *x, enum extra_word word, uint64_t id)
{
        x->has |= 1ull << word;
        x->words[word].id = id;
}

static uint32_t compile_node(struct compiler *c, const struct props *p);

static void draft_group(struct compiler *c, struct draft_extra *x, enum extra_word word, const struct props_list *list)
{
        uint32_t *numbers;

        if (list->n == 0)
                return;
        numbers = ARENA_NEW_ARRAY(c->arena, uint32_t, list->n);
        for (size_t i = 0; i < list->n; i++)
                numbers[i] = compile_node(c, list->p[i]);
        draft_id(x, word, piece_number(c, &c->sets, numbers, list->n * sizeof(*numbers)));
}

static void draft_numbers(struct draft_extra *x, const struct props *p)
{
        for (size_t i = 0; i < _PROPS_NUMBERS; i++)
                if (p->numbers[i]) {
                        x->has |= 1ull << (EXTRA_MINIMUM + i);
                        x->words[EXTRA_MINIMUM + i].number = value_double(p->numbers[i], 0);
                }
        for (size_t i = 0; i < _PROPS_SIZES; i++)
                if (p->sizes[i]) {
                        x->has |= 1ull << (EXTRA_MIN_LENGTH + i);
                        x->words[EXTRA_MIN_LENGTH + i].integer = value_int(p->sizes[i], 0);
                }
}

static void draft_required(struct compiler *c, struct draft_extra *x, const struct props *p)
{
        struct array_builder rest;
        struct value list;

        array_builder_init(&rest, c->arena, 0);
        VALUE_FOREACH_ITEM (name, p->required)
                if (!props_property(p, value_str(name)))
                        array_builder_add(&rest, *name);
        list = array_builder_finish(&rest);
        if (list.n > 0)
                draft_id(x, EXTRA_REQUIRED, strings_number(c, &list));
}

static void draft_logic(struct compiler *c, struct draft_extra *x, const struct props *p)
{
        draft_group(c, x, EXTRA_ALL_OF, &p->all_of);
        draft_group(c, x, EXTRA_ANY_OF, &p->any_of);
        draft_group(c, x, EXTRA_ONE_OF, &p->one_of);
        if (p->not_)
                draft_group(c, x, EXTRA_NOT, &(struct props_list) { (struct props *[]) { p->not_ }, 1 });
}

static uint32_t compile_extra(struct compiler *c, const struct props *p, uint16_t *flags)
{
        struct draft_extra x = { 0 };
        uint64_t packed[1 + _EXTRA_COUNT];
        size_t n = 1;

        if (p->dflt)
                draft_id(&x, EXTRA_DEFAULT, value_number(c, p->dflt));
        if (value_count(p->enumeration) > 0)
                draft_id(&x, EXTRA_ENUM, value_number(c, p->enumeration));
        if (value_count(p->rules) > 0)
                draft_id(&x, EXTRA_RULES, value_number(c, p->rules));
        if (p->format.n > 0)
                draft_id(&x, EXTRA_FORMAT, piece_number(c, &c->formats, p->format.p, p->format.n));
        if (p->pattern.n > 0)
                draft_id(&x, EXTRA_PATTERN, piece_number(c, &c->patterns, p->pattern.p, p->pattern.n));
        if (value_count(p->list_keys) > 0)
                draft_id(&x, EXTRA_KEYS, strings_number(c, p->list_keys));
        if (p->patch_key.n > 0) {
                uint32_t name = name_number(c, p->patch_key);

                draft_id(&x, EXTRA_PATCH_KEY, piece_number(c, &c->sets, &name, sizeof(name)));
        }
        draft_numbers(&x, p);
        draft_required(c, &x, p);
        draft_logic(c, &x, p);
        if (x.has == 0)
                return 0;
        if (x.has & (1 << EXTRA_ENUM | 1 << EXTRA_ALL_OF | 1 << EXTRA_ANY_OF | 1 << EXTRA_ONE_OF | 1 << EXTRA_NOT))
                *flags |= NODE_CHECKS;
        if (x.has & 1 << EXTRA_RULES)
                *flags |= NODE_RULES_BELOW;
        c->has_rules |= (x.has & 1 << EXTRA_RULES) != 0;
        packed[0] = x.has;
        for (size_t i = 0; i < _EXTRA_COUNT; i++)
                if (x.has & 1ull << i)
                        packed[n++] = x.words[i].id;
        return piece_number(c, &c->extras, packed, n * sizeof(*packed));
}

/* Nodes */

static enum schema_type declared_type(const struct props *p)
{
        static const struct {
                struct str name;
                enum schema_type type;
        } types[] = {
                { STR_INIT("object"), SCHEMA_OBJECT }, { STR_INIT("array"), SCHEMA_ARRAY },
                { STR_INIT("string"), SCHEMA_STRING }, { STR_INIT("integer"), SCHEMA_INTEGER },
                { STR_INIT("number"), SCHEMA_NUMBER }, { STR_INIT("boolean"), SCHEMA_BOOLEAN },
        };

        for (size_t i = 0; i < ARRAY_SIZE(types); i++)
                if (str_equal(types[i].name, p->type))
                        return types[i].type;
        return SCHEMA_UNTYPED;
}

/* `merge,retainKeys` contains both strategies. */
static bool has_strategy(const struct props *p, struct str wanted)
{
        struct str rest = p->patch_strategy, one;

        while (rest.n > 0) {
                str_split(&rest, ',', &one);
                if (str_equal(one, wanted))
                        return true;
        }
        return false;
}

static uint16_t own_flags(const struct props *p)
{
        uint16_t flags = 0;

        flags |= p->nullable ? NODE_NULLABLE : 0;
        flags |= value_bool(p->preserve, false) ? NODE_PRESERVES : 0;
        flags |= p->embedded ? NODE_EMBEDDED | NODE_EMBEDDED_BELOW : 0;
        flags |= str_equal(p->map_type, STR("atomic")) ? NODE_ATOMIC_MAP : 0;
        flags |= str_equal(p->list_type, STR("atomic")) ? NODE_ATOMIC_LIST : 0;
        flags |= p->exclusive_minimum ? NODE_EXCLUSIVE_MINIMUM : 0;
        flags |= p->exclusive_maximum ? NODE_EXCLUSIVE_MAXIMUM : 0;
        flags |= p->additional_kind == ADDITIONAL_FALSE ? NODE_ADDITIONAL_FALSE : 0;
        flags |= p->additional_kind == ADDITIONAL_TRUE ? NODE_ADDITIONAL_TRUE : 0;
        flags |= has_strategy(p, STR("merge")) ? NODE_PATCH_MERGES : 0;
        flags |= has_strategy(p, STR("replace")) ? NODE_PATCH_REPLACES : 0;
        return flags;
}

static const struct schema_node *draft_node(const struct compiler *c, uint32_t number)
{
        return (const struct schema_node *)c->nodes.p.p[number - 1].p;
}

/* The flags that a node inherits from a child. */
static uint16_t flags_from(const struct compiler *c, uint32_t child)
{
        const struct schema_node *n;
        uint16_t flags;

        if (child == 0)
                return 0;
        n = draft_node(c, child);
        flags = n->flags & (NODE_DEFAULTS_BELOW | NODE_LIST_RULES_BELOW | NODE_EMBEDDED_BELOW | NODE_RULES_BELOW);
        if (n->extra) {
                const struct extra *x = (const struct extra *)c->extras.p.p[n->extra - 1].p;

                flags |= x->has & 1 << EXTRA_DEFAULT ? NODE_DEFAULTS_BELOW : 0;
        }
        return flags;
}

static void compile_properties(struct compiler *c, const struct props *p, struct schema_node *n)
{
        _cleanup_map_ struct map required = { 0 };
        struct draft_entry *entries;

        if (p->properties.n == 0)
                return;
        VALUE_FOREACH_ITEM (name, p->required)
                map_add(&required, value_str(name), n);
        entries = ARENA_NEW_ARRAY(c->arena, struct draft_entry, p->properties.n);
        for (size_t i = 0; i < p->properties.n; i++) {
                const struct props *property = p->properties.p[i];
                uint32_t node = compile_node(c, property);
                bool must_be = required.n > 0 && map_has(&required, property->key);

                n->n_required += must_be;
                n->n_defaults += property->dflt != NULL;
                n->flags |= flags_from(c, node);
                entries[i] = (struct draft_entry) {
                        .name = name_number(c, property->key),
                        .flags = (must_be ? ENTRY_REQUIRED : 0) | (property->dflt ? ENTRY_DEFAULT : 0),
                        .node = node,
                };
        }
        n->n_properties = (uint32_t)p->properties.n;
        n->properties = (int32_t)piece_number(c, &c->entries, entries, p->properties.n * sizeof(*entries));
}

/* Returns the number of the node. */
static uint32_t compile_node(struct compiler *c, const struct props *p)
{
        struct schema_node n = { .flags = own_flags(p) };
        static const struct props nothing;

        n.declared_type = declared_type(p) & 0xf;
        n.type = p->int_or_string ? SCHEMA_INT_OR_STRING : n.declared_type;
        if (str_equal(p->list_type, STR("set")))
                n.list_type = SCHEMA_LIST_SET;
        else if (str_equal(p->list_type, STR("map")))
                n.list_type = SCHEMA_LIST_MAP;
        if (n.list_type != SCHEMA_LIST_ATOMIC)
                n.flags |= NODE_LIST_RULES_BELOW;
        compile_properties(c, p, &n);
        if (p->items)
                n.items = (int32_t)compile_node(c, p->items);
        if (p->additional_kind >= ADDITIONAL_TRUE)
                n.additional = (int32_t)compile_node(c, p->additional ? p->additional : &nothing);
        n.flags |= flags_from(c, (uint32_t)n.items) | flags_from(c, (uint32_t)n.additional);
        n.extra = (int32_t)compile_extra(c, p, &n.flags);
        return piece_number(c, &c->nodes, &n, sizeof(n));
}

/* Layout */

struct layout {
        struct compiler *c;
        char *block;
        struct schema_node *nodes;
        char **entries; /* by number - 1 */
        char **extras;
        char **sets;
        char **names;
        struct format_use *formats;
        char *next;
};

static char *layout_take(struct layout *l, size_t bytes, size_t align)
{
        char *p = (char *)(((uintptr_t)l->next + align - 1) & ~(uintptr_t)(align - 1));

        l->next = p + bytes;
        return p;
}

static int32_t distance(const void *from, const void *to)
{
        return (int32_t)((const char *)to - (const char *)from);
}

static void place_names(struct layout *l)
{
        struct compiler *c = l->c;

        l->names = ARENA_NEW_ARRAY(c->arena, char *, c->names.p.n);
        for (size_t i = 0; i < c->names.p.n; i++) {
                l->names[i] = layout_take(l, c->names.p.p[i].n, 1);
                memcpy(l->names[i], c->names.p.p[i].p, c->names.p.p[i].n);
        }
        for (size_t i = 0; i < c->formats.p.n; i++) {
                struct str name = c->formats.p.p[i];
                char *text = layout_take(l, name.n, 1);

                memcpy(text, name.p, name.n);
                l->formats[i] = (struct format_use) { { text, name.n }, format_find(name) };
        }
}

static struct str name_of(const struct layout *l, uint32_t number)
{
        return (struct str) { l->names[number - 1], l->c->names.p.p[number - 1].n };
}

static void place_entries(struct layout *l)
{
        struct compiler *c = l->c;

        l->entries = ARENA_NEW_ARRAY(c->arena, char *, c->entries.p.n);
        for (size_t i = 0; i < c->entries.p.n; i++) {
                const struct draft_entry *draft = (const struct draft_entry *)c->entries.p.p[i].p;
                size_t n = c->entries.p.p[i].n / sizeof(*draft);
                struct schema_entry *entry = (struct schema_entry *)layout_take(l, n * sizeof(*entry), 4);

                l->entries[i] = (char *)entry;
                for (size_t k = 0; k < n; k++) {
                        struct str name = name_of(l, draft[k].name);

                        entry[k] = (struct schema_entry) {
                                .name = distance(&entry[k], name.p),
                                .name_bytes = (uint32_t)name.n & ENTRY_NAME_MAX,
                                .flags = draft[k].flags & 3,
                                .node = distance(&entry[k], &l->nodes[draft[k].node - 1]),
                        };
                }
        }
}

static const struct node_set *place_nodes(struct layout *l, uint64_t number)
{
        const uint32_t *numbers = (const uint32_t *)l->c->sets.p.p[number - 1].p;
        size_t n = l->c->sets.p.p[number - 1].n / sizeof(*numbers);
        struct node_set *set = (struct node_set *)layout_take(l, sizeof(*set) + n * sizeof(set->p[0]), 8);

        set->n = n;
        for (size_t i = 0; i < n; i++)
                set->p[i] = &l->nodes[numbers[i] - 1];
        return set;
}

static const struct str_set *place_strings(struct layout *l, uint64_t number)
{
        const uint32_t *numbers = (const uint32_t *)l->c->sets.p.p[number - 1].p;
        size_t n = l->c->sets.p.p[number - 1].n / sizeof(*numbers);
        struct str_set *set = (struct str_set *)layout_take(l, sizeof(*set) + n * sizeof(set->p[0]), 8);

        set->n = n;
        for (size_t i = 0; i < n; i++)
                set->p[i] = name_of(l, numbers[i]);
        return set;
}

static void place_word(struct layout *l, enum extra_word word, union extra_content *w)
{
        switch (word) {
        case EXTRA_DEFAULT:
        case EXTRA_ENUM:
        case EXTRA_RULES:
                w->value = l->c->values.p[w->id - 1];
                break;
        case EXTRA_FORMAT:
                w->format = &l->formats[w->id - 1];
                break;
        case EXTRA_PATTERN:
                w->pattern = l->c->schema->patterns[w->id - 1];
                break;
        case EXTRA_KEYS:
        case EXTRA_PATCH_KEY:
        case EXTRA_REQUIRED:
                w->strings = place_strings(l, w->id);
                break;
        case EXTRA_ALL_OF:
        case EXTRA_ANY_OF:
        case EXTRA_ONE_OF:
        case EXTRA_NOT:
                w->nodes = place_nodes(l, w->id);
                break;
        case EXTRA_MINIMUM:
        case EXTRA_MAXIMUM:
        case EXTRA_MULTIPLE_OF:
        case EXTRA_MIN_LENGTH:
        case EXTRA_MAX_LENGTH:
        case EXTRA_MIN_ITEMS:
        case EXTRA_MAX_ITEMS:
        case EXTRA_MIN_PROPERTIES:
        case EXTRA_MAX_PROPERTIES:
        case _EXTRA_COUNT:
                break;
        }
}

static void place_extras(struct layout *l)
{
        struct compiler *c = l->c;

        l->extras = ARENA_NEW_ARRAY(c->arena, char *, c->extras.p.n);
        for (size_t i = 0; i < c->extras.p.n; i++) {
                struct str draft = c->extras.p.p[i];
                struct extra *x = (struct extra *)layout_take(l, draft.n, 8);
                union extra_content *w = x->words;

                memcpy(x, draft.p, draft.n);
                l->extras[i] = (char *)x;
                for (size_t k = 0; k < _EXTRA_COUNT; k++)
                        if (x->has & 1ull << k)
                                place_word(l, (enum extra_word)k, w++);
        }
}

static void place_all_nodes(struct layout *l)
{
        for (size_t i = 0; i < l->c->nodes.p.n; i++) {
                struct schema_node *n = &l->nodes[i];

                *n = *draft_node(l->c, (uint32_t)i + 1);
                n->properties = n->properties ? distance(n, l->entries[n->properties - 1]) : 0;
                n->items = n->items ? distance(n, &l->nodes[n->items - 1]) : 0;
                n->additional = n->additional ? distance(n, &l->nodes[n->additional - 1]) : 0;
                n->extra = n->extra ? distance(n, l->extras[n->extra - 1]) : 0;
        }
}

/* The size of the block, as an upper bound: a set is placed once for every word that refers to it. */
static size_t block_bytes(const struct compiler *c)
{
        size_t bytes = sizeof(struct schema) + 64;

        bytes += c->nodes.bytes + c->names.bytes + c->formats.bytes + c->formats.p.n * sizeof(struct format_use);
        bytes += c->entries.bytes / sizeof(struct draft_entry) * sizeof(struct schema_entry);
        bytes += c->patterns.p.n * sizeof(struct pattern *);
        for (size_t i = 0; i < c->extras.p.n; i++) {
                const struct extra *x = (const struct extra *)c->extras.p.p[i].p;

                bytes += c->extras.p.p[i].n;
                for (enum extra_word k = EXTRA_KEYS; k <= EXTRA_NOT; k++) {
                        const union extra_content *w = extra_get(x, k);

                        if (w)
                                bytes += 8 + c->sets.p.p[w->id - 1].n / sizeof(uint32_t) * sizeof(struct str);
                }
        }
        return bytes;
}

/* Lays out the block, which replaces the draft schema. */
static struct schema *lay_out(struct compiler *c, uint32_t root, size_t bytes)
{
        struct schema *s = xmalloc(bytes);
        struct layout l = { .c = c, .block = (char *)s, .next = (char *)(s + 1) };

        *s = *c->schema;
        c->schema = s;
        l.nodes = (struct schema_node *)layout_take(&l, c->nodes.bytes, 8);
        l.formats = (struct format_use *)layout_take(&l, c->formats.p.n * sizeof(*l.formats), 8);
        s->patterns = (struct pattern **)layout_take(&l, c->patterns.p.n * sizeof(*s->patterns), 8);
        for (; s->n_patterns < c->patterns.p.n; s->n_patterns++)
                s->patterns[s->n_patterns] = pattern_get(c->patterns.p.p[s->n_patterns]);
        place_names(&l);
        place_entries(&l);
        place_extras(&l);
        place_all_nodes(&l);
        assert(l.next <= l.block + bytes);
        s->references = 1;
        s->has_rules = c->has_rules;
        s->n_nodes = (uint32_t)c->nodes.p.n;
        s->size_bytes = (size_t)(l.next - l.block);
        s->root = &l.nodes[root - 1];
        return s;
}

static void compiler_done(struct compiler *c)
{
        pieces_done(&c->nodes);
        pieces_done(&c->entries);
        pieces_done(&c->extras);
        pieces_done(&c->sets);
        pieces_done(&c->names);
        pieces_done(&c->formats);
        pieces_done(&c->patterns);
        vec_done(&c->values);
}

static int compile(struct arena *a, const struct props *root, struct schema **ret)
{
        struct schema draft = { 0 };
        _cleanup_(compiler_done)
        struct compiler c = { .arena = a, .schema = &draft };
        uint32_t number;
        size_t bytes;

        arena_init(&draft.values, "schema", 0);
        number = compile_node(&c, root);
        bytes = block_bytes(&c);
        if (bytes > INT32_MAX) {
                arena_done(&draft.values);
                return ERR_LIMIT;
        }
        *ret = lay_out(&c, number, bytes);
        return 0;
}

int schema_compile(const struct value *openapi, struct str field, struct schema **ret, struct field_errors *errors)
{
        _cleanup_arena_ struct arena a;
        size_t before = errors->n;
        const struct props *root;
        struct schema *s;

        arena_init(&a, "schema", 0);
        root = props_read(&a, openapi, field, errors);
        if (!structural_check(root, field, errors))
                return ERR_INVALID;
        if (compile(&a, root, &s) < 0) {
                field_error_add(errors, FIELD_INVALID, field, &value_empty_string,
                                "the schema is larger than the limit of %d bytes", INT32_MAX);
                return ERR_INVALID;
        }
        defaults_check(s, root, field, errors);
        if (errors->n > before) {
                schema_unref(s);
                return ERR_INVALID;
        }
        *ret = s;
        return 0;
}

int schema_compile_trusted(const struct value *openapi, struct schema **ret, struct err *err)
{
        _cleanup_arena_ struct arena a;
        struct field_errors errors;
        const struct props *root;

        arena_init(&a, "schema", 0);
        field_errors_init(&errors, &a);
        root = props_read(&a, openapi, STR(""), &errors);
        if (errors.n > 0) {
                _cleanup_buf_ struct buf b = BUF_INIT(0);

                field_errors_append(&b, &errors);
                return err_set(err, ERR_INVALID, "%.*s", STR_ARG(buf_str(&b)));
        }
        if (compile(&a, root, ret) < 0)
                return err_set(err, ERR_LIMIT, "the schema is larger than the limit of %d bytes", INT32_MAX);
        return 0;
}
