/* Decides which resources a step may ask for (docs/spec/seeds 2). The decision uses only the requirement, before anything is
 * fetched. */
#include "fetch.h"

#include "buf.h"
#include "regex.h"

/* A pattern must match the whole text; `*` alone matches everything. An invalid pattern matches nothing: it is refused when the
 * Composition is written, and if one gets past that check, it must not allow access. */
static bool pattern_matches(struct arena *a, const struct value *pattern, struct str text)
{
        _cleanup_(regex_freep)
        struct regex *re = NULL;
        struct str p = value_str(pattern);

        if (str_equal(p, STR("*")))
                return true;
        if (regex_compile(arena_printf(a, "^(?:%.*s)$", STR_ARG(p)), &re, NULL) < 0)
                return false;
        return regex_matches(re, text);
}

static const struct fn_label *find_label(const struct fn_selector *s, struct str key)
{
        for (size_t i = 0; i < s->n_labels; i++)
                if (str_equal(s->labels[i].key, key))
                        return &s->labels[i];
        return NULL;
}

static bool labels_match(struct arena *a, const struct value *rule, const struct fn_selector *s)
{
        if (s->match_name.p || value_count(rule) != s->n_labels)
                return false;
        VALUE_FOREACH_MEMBER (m, rule) {
                const struct fn_label *label = find_label(s, m->key);

                if (!label || !pattern_matches(a, &m->value, label->value))
                        return false;
        }
        return true;
}

/* Also tries the alternative name of a version that has one. */
static bool version_matches(struct arena *a, const struct value *pattern, const struct fn_selector *s)
{
        struct gvk gvk = { .kind = s->kind }, other;

        if (pattern_matches(a, pattern, s->api_version))
                return true;
        return gvk_split_api_version(s->api_version, &gvk.group, &gvk.version, NULL) >= 0 && gvk_alias(gvk, &other) &&
               pattern_matches(a, pattern, gvk_api_version(a, other));
}

static bool rule_matches(struct arena *a, const struct value *rule, const struct fn_selector *s)
{
        const struct value *name = value_get(rule, STR("name")) ?: value_get(rule, STR("matchName"));
        const struct value *labels = value_get(rule, STR("matchLabels"));

        if (!version_matches(a, value_get(rule, STR("apiVersion")), s) ||
            !pattern_matches(a, value_get(rule, STR("kind")), s->kind))
                return false;
        if (name)
                return s->match_name.p && pattern_matches(a, name, s->match_name);
        return !labels || labels_match(a, labels, s);
}

static void append_selector(struct buf *b, const struct fn_selector *s)
{
        buf_appendf(b, "%.*s %.*s", STR_ARG(s->api_version), STR_ARG(s->kind));
        if (s->match_name.p)
                buf_appendf(b, " named \"%.*s\"", STR_ARG(s->match_name));
        for (size_t i = 0; i < s->n_labels; i++)
                buf_appendf(b, "%s%.*s=%.*s", i ? "," : " with labels ", STR_ARG(s->labels[i].key),
                            STR_ARG(s->labels[i].value));
        if (s->ns.p)
                buf_appendf(b, " in namespace \"%.*s\"", STR_ARG(s->ns));
}

static int refuse(const struct step *step, const struct fn_selector *selector, const char *why, struct err *err)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        append_selector(&b, selector);
        return err_set(err, ERR_FORBIDDEN,
                       "function \"%.*s\" of step \"%.*s\" may not have requirement \"%.*s\" (%.*s): %s",
                       STR_ARG(step->function), STR_ARG(step->name), STR_ARG(selector->name), STR_ARG(buf_str(&b)),
                       why);
}

int fetch_check(const struct step_context *c, const struct step *step, const struct fn_selector *selector,
                struct err *err)
{
        if (c->options.extra_resources == EXTRA_RESOURCES_OFF)
                return refuse(step, selector, "extra resources are switched off (--extra-resources-policy=off)", err);
        if (!step->allowed_extra_resources)
                return c->options.extra_resources == EXTRA_RESOURCES_ALLOW
                               ? 0
                               : refuse(step, selector,
                                        "the step has no allowedExtraResources, which "
                                        "--extra-resources-policy=deny asks for",
                                        err);
        VALUE_FOREACH_ITEM (rule, step->allowed_extra_resources)
                if (rule_matches(c->run->arena, rule, selector))
                        return 0;
        return refuse(step, selector, "no entry of the step's allowedExtraResources matches", err);
}
