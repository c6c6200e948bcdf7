#include "accept.h"

struct clause {
        struct str type; /* `application/json` */
        struct str as, group, version;
        bool is_pretty;
        int q; /* in thousandths */
};

/* `0.8`: digits behind the third count nothing. Wrong text counts as 1, as upstream treats it. */
static int parse_q(struct str text)
{
        int q = 0, scale = 100;

        if (text.n == 0 || (text.p[0] != '0' && text.p[0] != '1'))
                return 1000;
        q = text.p[0] == '1' ? 1000 : 0;
        for (size_t i = 2; i < text.n && scale > 0 && text.p[1] == '.'; i++, scale /= 10)
                if (text.p[i] >= '0' && text.p[i] <= '9')
                        q += (text.p[i] - '0') * scale;
        return q > 1000 ? 1000 : q;
}

static struct str unquote(struct str s)
{
        if (s.n >= 2 && s.p[0] == '"' && s.p[s.n - 1] == '"')
                return str_make(s.p + 1, s.n - 2);
        return s;
}

static struct clause parse_clause(struct str text)
{
        struct clause c = { .q = 1000 };
        struct str part;

        str_split(&text, ';', &part);
        c.type = str_trim(part);
        while (text.n > 0) {
                struct str name;

                str_split(&text, ';', &part);
                str_split(&part, '=', &name);
                name = str_trim(name);
                part = unquote(str_trim(part));
                if (str_equal_ignore_case(name, STR("q")))
                        c.q = parse_q(part);
                else if (str_equal(name, STR("as")))
                        c.as = part;
                else if (str_equal(name, STR("g")))
                        c.group = part;
                else if (str_equal(name, STR("v")))
                        c.version = part;
                else if (str_equal(name, STR("pretty")))
                        c.is_pretty = str_equal(part, STR("1")) || str_equal(part, STR("true"));
        }
        return c;
}

static bool find_form(const struct clause *c, unsigned forms, enum answer_form *ret)
{
        static const struct {
                struct str as;
                enum answer_form form;
        } known[] = {
                { STR_INIT("Table"), ANSWER_TABLE },
                { STR_INIT("PartialObjectMetadata"), ANSWER_METADATA },
                { STR_INIT("PartialObjectMetadataList"), ANSWER_METADATA_LIST },
        };

        *ret = ANSWER_OBJECT;
        if (c->as.n == 0)
                return c->group.n == 0 && c->version.n == 0 && (forms & FORM_SET(ANSWER_OBJECT));
        if (!str_equal(c->group, STR("meta.k8s.io")) ||
            (!str_equal(c->version, STR("v1")) && !str_equal(c->version, STR("v1beta1"))))
                return false;
        for (size_t i = 0; i < ARRAY_SIZE(known); i++)
                if (str_equal(c->as, known[i].as)) {
                        *ret = known[i].form;
                        return forms & FORM_SET(*ret);
                }
        return false;
}

static bool is_yaml(const struct clause *c)
{
        return str_equal_ignore_case(c->type, STR("application/yaml"));
}

/* Paths of built-in kinds know no type `application` with a star. */
static bool is_json(const struct clause *c, bool is_custom)
{
        return str_equal_ignore_case(c->type, STR("application/json")) || str_equal(c->type, STR("*/*")) ||
               (is_custom && str_equal_ignore_case(c->type, STR("application/*"))) || c->type.n == 0;
}

/* A type that upstream has, whether or not this server sends it. */
static bool is_known_type(const struct clause *c, bool is_custom)
{
        return is_yaml(c) || is_json(c, is_custom) ||
               str_equal_ignore_case(c->type, STR("application/vnd.kubernetes.protobuf"));
}

static bool take_clause(const struct clause *c, const struct acceptable *allowed, struct accepted *ret)
{
        enum answer_form form;

        if (!is_json(c, allowed->is_custom) && !(is_yaml(c) && !allowed->is_watch))
                return false;
        if (!find_form(c, allowed->forms, &form))
                return false;
        *ret = (struct accepted) {
                .form = form,
                .is_yaml = is_yaml(c),
                .is_pretty = c->is_pretty,
                .meta_version = c->version.n ? c->version : STR("v1"),
        };
        return true;
}

#define MEDIA_TYPES "application/json, application/yaml, application/vnd.kubernetes.protobuf"
#define WATCH_TYPES "application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch"

/* Paths of built-in kinds are refused by two parts of upstream: the first looks at the type alone. */
static int not_acceptable(const struct acceptable *allowed, bool has_known_type, struct err *err)
{
        int r;

        if (allowed->is_custom || has_known_type) {
                r = err_set(err, ERR_UNSUPPORTED, "only the following media types are accepted: %s",
                            allowed->is_watch ? WATCH_TYPES : MEDIA_TYPES);
        } else {
                r = err_set(err, ERR_UNSUPPORTED, "406: Not Acceptable\n\nAvailable representations: " MEDIA_TYPES "%s",
                            allowed->is_list || allowed->is_watch ? ", " WATCH_TYPES : "");
                err_set_details(err, STR("{}"));
        }
        err_set_reason(err, REASON_NOT_ACCEPTABLE);
        return r;
}

int accept_negotiate(struct str accept, const struct acceptable *allowed, struct accepted *ret, struct err *err)
{
        bool has_known_type = false;
        struct accepted best;
        int best_q = 0;

        if (str_trim(accept).n == 0)
                accept = STR("*/*");
        while (accept.n > 0 && best_q < 1000) {
                struct accepted found;
                struct str text;
                struct clause c;

                str_split(&accept, ',', &text);
                if (str_trim(text).n == 0)
                        continue;
                c = parse_clause(text);
                has_known_type |= is_known_type(&c, allowed->is_custom);
                if (c.q > best_q && take_clause(&c, allowed, &found)) {
                        best = found;
                        best_q = c.q;
                }
        }
        if (best_q == 0)
                return not_acceptable(allowed, has_known_type, err);
        *ret = best;
        return 0;
}

bool accept_has_token(struct str header, struct str token)
{
        while (header.n > 0) {
                struct str text;
                struct clause c;

                str_split(&header, ',', &text);
                c = parse_clause(text);
                if (c.q > 0 && str_equal_ignore_case(c.type, token))
                        return true;
        }
        return false;
}
