/* Rules of roles: if the rules that a user has cover those of another role, the other role allows nothing that the user may not do.
 *
 * The input has lines: `h` (held) and `w` (wanted) are rules, with parts between semicolons and texts between commas: verbs, groups,
 * resources, names, paths. `q` is a question: verb, group, plural, subresource, name. `p` is one about a path: verb, path. */
#include "fuzz.h"

#include "access-rule.h"

static struct value texts(struct arena *a, struct str list)
{
        struct array_builder b;
        struct str text;
        bool has_more = list.n > 0;

        array_builder_init(&b, a, 4);
        while (has_more) {
                has_more = str_split(&list, ',', &text);
                array_builder_add(&b, value_of_str(text));
        }
        return array_builder_finish(&b);
}

static struct value rule_of(struct arena *a, struct str line)
{
        static const char *const parts[] = { "verbs", "apiGroups", "resources", "resourceNames", "nonResourceURLs" };
        struct object_builder b;
        struct str part;

        object_builder_init(&b, a, ARRAY_SIZE(parts));
        for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
                str_split(&line, ';', &part);
                object_builder_add(&b, str_from(parts[i]), texts(a, part));
        }
        return object_builder_finish(&b);
}

static bool any_allows(const struct rules *rules, const struct access_request *q)
{
        for (size_t i = 0; i < rules->n; i++)
                if (rule_allows(&rules->p[i], q))
                        return true;
        return false;
}

static struct access_request question_of(char kind, struct str line)
{
        struct access_request q = { 0 };

        str_split(&line, ';', &q.verb);
        if (kind == 'p') {
                q.path = line;
                return q;
        }
        str_split(&line, ';', &q.gvk.group);
        str_split(&line, ';', &q.plural);
        str_split(&line, ';', &q.subresource);
        q.name = line;
        return q;
}

/* A plural with a slash is no resource, though a rule may have such a text. */
static bool is_real(char kind, const struct access_request *q)
{
        return kind == 'p' ? q->path.n > 0 : str_find_char(q->plural, '/') < 0;
}

static void check_questions(struct str text, const struct rules *held, const struct rules *wanted, bool is_covered)
{
        struct str line;
        bool has_more = true;

        while (has_more) {
                struct access_request q;
                char kind;

                has_more = str_split(&text, '\n', &line);
                kind = line.n ? line.p[0] : 0;
                if (kind != 'q' && kind != 'p')
                        continue;
                q = question_of(kind, str_skip(line, 1));
                if (is_covered && is_real(kind, &q) && any_allows(wanted, &q))
                        assert(any_allows(held, &q));
        }
}

static bool has_mixed_rule(const struct rules *rules)
{
        for (size_t i = 0; i < rules->n; i++)
                if (rules->p[i].names.n && rules->p[i].urls.n)
                        return true;
        return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        _cleanup_arena_ struct arena a;
        struct str text = { (const char *)data, size }, rest = text, line;
        struct array_builder held_rules, wanted_rules;
        struct rules *held, *wanted;
        struct str_list missing;
        struct value v;
        bool has_more = true;
        int r;

        if (size > 4096)
                return 0;
        arena_init(&a, "fuzz", 0);
        array_builder_init(&held_rules, &a, 4);
        array_builder_init(&wanted_rules, &a, 4);
        while (has_more) {
                has_more = str_split(&rest, '\n', &line);
                if (line.n && line.p[0] == 'h')
                        array_builder_add(&held_rules, rule_of(&a, str_skip(line, 1)));
                else if (line.n && line.p[0] == 'w')
                        array_builder_add(&wanted_rules, rule_of(&a, str_skip(line, 1)));
        }
        v = array_builder_finish(&held_rules);
        held = rules_compile(&v);
        v = array_builder_finish(&wanted_rules);
        wanted = rules_compile(&v);
        str_list_init(&missing, &a);
        r = rules_describe_missing((struct held_rules) { &held, 1 }, wanted, &missing, NULL);
        check_questions(text, held, wanted, r == 0 && missing.n == 0);

        /* A role covers itself. The API refuses rules that are about both names and paths; they cover no path. */
        str_list_init(&missing, &a);
        r = rules_describe_missing((struct held_rules) { &wanted, 1 }, wanted, &missing, NULL);
        assert(r < 0 || missing.n == 0 || has_mixed_rule(wanted));
        rules_unref(held);
        rules_unref(wanted);
        return 0;
}
