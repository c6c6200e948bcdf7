/* Go's text/template: a template is parsed once, cached by its text, and executed many times on any data.
 *
 * gt_parse and gt_execute produce the outputs and the error texts of Go's text/template, with the template's name, line, column
 * and node. A parsed template is immutable and counted: any thread may execute it. */
#pragma once

#include "gt-context.h"
#include "gt-func.h"

struct buf;
struct gt_template;

enum gt_missing_key {
        GT_MISSING_INVALID, /* missingkey=default and invalid: <no value> */
        GT_MISSING_ZERO,    /* missingkey=zero */
        GT_MISSING_ERROR,   /* missingkey=error */
};

struct gt_parse_options {
        struct str name;        /* of the template, in errors */
        struct str left, right; /* delimiters; empty: {{ and }} */
        const struct gt_func_table *const
                *tables; /* earlier tables have precedence; the predefined functions are searched last */
        size_t n_tables;
};

/* Parses. The template keeps a copy of the text. Errors have Go's wording (`template: NAME:LINE: ...`) and carry the position of
 * the token. The tables must outlive the template. */
int gt_parse(struct str text, const struct gt_parse_options *options, struct gt_template **ret, struct err *err);

/* As gt_parse, with a cache: returns the earlier template if text, name, delimiters and tables are the same. Any thread. */
int gt_parse_cached(struct str text, const struct gt_parse_options *options, struct gt_template **ret, struct err *err);

struct gt_template *gt_template_ref(struct gt_template *t);
void gt_template_unref(struct gt_template *t); /* NULL is fine */

/* True if the output depends only on the data. Decided during parsing: the template calls no impure function. */
bool gt_template_is_pure(const struct gt_template *t);

/* Executes the template with the name of the options on data and appends to out. On an error the output so far stays in out, as
 * in Go. The position of the error is that of the node; its path is the node's text. */
int gt_execute(const struct gt_template *t, struct gt_context *c, enum gt_missing_key missing_key, struct gt_value data,
               struct buf *out, struct err *err);

/* For include and similar functions: executes the named template of the running set and appends to out. The error is that of
 * Go's ExecuteTemplate; `template: no template "N" associated with template "NAME"` when there is none. */
int gt_execute_named(struct gt_context *c, struct str name, struct gt_value data, struct buf *out, struct err *err);

static inline void gt_template_unrefp(struct gt_template **t)
{
        gt_template_unref(*t);
}

#define _cleanup_gt_template_ _cleanup_(gt_template_unrefp)
