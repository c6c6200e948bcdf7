/* A cache of parsed templates by their text. The least recently used ones are dropped if their number or their memory exceeds
 * the limit. */
#include "gotemplate.h"

#include "gt-node.h"
#include "limits.h"
#include "park.h"

struct kept {
        struct gt_template *template_of;
        struct str left, right; /* in the template's arena */
        const struct gt_func_table *const *tables;
        size_t n_tables;
        uint64_t hash;
        uint64_t used; /* larger values mean later use */
};

/* Guarded by the mutex. */
static struct mutex mutex = MUTEX_INIT;
static struct kept kept[LIMIT_TEMPLATE_CACHE];
static size_t n_kept;
static size_t kept_bytes;
static uint64_t clock_of_use;

static bool matches(const struct kept *k, uint64_t hash, struct str text, const struct gt_parse_options *o)
{
        return k->hash == hash && k->n_tables == o->n_tables && k->tables == o->tables &&
               str_equal(k->template_of->text, text) && str_equal(k->template_of->name, o->name) &&
               str_equal(k->left, o->left) && str_equal(k->right, o->right);
}

static struct gt_template *find(uint64_t hash, struct str text, const struct gt_parse_options *o)
{
        for (size_t i = 0; i < n_kept; i++)
                if (matches(&kept[i], hash, text, o)) {
                        kept[i].used = ++clock_of_use;
                        return gt_template_ref(kept[i].template_of);
                }
        return NULL;
}

/* Removes the least recently used template; the caller drops its reference. */
static struct gt_template *remove_oldest(void)
{
        size_t oldest = 0;
        struct gt_template *t;

        for (size_t i = 1; i < n_kept; i++)
                if (kept[i].used < kept[oldest].used)
                        oldest = i;
        t = kept[oldest].template_of;
        kept_bytes -= t->arena.used_bytes;
        kept[oldest] = kept[--n_kept];
        return t;
}

/* Called at the end of the process, so that memory checkers report no leaks. */
static void drop_all(void)
{
        mutex_lock(&mutex);
        while (n_kept > 0)
                gt_template_unref(remove_oldest());
        mutex_unlock(&mutex);
}

static void keep(uint64_t hash, struct gt_template *t, const struct gt_parse_options *o)
{
        static bool drops_at_exit;

        if (t->arena.used_bytes > LIMIT_TEMPLATE_CACHE_BYTES / 4)
                return;
        if (!drops_at_exit)
                drops_at_exit = atexit(drop_all) == 0;
        while (n_kept == LIMIT_TEMPLATE_CACHE || kept_bytes + t->arena.used_bytes > LIMIT_TEMPLATE_CACHE_BYTES)
                gt_template_unref(remove_oldest());
        kept[n_kept++] = (struct kept) { gt_template_ref(t),
                                         arena_copy(&t->arena, o->left),
                                         arena_copy(&t->arena, o->right),
                                         o->tables,
                                         o->n_tables,
                                         hash,
                                         ++clock_of_use };
        kept_bytes += t->arena.used_bytes;
}

int gt_parse_cached(struct str text, const struct gt_parse_options *options, struct gt_template **ret, struct err *err)
{
        uint64_t hash = str_hash(text);
        struct gt_template *t;
        int r;

        mutex_lock(&mutex);
        t = find(hash, text, options);
        mutex_unlock(&mutex);
        if (t) {
                *ret = t;
                return 0;
        }
        r = gt_parse(text, options, &t, err);
        if (r < 0)
                return r;
        mutex_lock(&mutex);
        keep(hash, t, options);
        mutex_unlock(&mutex);
        *ret = t;
        return 0;
}
