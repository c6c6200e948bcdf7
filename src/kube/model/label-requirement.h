/* Requirements, the parts of both forms of label selectors: checked, collected and sorted. */
#pragma once

#include "field-error.h"
#include "label-selector.h"
#include "str-list.h"

struct requirement_list {
        struct arena *arena;
        struct label_requirement *p;
        size_t n;
        size_t capacity;
};

/* Adds a requirement, all zero. The pointer is valid until the next one is added. */
struct label_requirement *requirement_list_add(struct requirement_list *list);

/* Sorts the requirements by key, stable. */
void requirement_list_finish(struct requirement_list *list, struct label_selector *ret);

/* Sorts the values and gives them to the requirement. */
void requirement_set_values(struct label_requirement *r, struct str_list *values, bool drops_duplicates);

/* Check a key (field is its path) and a requirement. Returns ERR_INVALID with all problems in one text. */
int requirement_check_key(struct arena *a, struct str field, struct str key, struct err *err);
int requirement_check(struct arena *a, const struct label_requirement *r, struct err *err);
