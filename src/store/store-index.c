/* One tree of (hash, entry) finds objects by uid, by owner and by label. The hash of a uid and the hash of the same uid as an owner
 * differ by a constant, so that one can be computed from the other. Hashes are seeded per process and 64 bits wide. They may
 * collide, so callers compare the objects that they find. */
#include "store-state.h"

#include <stdlib.h>

#define OWNER_BITS 0x9e3779b97f4a7c15ull

static uint64_t mix(uint64_t h)
{
        h ^= h >> 32;
        h *= 0xd6e8feb86659fd93ull;
        h ^= h >> 32;
        h *= 0xd6e8feb86659fd93ull;
        return h ^ h >> 32;
}

uint64_t index_uid(struct str uid)
{
        return mix(str_hash(uid));
}

uint64_t index_owner_of_uid(uint64_t uid_head)
{
        return uid_head ^ OWNER_BITS;
}

uint64_t index_owner(struct str uid)
{
        return index_owner_of_uid(index_uid(uid));
}

uint64_t index_label(const struct table *t, struct str key, struct str value)
{
        return mix(mix(str_hash(key) ^ (uintptr_t)t) + str_hash(value));
}

struct str store_make_key(struct arena *a, struct str ns, struct str name)
{
        char *p;

        if (ns.n == 0)
                return name;
        p = arena_alloc(a, ns.n + 1 + name.n);
        memcpy(p, ns.p, ns.n);
        p[ns.n] = '/';
        if (name.n)
                memcpy(p + ns.n + 1, name.p, name.n);
        return str_make(p, ns.n + 1 + name.n);
}

static int compare_heads(const void *a, const void *b)
{
        uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

        return (x > y) - (x < y);
}

static unsigned marks_of(const struct value *object)
{
        unsigned marks = MARK_DELETING;

        if (!meta_is_deleting(object))
                return 0;
        if (meta_has_finalizer(object, STR("foregroundDeletion")))
                marks |= MARK_FOREGROUND;
        if (meta_has_finalizer(object, STR("orphan")))
                marks |= MARK_ORPHAN;
        return marks;
}

void store_facts_of(struct arena *a, const struct table *t, const struct value *object, struct facts *ret)
{
        const struct value *labels = value_get(meta(object), STR("labels"));
        const struct owner_reference *owners;
        size_t n = 0, n_owners = owner_references(a, object, &owners);
        uint64_t *heads = arena_alloc(a, (1 + n_owners + value_count(labels)) * sizeof(*heads));
        struct str uid = meta_uid(object);

        *ret = (struct facts) { .marks = marks_of(object), .heads = heads, .n_owners = n_owners };
        ret->owners = arena_alloc(a, n_owners * sizeof(*ret->owners) + 1);
        if (uid.n)
                heads[n++] = ret->uid = index_uid(uid);
        for (size_t i = 0; i < n_owners; i++) {
                ret->owners[i] = index_uid(owners[i].uid);
                heads[n++] = index_owner_of_uid(ret->owners[i]);
        }
        VALUE_FOREACH_MEMBER (m, labels)
                heads[n++] = index_label(t, m->key, value_str(&m->value));
        qsort(heads, n, sizeof(*heads), compare_heads);
        for (size_t i = 0; i < n; i++)
                if (i == 0 || heads[i] != heads[i - 1])
                        heads[ret->n++] = heads[i];
}

/* Walks both sorted lists together; heads in both lists stay in the index. */
void index_update(struct store *s, struct store_entry *e, const struct facts *before, const struct facts *after)
{
        size_t i = 0, j = 0, n_before = before ? before->n : 0, n_after = after ? after->n : 0;

        while (i < n_before || j < n_after) {
                if (j == n_after || (i < n_before && before->heads[i] < after->heads[j]))
                        tree_remove(&s->index, (struct tree_item) { before->heads[i++], e });
                else if (i == n_before || after->heads[j] < before->heads[i])
                        tree_insert(&s->index, (struct tree_item) { after->heads[j++], e });
                else
                        i++, j++;
        }
}

struct store_entry *index_find_uid(struct store *s, uint64_t head)
{
        struct tree_item item = { .head = head };
        struct tree_cursor c = tree_seek(&s->index, item);

        return tree_next(&c, &item) && item.head == head ? item.entry : NULL;
}

bool index_is_uid_of(struct store *s, uint64_t head, struct store_entry *e)
{
        struct tree_item wanted = { .head = head, .entry = e }, item;
        struct tree_cursor c = tree_seek(&s->index, wanted);

        return tree_next(&c, &item) && item.head == head && item.entry == e;
}

bool index_has(struct store *s, uint64_t head)
{
        return index_find_uid(s, head) != NULL;
}
