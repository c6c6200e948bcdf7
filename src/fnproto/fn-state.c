#include "fn-state.h"

#include <stdlib.h>

#include "arena.h"
#include "fn-gather.h"
#include "proto.h"
#include "utf8.h"
#include "vec.h"

typedef VEC(struct fn_state_entry) entry_vec;

struct split {
        struct arena *arena;
        struct fn_gather composite, unknown;
        entry_vec entries; /* in the order of the message */
};

static bool is_message(const struct proto_raw_field *f, uint32_t number)
{
        return f->number == number && f->wire == PROTO_WIRE_BYTES;
}

static int read_entry(struct arena *a, struct str rest, struct fn_gather *value, struct fn_state_entry *ret,
                      struct err *err)
{
        struct proto_raw_field f;
        int r;

        ret->name = STR("");
        while ((r = proto_next_field(&rest, &f, err)) > 0) {
                if (is_message(&f, 1))
                        ret->name = f.bytes.n ? f.bytes : STR("");
                if (is_message(&f, 2) && (r = fn_gather_merge(value, f.bytes, err)) < 0)
                        return r;
        }
        if (r >= 0 && !utf8_is_valid(ret->name))
                r = err_set(err, ERR_INVALID, "field key: string field contains invalid UTF-8");
        ret->bytes = fn_gather_finish(value, a);
        if (!ret->bytes.p)
                ret->bytes = STR("");
        return r;
}

static int add_entry(struct split *s, struct str bytes, struct err *err)
{
        struct fn_gather value = { 0 };
        struct fn_state_entry entry;
        int r = read_entry(s->arena, bytes, &value, &entry, err);

        buf_done(&value.copy);
        if (r >= 0)
                vec_push(&s->entries, entry);
        return r;
}

static int add_field(struct split *s, const struct proto_raw_field *f, struct err *err)
{
        if (is_message(f, FN_STATE_RESOURCES))
                return add_entry(s, f->bytes, err);
        if (is_message(f, FN_STATE_COMPOSITE))
                return fn_gather_merge(&s->composite, f->bytes, err);
        fn_gather_add(&s->unknown, f->whole);
        return 0;
}

/* --- By name --- */

static bool is_sorted(const entry_vec *v)
{
        for (size_t i = 1; i < v->n; i++)
                if (str_compare(v->p[i - 1].name, v->p[i].name) >= 0)
                        return false;
        return true;
}

/* Sorts by name; among equal names, later entries come after earlier ones. */
static int compare_places(const void *a, const void *b)
{
        const struct fn_state_entry *x = *(const struct fn_state_entry *const *)a;
        const struct fn_state_entry *y = *(const struct fn_state_entry *const *)b;
        int order = str_compare(x->name, y->name);

        return order ? order : (x > y) - (x < y);
}

static size_t sort_entries(const entry_vec *v, struct arena *a, struct fn_state_entry *ret)
{
        const struct fn_state_entry **places = ARENA_NEW_ARRAY(a, const struct fn_state_entry *, v->n);
        size_t n = 0;

        for (size_t i = 0; i < v->n; i++)
                places[i] = &v->p[i];
        qsort(places, v->n, sizeof(*places), compare_places);
        for (size_t i = 0; i < v->n; i++)
                if (i + 1 == v->n || !str_equal(places[i]->name, places[i + 1]->name))
                        ret[n++] = *places[i];
        return n;
}

static size_t take_entries(const entry_vec *v, struct arena *a, const struct fn_state_entry **ret)
{
        struct fn_state_entry *entries = ARENA_NEW_ARRAY(a, struct fn_state_entry, v->n + 1);

        *ret = entries;
        if (!is_sorted(v))
                return sort_entries(v, a, entries);
        if (v->n)
                memcpy(entries, v->p, v->n * sizeof(*entries));
        return v->n;
}

int fn_state_split(struct arena *a, struct str bytes, struct fn_state_parts *ret, struct err *err)
{
        struct split s = { .arena = a };
        struct proto_raw_field f;
        int r;

        while ((r = proto_next_field(&bytes, &f, err)) > 0)
                if ((r = add_field(&s, &f, err)) < 0)
                        break;
        if (r >= 0) {
                ret->composite = fn_gather_finish(&s.composite, a);
                ret->unknown = fn_gather_finish(&s.unknown, a);
                ret->n = take_entries(&s.entries, a, &ret->entries);
        }
        buf_done(&s.composite.copy);
        buf_done(&s.unknown.copy);
        vec_done(&s.entries);
        return r < 0 ? err_wrap(err, "cannot decode State") : 0;
}
