/* What both forms of label selectors are made of: requirements that are checked, collected and sorted. */
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

/* A new one, all zero; it moves when the next is added. */
struct label_requirement *requirement_list_add(struct requirement_list *list);

/* Sorts them by key; those of one key stay in their order. */
void requirement_list_finish(struct requirement_list *list, struct label_selector *ret);

/* Sorts the values and gives them to the requirement. */
void requirement_set_values(struct label_requirement *r, struct str_list *values, bool drops_duplicates);

/* What is wrong with a key (field is where it stands), and with a requirement: ERR_INVALID with all of it in one text. */
int requirement_check_key(struct arena *a, struct str field, struct str key, struct err *err);
int requirement_check(struct arena *a, const struct label_requirement *r, struct err *err);
