/* Trees against a plain sorted array, in random operations. */
#include "test.h"

#include "random.h"
#include "store-state.h"

#define NAMES 3000

static struct store_entry *make_entry(const char *key)
{
        size_t n = strlen(key);
        struct store_entry *e = calloc(1, sizeof(*e) + n);

        e->n_key = (uint32_t)n;
        memcpy(e->key, key, n);
        return e;
}

static int compare_keys(const void *a, const void *b)
{
        return str_compare(entry_key(*(struct store_entry *const *)a), entry_key(*(struct store_entry *const *)b));
}

/* The object of all entries that are present. */
static char any_object;

struct model {
        struct store_entry *entries[NAMES];
        bool is_there[NAMES];
        size_t n;
};

static void model_init(struct model *m)
{
        for (size_t i = 0; i < NAMES; i++) {
                char key[64];

                snprintf(key, sizeof(key), i % 3 ? "default/object-%zu" : "ns-%zu/x", i * 7919 % 100003);
                m->entries[i] = make_entry(key);
        }
        qsort(m->entries, NAMES, sizeof(m->entries[0]), compare_keys);
        m->n = 0;
        memset(m->is_there, 0, sizeof(m->is_there));
}

static void model_done(struct model *m)
{
        for (size_t i = 0; i < NAMES; i++)
                free(m->entries[i]);
}

static struct tree_item item_of(struct store_entry *e)
{
        return (struct tree_item) { .entry = e };
}

/* A walk from entry i on meets exactly what is there, in order. */
static void check_walk(const struct tree *t, const struct model *m, size_t i)
{
        struct tree_cursor c = tree_seek_key(t, entry_key(m->entries[i]));
        struct tree_item item;

        for (; i < NAMES; i++) {
                if (!m->is_there[i])
                        continue;
                ASSERT(tree_next(&c, &item));
                ASSERT(item.entry == m->entries[i]);
        }
        ASSERT(!tree_next(&c, &item));
}

static void set_present(struct tree *t, struct store_entry *e, bool is_present)
{
        e->object = is_present ? (struct object *)&any_object : NULL;
        tree_set_present(t, e, is_present);
        tree_set_present(t, e, is_present);
}

/* Before every key there are as many present entries as there were on the way to it. */
static void check_counts(const struct tree *t, const struct model *m)
{
        size_t n = 0;

        for (size_t i = 0; i < NAMES; i++) {
                ASSERT_INT(tree_count_before(t, entry_key(m->entries[i])), n);
                n += m->is_there[i] && m->entries[i]->object;
        }
        ASSERT_INT(tree_count_before(t, STR("\xff")), n);
        ASSERT_INT(tree_count_before(t, STR("")), 0);
}

static void flip(struct tree *t, struct model *m, size_t i)
{
        struct tree_item item = item_of(m->entries[i]);

        if (m->is_there[i]) {
                ASSERT(!tree_insert(t, item));
                ASSERT(tree_remove(t, item));
                ASSERT(!tree_remove(t, item));
                m->n--;
        } else {
                ASSERT(!tree_find(t, entry_key(item.entry)));
                ASSERT(tree_insert(t, item));
                ASSERT(tree_find(t, entry_key(item.entry)) == item.entry);
                m->n++;
        }
        m->is_there[i] = !m->is_there[i];
        ASSERT_INT(t->n, m->n);
}

TEST(a_tree_is_a_sorted_set)
{
        static struct model m;
        struct tree t = { .is_by_key = true };
        struct random r;

        model_init(&m);
        random_seed(&r, 1);
        for (int round = 0; round < 6; round++) {
                /* Grows in even rounds, shrinks in odd ones, to the bottom in the last. */
                for (int i = 0; i < 6000; i++) {
                        size_t k = random_below(&r, NAMES);

                        if (m.is_there[k] == (round % 2 == 1) || random_below(&r, 8) == 0)
                                flip(&t, &m, k);
                }
                check_walk(&t, &m, 0);
                for (int i = 0; i < 20; i++)
                        check_walk(&t, &m, random_below(&r, NAMES));
        }
        for (size_t i = 0; i < NAMES; i++)
                if (m.is_there[i])
                        flip(&t, &m, i);
        ASSERT(!t.root && t.n_bytes == 0);
        tree_done(&t);
        model_done(&m);
}

/* Entries come with and without an object, get and lose it, and go. */
TEST(a_tree_counts_what_is_present)
{
        static struct model m;
        struct tree t = { .is_by_key = true };
        struct random r;

        model_init(&m);
        random_seed(&r, 2);
        check_counts(&t, &m);
        for (int round = 0; round < 6; round++) {
                for (int i = 0; i < 6000; i++) {
                        size_t k = random_below(&r, NAMES);
                        struct store_entry *e = m.entries[k];

                        if (m.is_there[k] && random_below(&r, 2)) {
                                set_present(&t, e, !e->object);
                                continue;
                        }
                        if (!m.is_there[k])
                                e->object = random_below(&r, 4) ? (struct object *)&any_object : NULL;
                        if (m.is_there[k] == (round % 2 == 1) || random_below(&r, 8) == 0)
                                flip(&t, &m, k);
                }
                check_counts(&t, &m);
        }
        tree_done(&t);
        model_done(&m);
}

TEST(ascending_and_descending_inserts_and_removals)
{
        static struct model m;

        for (int order = 0; order < 4; order++) {
                struct tree t = { .is_by_key = true };

                model_init(&m);
                for (size_t i = 0; i < NAMES; i++)
                        flip(&t, &m, order & 1 ? NAMES - 1 - i : i);
                check_walk(&t, &m, 0);
                for (size_t i = 0; i < NAMES; i++) {
                        flip(&t, &m, order & 2 ? NAMES - 1 - i : i);
                        if (i % 500 == 0)
                                check_walk(&t, &m, 0);
                }
                ASSERT_INT(t.n_bytes, 0);
                model_done(&m);
        }
}

TEST(ascending_inserts_fill_their_nodes)
{
        static struct model m;
        struct tree t = { .is_by_key = true };

        model_init(&m);
        for (size_t i = 0; i < NAMES; i++)
                flip(&t, &m, i);
        ASSERT(t.n_bytes < NAMES * 20);
        tree_done(&t);
        model_done(&m);
}

TEST(an_index_holds_many_entries_under_one_number)
{
        static struct model m;
        struct tree t = { 0 };
        struct tree_cursor c;
        struct tree_item item;
        size_t n = 0;

        model_init(&m);
        for (size_t i = 0; i < NAMES; i++)
                ASSERT(tree_insert(&t, (struct tree_item) { i % 3, m.entries[i] }));
        ASSERT(!tree_insert(&t, (struct tree_item) { 0, m.entries[0] }));
        c = tree_seek(&t, (struct tree_item) { .head = 1 });
        while (tree_next(&c, &item) && item.head == 1)
                n++;
        ASSERT_INT(n, NAMES / 3);
        c = tree_seek(&t, (struct tree_item) { .head = 3 });
        ASSERT(!tree_next(&c, &item));
        for (size_t i = 0; i < NAMES; i++)
                ASSERT(tree_remove(&t, (struct tree_item) { i % 3, m.entries[i] }));
        ASSERT(!t.root);
        model_done(&m);
}
