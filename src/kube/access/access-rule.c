#include "access-rule.h"

#include "buf.h"
#include "gotext.h"
#include "limits.h"
#include "map.h"

/* --- Compiling --- */

static const char *const parts[] = { "verbs", "apiGroups", "resources", "resourceNames", "nonResourceURLs" };

static struct texts *part_of(struct access_rule *r, size_t i)
{
        struct texts *const all[] = { &r->verbs, &r->groups, &r->resources, &r->names, &r->urls };

        return all[i];
}

/* The size of the allocation behind the rules: all texts, then all their bytes. */
static void measure(const struct value *v, size_t *ret_texts, size_t *ret_bytes)
{
        *ret_texts = *ret_bytes = 0;
        VALUE_FOREACH_ITEM (rule, v)
                for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
                        VALUE_FOREACH_ITEM (text, value_get(rule, str_from(parts[i]))) {
                                *ret_texts += 1;
                                *ret_bytes += value_str(text).n;
                        }
}

static struct texts copy_texts(const struct value *list, struct str **texts, char **bytes)
{
        struct texts t = { .p = *texts, .n = value_is_array(list) ? value_count(list) : 0 };

        VALUE_FOREACH_ITEM (item, list) {
                struct str s = value_str(item);

                if (s.n)
                        memcpy(*bytes, s.p, s.n);
                *(*texts)++ = str_make(*bytes, s.n);
                *bytes += s.n;
        }
        return t;
}

struct rules *rules_compile(const struct value *v)
{
        size_t n = value_is_array(v) ? value_count(v) : 0, n_texts, n_bytes, i = 0;
        struct rules *r;
        struct str *texts;
        char *bytes;

        measure(v, &n_texts, &n_bytes);
        r = xcalloc(1, sizeof(*r) + n * sizeof(r->p[0]) + n_texts * sizeof(*texts) + n_bytes + 1);
        texts = (struct str *)&r->p[n];
        bytes = (char *)(texts + n_texts);
        r->references = 1;
        r->n = n;
        VALUE_FOREACH_ITEM (rule, v) {
                for (size_t j = 0; j < ARRAY_SIZE(parts); j++)
                        *part_of(&r->p[i], j) = copy_texts(value_get(rule, str_from(parts[j])), &texts, &bytes);
                i++;
        }
        return r;
}

struct rules *rules_ref(struct rules *r)
{
        atomic_fetch_add_explicit(&r->references, 1, memory_order_relaxed);
        return r;
}

void rules_unref(struct rules *r)
{
        if (r && atomic_fetch_sub_explicit(&r->references, 1, memory_order_acq_rel) == 1)
                free(r);
}

/* --- Matching --- */

static bool has(struct texts t, struct str s)
{
        for (size_t i = 0; i < t.n; i++)
                if (str_equal(t.p[i], s))
                        return true;
        return false;
}

static bool has_or_all(struct texts t, struct str s)
{
        for (size_t i = 0; i < t.n; i++)
                if (str_equal(t.p[i], s) || str_equal(t.p[i], STR("*")))
                        return true;
        return false;
}

/* text is head, a slash and tail. */
static bool is_joined(struct str text, struct str head, struct str tail)
{
        return text.n == head.n + 1 + tail.n && str_equal(str_first(text, head.n), head) && text.p[head.n] == '/' &&
               str_equal(str_skip(text, head.n + 1), tail);
}

static bool resource_matches(struct str rule, struct str plural, struct str subresource)
{
        if (str_equal(rule, STR("*")))
                return true;
        if (subresource.n == 0)
                return str_equal(rule, plural);
        return is_joined(rule, plural, subresource) || is_joined(rule, STR("*"), subresource);
}

static bool resources_match(struct texts rule, const struct access_request *req)
{
        for (size_t i = 0; i < rule.n; i++)
                if (resource_matches(rule.p[i], req->plural, req->subresource))
                        return true;
        return false;
}

/* A rule that ends in `*` is about everything that begins with the text before its stars. */
static bool path_matches(struct str rule, struct str path)
{
        if (str_equal(rule, path))
                return true;
        if (!str_ends_with(rule, STR("*")))
                return false;
        while (str_cut_suffix(&rule, STR("*")))
                ;
        return str_starts_with(path, rule);
}

static bool paths_match(struct texts rule, struct str path)
{
        for (size_t i = 0; i < rule.n; i++)
                if (path_matches(rule.p[i], path))
                        return true;
        return false;
}

bool rule_allows(const struct access_rule *r, const struct access_request *req)
{
        if (!has_or_all(r->verbs, req->verb))
                return false;
        if (req->path.n)
                return paths_match(r->urls, req->path);
        return has_or_all(r->groups, req->gvk.group) && resources_match(r->resources, req) &&
               (r->names.n == 0 || has(r->names, req->name));
}

/* --- Covering --- */

/* One verb of a rule on one resource (with one name, or all), or on one path. */
struct single_rule {
        bool is_path;
        bool has_name;
        struct str verb;
        struct str group;
        struct str resource; /* or the path */
        struct str name;
};

static bool resource_is_covered(struct texts held, struct str resource)
{
        struct str rest = resource, head;
        bool is_subresource = str_split(&rest, '/', &head);

        for (size_t i = 0; i < held.n; i++)
                if (str_equal(held.p[i], STR("*")) || str_equal(held.p[i], resource) ||
                    (is_subresource && is_joined(held.p[i], STR("*"), rest)))
                        return true;
        return false;
}

static bool names_are_covered(const struct access_rule *held, const struct single_rule *s)
{
        return held->names.n == 0 || (s->has_name && has(held->names, s->name));
}

static bool rule_covers(const struct access_rule *held, const struct single_rule *s)
{
        if (!has_or_all(held->verbs, s->verb) || !names_are_covered(held, s))
                return false;
        if (s->is_path)
                return paths_match(held->urls, s->resource);
        return has_or_all(held->groups, s->group) && resource_is_covered(held->resources, s->resource);
}

static bool is_covered(struct held_rules held, const struct single_rule *s)
{
        for (size_t i = 0; i < held.n; i++)
                for (size_t j = 0; j < held.p[i]->n; j++)
                        if (rule_covers(&held.p[i]->p[j], s))
                                return true;
        return false;
}

/* A search for missing rules: add is called with each single rule that the held rules do not cover. */
struct missing {
        struct held_rules held;
        void (*add)(void *arg, const struct single_rule *s);
        void *arg;
};

static void check(const struct missing *m, struct single_rule s)
{
        if (!is_covered(m->held, &s))
                m->add(m->arg, &s);
}

static void check_names(const struct missing *m, const struct access_rule *r, struct single_rule s)
{
        if (r->names.n == 0)
                check(m, s);
        s.has_name = true;
        for (size_t i = 0; i < r->names.n; i++) {
                s.name = r->names.p[i];
                check(m, s);
        }
}

static void check_rule(const struct missing *m, const struct access_rule *r)
{
        for (size_t g = 0; g < r->groups.n; g++)
                for (size_t i = 0; i < r->resources.n; i++)
                        for (size_t v = 0; v < r->verbs.n; v++)
                                check_names(m, r,
                                            (struct single_rule) { .verb = r->verbs.p[v],
                                                                   .group = r->groups.p[g],
                                                                   .resource = r->resources.p[i] });
        for (size_t u = 0; u < r->urls.n; u++)
                for (size_t v = 0; v < r->verbs.n; v++)
                        check(m, (struct single_rule) {
                                         .is_path = true, .verb = r->verbs.p[v], .resource = r->urls.p[u] });
}

static void check_rules(const struct missing *m, const struct rules *wanted)
{
        for (size_t i = 0; i < wanted->n; i++)
                check_rule(m, &wanted->p[i]);
}

/* The number of single rules is a product, which a short text can make very large. */
static int check_size(const struct rules *wanted, struct err *err)
{
        double n = 0;

        for (size_t i = 0; i < wanted->n; i++) {
                const struct access_rule *r = &wanted->p[i];

                n += (double)r->verbs.n * (double)r->groups.n * (double)r->resources.n * (double)MAX(r->names.n, 1u);
                n += (double)r->verbs.n * (double)r->urls.n;
        }
        if (n <= LIMIT_SINGLE_RULES)
                return 0;
        return err_set(err, ERR_LIMIT,
                       "the rules have %.0f combinations of verb, group, resource and name, more than the limit of %u; "
                       "write fewer in one role",
                       n, LIMIT_SINGLE_RULES);
}

/* --- Descriptions --- */

/* Single rules about resources that differ in nothing but the verb are described as one. */
struct description {
        struct single_rule rule; /* its verb is the first */
        struct str_list verbs;
};

struct descriptions {
        struct arena *arena;
        struct map by_subject;
};

static struct str subject_key(struct arena *a, const struct single_rule *s)
{
        static const char zero[1];
        struct str separator = { zero, 1 };

        if (s->is_path)
                return ARENA_CONCAT(a, STR("path"), separator, s->resource, separator, s->verb);
        return ARENA_CONCAT(a, s->has_name ? STR("name") : STR("all"), separator, s->group, separator, s->resource,
                            separator, s->name);
}

static void describe(void *arg, const struct single_rule *s)
{
        struct descriptions *all = arg;
        struct str key = subject_key(all->arena, s);
        struct description *d = map_get(&all->by_subject, key);

        if (!d) {
                d = ARENA_NEW(all->arena, struct description);
                d->rule = *s;
                str_list_init(&d->verbs, all->arena);
                map_add(&all->by_subject, key, d);
        } else if (s->is_path) {
                return; /* verbs of paths are not described together */
        }
        str_list_add(&d->verbs, s->verb);
}

static void append_part(struct buf *b, const char *label, struct str text)
{
        if (b->n > 1)
                buf_append_literal(b, ", ");
        buf_appendf(b, "%s:[", label);
        go_append_quoted(b, text);
        buf_append_char(b, ']');
}

static struct str description_text(struct arena *a, const struct description *d)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        buf_append_char(&b, '{');
        if (d->rule.is_path) {
                append_part(&b, "NonResourceURLs", d->rule.resource);
        } else {
                append_part(&b, "APIGroups", d->rule.group);
                append_part(&b, "Resources", d->rule.resource);
        }
        if (d->rule.has_name)
                append_part(&b, "ResourceNames", d->rule.name);
        buf_append_literal(&b, ", Verbs:[");
        for (size_t i = 0; i < d->verbs.n; i++) {
                if (i)
                        buf_append_char(&b, ' ');
                go_append_quoted(&b, d->verbs.p[i]);
        }
        buf_append_literal(&b, "]}");
        return buf_to_arena(&b, a);
}

/* list is sorted. */
static void drop_repeated(struct str_list *list)
{
        size_t n = 0;

        for (size_t i = 0; i < list->n; i++)
                if (n == 0 || !str_equal(list->p[i], list->p[n - 1]))
                        list->p[n++] = list->p[i];
        list->n = n;
}

int rules_describe_missing(struct held_rules held, const struct rules *wanted, struct str_list *descriptions,
                           struct err *err)
{
        struct descriptions all = { .arena = descriptions->arena };
        struct missing m = { .held = held, .add = describe, .arg = &all };
        int r = check_size(wanted, err);

        if (r < 0)
                return r;
        check_rules(&m, wanted);
        for (const struct map_entry *e = map_first(&all.by_subject); e; e = map_next(&all.by_subject, e))
                str_list_add(descriptions, description_text(descriptions->arena, e->value));
        map_done(&all.by_subject);
        str_list_sort(descriptions);
        drop_repeated(descriptions);
        return 0;
}

/* --- Values --- */

static void add_texts(struct object_builder *b, const char *key, struct texts t)
{
        struct array_builder list;

        if (t.n == 0)
                return;
        array_builder_init(&list, b->arena, t.n);
        for (size_t i = 0; i < t.n; i++)
                array_builder_add(&list, value_of_str(arena_copy(b->arena, t.p[i])));
        object_builder_add(b, str_from(key), array_builder_finish(&list));
}

struct value rule_resource_value(struct arena *a, const struct access_rule *r)
{
        struct object_builder b;

        object_builder_init(&b, a, 4);
        add_texts(&b, "verbs", r->verbs);
        add_texts(&b, "apiGroups", r->groups);
        add_texts(&b, "resources", r->resources);
        add_texts(&b, "resourceNames", r->names);
        return object_builder_finish(&b);
}

struct value rule_path_value(struct arena *a, const struct access_rule *r)
{
        struct object_builder b;

        object_builder_init(&b, a, 2);
        add_texts(&b, "verbs", r->verbs);
        add_texts(&b, "nonResourceURLs", r->urls);
        return object_builder_finish(&b);
}

static void add_value(void *arg, const struct single_rule *s)
{
        struct array_builder *list = arg;
        struct access_rule r = {
                .verbs = { &s->verb, 1 },
                .groups = { &s->group, 1 },
                .resources = { &s->resource, 1 },
                .names = { &s->name, s->has_name },
                .urls = { &s->resource, 1 },
        };

        array_builder_add(list, s->is_path ? rule_path_value(list->arena, &r) : rule_resource_value(list->arena, &r));
}

void rules_missing_values(struct held_rules held, const struct rules *wanted, struct array_builder *ret)
{
        struct missing m = { .held = held, .add = add_value, .arg = ret };

        check_rules(&m, wanted);
}
