/* Names are long and share prefixes, and comparing names means fetching their entries from all over memory. So a node of a tree by
 * key stores how many leading bytes all its keys share, and the next eight bytes of each key beside the entries. A search reads one
 * entry to compare the shared part, then compares numbers, and reads another entry only where the numbers are equal.
 *
 * A leaf of a tree by key has one bit per entry that says whether the entry is present; an inner node has the number of present
 * entries below each child. So the number of present entries before a key can be summed up on the way down to the key. */
#include "tree.h"

#include "store-state.h"

#define MAX_ITEMS 48

struct tree_child {
        struct tree_node *node;
        size_t n_present; /* present entries below the child */
};

/* An inner node's items are the smallest ones of its children. */
struct tree_node {
        uint16_t n;
        bool is_leaf;
        uint32_t n_shared;      /* leading bytes of every key here; 0 in an index */
        struct tree_node *next; /* in a leaf: the leaf to its right */
        uint64_t present; /* in a leaf of a tree by key: bit i says entry i is present; bits from n on are undefined */
        uint64_t heads[MAX_ITEMS];
        struct store_entry *entries[MAX_ITEMS];
        struct tree_child children[];
};

_Static_assert(MAX_ITEMS < 64, "a bit for each item");

/* The target of a search: an item, or a key without an entry. */
struct probe {
        uint64_t head;
        struct str key;
        struct store_entry *entry;
};

/* --- Keys in nodes --- */

/* The first eight bytes as a number that sorts like them; missing bytes count as 0. */
static uint64_t head_of(struct str s)
{
        uint64_t head = 0;

        if (LIKELY(s.n >= 8)) {
                memcpy(&head, s.p, 8);
                return __builtin_bswap64(head);
        }
        for (size_t i = 0; i < 8; i++)
                head = head << 8 | (i < s.n ? (unsigned char)s.p[i] : 0);
        return head;
}

static size_t shared_bytes(struct str a, struct str b)
{
        size_t n = MIN(a.n, b.n), i = 0;

        while (i < n && a.p[i] == b.p[i])
                i++;
        return i;
}

/* Recomputes the shared prefix and the heads. The keys are sorted, so the first and the last one determine the prefix. */
static void rebase(const struct tree *t, struct tree_node *node)
{
        if (!t->is_by_key || node->n == 0)
                return;
        node->n_shared = (uint32_t)shared_bytes(entry_key(node->entries[0]), entry_key(node->entries[node->n - 1]));
        for (size_t i = 0; i < node->n; i++)
                node->heads[i] = head_of(str_skip(entry_key(node->entries[i]), node->n_shared));
}

/* Compares the prefix that the node's keys share with the key; 0 when the key has the same prefix. */
static int compare_shared(const struct tree_node *node, struct str key)
{
        if (node->n_shared == 0)
                return 0;
        return str_compare(str_first(entry_key(node->entries[0]), node->n_shared), str_first(key, node->n_shared));
}

/* Puts an item at a free position. */
static void set_item(const struct tree *t, struct tree_node *node, size_t i, uint64_t head, struct store_entry *e)
{
        struct str key = entry_key(e);
        bool is_alike = i > 0 ? true : node->n > 1;

        node->entries[i] = e;
        node->heads[i] = head;
        if (!t->is_by_key)
                return;
        is_alike =
                is_alike && key.n >= node->n_shared &&
                (node->n_shared == 0 || memcmp(key.p, entry_key(node->entries[i > 0 ? 0 : 1]).p, node->n_shared) == 0);
        if (is_alike)
                node->heads[i] = head_of(str_skip(key, node->n_shared));
        else
                rebase(t, node);
}

/* --- Searching --- */

static struct probe probe_of(const struct tree *t, struct tree_item item)
{
        return (struct probe) { .head = t->is_by_key ? 0 : item.head,
                                .key = t->is_by_key ? entry_key(item.entry) : STR(""),
                                .entry = item.entry };
}

static int compare(const struct tree *t, const struct tree_node *node, size_t i, uint64_t head, const struct probe *p)
{
        const struct store_entry *e = node->entries[i];

        if (node->heads[i] != head)
                return node->heads[i] < head ? -1 : 1;
        if (t->is_by_key)
                return str_compare(entry_key(e), p->key);
        return ((uintptr_t)e > (uintptr_t)p->entry) - ((uintptr_t)e < (uintptr_t)p->entry);
}

/* The number of items in the node before the probe; *ret_equal says whether the next item equals the probe. */
static size_t rank(const struct tree *t, const struct tree_node *node, const struct probe *p, bool *ret_equal)
{
        size_t low = 0, high = node->n;
        uint64_t head = p->head;
        int order;

        *ret_equal = false;
        if (t->is_by_key && node->n) {
                order = compare_shared(node, p->key);
                if (order != 0)
                        return order < 0 ? node->n : 0;
                head = head_of(str_skip(p->key, node->n_shared));
        }
        while (low < high) {
                size_t middle = (low + high) / 2;

                order = compare(t, node, middle, head, p);
                if (order == 0)
                        *ret_equal = true;
                if (order < 0)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

/* The child in whose range the probe falls. */
static size_t child_of(const struct tree *t, const struct tree_node *node, const struct probe *p)
{
        bool is_equal;
        size_t i = rank(t, node, p, &is_equal);

        return is_equal || i == 0 ? i : i - 1;
}

/* --- Present entries --- */

static uint64_t low_bits(size_t n)
{
        return ((uint64_t)1 << n) - 1;
}

/* The number of present entries among the node's first n items and below them. */
static size_t count_first(const struct tree_node *node, size_t n)
{
        size_t sum = 0;

        if (node->is_leaf)
                return (size_t)__builtin_popcountll(node->present & low_bits(n));
        for (size_t i = 0; i < n; i++)
                sum += node->children[i].n_present;
        return sum;
}

static void set_bit(struct tree_node *leaf, size_t i, bool is_present)
{
        uint64_t bit = (uint64_t)1 << i;

        leaf->present = is_present ? leaf->present | bit : leaf->present & ~bit;
}

static void move_bits(struct tree_node *to, size_t at, const struct tree_node *from, size_t i, size_t n)
{
        uint64_t bits = from->present >> i & low_bits(n);

        to->present = (to->present & ~(low_bits(n) << at)) | bits << at;
}

/* --- Nodes --- */

static size_t node_bytes(bool is_leaf)
{
        return sizeof(struct tree_node) + (is_leaf ? 0 : MAX_ITEMS * sizeof(struct tree_child));
}

static struct tree_node *new_node(struct tree *t, bool is_leaf)
{
        struct tree_node *node = xmalloc(node_bytes(is_leaf));

        t->n_bytes += node_bytes(is_leaf);
        node->n = 0;
        node->is_leaf = is_leaf;
        node->n_shared = 0;
        node->next = NULL;
        node->present = 0;
        return node;
}

static void free_node(struct tree *t, struct tree_node *node)
{
        t->n_bytes -= node_bytes(node->is_leaf);
        free(node);
}

/* Moves items within a node, or to another node. The other node shares as many leading bytes, or the caller rebases it. */
static void move_items(struct tree_node *to, size_t at, const struct tree_node *from, size_t i, size_t n)
{
        memmove(&to->heads[at], &from->heads[i], n * sizeof(to->heads[0]));
        memmove(&to->entries[at], &from->entries[i], n * sizeof(to->entries[0]));
        if (to->is_leaf)
                move_bits(to, at, from, i, n);
        else
                memmove(&to->children[at], &from->children[i], n * sizeof(to->children[0]));
}

static void put(const struct tree *t, struct tree_node *node, size_t i, uint64_t head, struct store_entry *e,
                struct tree_node *child)
{
        move_items(node, i + 1, node, i, node->n - i);
        if (node->is_leaf)
                set_bit(node, i, t->is_by_key && e->object);
        else
                node->children[i] = (struct tree_child) { .node = child, .n_present = count_first(child, child->n) };
        node->n++;
        set_item(t, node, i, head, e);
}

static void drop(struct tree_node *node, size_t i)
{
        node->n--;
        move_items(node, i, node, i + 1, node->n - i);
}

/* Updates the node after its child i changed: the child's smallest item and its number of present entries. */
static void follow_child(const struct tree *t, struct tree_node *node, size_t i)
{
        const struct tree_node *child = node->children[i].node;

        node->children[i].n_present = count_first(child, child->n);
        if (node->entries[i] != child->entries[0])
                set_item(t, node, i, child->heads[0], child->entries[0]);
        else if (!t->is_by_key)
                node->heads[i] = child->heads[0];
}

/* --- Insert --- */

/* Moves the items from `at` on into a new right neighbour. */
static struct tree_node *split(struct tree *t, struct tree_node *node, size_t at)
{
        struct tree_node *right = new_node(t, node->is_leaf);

        right->n = (uint16_t)(node->n - at);
        move_items(right, 0, node, at, right->n);
        if (node->is_leaf) {
                right->next = node->next;
                node->next = right;
        }
        node->n = (uint16_t)at;
        rebase(t, node);
        rebase(t, right);
        return right;
}

/* Puts the item at i into a node. If the node is full, splits it and returns the new right neighbour. Items that arrive in
 * ascending order leave full nodes behind. */
static struct tree_node *put_or_split(struct tree *t, struct tree_node *node, size_t i, uint64_t head,
                                      struct store_entry *e, struct tree_node *child)
{
        struct tree_node *right;
        size_t at;

        if (node->n < MAX_ITEMS) {
                put(t, node, i, head, e, child);
                return NULL;
        }
        at = i == MAX_ITEMS ? MAX_ITEMS - 1 : MAX_ITEMS / 2;
        right = split(t, node, at);
        if (i <= at)
                put(t, node, i, head, e, child);
        else
                put(t, right, i - at, head, e, child);
        return right;
}

static bool insert(struct tree *t, struct tree_node *node, const struct probe *p, struct tree_node **ret_right)
{
        struct tree_node *right = NULL;
        bool is_equal;
        size_t i;

        *ret_right = NULL;
        if (node->is_leaf) {
                i = rank(t, node, p, &is_equal);
                if (is_equal)
                        return false;
                *ret_right = put_or_split(t, node, i, p->head, p->entry, NULL);
                return true;
        }
        i = child_of(t, node, p);
        if (!insert(t, node->children[i].node, p, &right))
                return false;
        follow_child(t, node, i);
        if (right)
                *ret_right = put_or_split(t, node, i + 1, right->heads[0], right->entries[0], right);
        return true;
}

bool tree_insert(struct tree *t, struct tree_item item)
{
        struct probe p = probe_of(t, item);
        struct tree_node *right, *root;

        if (!t->root)
                t->root = new_node(t, true);
        if (!insert(t, t->root, &p, &right))
                return false;
        t->n++;
        if (right) {
                root = new_node(t, false);
                put(t, root, 0, t->root->heads[0], t->root->entries[0], t->root);
                put(t, root, 1, right->heads[0], right->entries[0], right);
                t->root = root;
        }
        return true;
}

/* --- Remove --- */

/* Distributes the items of two neighbours evenly, when one of them is nearly empty. */
static void even_out(const struct tree *t, struct tree_node *left, struct tree_node *right)
{
        size_t total = left->n + right->n, wanted = total / 2;

        if (left->n > wanted) {
                size_t n = left->n - wanted;

                move_items(right, n, right, 0, right->n);
                move_items(right, 0, left, wanted, n);
        } else {
                size_t n = wanted - left->n;

                move_items(left, left->n, right, 0, n);
                move_items(right, 0, right, n, right->n - n);
        }
        left->n = (uint16_t)wanted;
        right->n = (uint16_t)(total - wanted);
        rebase(t, left);
        rebase(t, right);
}

/* Ensures that every child has at least two items, except the only child of the root. Two neighbours that are together at most half
 * full are merged; a nearly empty one is merged, or filled up from its neighbour when both do not fit in one node. */
static void merge(struct tree *t, struct tree_node *node, size_t i)
{
        struct tree_node *left = node->children[i].node, *right;
        size_t total;

        if (i + 1 >= node->n)
                return;
        right = node->children[i + 1].node;
        total = left->n + right->n;
        if (total > MAX_ITEMS / 2 && left->n >= 2 && right->n >= 2)
                return;
        if (total > MAX_ITEMS) {
                even_out(t, left, right);
                follow_child(t, node, i);
                follow_child(t, node, i + 1);
                return;
        }
        move_items(left, left->n, right, 0, right->n);
        if (left->is_leaf)
                left->next = right->next;
        left->n = (uint16_t)total;
        rebase(t, left);
        free_node(t, right);
        drop(node, i + 1);
        follow_child(t, node, i);
}

static bool remove_item(struct tree *t, struct tree_node *node, const struct probe *p)
{
        bool is_equal;
        size_t i;

        if (node->is_leaf) {
                i = rank(t, node, p, &is_equal);
                if (is_equal)
                        drop(node, i);
                return is_equal;
        }
        i = child_of(t, node, p);
        if (!remove_item(t, node->children[i].node, p))
                return false;
        if (node->children[i].node->n)
                follow_child(t, node, i);
        merge(t, node, i);
        if (i > 0)
                merge(t, node, i - 1);
        return true;
}

bool tree_remove(struct tree *t, struct tree_item item)
{
        struct probe p = probe_of(t, item);

        if (!t->root || !remove_item(t, t->root, &p))
                return false;
        t->n--;
        while (t->root && !t->root->is_leaf && t->root->n == 1) {
                struct tree_node *root = t->root;

                t->root = root->children[0].node;
                free_node(t, root);
        }
        if (t->n == 0) {
                free_node(t, t->root);
                t->root = NULL;
        }
        return true;
}

/* Returns the change in the number of present entries below the node. */
static int set_present(const struct tree *t, struct tree_node *node, const struct probe *p, bool is_present)
{
        bool is_equal, was_present;
        size_t i;
        int change;

        if (node->is_leaf) {
                i = rank(t, node, p, &is_equal);
                assert(is_equal);
                was_present = node->present >> i & 1;
                set_bit(node, i, is_present);
                return is_present - was_present;
        }
        i = child_of(t, node, p);
        change = set_present(t, node->children[i].node, p, is_present);
        node->children[i].n_present += (size_t)change;
        return change;
}

void tree_set_present(struct tree *t, struct store_entry *e, bool is_present)
{
        struct probe p = { .key = entry_key(e), .entry = e };

        set_present(t, t->root, &p, is_present);
}

static void free_nodes(struct tree *t, struct tree_node *node)
{
        for (size_t i = 0; !node->is_leaf && i < node->n; i++)
                free_nodes(t, node->children[i].node);
        free_node(t, node);
}

void tree_done(struct tree *t)
{
        if (t->root)
                free_nodes(t, t->root);
        t->root = NULL;
        t->n = 0;
}

/* --- Seek --- */

static struct tree_cursor seek(const struct tree *t, const struct probe *p)
{
        const struct tree_node *node = t->root;
        bool is_equal;

        while (node && !node->is_leaf)
                node = node->children[child_of(t, node, p)].node;
        return (struct tree_cursor) { .leaf = node, .i = node ? rank(t, node, p, &is_equal) : 0 };
}

struct tree_cursor tree_seek_key(const struct tree *t, struct str key)
{
        struct probe p = { .key = key };

        return seek(t, &p);
}

struct tree_cursor tree_seek(const struct tree *t, struct tree_item item)
{
        struct probe p = { .head = item.head, .entry = item.entry };

        return seek(t, &p);
}

size_t tree_count_before(const struct tree *t, struct str key)
{
        struct probe p = { .key = key };
        const struct tree_node *node = t->root;
        size_t sum = 0;
        bool is_equal;

        while (node && !node->is_leaf) {
                size_t i = child_of(t, node, &p);

                sum += count_first(node, i);
                node = node->children[i].node;
        }
        return node ? sum + count_first(node, rank(t, node, &p, &is_equal)) : 0;
}

struct store_entry *tree_ahead(const struct tree_cursor *c, size_t n)
{
        const struct tree_node *leaf = c->leaf;
        size_t i = c->i + n;

        if (leaf && i >= leaf->n) {
                i -= leaf->n;
                leaf = leaf->next;
        }
        return leaf && i < leaf->n ? leaf->entries[i] : NULL;
}

bool tree_next(struct tree_cursor *c, struct tree_item *ret)
{
        while (c->leaf && c->i >= c->leaf->n)
                *c = (struct tree_cursor) { .leaf = c->leaf->next };
        if (!c->leaf)
                return false;
        *ret = (struct tree_item) { c->leaf->heads[c->i], c->leaf->entries[c->i] };
        c->i++;
        return true;
}

struct store_entry *tree_find(const struct tree *t, struct str key)
{
        struct tree_cursor c = tree_seek_key(t, key);
        struct tree_item item;

        if (!tree_next(&c, &item) || !str_equal(entry_key(item.entry), key))
                return NULL;
        return item.entry;
}
