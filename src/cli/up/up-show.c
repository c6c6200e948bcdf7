/* Shows the given objects to people: a line for each change, and a tree at the end. */
#include "up.h"

#include "buf.h"
#include "condition.h"
#include "places.h"

#include <stdio.h>

/* Conditions that say that an object is as it should be, the first that it has counts; and one that says whether it can be. */
static const char *const good[] = { "Ready", "Healthy", "Offered", "Established", "Available" };

bool up_state(struct arena *a, const struct value *object, struct str *ret)
{
        struct condition c;

        if (condition_get(object, STR("Synced"), &c) && c.status == CONDITION_FALSE) {
                *ret = arena_printf(a, "%.*s: %.*s", STR_ARG(c.reason), STR_ARG(c.message));
                return false;
        }
        for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
                if (!condition_get(object, str_from(good[i]), &c))
                        continue;
                *ret = c.message.n ? arena_printf(a, "%.*s: %.*s", STR_ARG(c.reason), STR_ARG(c.message))
                                   : arena_copy(a, c.reason);
                return c.status == CONDITION_TRUE;
        }
        *ret = STR("applied");
        return true;
}

/* Kinds whose controllers report a condition; an object without one has not been seen by its controller yet. */
static bool awaits_condition(struct cluster *c, struct run *run, const struct value *object)
{
        struct gvk gvk = gvk_of(object);
        const struct kind *kind;

        if (str_equal(gvk.group, STR("apiextensions.crossplane.io")))
                return str_ends_with(gvk.kind, STR("Definition")) || str_ends_with(gvk.kind, STR("Publication"));
        if (str_equal(gvk.group, STR("pkg.crossplane.io")))
                return str_equal(gvk.kind, STR("Function"));
        if (cluster_kind(c, run, gvk, &kind, NULL) < 0)
                return false;
        for (size_t i = 0; i < kind->n_categories; i++)
                if (str_equal(kind->categories[i], STR("composite")) || str_equal(kind->categories[i], STR("claim")))
                        return true;
        return false;
}

struct str up_name(struct arena *a, const struct up_item *item)
{
        return arena_printf(a, "%.*s/%.*s%s%.*s", STR_ARG(item->key.gvk.kind), STR_ARG(item->key.name),
                            item->key.ns.n ? " in " : "", STR_ARG(item->key.ns));
}

static const char *word_of(const struct up_item *item)
{
        return item->is_ready ? "ready" : item->is_refused ? "refused" : "waiting";
}

static struct str line_of(struct arena *a, const struct up_item *item, struct str progress)
{
        struct str name = up_name(a, item);

        return arena_printf(a, "%-7s %.*s%.*s: %.*s", word_of(item), STR_ARG(name), STR_ARG(progress),
                            STR_ARG(item->shown));
}

static void look_at(struct cluster *c, struct run *run, struct up_item *item, struct str *ret, bool *ret_is_ready)
{
        const struct value *v;
        _cleanup_err_ struct err err = { 0 };

        *ret_is_ready = false;
        if (!item->is_applied) {
                *ret = item->why;
                return;
        }
        if (cluster_get_value(c, run, &item->key, &v, &err) < 0) {
                *ret = arena_copy(run->arena, str_from(err_message(&err)));
                return;
        }
        *ret_is_ready = up_state(run->arena, v, ret);
        if (str_equal(*ret, STR("applied")) && awaits_condition(c, run, v)) {
                *ret = STR("no condition yet");
                *ret_is_ready = false;
        }
}

/* --- Progress --- */

static const struct value *references_of(const struct value *object)
{
        return places_find_field(places_of_composites, object, STR("resourceRefs"));
}

static struct object_key key_of_reference(const struct value *object, const struct value *ref)
{
        struct str ns = value_str(value_get(ref, STR("namespace")));

        return (struct object_key) { gvk_of(ref), ns.n ? ns : meta_namespace(object),
                                     value_str(value_get(ref, STR("name"))) };
}

/* ` (2 of 3)`: how many of its composed resources are there and as they should be. */
static struct str progress_of(struct cluster *c, struct run *run, const struct up_item *item)
{
        const struct value *v, *composed;
        size_t n = 0, done = 0;
        struct str state;

        if (!item->is_applied || cluster_get_value(c, run, &item->key, &v, NULL) < 0)
                return STR("");
        VALUE_FOREACH_ITEM (ref, references_of(v)) {
                struct object_key key = key_of_reference(v, ref);

                n++;
                done += cluster_get_value(c, run, &key, &composed, NULL) == 0 && up_state(run->arena, composed, &state);
        }
        return n ? arena_printf(run->arena, " (%zu of %zu)", done, n) : STR("");
}

/* Looks at the item; true if its state is news. */
static bool update_item(struct cluster *c, struct run *run, struct arena *kept, struct up_item *item)
{
        struct str state;
        bool is_ready;

        look_at(c, run, item, &state, &is_ready);
        if (is_ready == item->is_ready && str_equal(state, item->shown))
                return false;
        item->is_ready = is_ready;
        item->shown = arena_copy(kept, state);
        return true;
}

/* On a terminal, lines that stay tell what became ready or was refused, and the block below has the rest. */
bool up_show(struct cluster *c, struct run *run, struct arena *kept, struct up_screen *screen, struct up_items *items)
{
        struct str *stays = ARENA_NEW_ARRAY(run->arena, struct str, items->n + 1);
        struct str *block = ARENA_NEW_ARRAY(run->arena, struct str, items->n + 1);
        size_t n_stays = 0, n_waiting = 0;

        screen->has_news = false;
        for (size_t i = 0; i < items->n; i++) {
                struct up_item *item = &items->p[i];
                bool is_news = update_item(c, run, kept, item);

                screen->has_news = screen->has_news || is_news;

                if (is_news && (!screen->is_live || item->is_ready || item->is_refused))
                        stays[n_stays++] = line_of(run->arena, item, STR(""));
                if (!item->is_ready)
                        block[n_waiting++] =
                                screen->is_live ? line_of(run->arena, item, progress_of(c, run, item)) : STR("");
        }
        up_screen_show(screen, stays, n_stays, block, n_waiting);
        return n_waiting == 0;
}

/* The text of the object's last warning; "": there is none. */
static struct str last_warning(struct cluster *c, struct run *run, const struct object_key *key)
{
        struct list_request req = { .gvk = { STR(""), STR("v1"), STR("Event") },
                                    .ns = key->ns.n ? key->ns : STR("default") };
        struct object_list list;
        struct str text = STR(""), when = STR("");

        if (cluster_list(c, run, &req, &list, NULL) < 0)
                return text;
        for (size_t i = 0; i < list.n; i++) {
                const struct value *e = object_list_value(&list, i, run->arena);
                const struct value *about = value_get(e, STR("involvedObject"));
                struct str at = value_str(value_get(e, STR("lastTimestamp")));

                if (!str_equal(value_str(value_get(e, STR("type"))), STR("Warning")) ||
                    !str_equal(value_str(value_get(about, STR("kind"))), key->gvk.kind) ||
                    !str_equal(value_str(value_get(about, STR("name"))), key->name) || str_compare(at, when) < 0)
                        continue;
                when = at;
                text = value_str(value_get(e, STR("message")));
        }
        return text;
}

void up_reasons(struct cluster *c, struct run *run, struct buf *b, const struct up_items *items)
{
        for (size_t i = 0; i < items->n; i++) {
                const struct up_item *item = &items->p[i];
                struct str warning;

                if (item->is_ready)
                        continue;
                buf_appendf(b, "\n  %.*s: %.*s", STR_ARG(up_name(run->arena, item)), STR_ARG(item->shown));
                warning = last_warning(c, run, &item->key);
                if (warning.n && str_find(item->shown, warning) < 0)
                        buf_appendf(b, "\n    %.*s", STR_ARG(warning));
        }
}

/* --- Trees --- */

static void print_node(struct cluster *c, struct run *run, const struct object_key *key, unsigned depth);

static void print_children(struct cluster *c, struct run *run, const struct value *object, unsigned depth)
{
        const struct value *claimed = places_find_field(places_of_claims, object, STR("resourceRef"));

        VALUE_FOREACH_ITEM (ref, references_of(object)) {
                struct object_key key = key_of_reference(object, ref);

                print_node(c, run, &key, depth);
        }
        if (value_is_object(claimed)) {
                struct object_key key = { .gvk = gvk_of(claimed), .name = value_str(value_get(claimed, STR("name"))) };

                print_node(c, run, &key, depth);
        }
}

#define MAX_DEPTH 16 /* of a tree that is printed */

static void print_node(struct cluster *c, struct run *run, const struct object_key *key, unsigned depth)
{
        const struct value *v;
        struct str state = STR("missing");

        if (cluster_get_value(c, run, key, &v, NULL) < 0)
                v = NULL;
        else
                up_state(run->arena, v, &state);
        printf("%*s%.*s/%.*s%s%.*s  %.*s\n", (int)(2 * depth), "", STR_ARG(key->gvk.kind), STR_ARG(key->name),
               key->ns.n ? " in " : "", STR_ARG(key->ns), STR_ARG(state));
        if (v && depth < MAX_DEPTH)
                print_children(c, run, v, depth + 1);
        else if (v && value_count(references_of(v)) > 0)
                printf("%*s... (deeper than %d levels)\n", (int)(2 * depth + 2), "", MAX_DEPTH);
}

void up_print_trees(struct cluster *c, struct run *run, const struct up_items *items)
{
        for (size_t i = 0; i < items->n; i++) {
                const struct value *v;

                if (cluster_get_value(c, run, &items->p[i].key, &v, NULL) == 0 && awaits_condition(c, run, v) &&
                    !str_equal(items->p[i].key.gvk.group, STR("apiextensions.crossplane.io")) &&
                    !str_equal(items->p[i].key.gvk.group, STR("pkg.crossplane.io")))
                        print_node(c, run, &items->p[i].key, 0);
        }
}
