#include "crd-names.h"

#include "str-list.h"

/* --- The names that a CRD has --- */

static struct str text(struct arena *a, const struct value *names, const char *key)
{
        return arena_copy(a, value_str(value_get(names, str_from(key))));
}

static bool has_all_names(const struct value *crd)
{
        struct condition c;

        return condition_get(crd, STR("NamesAccepted"), &c) && c.status == CONDITION_TRUE;
}

struct crd_accepted *accepted_of(const struct value *crd)
{
        const struct value *names = value_find(crd, "status", "acceptedNames");
        const struct value *short_names = value_get(names, STR("shortNames"));
        struct crd_accepted *n = xcalloc(1, sizeof(*n));
        struct arena *a = &n->arena;

        arena_init(a, "CRD names", 1);
        n->crd = arena_copy(a, meta_name(crd));
        n->group = arena_copy(a, value_str(value_find(crd, "spec", "group")));
        n->plural = text(a, names, "plural");
        n->singular = text(a, names, "singular");
        n->kind = text(a, names, "kind");
        n->list_kind = text(a, names, "listKind");
        n->short_names = ARENA_NEW_ARRAY(a, struct str, value_count(short_names));
        VALUE_FOREACH_ITEM (s, short_names)
                n->short_names[n->n_short_names++] = arena_copy(a, value_str(s));
        n->is_complete = has_all_names(crd);
        return n;
}

void accepted_free(struct crd_accepted *n)
{
        if (!n)
                return;
        arena_done(&n->arena);
        free(n);
}

/* --- Deciding about names --- */

/* The decision about the names of one CRD, given those of the others. */
struct names {
        struct arena *arena;
        const struct map *all;
        struct str crd;
        struct str group;
        const struct value *requested;
        const struct value *accepted;
        struct object_builder result;
        const char *conflict; /* the reason; NULL without a conflict */
        struct str message;
};

static bool has_resource_name(const struct crd_accepted *other, struct str name)
{
        if (str_equal(other->plural, name) || str_equal(other->singular, name))
                return true;
        for (size_t i = 0; i < other->n_short_names; i++)
                if (str_equal(other->short_names[i], name))
                        return true;
        return false;
}

static bool is_taken(const struct names *n, struct str name, bool is_kind)
{
        for (const struct map_entry *e = map_first(n->all); e; e = map_next(n->all, e)) {
                const struct crd_accepted *other = e->value;

                if (!str_equal(other->group, n->group) || str_equal(other->crd, n->crd))
                        continue;
                if (is_kind ? str_equal(other->kind, name) || str_equal(other->list_kind, name)
                            : has_resource_name(other, name))
                        return true;
        }
        return false;
}

static bool conflicts(struct names *n, struct str name, bool is_kind, const char *reason)
{
        if (name.n == 0 || !is_taken(n, name, is_kind))
                return false;
        n->conflict = reason;
        n->message = arena_printf(n->arena, "\"%.*s\" is already in use", STR_ARG(name));
        return true;
}

/* Accepts the requested name; when it is in use, keeps the name accepted earlier. */
static void accept_name(struct names *n, const char *key, bool is_kind, const char *reason, bool is_required)
{
        struct str name = value_str(value_get(n->requested, str_from(key)));

        if (conflicts(n, name, is_kind, reason))
                name = value_str(value_get(n->accepted, str_from(key)));
        if (name.n || is_required)
                object_builder_add(&n->result, str_from(key), value_of_str(name));
}

static void accept_short_names(struct names *n)
{
        const struct value *requested = value_get(n->requested, STR("shortNames"));
        bool is_taken_any = false;

        VALUE_FOREACH_ITEM (s, requested)
                is_taken_any = conflicts(n, value_str(s), false, "ShortNamesConflict") || is_taken_any;
        if (is_taken_any)
                requested = value_get(n->accepted, STR("shortNames"));
        if (value_count(requested))
                object_builder_add(&n->result, STR("shortNames"), *requested);
}

static const struct value *accept_names(struct names *n)
{
        const struct value *categories = value_get(n->requested, STR("categories"));

        object_builder_init(&n->result, n->arena, 6);
        accept_name(n, "plural", false, "PluralConflict", true);
        accept_name(n, "singular", false, "SingularConflict", false);
        accept_short_names(n);
        accept_name(n, "kind", true, "KindConflict", true);
        accept_name(n, "listKind", true, "ListKindConflict", false);
        if (value_count(categories))
                object_builder_add(&n->result, STR("categories"), *categories);
        return value_put(n->arena, object_builder_finish(&n->result));
}

/* --- Status --- */

static const struct value *with_status(struct arena *a, const struct value *crd, struct str key, const struct value *v)
{
        const struct value *status = value_get(crd, STR("status")), *there = value_get(status, key);

        if (there && value_equal(there, v))
                return crd;
        status = value_with(a, value_is_object(status) ? status : &value_empty_object, key, v);
        return value_with(a, crd, STR("status"), status);
}

static const struct value *with_condition(struct arena *a, const struct value *crd, struct condition wanted)
{
        struct condition there;

        if (condition_get(crd, wanted.type, &there) && there.status == wanted.status &&
            str_equal(there.reason, wanted.reason) && str_equal(there.message, wanted.message))
                return crd;
        return conditions_set(a, crd, &wanted, 1);
}

static const struct value *with_names_condition(struct names *n, const struct value *crd, struct instant now)
{
        struct condition c = { .type = STR("NamesAccepted"), .last_transition = now };

        c.status = n->conflict ? CONDITION_FALSE : CONDITION_TRUE;
        c.reason = n->conflict ? str_from(n->conflict) : STR("NoConflicts");
        c.message = n->conflict ? n->message : STR("no conflicts found");
        return with_condition(n->arena, crd, c);
}

const struct value *crd_with_names(struct arena *a, const struct value *crd, const struct map *all, struct instant now)
{
        struct names n = {
                .arena = a,
                .all = all,
                .crd = meta_name(crd),
                .group = value_str(value_find(crd, "spec", "group")),
                .requested = value_find(crd, "spec", "names"),
                .accepted = value_find(crd, "status", "acceptedNames"),
        };
        struct condition established = { .type = STR("Established"), .last_transition = now }, there;
        const struct value *result = with_status(a, crd, STR("acceptedNames"), accept_names(&n));
        bool was_accepted = has_all_names(crd);

        result = with_names_condition(&n, result, now);
        if (condition_get(crd, established.type, &there) && there.status == CONDITION_TRUE)
                return result;
        if (n.conflict) {
                established.status = CONDITION_FALSE;
                established.reason = STR("NotAccepted");
                established.message = STR("not all names are accepted");
        } else {
                established.status = was_accepted ? CONDITION_TRUE : CONDITION_FALSE;
                established.reason = was_accepted ? STR("InitialNamesAccepted") : STR("Installing");
                established.message = STR("the initial names have been accepted");
        }
        return with_condition(a, result, established);
}
