#include "scenario.h"

#include "buf.h"
#include "json.h"
#include "scenario-step.h"
#include "yaml.h"

#include <stdio.h>
#include <stdlib.h>

#define PATIENCE_MS 60000

/* --- The file --- */

static int read_text(struct arena *a, const char *file_name, struct str *ret, struct err *err)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        char piece[65536];
        FILE *f = fopen(file_name, "re");
        size_t n;

        if (!f)
                return err_set(err, ERR_NOT_FOUND, "%s cannot be opened", file_name);
        while ((n = fread(piece, 1, sizeof(piece), f)) > 0)
                buf_append(&b, piece, n);
        fclose(f);
        *ret = buf_to_arena(&b, a);
        return 0;
}

/* v with every {n} in its texts and keys replaced. */
static struct str with_name(struct arena *a, struct str text, struct str name)
{
        ptrdiff_t at = str_find(text, STR("{n}"));

        if (at < 0)
                return text;
        return arena_printf(a, "%.*s%.*s%.*s", STR_ARG(str_first(text, (size_t)at)), STR_ARG(name),
                            STR_ARG(with_name(a, str_skip(text, (size_t)at + 3), name)));
}

static struct value named(struct arena *a, const struct value *v, struct str name)
{
        if (value_is_string(v))
                return value_of_str(with_name(a, value_str(v), name));
        if (value_is_array(v)) {
                struct array_builder b;

                array_builder_init(&b, a, value_count(v));
                VALUE_FOREACH_ITEM (item, v)
                        array_builder_add(&b, named(a, item, name));
                return array_builder_finish(&b);
        }
        if (value_is_object(v)) {
                struct object_builder b;

                object_builder_init(&b, a, value_count(v));
                VALUE_FOREACH_MEMBER (m, v)
                        object_builder_set(&b, with_name(a, m->key, name), named(a, &m->value, name));
                return object_builder_finish(&b);
        }
        return *v;
}

static const struct value *text_value(struct arena *a, struct str s)
{
        return value_put(a, value_of_str(s));
}

static struct str cut_word(struct str *text)
{
        ptrdiff_t space = str_find_char(*text, ' ');
        struct str word = space < 0 ? *text : str_first(*text, (size_t)space);

        *text = str_skip(*text, space < 0 ? text->n : (size_t)space + 1);
        return word;
}

/* A body with its type and name, if it does not say them. */
static const struct value *with_body(struct arena *a, const struct value *step)
{
        struct str op = value_str(value_get(step, STR("op"))), of = value_str(value_get(step, STR("of")));
        const struct value *body = value_get(step, STR("body"));

        if ((!str_equal(op, STR("create")) && !str_equal(op, STR("apply"))) || value_get(body, STR("apiVersion")))
                return step;
        if (!body)
                body = &value_empty_object;
        body = value_with(a, body, STR("apiVersion"), text_value(a, cut_word(&of)));
        body = value_with(a, body, STR("kind"), text_value(a, cut_word(&of)));
        body = meta_with_str(a, body, STR("name"), value_str(value_get(step, STR("name"))));
        return value_with(a, step, STR("body"), body);
}

/* A step with what the written one leaves out. */
static const struct value *whole_step(struct arena *a, const struct value *kinds, const struct value *written,
                                      struct str name)
{
        const struct value *step = value_put(a, named(a, written, name));
        const struct value *kind = value_get(kinds, value_str(value_get(step, STR("of"))));

        if (kind) {
                step = value_with(a, step, STR("of"), value_get(kind, STR("of")));
                if (!value_get(step, STR("ns")) && value_bool(value_get(kind, STR("namespaced")), false))
                        step = value_with(a, step, STR("ns"), text_value(a, name));
        }
        return with_body(a, step);
}

/* --- What is wanted --- */

struct mismatch {
        struct arena *arena;
        const struct sequence *sequence;
        struct str text; /* empty: none */
};

static struct str shown(struct arena *a, const struct value *v)
{
        struct str text = STR("nothing");

        if (v && json_to_str(a, v, JSON_SORT_KEYS, &text, NULL) < 0)
                text = STR("?");
        return text;
}

static bool is_nothing(const struct value *v)
{
        return !v || value_is_null(v) || (value_is_string(v) && v->n == 0);
}

static bool differs(struct mismatch *m, struct str path, const struct value *got, const char *wanted)
{
        m->text =
                arena_printf(m->arena, "%.*s is %.*s, wanted %s", STR_ARG(path), STR_ARG(shown(m->arena, got)), wanted);
        return false;
}

static bool holds(struct mismatch *m, struct str path, const struct value *got, const struct value *want)
{
        size_t i = 0;

        if (value_is_null(want))
                return is_nothing(got) || differs(m, path, got, "nothing");
        if (value_is_object(want)) {
                VALUE_FOREACH_MEMBER (e, want)
                        if (!holds(m, arena_printf(m->arena, "%.*s.%.*s", STR_ARG(path), STR_ARG(e->key)),
                                   value_get(got, e->key), &e->value))
                                return false;
                return true;
        }
        if (value_is_array(want)) {
                if (value_count(got) != value_count(want))
                        return differs(m, path, got, "another number of items");
                VALUE_FOREACH_ITEM (item, want) {
                        if (!holds(m, arena_printf(m->arena, "%.*s[%zu]", STR_ARG(path), i), value_item(got, i), item))
                                return false;
                        i++;
                }
                return true;
        }
        if (value_is_string(want) && str_equal(value_str(want), STR("*")))
                return !is_nothing(got) || differs(m, path, got, "something");
        want = sequence_resolve(m->sequence, want);
        return (got && value_equal(got, want)) || differs(m, path, got, arena_cstring(m->arena, shown(m->arena, want)));
}

/* --- Running --- */

/* The step, once or until it answers what is wanted; what is wrong in the end, or nothing. */
static struct str do_step(struct sequence *s, const struct value *step)
{
        const struct value *want = value_get(step, STR("want")), *result;
        struct deadline patience = deadline_after_ms(PATIENCE_MS);
        struct sequence before = *s;

        for (;;) {
                struct mismatch m = { .arena = s->arena, .sequence = s };

                result = sequence_do(s, step);
                if (!want || holds(&m, STR(""), result, want))
                        return STR("");
                if (!value_bool(value_get(step, STR("eventually")), false) || deadline_has_passed(patience))
                        return arena_printf(s->arena, "%.*s\n# in %.*s", STR_ARG(m.text),
                                            STR_ARG(shown(s->arena, result)));
                before.watches = s->watches;
                *s = before;
                thread_sleep(deadline_after_ms(10), NULL);
        }
}

static struct str create(struct cluster *c, struct arena *a, const struct value *object)
{
        _cleanup_err_ struct err err = { 0 };
        struct run run = { .arena = a, .deadline = deadline_after_ms(PATIENCE_MS), .user = { .name = STR("admin") } };
        struct write_request req = { .verb = WRITE_CREATE, .key = { .gvk = gvk_of(object) }, .body = object };
        struct write_result result;

        if (cluster_write(c, &run, &req, &result, &err) < 0)
                return arena_copy(a, str_from(err_message(&err)));
        return STR("");
}

static struct str run_scenario(struct cluster *c, struct arena *a, const struct value *kinds,
                               const struct value *scenario, struct str name)
{
        const struct value *ns, *steps = value_get(scenario, STR("steps"));
        struct sequence s;
        struct str wrong;

        ns = value_with(a, &value_empty_object, STR("apiVersion"), text_value(a, STR("v1")));
        ns = value_with(a, ns, STR("kind"), text_value(a, STR("Namespace")));
        wrong = create(c, a, meta_with_str(a, ns, STR("name"), name));
        sequence_init(&s, a, c);
        for (size_t i = 0; i < value_count(steps) && wrong.n == 0; i++) {
                wrong = do_step(&s, whole_step(a, kinds, value_item(steps, i), name));
                if (wrong.n)
                        wrong = arena_printf(a, "step %zu: %.*s", i, STR_ARG(wrong));
        }
        sequence_done(&s);
        return wrong;
}

int conformance_run(struct cluster *c, const char *file_name)
{
        _cleanup_arena_ struct arena file;
        _cleanup_err_ struct err err = { 0 };
        const struct value *v, *scenarios;
        struct str text;
        int failed = 0;

        arena_init(&file, "scenarios", 0);
        if (read_text(&file, file_name, &text, &err) < 0 || yaml_parse(&file, text, NULL, &v, &err) < 0) {
                printf("Bail out! %s\n", err_message(&err));
                return ERR_INVALID;
        }
        VALUE_FOREACH_ITEM (object, value_get(v, STR("setup"))) {
                struct str wrong = create(c, &file, object);

                if (wrong.n) {
                        printf("Bail out! %.*s\n", STR_ARG(wrong));
                        return ERR_FAILED;
                }
        }
        scenarios = value_get(v, STR("scenarios"));
        for (size_t i = 0; i < value_count(scenarios); i++) {
                _cleanup_arena_ struct arena a;
                struct str about = value_str(value_get(value_item(scenarios, i), STR("about"))), wrong;

                arena_init(&a, "scenario", 0);
                wrong = run_scenario(c, &a, value_get(v, STR("kinds")), value_item(scenarios, i),
                                     arena_printf(&a, "s%zu", i));
                failed += wrong.n > 0;
                printf("%sok %zu - %.*s\n", wrong.n ? "not " : "", i + 1, STR_ARG(about));
                if (wrong.n)
                        printf("# %.*s\n", STR_ARG(wrong));
        }
        printf("1..%zu\n", value_count(scenarios));
        return failed;
}
