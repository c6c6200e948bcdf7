#include "str-list.h"

#include <stdlib.h>

void str_list_add(struct str_list *list, struct str s)
{
        if (!list)
                return;
        if (list->n == list->capacity) {
                size_t capacity = list->capacity ? 2 * list->capacity : 8;
                struct str *p = ARENA_NEW_ARRAY(list->arena, struct str, capacity);

                if (list->n)
                        memcpy(p, list->p, list->n * sizeof(*p));
                list->p = p;
                list->capacity = capacity;
        }
        list->p[list->n++] = s;
}

void str_list_printf(struct str_list *list, const char *format, ...)
{
        va_list arguments;

        if (!list)
                return;
        va_start(arguments, format);
        str_list_add(list, arena_vprintf(list->arena, format, arguments));
        va_end(arguments);
}

static int compare(const void *a, const void *b)
{
        return str_compare(*(const struct str *)a, *(const struct str *)b);
}

void str_list_sort(struct str_list *list)
{
        if (list && list->n > 1)
                qsort(list->p, list->n, sizeof(*list->p), compare);
}

struct str str_list_join(const struct str_list *list, struct str separator)
{
        size_t n = 0, at = 0;
        char *p;

        for (size_t i = 0; i < list->n; i++)
                n += list->p[i].n + (i ? separator.n : 0);
        p = arena_alloc(list->arena, n + 1);
        for (size_t i = 0; i < list->n; i++) {
                if (i && separator.n)
                        memcpy(p + at, separator.p, separator.n);
                at += i ? separator.n : 0;
                if (list->p[i].n)
                        memcpy(p + at, list->p[i].p, list->p[i].n);
                at += list->p[i].n;
        }
        p[n] = '\0';
        return str_make(p, n);
}
