#include "gt-list.h"

#include "gt-context.h"

struct gt_value gt_list_wrap(struct gt_context *c, const struct value *array)
{
        struct gt_list *list = ARENA_NEW(c->arena, struct gt_list);

        list->n = array->n;
        list->source = array->items;
        return (struct gt_value) { .type = GT_LIST, .list = list };
}

size_t gt_list_count(struct gt_value list)
{
        if (list.type == GT_BYTES)
                return list.n;
        if (!gt_is_list(list) && list.type != GT_ANY_MAP)
                return 0;
        return list.list ? list.list->n : 0;
}

/* Lists and maps inside a wrapped list are wrapped only once, so that every access gives the same object. */
static struct gt_value wrapped_at(struct gt_context *c, struct gt_list *list, size_t i)
{
        const struct value *v = &list->source[i];

        if (v->type < VALUE_ARRAY)
                return gt_boxed(gt_from_value(c, v));
        if (!list->items)
                list->items = ARENA_NEW_ARRAY(c->arena, struct gt_value, list->n);
        list->items[i] = gt_boxed(gt_from_value(c, v));
        return list->items[i];
}

struct gt_value gt_list_at(struct gt_context *c, struct gt_value list, size_t i)
{
        assert(i < gt_list_count(list));
        if (list.type == GT_BYTES)
                return gt_uint8((uint8_t)list.bytes[i]);
        if (list.list->items && list.list->items[i].type != GT_NONE)
                return list.list->items[i];
        return wrapped_at(c, list.list, i);
}

struct gt_value gt_list_new(struct gt_context *c, enum gt_type type, size_t n)
{
        struct gt_list *list = ARENA_NEW(c->arena, struct gt_list);

        assert(n <= UINT32_MAX);
        list->n = (uint32_t)n;
        list->items = ARENA_NEW_ARRAY(c->arena, struct gt_value, n);
        return (struct gt_value) { .type = (uint8_t)type, .list = list };
}

void gt_list_put(struct gt_value list, size_t i, struct gt_value element)
{
        assert(i < list.list->n);
        if (list.type == GT_LIST || list.type == GT_ANY_MAP)
                element = gt_boxed(element);
        else
                element.is_boxed = false;
        list.list->items[i] = element;
}

/* A slice and its list must share the same elements, so all elements of the slice are wrapped first. */
static void wrap_all(struct gt_context *c, struct gt_list *list, size_t from, size_t to)
{
        for (size_t i = from; i < to && list->source; i++)
                if (list->source[i].type >= VALUE_ARRAY && (!list->items || list->items[i].type == GT_NONE))
                        wrapped_at(c, list, i);
}

struct gt_value gt_list_slice(struct gt_context *c, struct gt_value list, size_t from, size_t to)
{
        struct gt_list *slice;

        assert(from <= to && to <= gt_list_count(list));
        if (list.type == GT_BYTES) {
                list.bytes = list.bytes ? list.bytes + from : NULL;
                list.n = (uint32_t)(to - from);
                return list;
        }
        if (!list.list)
                return list;
        wrap_all(c, list.list, from, to);
        slice = ARENA_NEW(c->arena, struct gt_list);
        slice->n = (uint32_t)(to - from);
        slice->items = list.list->items ? list.list->items + from : NULL;
        slice->source = list.list->source ? list.list->source + from : NULL;
        return (struct gt_value) { .type = list.type, .list = slice };
}
