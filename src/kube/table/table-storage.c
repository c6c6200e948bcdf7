/* The cells of volumes and claims. */
#include "table-cells.h"

#define CLASS_ANNOTATION "volume.beta.kubernetes.io/storage-class"

/* `RWO,ROX`: each mode once, in the order of the list. */
static struct value modes_cell(const struct table_source *s, const struct value *modes)
{
        static const struct {
                struct str mode, text;
        } known[] = {
                { STR_INIT("ReadWriteOnce"), STR_INIT("RWO") },
                { STR_INIT("ReadOnlyMany"), STR_INIT("ROX") },
                { STR_INIT("ReadWriteMany"), STR_INIT("RWX") },
                { STR_INIT("ReadWriteOncePod"), STR_INIT("RWOP") },
        };
        struct str texts[ARRAY_SIZE(known)];
        size_t n = 0;

        for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
                bool is_there = false;

                VALUE_FOREACH_ITEM (m, modes)
                        is_there = is_there || str_equal(value_str(m), known[i].mode);
                if (is_there)
                        texts[n++] = known[i].text;
        }
        return value_of_str(table_join(s->arena, texts, n, STR(",")));
}

struct value table_volume_phase(const struct table_source *s)
{
        return value_of_str(meta_is_deleting(s->object) ? STR("Terminating") : table_text(s->object, "status.phase"));
}

struct value table_volume_class(const struct table_source *s)
{
        if (meta_has_annotation(s->object, STR(CLASS_ANNOTATION)))
                return value_of_str(meta_annotation(s->object, STR(CLASS_ANNOTATION)));
        return value_of_str(table_text(s->object, "spec.storageClassName"));
}

struct value table_volume_capacity(const struct table_source *s)
{
        return value_of_str(table_quantity(s->arena, table_get(s->object, "spec.capacity.storage")));
}

struct value table_volume_modes(const struct table_source *s)
{
        return modes_cell(s, table_get(s->object, "spec.accessModes"));
}

struct value table_volume_claim(const struct table_source *s)
{
        const struct value *claim = table_get(s->object, "spec.claimRef");

        if (!value_is_object(claim))
                return value_empty_string;
        return table_printf(s, "%.*s/%.*s", STR_ARG(table_text(claim, "namespace")),
                            STR_ARG(table_text(claim, "name")));
}

/* A claim shows these only once it is bound. */
static bool is_bound(const struct value *claim)
{
        return table_text(claim, "spec.volumeName").n > 0;
}

struct value table_claim_capacity(const struct table_source *s)
{
        if (!is_bound(s->object))
                return value_empty_string;
        return value_of_str(table_quantity(s->arena, table_get(s->object, "status.capacity.storage")));
}

struct value table_claim_modes(const struct table_source *s)
{
        return is_bound(s->object) ? modes_cell(s, table_get(s->object, "status.accessModes")) : value_empty_string;
}

struct value table_csi_tokens(const struct table_source *s)
{
        const struct value *requests = table_get(s->object, "spec.tokenRequests");
        struct str *texts = ARENA_NEW_ARRAY(s->arena, struct str, value_count(requests));
        size_t n = 0;

        if (!value_is_array(requests))
                return value_of_literal("<unset>");
        VALUE_FOREACH_ITEM (r, requests)
                texts[n++] = value_str(value_get(r, STR("audience")));
        return value_of_str(table_join(s->arena, texts, n, STR(",")));
}

/* Requests and limits of a quota: the resources whose names begin with `limits.` are in a column of their own, whose path says so. */
struct value table_quota(const struct table_source *s)
{
        const struct value *hard = table_get(s->object, "status.hard"), *used = table_get(s->object, "status.used");
        bool is_limits = str_equal(s->path, STR("limits"));
        struct str_list list;

        str_list_init(&list, s->arena);
        hard = value_is_object(hard) ? value_sorted(s->arena, hard) : NULL;
        VALUE_FOREACH_MEMBER (m, hard)
                if (str_starts_with(m->key, STR("limits.")) == is_limits)
                        str_list_printf(&list, "%.*s: %.*s/%.*s", STR_ARG(m->key),
                                        STR_ARG(table_quantity(s->arena, value_get(used, m->key))),
                                        STR_ARG(table_quantity(s->arena, &m->value)));
        return value_of_str(str_list_join(&list, STR(", ")));
}
