/* Our side of tests/interop/builtin: checks what it reads, one line of JSON each, and says where ours differs.
 *
 *   {kind, protobuf, json, defaulted}: the protobuf form (base64) decodes to json; json is held against its type, which gives defaulted
 *   {component, want}: the component of that name in OpenAPI documents
 *   {kind, body, error, unknown}: the error of json that does not fit, or its unknown fields */
#include <stdio.h>

#include "base64.h"
#include "buf.h"
#include "builtin-typed.h"
#include "builtin.h"
#include "json.h"

static size_t n_cases, n_different;

/* Appends the first place where the two differ; false if they do not. */
static bool find_difference(struct buf *path, const struct value *ours, const struct value *wanted)
{
        size_t n = path->n;

        if (ours && wanted && value_is_object(ours) && value_is_object(wanted)) {
                for (int side = 0; side < 2; side++)
                        VALUE_FOREACH_MEMBER (m, side ? wanted : ours) {
                                buf_appendf(path, ".%.*s", STR_ARG(m->key));
                                if (find_difference(path, value_get(ours, m->key), value_get(wanted, m->key)))
                                        return true;
                                path->n = n;
                        }
                return false;
        }
        if (value_is_array(ours) && value_is_array(wanted) && value_count(ours) == value_count(wanted)) {
                for (size_t i = 0; i < value_count(ours); i++) {
                        buf_appendf(path, "[%zu]", i);
                        if (find_difference(path, value_item(ours, i), value_item(wanted, i)))
                                return true;
                        path->n = n;
                }
                return false;
        }
        if (ours && wanted && value_equal_numeric(ours, wanted))
                return false;
        buf_appendf(path, ": ours ");
        if (!ours || json_write(path, ours, 0, NULL) < 0)
                buf_appendf(path, "(none)");
        buf_appendf(path, ", wanted ");
        if (!wanted || json_write(path, wanted, 0, NULL) < 0)
                buf_appendf(path, "(none)");
        return true;
}

static void expect(const char *what, struct str name, const struct value *ours, const struct value *wanted)
{
        _cleanup_buf_ struct buf path = BUF_INIT(0);

        n_cases++;
        if (!find_difference(&path, ours, wanted))
                return;
        n_different++;
        printf("# %s %.*s%.*s\n", what, STR_ARG(name), STR_ARG(str_first(buf_str(&path), MIN(path.n, 600u))));
}

static const struct builtin_kind *kind_of(struct str text)
{
        const struct builtin_table *t = builtin_table();

        for (size_t i = 0; i < t->n_kinds; i++) {
                struct gvk gvk = t->kinds[i].gvk;
                char name[200];

                snprintf(name, sizeof(name), "%.*s%s%.*s.%.*s", STR_ARG(gvk.group), gvk.group.n ? "/" : "",
                         STR_ARG(gvk.version), STR_ARG(gvk.kind));
                if (str_equal(text, str_from(name)))
                        return &t->kinds[i];
        }
        return NULL;
}

static void check_decode(struct arena *a, const struct value *line, struct str name)
{
        struct value failed = value_of_literal("(failed)");
        const struct value *ours = &failed;
        _cleanup_buf_ struct buf bytes = BUF_INIT(0);
        _cleanup_err_ struct err err = { 0 };

        if (base64_decode(&bytes, value_str(value_get(line, STR("protobuf"))), BASE64_STD, &err) < 0 ||
            builtin_decode(a, buf_str(&bytes), &ours, &err) < 0)
                printf("# %s\n", err_message(&err));
        expect("decode", name, ours, value_get(line, STR("json")));
}

static void check_typed(struct arena *a, const struct value *line, struct str name)
{
        const struct value *ours = &value_null;
        _cleanup_err_ struct err err = { 0 };
        struct str_list unknown;

        if (str_equal(name, STR("apiextensions.k8s.io/v1.CustomResourceDefinition")))
                return; /* crd_default has its defaults */
        str_list_init(&unknown, a);
        if (builtin_type_object(a, kind_of(name)->type, value_get(line, STR("json")), &unknown, &ours, &err) < 0)
                printf("# %s\n", err_message(&err));
        expect("defaults", name, ours, value_get(line, STR("defaulted")));
}

static void check_error(struct arena *a, const struct value *line, struct str name)
{
        _cleanup_err_ struct err err = { 0 };
        struct str_list unknown;
        const struct value *typed;
        struct value ours;

        str_list_init(&unknown, a);
        if (builtin_type_object(a, kind_of(name)->type, value_get(line, STR("body")), &unknown, &typed, &err) < 0)
                ours = value_of_str(arena_copy(a, str_from(err_message(&err))));
        else
                ours = value_of_str(str_list_join(&unknown, STR(",")));
        if (str_find(value_str(&ours), STR("array into Go")) >= 0 && str_find(value_str(&ours), STR("[]uint8")) >= 0)
                return; /* Go also takes a list of numbers for bytes */
        expect("error", name, &ours, value_get(line, STR("error")));
}

static void check_line(struct str text)
{
        _cleanup_arena_ struct arena a;
        const struct value *line;
        struct str name;

        arena_init(&a, "line", 0);
        if (json_parse(&a, text, NULL, &line, NULL) < 0)
                abort();
        if (value_get(line, STR("component"))) {
                name = value_str(value_get(line, STR("component")));
                expect("component", name, builtin_component(&a, name), value_get(line, STR("want")));
                return;
        }
        name = value_str(value_get(line, STR("kind")));
        if (value_get(line, STR("error"))) {
                check_error(&a, line, name);
                return;
        }
        check_decode(&a, line, name);
        check_typed(&a, line, name);
}

int main(void)
{
        char *line = NULL;
        size_t capacity = 0;
        ssize_t n;

        while ((n = getline(&line, &capacity, stdin)) > 0)
                check_line(str_make(line, (size_t)n));
        free(line);
        printf("# %zu cases, %zu different\n", n_cases, n_different);
        return n_different ? 1 : 0;
}
