#include "tree.h"

#include "store-state.h"

#define MAX_ITEMS 48

/* A leaf ends behind its items. An inner node's items are the smallest ones of its children. */
struct tree_node {
        uint16_t n;
        bool is_leaf;
        struct tree_node *next; /* of a leaf: the one to its right */
        struct tree_item items[MAX_ITEMS];
        struct tree_node *children[];
};

/* What is looked for: an item, or a key without an entry. */
struct probe {
        uint64_t head;
        struct str key;
        const struct entry *entry;
};

uint64_t tree_head(struct str key)
{
        uint64_t head = 0;

        for (size_t i = 0; i < 8; i++)
                head = head << 8 | (i < key.n ? (unsigned char)key.p[i] : 0);
        return head;
}

static int compare(const struct tree *t, const struct tree_item *item, const struct probe *p)
{
        if (item->head != p->head)
                return item->head < p->head ? -1 : 1;
        if (t->is_by_key)
                return str_compare(entry_key(item->entry), p->key);
        return ((uintptr_t)item->entry > (uintptr_t)p->entry) - ((uintptr_t)item->entry < (uintptr_t)p->entry);
}

static struct probe probe_of(const struct tree *t, struct tree_item item)
{
        return (struct probe) { .head = item.head,
                                .key = t->is_by_key ? entry_key(item.entry) : STR(""),
                                .entry = item.entry };
}

/* How many items of the node are before the probe; *ret_equal says whether the next one is it. */
static size_t rank(const struct tree *t, const struct tree_node *node, const struct probe *p, bool *ret_equal)
{
        size_t low = 0, high = node->n;

        *ret_equal = false;
        while (low < high) {
                size_t middle = (low + high) / 2;
                int order = compare(t, &node->items[middle], p);

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

static size_t node_bytes(bool is_leaf)
{
        return sizeof(struct tree_node) + (is_leaf ? 0 : MAX_ITEMS * sizeof(struct tree_node *));
}

static struct tree_node *new_node(struct tree *t, bool is_leaf)
{
        struct tree_node *node = xmalloc(node_bytes(is_leaf));

        t->n_bytes += node_bytes(is_leaf);
        node->n = 0;
        node->is_leaf = is_leaf;
        node->next = NULL;
        return node;
}

static void free_node(struct tree *t, struct tree_node *node)
{
        t->n_bytes -= node_bytes(node->is_leaf);
        free(node);
}

/* --- Insert --- */

static void put(struct tree_node *node, size_t i, struct tree_item item, struct tree_node *child)
{
        memmove(&node->items[i + 1], &node->items[i], (node->n - i) * sizeof(*node->items));
        node->items[i] = item;
        if (!node->is_leaf) {
                memmove(&node->children[i + 1], &node->children[i], (node->n - i) * sizeof(struct tree_node *));
                node->children[i] = child;
        }
        node->n++;
}

/* Moves the items from `at` on into a new right neighbour. */
static struct tree_node *split(struct tree *t, struct tree_node *node, size_t at)
{
        struct tree_node *right = new_node(t, node->is_leaf);

        right->n = (uint16_t)(node->n - at);
        memcpy(right->items, &node->items[at], right->n * sizeof(*right->items));
        if (node->is_leaf) {
                right->next = node->next;
                node->next = right;
        } else {
                memcpy(right->children, &node->children[at], right->n * sizeof(struct tree_node *));
        }
        node->n = (uint16_t)at;
        return right;
}

/* Puts the item at i into a node that may be full; returns the new right neighbour if it was. Where items come in ascending
 * order the full node stays full. */
static struct tree_node *put_or_split(struct tree *t, struct tree_node *node, size_t i, struct tree_item item,
                                      struct tree_node *child)
{
        struct tree_node *right;
        size_t at;

        if (node->n < MAX_ITEMS) {
                put(node, i, item, child);
                return NULL;
        }
        at = i == MAX_ITEMS ? MAX_ITEMS - 1 : MAX_ITEMS / 2;
        right = split(t, node, at);
        if (i <= at)
                put(node, i, item, child);
        else
                put(right, i - at, item, child);
        return right;
}

static bool insert(struct tree *t, struct tree_node *node, const struct probe *p, struct tree_item item,
                   struct tree_node **ret_right)
{
        struct tree_node *right = NULL;
        bool is_equal;
        size_t i;

        *ret_right = NULL;
        if (node->is_leaf) {
                i = rank(t, node, p, &is_equal);
                if (is_equal)
                        return false;
                *ret_right = put_or_split(t, node, i, item, NULL);
                return true;
        }
        i = child_of(t, node, p);
        if (!insert(t, node->children[i], p, item, &right))
                return false;
        node->items[i] = node->children[i]->items[0];
        if (right)
                *ret_right = put_or_split(t, node, i + 1, right->items[0], right);
        return true;
}

bool tree_insert(struct tree *t, struct tree_item item)
{
        struct probe p = probe_of(t, item);
        struct tree_node *right, *root;

        if (!t->root)
                t->root = new_node(t, true);
        if (!insert(t, t->root, &p, item, &right))
                return false;
        t->n++;
        if (right) {
                root = new_node(t, false);
                put(root, 0, t->root->items[0], t->root);
                put(root, 1, right->items[0], right);
                t->root = root;
        }
        return true;
}

/* --- Remove --- */

static void drop(struct tree_node *node, size_t i)
{
        node->n--;
        memmove(&node->items[i], &node->items[i + 1], (node->n - i) * sizeof(*node->items));
        if (!node->is_leaf)
                memmove(&node->children[i], &node->children[i + 1], (node->n - i) * sizeof(struct tree_node *));
}

static void move_items(struct tree_node *to, size_t at, struct tree_node *from, size_t i, size_t n)
{
        memcpy(&to->items[at], &from->items[i], n * sizeof(*to->items));
        if (!to->is_leaf)
                memcpy(&to->children[at], &from->children[i], n * sizeof(struct tree_node *));
}

/* Makes neighbours of which one is nearly empty equally full. */
static void even_out(struct tree_node *left, struct tree_node *right)
{
        size_t total = left->n + right->n, wanted = total / 2;

        if (left->n > wanted) {
                size_t n = left->n - wanted;

                memmove(&right->items[n], right->items, right->n * sizeof(*right->items));
                if (!right->is_leaf)
                        memmove(&right->children[n], right->children, right->n * sizeof(struct tree_node *));
                move_items(right, 0, left, wanted, n);
        } else {
                size_t n = wanted - left->n;

                move_items(left, left->n, right, 0, n);
                memmove(right->items, &right->items[n], (right->n - n) * sizeof(*right->items));
                if (!right->is_leaf)
                        memmove(right->children, &right->children[n], (right->n - n) * sizeof(struct tree_node *));
        }
        left->n = (uint16_t)wanted;
        right->n = (uint16_t)(total - wanted);
}

/* Sees to it that no child but the root's only one has fewer than two items: neighbours that are together no more than half full
 * become one, and one that is nearly empty is filled up from a full one. */
static void merge(struct tree *t, struct tree_node *node, size_t i)
{
        struct tree_node *left = node->children[i], *right;
        size_t total;

        if (i + 1 >= node->n)
                return;
        right = node->children[i + 1];
        total = left->n + right->n;
        if (total > MAX_ITEMS / 2 && left->n >= 2 && right->n >= 2)
                return;
        if (total > MAX_ITEMS) {
                even_out(left, right);
                node->items[i + 1] = right->items[0];
                return;
        }
        move_items(left, left->n, right, 0, right->n);
        if (left->is_leaf)
                left->next = right->next;
        left->n = (uint16_t)total;
        free_node(t, right);
        drop(node, i + 1);
        node->items[i] = left->items[0];
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
        if (!remove_item(t, node->children[i], p))
                return false;
        if (node->children[i]->n)
                node->items[i] = node->children[i]->items[0];
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

                t->root = root->children[0];
                free_node(t, root);
        }
        if (t->n == 0) {
                free_node(t, t->root);
                t->root = NULL;
        }
        return true;
}

static void free_nodes(struct tree *t, struct tree_node *node)
{
        for (size_t i = 0; !node->is_leaf && i < node->n; i++)
                free_nodes(t, node->children[i]);
        free_node(t, node);
}

void tree_done(struct tree *t)
{
        if (t->root)
                free_nodes(t, t->root);
        t->root = NULL;
        t->n = 0;
}

/* --- Look --- */

static struct tree_cursor seek(const struct tree *t, const struct probe *p)
{
        const struct tree_node *node = t->root;
        bool is_equal;

        while (node && !node->is_leaf)
                node = node->children[child_of(t, node, p)];
        return (struct tree_cursor) { .leaf = node, .i = node ? rank(t, node, p, &is_equal) : 0 };
}

struct tree_cursor tree_seek_key(const struct tree *t, struct str key)
{
        struct probe p = { .head = tree_head(key), .key = key };

        return seek(t, &p);
}

struct tree_cursor tree_seek(const struct tree *t, uint64_t head)
{
        struct probe p = { .head = head };

        return seek(t, &p);
}

bool tree_next(struct tree_cursor *c, struct tree_item *ret)
{
        while (c->leaf && c->i >= c->leaf->n)
                *c = (struct tree_cursor) { .leaf = c->leaf->next };
        if (!c->leaf)
                return false;
        *ret = c->leaf->items[c->i++];
        return true;
}

struct entry *tree_find(const struct tree *t, struct str key)
{
        struct tree_cursor c = tree_seek_key(t, key);
        struct tree_item item;

        if (!tree_next(&c, &item) || !str_equal(entry_key(item.entry), key))
                return NULL;
        return item.entry;
}
