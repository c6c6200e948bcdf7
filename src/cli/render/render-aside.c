#include "render-aside.h"

#include "buf.h"

#include <stdio.h>

void render_aside_init(struct render_aside *aside, struct arena *a)
{
        *aside = (struct render_aside) { .arena = a };
}

void render_aside_add(struct render_aside *aside, enum aside_reason reason, size_t n)
{
        aside->counts[reason] += n;
}

static void add_kind(struct render_aside *aside, struct str kind)
{
        if (aside->n_kinds == aside->capacity) {
                size_t capacity = aside->capacity ? 2 * aside->capacity : 8;
                struct aside_kind *kinds = ARENA_NEW_ARRAY(aside->arena, struct aside_kind, capacity);

                if (aside->n_kinds > 0)
                        memcpy(kinds, aside->kinds, aside->n_kinds * sizeof(*kinds));
                aside->kinds = kinds;
                aside->capacity = capacity;
        }
        aside->kinds[aside->n_kinds++] = (struct aside_kind) { .kind = kind, .n = 1 };
}

void render_aside_add_object(struct render_aside *aside, const struct value *object)
{
        struct str kind = gvk_of(object).kind;

        aside->counts[ASIDE_KIND]++;
        for (size_t i = 0; i < aside->n_kinds; i++)
                if (str_equal(aside->kinds[i].kind, kind)) {
                        aside->kinds[i].n++;
                        return;
                }
        add_kind(aside, kind);
}

/* --- The line --- */

static const struct {
        const char *one;
        const char *many;
        const char *why;
} texts[_ASIDE_COUNT] = {
        [ASIDE_KIND] = { "object", "objects", " of kinds that are not rendered" },
        [ASIDE_OBSERVED] = { "object", "objects",
                             " in files of composed resources (-o gives such a file as what exists)" },
        [ASIDE_TEST] = { "object", "objects", " in directories of tests (give such a directory itself to render it)" },
        [ASIDE_COPY] = { "copy", "copies", " of what is in another file" },
        [ASIDE_CHART] = { "template", "templates", " of Helm charts" },
        [ASIDE_NO_OBJECTS] = { "file", "files", " without objects of Kubernetes" },
};

static void append_kinds(struct buf *b, const struct render_aside *aside)
{
        buf_append_literal(b, " (");
        for (size_t i = 0; i < aside->n_kinds; i++)
                buf_appendf(b, "%s%zu %.*s", i ? ", " : "", aside->kinds[i].n, STR_ARG(aside->kinds[i].kind));
        buf_append_char(b, ')');
}

void render_aside_print(const struct render_aside *aside, const struct command *c)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        for (size_t i = 0; i < _ASIDE_COUNT; i++) {
                size_t n = aside->counts[i];

                if (n == 0)
                        continue;
                buf_appendf(&b, "%s%zu %s%s", b.n ? ", " : "", n, n == 1 ? texts[i].one : texts[i].many, texts[i].why);
                if (i == ASIDE_KIND)
                        append_kinds(&b, aside);
        }
        if (b.n)
                fprintf(stderr, "weft %s: left aside: %s\n", c->name, buf_cstring(&b));
}
