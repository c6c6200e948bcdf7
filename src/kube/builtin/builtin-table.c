/* Reads builtin.txt, whose format stands in its first lines. The text is made by our own tool and is part of the program, so a mistake
 * in it is a broken invariant. */
#include "builtin-table.h"

#include "builtin-text.h"
#include "number.h"
#include "vec.h"

#include <pthread.h>

struct package {
        struct str name, prefix;
};

struct reader {
        struct arena *arena;
        VEC(struct package) packages;
        VEC(struct builtin_type) types;
        VEC(struct builtin_field) fields;
        VEC(struct builtin_kind) kinds;
        VEC(struct builtin_line) lines;
        VEC(size_t) first_field; /* of each type */
        VEC(size_t) first_line;  /* of each kind */
        bool is_in_kind;
};

static struct builtin_table table;

static struct str cut_word(struct str *line)
{
        ssize_t end = str_find_char(*line, ' ');
        struct str word = end < 0 ? *line : str_first(*line, (size_t)end);

        *line = str_skip(*line, end < 0 ? line->n : (size_t)end + 1);
        return word;
}

bool builtin_fact(struct str facts, struct str word, struct str *ret)
{
        while (facts.n) {
                struct str fact = cut_word(&facts), rest = fact;

                if (!str_cut_prefix(&rest, word))
                        continue;
                if (rest.n == 0 || str_cut_prefix(&rest, STR("="))) {
                        *ret = rest;
                        return true;
                }
        }
        return false;
}

bool builtin_next_item(struct str *list, struct str *ret)
{
        ssize_t comma;

        if (list->n == 0 || str_equal(*list, STR("-")))
                return false;
        comma = str_find_char(*list, ',');
        *ret = comma < 0 ? *list : str_first(*list, (size_t)comma);
        *list = str_skip(*list, comma < 0 ? list->n : (size_t)comma + 1);
        return true;
}

static struct str must_have(struct str facts, struct str word)
{
        struct str v = STR("");
        bool has = builtin_fact(facts, word, &v);

        assert(has);
        return v;
}

/* --- Types --- */

static const struct {
        struct str word;
        enum builtin_base base;
} words[] = {
        { STR_INIT("string"), BASE_STRING },
        { STR_INIT("bool"), BASE_BOOL },
        { STR_INIT("int32"), BASE_INT32 },
        { STR_INIT("int64"), BASE_INT64 },
        { STR_INIT("float64"), BASE_DOUBLE },
        { STR_INIT("bytes"), BASE_BYTES },
        { STR_INIT("time"), BASE_TIME },
        { STR_INIT("microtime"), BASE_MICROTIME },
        { STR_INIT("duration"), BASE_DURATION },
        { STR_INIT("quantity"), BASE_QUANTITY },
        { STR_INIT("intstr"), BASE_INT_OR_STRING },
        { STR_INIT("raw"), BASE_RAW },
        { STR_INIT("fields"), BASE_FIELDS },
        { STR_INIT("json"), BASE_JSON },
        { STR_INIT("extra"), BASE_EXTRA },
        { STR_INIT("schema-or-array"), BASE_SCHEMA_OR_ARRAY },
        { STR_INIT("schema-or-bool"), BASE_SCHEMA_OR_BOOL },
        { STR_INIT("schema-or-strings"), BASE_SCHEMA_OR_STRINGS },
};

static int compare_types(const void *a, const void *b)
{
        return str_compare(((const struct builtin_type *)a)->name, ((const struct builtin_type *)b)->name);
}

static const struct builtin_type *find_type(struct str name)
{
        struct builtin_type key = { .name = name };

        if (str_starts_with(name, STR("crossplane-")))
                return bsearch(&key, table.types + table.n_own_types, table.n_types - table.n_own_types, sizeof(key),
                               compare_types);
        return bsearch(&key, table.types, table.n_own_types, sizeof(key), compare_types);
}

static void set_type(struct builtin_field *f, struct str text)
{
        f->shape = str_cut_prefix(&text, STR("*"))      ? SHAPE_POINTER
                   : str_cut_prefix(&text, STR("[]"))   ? SHAPE_LIST
                   : str_cut_prefix(&text, STR("map:")) ? SHAPE_MAP
                                                        : SHAPE_VALUE;
        for (size_t i = 0; i < ARRAY_SIZE(words); i++)
                if (str_equal(words[i].word, text)) {
                        f->base = (uint8_t)words[i].base;
                        return;
                }
        f->base = BASE_STRUCT;
        f->type = find_type(text);
        assert(f->type);
}

static void read_field(struct reader *r, struct str line)
{
        struct builtin_field f = { 0 };
        struct str number, ignored;
        uint64_t n = 0;

        f.name = cut_word(&line);
        if (str_equal(f.name, STR("inline")))
                f.name = STR("");
        number = cut_word(&line);
        if (!str_equal(number, STR("-")) && number_parse_uint(number, &n, NULL) < 0)
                assert(false);
        f.number = (uint32_t)n;
        f.facts = line; /* begins with the type until all types are known */
        f.omits_empty = builtin_fact(line, STR("omitempty"), &ignored);
        f.omits_zero = builtin_fact(line, STR("omitzero"), &ignored);
        vec_push(&r->fields, f);
}

static void read_type(struct reader *r, struct str line)
{
        struct builtin_type t = { .name = cut_word(&line), .facts = line };
        ssize_t dot = str_find_char(t.name, '.'), slash = str_find_char(t.name, '/');
        struct str package = str_first(t.name, (size_t)dot), ignored;

        t.short_name = str_skip(t.name, (size_t)dot + 1);
        t.go_package = str_skip(package, (size_t)slash + 1);
        t.is_object = builtin_fact(line, STR("object"), &ignored);
        for (size_t i = 0; i < r->packages.n; i++)
                if (str_equal(r->packages.p[i].name, package))
                        t.package_prefix = r->packages.p[i].prefix;
        assert(t.package_prefix.n);
        vec_push(&r->first_field, r->fields.n);
        vec_push(&r->types, t);
        r->is_in_kind = false;
}

static size_t count_flat(const struct builtin_type *t)
{
        size_t n = 0;

        for (size_t i = 0; i < t->n_fields; i++)
                n += t->fields[i].name.n ? 1 : count_flat(t->fields[i].type);
        return n;
}

static size_t fill_flat(struct arena *a, const struct builtin_type *t, struct str via, struct builtin_type *ret,
                        size_t n)
{
        for (size_t i = 0; i < t->n_fields; i++) {
                const struct builtin_field *f = &t->fields[i];

                if (f->name.n) {
                        ret->flat[n] = f;
                        ret->via[n++] = via;
                } else {
                        n = fill_flat(a, f->type,
                                      arena_printf(a, "%.*s%s%.*s", STR_ARG(via), via.n ? "." : "",
                                                   STR_ARG(f->type->short_name)),
                                      ret, n);
                }
        }
        return n;
}

/* Gives the fields their types and the types their fields. */
static void finish_types(struct reader *r)
{
        table.types = r->types.p;
        table.n_types = r->types.n;
        for (size_t i = 0; i < r->fields.n; i++) {
                struct str word = cut_word(&r->fields.p[i].facts);

                set_type(&r->fields.p[i], word);
        }
        for (size_t i = 0; i < table.n_types; i++) {
                struct builtin_type *t = &table.types[i];
                size_t end = i + 1 < table.n_types ? r->first_field.p[i + 1] : r->fields.n;

                t->fields = r->fields.p + r->first_field.p[i];
                t->n_fields = end - r->first_field.p[i];
        }
        for (size_t i = 0; i < table.n_types; i++) {
                struct builtin_type *t = &table.types[i];

                t->n_flat = count_flat(t);
                t->flat = ARENA_NEW_ARRAY(r->arena, const struct builtin_field *, t->n_flat + 1);
                t->via = ARENA_NEW_ARRAY(r->arena, struct str, t->n_flat + 1);
                fill_flat(r->arena, t, STR(""), t, 0);
                assert(t->n_flat <= BUILTIN_MAX_FIELDS);
                builtin_set_defaults(r->arena, t);
        }
}

/* --- Kinds --- */

static struct str group_of(struct str word)
{
        return str_equal(word, STR("core")) ? STR("") : word;
}

static struct builtin_kind *read_kind(struct reader *r, struct str line)
{
        struct builtin_kind k = { 0 };

        k.gvk.group = group_of(cut_word(&line));
        k.gvk.version = cut_word(&line);
        k.gvk.kind = cut_word(&line);
        k.short_names = line; /* until the facts are read */
        vec_push(&r->first_line, r->lines.n);
        vec_push(&r->kinds, k);
        r->is_in_kind = true;
        return &r->kinds.p[r->kinds.n - 1];
}

static void read_resource(struct reader *r, struct str line)
{
        struct builtin_kind *k = read_kind(r, line);
        struct str rest = k->short_names;

        k->plural = cut_word(&rest);
        k->singular = cut_word(&rest);
        k->is_namespaced = str_equal(cut_word(&rest), STR("namespace"));
        k->short_names = rest;
}

/* `autoscaling/v1.Scale`; `.Pod` is of the kind's own group and version. */
static struct gvk read_gvk(struct str text, struct gvk own)
{
        ssize_t slash = str_find_char(text, '/');
        struct str version = text;
        struct gvk gvk = { 0 };
        ssize_t dot;

        if (slash >= 0) {
                gvk.group = str_first(text, (size_t)slash);
                version = str_skip(text, (size_t)slash + 1);
        }
        dot = str_find_char(version, '.');
        gvk.kind = str_skip(version, (size_t)dot + 1);
        gvk.version = str_first(version, (size_t)dot);
        if (gvk.version.n == 0) {
                gvk.group = own.group;
                gvk.version = own.version;
        }
        return gvk;
}

static void read_subresource(struct reader *r, struct str line)
{
        struct builtin_line l = { .name = cut_word(&line) };

        l.gvk = read_gvk(cut_word(&line), r->kinds.p[r->kinds.n - 1].gvk);
        l.verbs = line;
        vec_push(&r->lines, l);
}

static void finish_kinds(struct reader *r)
{
        table.kinds = r->kinds.p;
        table.n_kinds = r->kinds.n;
        for (size_t i = 0; i < table.n_kinds; i++) {
                struct builtin_kind *k = &table.kinds[i];
                size_t end = i + 1 < table.n_kinds ? r->first_line.p[i + 1] : r->lines.n;
                struct str facts = k->short_names;

                k->type = find_type(must_have(facts, STR("type")));
                assert(k->type);
                k->component = arena_printf(r->arena, "%.*s%.*s", STR_ARG(k->type->package_prefix),
                                            STR_ARG(k->type->short_name));
                k->subresources = r->lines.p + r->first_line.p[i];
                k->n_subresources = end - r->first_line.p[i];
                if (k->plural.n == 0) {
                        k->short_names = STR("-");
                        continue;
                }
                k->short_names = must_have(facts, STR("short"));
                k->categories = must_have(facts, STR("categories"));
                k->verbs = must_have(facts, STR("verbs"));
        }
}

/* --- The text --- */

static void read_line(struct reader *r, struct str line)
{
        if (line.n == 0 || line.p[0] == '#')
                return;
        if (str_cut_prefix(&line, STR("  "))) {
                if (r->is_in_kind)
                        read_subresource(r, line);
                else
                        read_field(r, line);
        } else if (str_cut_prefix(&line, STR("package "))) {
                struct package p = { .name = cut_word(&line), .prefix = line };

                vec_push(&r->packages, p);
        } else if (str_cut_prefix(&line, STR("type "))) {
                read_type(r, line);
        } else if (str_cut_prefix(&line, STR("kind "))) {
                read_resource(r, line);
        } else if (str_cut_prefix(&line, STR("message "))) {
                read_kind(r, line);
        } else {
                assert(false);
        }
}

static void read_text(struct reader *r, struct str text)
{
        while (text.n) {
                ssize_t end = str_find_char(text, '\n');
                struct str line = end < 0 ? text : str_first(text, (size_t)end);

                read_line(r, line);
                text = str_skip(text, end < 0 ? text.n : (size_t)end + 1);
        }
}

static void read_table(void)
{
        static struct arena arena; /* lives forever, as do the vectors */
        struct reader r = { .arena = &arena };

        arena_init(&arena, "built-in kinds", 0);
        read_text(&r, builtin_text[0].text);
        table.n_own_types = r.types.n;
        read_text(&r, builtin_text[1].text);
        finish_types(&r);
        finish_kinds(&r);
        vec_done(&r.packages);
        vec_done(&r.first_field);
        vec_done(&r.first_line);
}

const struct builtin_table *builtin_table(void)
{
        static pthread_once_t once = PTHREAD_ONCE_INIT;

        pthread_once(&once, read_table);
        return &table;
}

const struct builtin_type *builtin_type_named(struct str name)
{
        builtin_table();
        return find_type(name);
}

const struct builtin_field *builtin_field_of(const struct builtin_type *t, struct str name)
{
        for (size_t i = 0; i < t->n_flat; i++)
                if (str_equal(t->flat[i]->name, name))
                        return t->flat[i];
        return NULL;
}

const struct builtin_kind *builtin_kind_of(struct gvk gvk)
{
        const struct builtin_table *t = builtin_table();

        for (size_t i = 0; i < t->n_kinds; i++)
                if (gvk_equal(t->kinds[i].gvk, gvk))
                        return &t->kinds[i];
        return NULL;
}
