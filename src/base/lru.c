#include "lru.h"

static void unlink_item(struct lru *l, struct lru_item *i)
{
        *(i->newer ? &i->newer->older : &l->newest) = i->older;
        *(i->older ? &i->older->newer : &l->oldest) = i->newer;
}

static void link_newest(struct lru *l, struct lru_item *i)
{
        i->newer = NULL;
        i->older = l->newest;
        *(l->newest ? &l->newest->newer : &l->oldest) = i;
        l->newest = i;
}

void lru_done(struct lru *l)
{
        map_done(&l->map);
}

struct lru_item *lru_get(struct lru *l, struct str name)
{
        struct lru_item *i = map_get(&l->map, name);

        if (i) {
                unlink_item(l, i);
                link_newest(l, i);
        }
        return i;
}

void lru_remove(struct lru *l, struct lru_item *i)
{
        map_remove(&l->map, i->name);
        unlink_item(l, i);
        l->size_bytes -= i->size_bytes;
}

struct lru_item *lru_put(struct lru *l, struct lru_item *i)
{
        struct lru_item *old = map_get(&l->map, i->name);

        if (old)
                lru_remove(l, old);
        map_set(&l->map, i->name, i);
        link_newest(l, i);
        l->size_bytes += i->size_bytes;
        return old;
}

struct lru_item *lru_take_excess(struct lru *l)
{
        struct lru_item *i = l->oldest;

        if (!i || (l->map.n <= l->max_entries && l->size_bytes <= l->max_bytes))
                return NULL;
        lru_remove(l, i);
        return i;
}
