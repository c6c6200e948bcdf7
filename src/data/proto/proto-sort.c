/* Sorting the entries of a map changes no length, neither the map's nor that of any message around it. When the first unsorted
 * map is found, the message is copied, and entries are moved within the copy, those of inner maps first. The structure is always
 * read from the original: moves inside an entry do not move the entry itself. */
#include "proto-sort.h"

#include "arena.h"
#include "buf.h"
#include "limits.h"
#include "vec.h"

#include <stdlib.h>

#define MAX_DEPTH \
        (2 * LIMIT_DEPTH + 8) /* one level of a value is a Struct and a Value; State and Resource enclose them */

struct entry {
        struct str key;
        struct str whole; /* in the original */
};

struct sorter {
        struct arena *arena;
        struct str bytes;
        char *copy; /* NULL while all maps read so far are in order */
        VEC(struct entry)
        entries; /* of the maps that are being read, inner maps after outer ones */
        struct buf moved;
        struct err *err;
};

static int compare_entries(const void *a, const void *b)
{
        const struct entry *x = a, *y = b;
        int order = str_compare(x->key, y->key);

        return order ? order : (x->whole.p > y->whole.p) - (x->whole.p < y->whole.p);
}

static bool are_sorted(const struct entry *entries, size_t n)
{
        for (size_t i = 1; i < n; i++)
                if (str_compare(entries[i - 1].key, entries[i].key) > 0)
                        return false;
        return true;
}

/* Sorts the entries from index `first` on, which are adjacent in the message, and removes them from the list. */
static void sort_run(struct sorter *s, size_t first)
{
        size_t n = s->entries.n - first, at;
        struct entry *entries;

        s->entries.n = first;
        if (n < 2)
                return;
        entries = s->entries.p + first;
        if (are_sorted(entries, n))
                return;
        if (!s->copy)
                s->copy = memcpy(arena_alloc_aligned(s->arena, s->bytes.n, 1), s->bytes.p, s->bytes.n);
        at = (size_t)(entries[0].whole.p - s->bytes.p);
        qsort(entries, n, sizeof(*entries), compare_entries);
        buf_clear(&s->moved);
        for (size_t i = 0; i < n; i++)
                buf_append(&s->moved, s->copy + (entries[i].whole.p - s->bytes.p), entries[i].whole.n);
        memcpy(s->copy + at, s->moved.p, s->moved.n);
}

static int walk(struct sorter *s, const struct proto_message *m, struct str part, unsigned depth);

static int walk_entry(struct sorter *s, const struct proto_message *m, const struct proto_raw_field *field,
                      unsigned depth)
{
        const struct proto_field *value = proto_field_by_number(m, 2);
        struct entry entry = { .whole = field->whole };
        struct str rest = field->bytes;
        struct proto_raw_field f;
        int r;

        while ((r = proto_next_field(&rest, &f, s->err)) > 0) {
                if (f.wire != PROTO_WIRE_BYTES)
                        continue;
                if (f.number == 1)
                        entry.key = f.bytes;
                if (f.number == 2 && value && value->message && (r = walk(s, value->message, f.bytes, depth)) < 0)
                        return r;
        }
        if (r >= 0)
                vec_push(&s->entries, entry);
        return r;
}

static int walk(struct sorter *s, const struct proto_message *m, struct str part, unsigned depth)
{
        size_t first = s->entries.n;
        uint32_t run = 0; /* the map whose entries have just been read */
        struct proto_raw_field f;
        int r;

        if (depth > MAX_DEPTH)
                return err_set(s->err, ERR_LIMIT, "nested deeper than the limit of %d levels", LIMIT_DEPTH);
        while ((r = proto_next_field(&part, &f, s->err)) > 0) {
                const struct proto_field *known = proto_field_by_number(m, f.number);
                const struct proto_message *inner = known && f.wire == PROTO_WIRE_BYTES ? known->message : NULL;
                bool is_entry = inner && inner->kind == PROTO_KIND_MAP_ENTRY;

                if (run && (!is_entry || f.number != run))
                        sort_run(s, first);
                run = is_entry ? f.number : 0;
                if (is_entry)
                        r = walk_entry(s, inner, &f, depth + 1);
                else if (inner)
                        r = walk(s, inner, f.bytes, depth + 1);
                if (r < 0)
                        return r;
        }
        sort_run(s, first);
        return r;
}

int proto_sort_maps(struct arena *a, const struct proto_message *m, struct str bytes, struct str *ret, struct err *err)
{
        struct sorter s = { .arena = a, .bytes = bytes, .err = err };
        int r;

        buf_init(&s.moved, bytes.n);
        r = walk(&s, m, bytes, 0);
        if (r >= 0)
                *ret = s.copy ? str_make(s.copy, bytes.n) : bytes;
        vec_done(&s.entries);
        buf_done(&s.moved);
        return r < 0 ? err_wrap(err, "cannot decode %.*s", STR_ARG(m->name)) : 0;
}
