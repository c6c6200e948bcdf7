/* A growing list of texts in an arena. */
#pragma once

#include "arena.h"

struct str_list {
        struct arena *arena;
        struct str *p;
        size_t n;
        size_t capacity;
};

static inline void str_list_init(struct str_list *list, struct arena *a)
{
        *list = (struct str_list) { .arena = a };
}

/* s is borrowed. Does nothing if list is NULL. */
void str_list_add(struct str_list *list, struct str s);
void str_list_printf(struct str_list *list, const char *format, ...) _printf_(2, 3);
void str_list_sort(struct str_list *list);

/* All texts, with the separator between them, as one text in the list's arena. */
struct str str_list_join(const struct str_list *list, struct str separator);
