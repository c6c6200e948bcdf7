/* The grammar, as apimachinery's labels package reads it:
 *
 *     selector    = [ requirement { "," requirement } ]
 *     requirement = [ "!" ] key | key operator
 *     operator    = ( "=" | "==" | "!=" | ">" | "<" ) [ value ] | ( "in" | "notin" ) "(" [ value ] { "," [ value ] } ")"
 *
 * `in` and `notin` are words only where an operator may stand. A NUL byte ends what it follows, as it does there: it marks
 * the end of the text for upstream's lexer, which nevertheless steps over it. */
#include "label-selector.h"

#include "arena.h"
#include "buf.h"
#include "field-error.h"
#include "name.h"
#include "number.h"

enum token {
        TOKEN_END,
        TOKEN_IDENTIFIER,
        TOKEN_IN, /* an identifier to those who read values */
        TOKEN_NOT_IN,
        TOKEN_OPEN,
        TOKEN_CLOSE,
        TOKEN_COMMA,
        TOKEN_NOT,
        TOKEN_EQUALS,
        TOKEN_DOUBLE_EQUALS,
        TOKEN_NOT_EQUALS,
        TOKEN_GREATER,
        TOKEN_LESS,
};

struct parser {
        struct arena *arena;
        struct str text;
        size_t position;
        enum token token; /* the one that comes next */
        struct str literal;
        struct err *err;
};

static bool is_space(char c)
{
        return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool is_symbol(char c)
{
        return c && strchr("=!(),><", c);
}

static char peek(const struct parser *p, size_t offset)
{
        return p->position + offset < p->text.n ? p->text.p[p->position + offset] : '\0';
}

static enum token symbol(const struct parser *p, size_t *ret_n)
{
        bool is_double = peek(p, 1) == '=';

        *ret_n = 1;
        switch (peek(p, 0)) {
        case '(':
                return TOKEN_OPEN;
        case ')':
                return TOKEN_CLOSE;
        case ',':
                return TOKEN_COMMA;
        case '>':
                return TOKEN_GREATER;
        case '<':
                return TOKEN_LESS;
        case '!':
                *ret_n += is_double;
                return is_double ? TOKEN_NOT_EQUALS : TOKEN_NOT;
        default:
                *ret_n += is_double;
                return is_double ? TOKEN_DOUBLE_EQUALS : TOKEN_EQUALS;
        }
}

static size_t identifier_length(const struct parser *p)
{
        size_t n = 0;

        while (peek(p, n) && !is_symbol(peek(p, n)) && !is_space(peek(p, n)))
                n++;
        return n;
}

static void advance(struct parser *p)
{
        size_t n;

        while (is_space(peek(p, 0)))
                p->position++;
        if (!peek(p, 0)) {
                p->position = p->text.n;
                p->token = TOKEN_END;
                p->literal = STR("");
                return;
        }
        if (is_symbol(peek(p, 0))) {
                p->token = symbol(p, &n);
        } else {
                n = identifier_length(p);
                p->token = TOKEN_IDENTIFIER;
        }
        p->literal = str_make(p->text.p + p->position, n);
        if (str_equal(p->literal, STR("in")))
                p->token = TOKEN_IN;
        else if (str_equal(p->literal, STR("notin")))
                p->token = TOKEN_NOT_IN;
        p->position += n;
        if (p->position < p->text.n && !p->text.p[p->position])
                p->position++;
}

/* The next token where `in` and `notin` are words like any other. */
static enum token value_token(const struct parser *p)
{
        return p->token == TOKEN_IN || p->token == TOKEN_NOT_IN ? TOKEN_IDENTIFIER : p->token;
}

static int unexpected(struct parser *p, const char *expected)
{
        return err_set(p->err, ERR_INVALID, "found '%.*s'%s expected: %s", STR_ARG(p->literal),
                       strcmp(expected, "'('") == 0 ? "" : ",", expected);
}

/* The texts of a check, joined as upstream joins them, as one error about a value. */
static void add_texts(struct field_errors *e, struct str field, struct str v, const struct str *texts, size_t n)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        struct value value = value_of_str(v);

        for (size_t i = 0; i < n; i++) {
                if (i > 0)
                        buf_append_literal(&b, "; ");
                buf_append_str(&b, texts[i]);
        }
        if (n > 0)
                field_error_add(e, FIELD_INVALID, field, &value, "%.*s", STR_ARG(buf_str(&b)));
}

static void check_key(struct field_errors *e, struct str field, struct str key)
{
        struct str texts[4];

        add_texts(e, field, key, texts, name_check_qualified(e->arena, key, texts));
}

static struct value list_of(struct arena *a, const struct str *values, size_t n)
{
        struct array_builder b;

        if (n == 0)
                return value_of_null();
        array_builder_init(&b, a, n);
        for (size_t i = 0; i < n; i++)
                array_builder_add(&b, value_of_str(values[i]));
        return array_builder_finish(&b);
}

/* How many values the operator takes, and that > and < take integers. */
static void check_operator(struct field_errors *e, const struct label_requirement *r)
{
        struct value list = list_of(e->arena, r->values, r->n_values);
        int64_t number;

        switch (r->operator) {
        case SELECT_IN:
        case SELECT_NOT_IN:
                if (r->n_values == 0)
                        field_error_add(e, FIELD_INVALID, STR("values"), &list,
                                        "for 'in', 'notin' operators, values set can't be empty");
                break;
        case SELECT_EXISTS:
        case SELECT_NOT_EXISTS:
                if (r->n_values > 0)
                        field_error_add(e, FIELD_INVALID, STR("values"), &list,
                                        "values set must be empty for exists and does not exist");
                break;
        case SELECT_GREATER:
        case SELECT_LESS:
                if (number_parse_int(r->values[0], &number, NULL) < 0)
                        field_error_add(e, FIELD_INVALID, STR("values[0]"), &list.items[0],
                                        "for 'Gt', 'Lt' operators, the value must be an integer");
                break;
        case SELECT_EQUALS:
        case SELECT_NOT_EQUALS:
                break;
        }
}

static void check_requirement(struct field_errors *e, const struct label_requirement *r)
{
        struct str texts[4];

        check_key(e, STR("key"), r->key);
        check_operator(e, r);
        for (size_t i = 0; i < r->n_values; i++) {
                struct str field = arena_printf(e->arena, "values[%zu][%.*s]", i, STR_ARG(r->key));

                add_texts(e, field, r->values[i], texts, name_check_label_value(e->arena, r->values[i], texts));
        }
}

/* As an aggregate of Go errors reads: `a` or `[a, b]`, without repetitions. */
static int fail_with(const struct field_errors *e, struct err *err)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        field_errors_append(&b, e);
        err_set(err, ERR_INVALID, "%.*s", STR_ARG(buf_str(&b)));
        return ERR_INVALID;
}

static int compare_str(const void *a, const void *b)
{
        return str_compare(*(const struct str *)a, *(const struct str *)b);
}

struct values {
        struct arena *arena;
        struct str *p;
        size_t n;
        size_t capacity;
};

static void add_value(struct values *v, struct str s)
{
        if (v->n == v->capacity) {
                size_t capacity = v->capacity ? 2 * v->capacity : 2;
                struct str *p = ARENA_NEW_ARRAY(v->arena, struct str, capacity);

                if (v->n > 0)
                        memcpy(p, v->p, v->n * sizeof(*p));
                v->p = p;
                v->capacity = capacity;
        }
        v->p[v->n++] = s;
}

static void sort_values(struct values *v, bool drops_duplicates)
{
        size_t n = 0;

        if (v->n > 1)
                qsort(v->p, v->n, sizeof(*v->p), compare_str);
        for (size_t i = 0; i < v->n; i++)
                if (!drops_duplicates || n == 0 || !str_equal(v->p[n - 1], v->p[i]))
                        v->p[n++] = v->p[i];
        v->n = n;
}

static int parse_list(struct parser *p, struct values *values)
{
        for (;;) {
                enum token token = value_token(p);

                if (token == TOKEN_IDENTIFIER) {
                        add_value(values, p->literal);
                        advance(p);
                        if (p->token == TOKEN_CLOSE)
                                return 0;
                        if (p->token != TOKEN_COMMA)
                                return unexpected(p, "',' or ')'");
                        continue;
                }
                if (token != TOKEN_COMMA)
                        return unexpected(p, "',', or identifier");
                if (values->n == 0)
                        add_value(values, STR(""));
                advance(p);
                if (p->token == TOKEN_CLOSE) {
                        add_value(values, STR(""));
                        return 0;
                }
                if (p->token == TOKEN_COMMA)
                        add_value(values, STR(""));
        }
}

static int parse_values(struct parser *p, struct values *values)
{
        int r;

        if (p->token != TOKEN_OPEN)
                return unexpected(p, "'('");
        advance(p);
        if (p->token == TOKEN_CLOSE) {
                add_value(values, STR(""));
        } else if (p->token == TOKEN_COMMA || value_token(p) == TOKEN_IDENTIFIER) {
                r = parse_list(p, values);
                if (r < 0)
                        return r;
        } else {
                return unexpected(p, "',', ')' or identifier");
        }
        advance(p);
        sort_values(values, true);
        return 0;
}

static int parse_exact(struct parser *p, struct values *values)
{
        if (p->token == TOKEN_END || p->token == TOKEN_COMMA) {
                add_value(values, STR(""));
                return 0;
        }
        if (value_token(p) != TOKEN_IDENTIFIER)
                return unexpected(p, "identifier");
        add_value(values, p->literal);
        advance(p);
        return 0;
}

static int parse_operator(struct parser *p, struct label_requirement *ret)
{
        switch (p->token) {
        case TOKEN_IN:
                ret->operator= SELECT_IN;
                break;
        case TOKEN_NOT_IN:
                ret->operator= SELECT_NOT_IN;
                break;
        case TOKEN_EQUALS:
        case TOKEN_DOUBLE_EQUALS:
                ret->operator= SELECT_EQUALS;
                ret->is_double_equals = p->token == TOKEN_DOUBLE_EQUALS;
                break;
        case TOKEN_NOT_EQUALS:
                ret->operator= SELECT_NOT_EQUALS;
                break;
        case TOKEN_GREATER:
                ret->operator= SELECT_GREATER;
                break;
        case TOKEN_LESS:
                ret->operator= SELECT_LESS;
                break;
        case TOKEN_END:
        case TOKEN_IDENTIFIER:
        case TOKEN_OPEN:
        case TOKEN_CLOSE:
        case TOKEN_COMMA:
        case TOKEN_NOT:
                return unexpected(p, "in, notin, =, ==, !=, gt, lt");
        }
        advance(p);
        return 0;
}

static int parse_key(struct parser *p, struct label_requirement *ret)
{
        struct field_errors errors;

        ret->operator= SELECT_EXISTS;
        if (p->token == TOKEN_NOT) {
                ret->operator= SELECT_NOT_EXISTS;
                advance(p);
        }
        if (value_token(p) != TOKEN_IDENTIFIER)
                return unexpected(p, "identifier");
        ret->key = p->literal;
        advance(p);
        field_errors_init(&errors, p->arena);
        check_key(&errors, STR(""), ret->key);
        return errors.n > 0 ? fail_with(&errors, p->err) : 0;
}

static int parse_requirement(struct parser *p, struct label_requirement *ret)
{
        struct values values = { .arena = p->arena };
        struct field_errors errors;
        int r;

        r = parse_key(p, ret);
        if (r < 0 || ret->operator== SELECT_NOT_EXISTS || p->token == TOKEN_END || p->token == TOKEN_COMMA)
                return r;
        r = parse_operator(p, ret);
        if (r < 0)
                return r;
        r = ret->operator== SELECT_IN || ret->operator== SELECT_NOT_IN ? parse_values(p, &values)
                                                                       : parse_exact(p, &values);
        if (r < 0)
                return r;
        ret->values = values.p;
        ret->n_values = values.n;
        field_errors_init(&errors, p->arena);
        check_requirement(&errors, ret);
        return errors.n > 0 ? fail_with(&errors, p->err) : 0;
}

struct requirements {
        struct arena *arena;
        struct label_requirement *p;
        size_t n;
        size_t capacity;
};

static struct label_requirement *add_requirement(struct requirements *list)
{
        if (list->n == list->capacity) {
                size_t capacity = list->capacity ? 2 * list->capacity : 4;
                struct label_requirement *p = ARENA_NEW_ARRAY(list->arena, struct label_requirement, capacity);

                if (list->n > 0)
                        memcpy(p, list->p, list->n * sizeof(*p));
                list->p = p;
                list->capacity = capacity;
        }
        list->p[list->n] = (struct label_requirement) { 0 };
        return &list->p[list->n++];
}

/* By key; those of one key stay in their order. A merge sort, as texts may be long. */
static void sort_requirements(struct label_requirement *p, struct label_requirement *scratch, size_t n)
{
        size_t half = n / 2, i = 0, j = half, k = 0;

        if (n < 2)
                return;
        sort_requirements(p, scratch, half);
        sort_requirements(p + half, scratch, n - half);
        memcpy(scratch, p, n * sizeof(*p));
        while (i < half && j < n)
                p[k++] = str_compare(scratch[j].key, scratch[i].key) < 0 ? scratch[j++] : scratch[i++];
        while (i < half)
                p[k++] = scratch[i++];
        while (j < n)
                p[k++] = scratch[j++];
}

static void finish(struct requirements *list, struct label_selector *ret)
{
        if (list->n > 1)
                sort_requirements(list->p, ARENA_NEW_ARRAY(list->arena, struct label_requirement, list->n), list->n);
        *ret = (struct label_selector) { .requirements = list->p, .n = list->n };
}

static int parse(struct parser *p, struct requirements *list)
{
        int r;

        if (p->token == TOKEN_END)
                return 0;
        if (p->token != TOKEN_NOT && value_token(p) != TOKEN_IDENTIFIER)
                return unexpected(p, "!, identifier, or 'end of string'");
        for (;;) {
                r = parse_requirement(p, add_requirement(list));
                if (r < 0)
                        return err_wrap(p->err, "unable to parse requirement");
                r = arena_check(p->arena, p->err);
                if (r < 0)
                        return r;
                if (p->token == TOKEN_END)
                        return 0;
                if (p->token != TOKEN_COMMA)
                        return unexpected(p, "',' or 'end of string'");
                advance(p);
                if (p->token != TOKEN_NOT && value_token(p) != TOKEN_IDENTIFIER)
                        return unexpected(p, "identifier after ','");
        }
}

int label_selector_parse(struct arena *a, struct str text, struct label_selector *ret, struct err *err)
{
        struct parser p = { .arena = a, .text = text, .err = err };
        struct requirements list = { .arena = a };
        int r;

        advance(&p);
        r = parse(&p, &list);
        if (r == ERR_INVALID)
                err_set_reason(err, REASON_BAD_REQUEST);
        if (r < 0)
                return r;
        finish(&list, ret);
        return 0;
}

static int operator_from(struct str name, enum selector_operator *ret, struct err *err)
{
        static const struct {
                struct str name;
                enum selector_operator operator;
        } operators[] = {
                { STR_INIT("In"), SELECT_IN },
                { STR_INIT("NotIn"), SELECT_NOT_IN },
                { STR_INIT("Exists"), SELECT_EXISTS },
                { STR_INIT("DoesNotExist"), SELECT_NOT_EXISTS },
        };

        for (size_t i = 0; i < ARRAY_SIZE(operators); i++) {
                if (str_equal(operators[i].name, name)) {
                        *ret = operators[i].operator;
                        return 0;
                }
        }
        return err_set(err, ERR_INVALID, "\"%.*s\" is not a valid label selector operator", STR_ARG(name));
}

static int check_one(struct arena *a, const struct label_requirement *r, struct err *err)
{
        struct field_errors errors;

        field_errors_init(&errors, a);
        check_requirement(&errors, r);
        return errors.n > 0 ? fail_with(&errors, err) : 0;
}

static int add_label(struct requirements *list, const struct member *m, struct err *err)
{
        struct label_requirement *r = add_requirement(list);
        struct values values = { .arena = list->arena };

        if (!value_is_string(&m->value))
                return err_set(err, ERR_INVALID, "matchLabels[%.*s]: must be a string", STR_ARG(m->key));
        add_value(&values, value_str(&m->value));
        *r = (struct label_requirement) { .key = m->key, .operator= SELECT_EQUALS, .values = values.p, .n_values = 1 };
        return check_one(list->arena, r, err);
}

static int add_expression(struct requirements *list, const struct value *expression, struct err *err)
{
        struct label_requirement *req = add_requirement(list);
        struct values values = { .arena = list->arena };
        int r;

        req->key = value_str(value_get(expression, STR("key")));
        r = operator_from(value_str(value_get(expression, STR("operator"))), &req->operator, err);
        if (r < 0)
                return r;
        VALUE_FOREACH_ITEM (v, value_get(expression, STR("values"))) {
                if (!value_is_string(v))
                        return err_set(err, ERR_INVALID, "matchExpressions: values of key \"%.*s\" must be strings",
                                       STR_ARG(req->key));
                add_value(&values, value_str(v));
        }
        req->values = values.p;
        req->n_values = values.n;
        r = check_one(list->arena, req, err);
        if (r == 0)
                sort_values(&values, false);
        return r;
}

static bool is_absent(const struct value *v)
{
        return !v || value_is_null(v);
}

int label_selector_from_value(struct arena *a, const struct value *selector, struct label_selector *ret,
                              struct err *err)
{
        const struct value *labels = value_get(selector, STR("matchLabels"));
        const struct value *expressions = value_get(selector, STR("matchExpressions"));
        struct requirements list = { .arena = a };
        int r;

        if (is_absent(selector)) {
                *ret = (struct label_selector) { .matches_nothing = true };
                return 0;
        }
        if (!value_is_object(selector))
                return err_set(err, ERR_INVALID, "a label selector must be an object");
        if (!is_absent(labels) && !value_is_object(labels))
                return err_set(err, ERR_INVALID, "matchLabels: must be an object");
        if (!is_absent(expressions) && !value_is_array(expressions))
                return err_set(err, ERR_INVALID, "matchExpressions: must be an array");
        if (value_is_object(labels))
                labels = value_sorted(a, labels);
        VALUE_FOREACH_MEMBER (m, labels) {
                r = add_label(&list, m, err);
                if (r < 0)
                        return r;
        }
        VALUE_FOREACH_ITEM (expression, expressions) {
                r = add_expression(&list, expression, err);
                if (r < 0)
                        return r;
        }
        finish(&list, ret);
        return 0;
}

/* Values are sorted. */
static bool has_value(const struct label_requirement *r, struct str v)
{
        return r->n_values == 1 ? str_equal(r->values[0], v)
                                : r->n_values > 0 && bsearch(&v, r->values, r->n_values, sizeof(v), compare_str);
}

static bool compares(const struct label_requirement *r, struct str v)
{
        int64_t label, limit;

        if (number_parse_int(v, &label, NULL) < 0 || number_parse_int(r->values[0], &limit, NULL) < 0)
                return false;
        return r->operator== SELECT_GREATER ? label > limit : label<limit;
}

static bool matches(const struct label_requirement *r, const struct value *labels)
{
        const struct value *label = value_get(labels, r->key);
        bool is_there = value_is_string(label);

        switch (r->operator) {
        case SELECT_EQUALS:
        case SELECT_IN:
                return is_there && has_value(r, value_str(label));
        case SELECT_NOT_EQUALS:
        case SELECT_NOT_IN:
                return !is_there || !has_value(r, value_str(label));
        case SELECT_EXISTS:
                return is_there;
        case SELECT_NOT_EXISTS:
                return !is_there;
        case SELECT_GREATER:
        case SELECT_LESS:
                return is_there && compares(r, value_str(label));
        }
        return false;
}

bool label_selector_matches(const struct label_selector *s, const struct value *labels)
{
        if (s->matches_nothing)
                return false;
        for (size_t i = 0; i < s->n; i++)
                if (!matches(&s->requirements[i], labels))
                        return false;
        return true;
}

static void append_requirement(struct buf *b, const struct label_requirement *r)
{
        static const char *const words[] = {
                [SELECT_EQUALS] = "=", [SELECT_NOT_EQUALS] = "!=", [SELECT_IN] = " in (",  [SELECT_NOT_IN] = " notin (",
                [SELECT_EXISTS] = "",  [SELECT_NOT_EXISTS] = "",   [SELECT_GREATER] = ">", [SELECT_LESS] = "<",
        };

        if (r->operator== SELECT_NOT_EXISTS)
                buf_append_char(b, '!');
        buf_append_str(b, r->key);
        buf_append_str(b, r->is_double_equals ? STR("==") : str_from(words[r->operator]));
        for (size_t i = 0; i < r->n_values; i++) {
                if (i > 0)
                        buf_append_char(b, ',');
                buf_append_str(b, r->values[i]);
        }
        if (r->operator== SELECT_IN || r->operator== SELECT_NOT_IN)
                buf_append_char(b, ')');
}

void label_selector_append(struct buf *b, const struct label_selector *s)
{
        for (size_t i = 0; i < s->n; i++) {
                if (i > 0)
                        buf_append_char(b, ',');
                append_requirement(b, &s->requirements[i]);
        }
}
