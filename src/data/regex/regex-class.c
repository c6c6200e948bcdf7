#include "regex-class.h"

#include "utf8.h"

void runeset_add(struct runeset *s, uint32_t lo, uint32_t hi)
{
        vec_push(&s->ranges, (struct regex_range) { lo, hi });
        s->work++;
}

void runeset_add_class(struct runeset *s, const struct regex_class *named)
{
        vec_reserve(&s->ranges, named->count);
        memcpy(s->ranges.p + s->ranges.n, regex_ranges + named->first, named->count * sizeof(*regex_ranges));
        s->ranges.n += named->count;
        s->work += named->count;
}

/* The first run that ends at or after the rune. */
static size_t fold_find(uint32_t rune)
{
        size_t low = 0, high = regex_fold_count;

        while (low < high) {
                size_t middle = low + (high - low) / 2;

                if (regex_folds[middle].hi < rune)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

/* Adds the characters that those of one range fold to in one step. */
static void add_folded(struct runeset *s, struct regex_range r)
{
        for (size_t i = fold_find(r.lo); i < regex_fold_count && regex_folds[i].lo <= r.hi; i++) {
                const struct rune_fold *f = &regex_folds[i];
                uint32_t lo = MAX(r.lo, f->lo), hi = MIN(r.hi, f->hi);

                if (f->delta == 0)
                        runeset_add(s, lo - (lo - f->lo) % 2, hi + 1 - (hi - f->lo) % 2);
                else
                        runeset_add(s, lo + (uint32_t)f->delta, hi + (uint32_t)f->delta);
        }
}

void runeset_fold(struct runeset *s, size_t from)
{
        size_t start = from;

        /* No letter has more than four forms, so three steps reach all of them from any one. */
        for (int step = 0; step < 3; step++) {
                size_t end = s->ranges.n;

                for (size_t i = start; i < end; i++)
                        add_folded(s, s->ranges.p[i]);
                start = end;
        }
}

void runeset_remove(struct runeset *s, size_t from, uint32_t rune)
{
        runeset_tidy(s, from);
        for (size_t i = from; i < s->ranges.n; i++) {
                struct regex_range r = s->ranges.p[i];

                if (rune < r.lo || rune > r.hi)
                        continue;
                vec_remove(&s->ranges, i);
                if (r.lo < rune)
                        runeset_add(s, r.lo, rune - 1);
                if (rune < r.hi)
                        runeset_add(s, rune + 1, r.hi);
                return;
        }
}

static int compare_ranges(const void *a, const void *b)
{
        const struct regex_range *x = a, *y = b;

        return (x->lo > y->lo) - (x->lo < y->lo);
}

static bool is_tidy(const struct regex_range *r, size_t n)
{
        for (size_t i = 1; i < n; i++)
                if (r[i].lo <= r[i - 1].hi + 1)
                        return false;
        return true;
}

void runeset_tidy(struct runeset *s, size_t from)
{
        struct regex_range *r = s->ranges.p + from;
        size_t n = s->ranges.n - from, kept = 1;

        if (n < 2 || is_tidy(r, n))
                return;
        qsort(r, n, sizeof(*r), compare_ranges);
        for (size_t i = 1; i < n; i++) {
                if (r[i].lo <= r[kept - 1].hi + 1)
                        r[kept - 1].hi = MAX(r[kept - 1].hi, r[i].hi);
                else
                        r[kept++] = r[i];
        }
        s->ranges.n = from + kept;
}

void runeset_negate(struct runeset *s, size_t from)
{
        uint32_t next = 0; /* the first character that is in no range so far */
        size_t kept = from;

        runeset_tidy(s, from);
        for (size_t i = from; i < s->ranges.n; i++) {
                struct regex_range r = s->ranges.p[i];

                if (r.lo > next)
                        s->ranges.p[kept++] = (struct regex_range) { next, r.lo - 1 };
                next = r.hi + 1;
        }
        s->ranges.n = kept;
        if (next <= RUNE_MAX)
                runeset_add(s, next, RUNE_MAX);
}

#define LONGEST_NAME 64

const struct regex_class *regex_class_find(struct str name)
{
        char key[LONGEST_NAME];
        size_t n = 0, low = 0, high = regex_class_count;

        for (size_t i = 0; i < name.n; i++) {
                char c = name.p[i];

                if (c == ' ' || c == '-' || c == '_')
                        continue;
                if (n == sizeof(key) || c == '\0')
                        return NULL;
                key[n++] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
        }
        while (low < high) {
                size_t middle = low + (high - low) / 2;
                int order = str_compare(str_from(regex_classes[middle].name), str_make(key, n));

                if (order == 0)
                        return &regex_classes[middle];
                if (order < 0)
                        low = middle + 1;
                else
                        high = middle;
        }
        return NULL;
}

bool regex_class_has(const char *name, uint32_t rune)
{
        const struct regex_class *named = regex_class_find(str_from(name));

        assert(named);
        for (size_t i = named->first; i < (size_t)named->first + named->count; i++)
                if (rune >= regex_ranges[i].lo && rune <= regex_ranges[i].hi)
                        return true;
        return false;
}
