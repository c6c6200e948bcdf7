/* Objects of built-in kinds as Go's types have them: checked, without unknown fields, with the zero values that Go writes, and with
 * defaults. */
#pragma once

#include "builtin-table.h"
#include "str-list.h"

/* Brings an object into the form in which the API stores and shows it. Values that do not fit are ERR_INVALID with Go's text (`json:
 * cannot unmarshal number into Go struct field ConfigMap.data of type string`). Unknown fields are dropped, and their paths added to
 * `unknown` in the order of the object unless that is NULL. apiVersion and kind at the root are left alone. */
int builtin_type_object(struct arena *a, const struct builtin_type *t, const struct value *object,
                        struct str_list *unknown, const struct value **ret, struct err *err);

/* The object decoded into its Go type and encoded again, without what the API does besides: no defaults, and lists that are empty stay. */
int builtin_type_plain(struct arena *a, const struct builtin_type *t, const struct value *object,
                       const struct value **ret, struct err *err);

/* The object that Go's zero value of the type is in JSON, without apiVersion and kind. */
struct value builtin_zero(struct arena *a, const struct builtin_type *t);

/* Whether Go writes no member for the value, which has been typed. */
bool builtin_is_omitted(const struct builtin_field *f, const struct value *v);

/* The value that Go writes for a field that was not set; false if it writes none. */
bool builtin_field_zero(struct arena *a, const struct builtin_field *f, struct value *ret);

/* Completes a struct of the type that has been typed: defaults that Go's code gives (builtin-defaults.c). */
const struct value *builtin_default_struct(struct arena *a, const struct builtin_type *t, const struct value *v);
