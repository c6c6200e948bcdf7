#include "revision.h"

#include "buf.h"
#include "digest.h"
#include "owner.h"
#include "yaml.h"

#define LABEL_NAME STR("crossplane.io/composition-name")
#define LABEL_HASH STR("crossplane.io/composition-hash")

/* The spec that a revision copies from its Composition: all of it but revisionHistoryLimit. */
static const struct value *spec_of(struct arena *a, const struct value *composition)
{
        const struct value *spec = value_get(composition, STR("spec"));

        return value_is_object(spec) ? value_without(a, spec, STR(REVISION_HISTORY_LIMIT)) : spec;
}

static int append_yaml(struct buf *b, const struct value *v, struct err *err)
{
        if (!v || value_is_null(v)) {
                buf_append_literal(b, "null\n");
                return 0;
        }
        return yaml_write(b, v, 0, err);
}

int revision_hash(struct arena *a, const struct value *composition, struct str *ret, struct err *err)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0), hex = BUF_INIT(0);
        int r;

        if ((r = append_yaml(&b, value_get(meta(composition), STR("labels")), err)) < 0 ||
            (r = append_yaml(&b, value_get(meta(composition), STR("annotations")), err)) < 0 ||
            (r = append_yaml(&b, spec_of(a, composition), err)) < 0 || (r = buf_check(&b, "Composition", err)) < 0)
                return err_wrap(err, "cannot hash Composition \"%.*s\"", STR_ARG(meta_name(composition)));
        sha256_append_hex(&hex, buf_str(&b));
        *ret = buf_to_arena(&hex, a);
        return 0;
}

static struct value labels_of(struct arena *a, const struct value *composition, struct str hash)
{
        struct object_builder b;

        object_builder_init(&b, a, 4);
        object_builder_set(&b, LABEL_NAME, value_of_str(meta_name(composition)));
        object_builder_set(&b, LABEL_HASH, value_of_str(str_first(hash, 63)));
        VALUE_FOREACH_MEMBER (m, value_get(meta(composition), STR("labels")))
                object_builder_set(&b, m->key, m->value);
        return object_builder_finish(&b);
}

static const struct value *with_number(struct arena *a, const struct value *revision, int64_t number)
{
        const struct value *spec = value_get(revision, STR("spec"));
        struct value v = value_of_int(number);

        return value_with(a, revision, STR("spec"),
                          value_with(a, value_is_object(spec) ? spec : &value_empty_object, STR("revision"), &v));
}

int revision_make(struct arena *a, const struct value *composition, int64_t number, const struct value **ret,
                  struct err *err)
{
        const struct value *annotations = value_get(meta(composition), STR("annotations"));
        const struct value *spec = spec_of(a, composition);
        struct owner_reference owner = owner_reference_to(a, composition, true, true);
        struct object_builder b, metadata;
        struct array_builder owners;
        struct value object;
        struct str hash;
        int r = revision_hash(a, composition, &hash, err);

        if (r < 0)
                return r;
        array_builder_init(&owners, a, 1);
        array_builder_add(&owners, owner_reference_value(a, &owner));
        object_builder_init(&metadata, a, 4);
        object_builder_add(&metadata, STR("name"),
                           value_of_str(arena_printf(a, "%.*s-%.7s", STR_ARG(meta_name(composition)), hash.p)));
        object_builder_add(&metadata, STR("labels"), labels_of(a, composition, hash));
        if (value_count(annotations))
                object_builder_add(&metadata, STR("annotations"), *annotations);
        object_builder_add(&metadata, STR("ownerReferences"), array_builder_finish(&owners));
        object_builder_init(&b, a, 4);
        object_builder_add(&b, STR("apiVersion"), value_of_literal("apiextensions.crossplane.io/v1"));
        object_builder_add(&b, STR("kind"), value_of_literal("CompositionRevision"));
        object_builder_add(&b, STR("metadata"), object_builder_finish(&metadata));
        if (spec)
                object_builder_add(&b, STR("spec"), *spec);
        object = object_builder_finish(&b);
        *ret = with_number(a, value_put(a, object), number);
        return 0;
}

static int64_t number_of(const struct value *revision)
{
        return value_int(value_find(revision, "spec", "revision"), 0);
}

static bool is_controlled_by(const struct value *revision, const struct value *composition)
{
        struct owner_reference controller;

        return owner_controller(revision, &controller) && str_equal(controller.uid, meta_uid(composition));
}

static int64_t latest_number(const struct value *composition, const struct value *const *revisions, size_t n)
{
        int64_t latest = 0;

        for (size_t i = 0; i < n; i++)
                if (is_controlled_by(revisions[i], composition))
                        latest = MAX(latest, number_of(revisions[i]));
        return latest;
}

int revision_plan(struct arena *a, const struct value *composition, const struct value *const *revisions, size_t n,
                  struct revision_step **ret, size_t *ret_n, struct err *err)
{
        struct revision_step *steps = ARENA_NEW_ARRAY(a, struct revision_step, n + 1);
        struct owner_reference owner = owner_reference_to(a, composition, true, true);
        int64_t latest = latest_number(composition, revisions, n);
        bool is_current = false;
        size_t n_steps = 0;
        struct str hash;
        int r = revision_hash(a, composition, &hash, err);

        if (r < 0)
                return r;
        for (size_t i = 0; i < n; i++) {
                const struct value *revision = revisions[i];

                if (!is_controlled_by(revision, composition)) {
                        r = owner_with_reference(a, revision, &owner, &revision, err);
                        if (r < 0)
                                return r;
                }
                if (str_equal(meta_label(revision, LABEL_HASH), str_first(hash, 63))) {
                        is_current = true;
                        if (number_of(revision) != latest)
                                revision = with_number(a, revision, latest + 1);
                        else if (revision == revisions[i])
                                steps[n_steps++] = (struct revision_step) { REVISION_KEEP, revision };
                }
                if (revision != revisions[i])
                        steps[n_steps++] = (struct revision_step) { REVISION_UPDATE, revision };
        }
        if (!is_current) {
                struct revision_step *step = &steps[n_steps++];

                step->action = REVISION_CREATE;
                r = revision_make(a, composition, latest + 1, &step->object, err);
                if (r < 0)
                        return r;
        }
        *ret = steps;
        *ret_n = n_steps;
        return 0;
}
