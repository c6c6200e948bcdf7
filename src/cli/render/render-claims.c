/* Claims among the composite resources: each claim is rendered as its composite. */
#include "render-files.h"

#include "claim.h"
#include "render.h"

/* Makes the composite of a claim that the definition offers. */
static int bind(struct arena *a, const struct manifest *claim, const struct value *xrd, const struct value **ret,
                struct err *err)
{
        struct claim_request request = { .xrd = xrd,
                                         .claim = claim->object,
                                         .name = claim_stable_name(a, claim->object) };
        struct claim_bound bound;
        int r = 0;

        if (meta_name(claim->object).n == 0) {
                err_set(err, ERR_INVALID, "it has no name: give it one in metadata.name");
                return manifest_error(claim, STR("metadata"), err);
        }
        r = claim_bind(a, &request, &bound, err);
        if (r < 0)
                return manifest_error(claim, STR(""), err);
        *ret = bound.composite;
        return 0;
}

void render_claims_bind(struct arena *a, struct render_files *files)
{
        size_t n = 0;

        files->claims = ARENA_NEW_ARRAY(a, const struct value *, files->composites.n);
        for (size_t i = 0; i < files->composites.n; i++) {
                struct manifest *m = &files->composites.p[i];
                const struct manifest *definition = render_files_definition(files, m->object);
                const struct value *composite = m->object;
                _cleanup_err_ struct err err = { 0 };
                bool is_claim = definition && claim_is_offered(definition->object, m->object);

                if (is_claim && bind(a, m, definition->object, &composite, &err) < 0) {
                        str_list_printf(&files->broken, "%s", err_message(&err));
                        continue;
                }
                files->claims[n] = is_claim ? m->object : NULL;
                files->composites.p[n] = *m;
                files->composites.p[n++].object = composite;
        }
        files->composites.n = n;
}

int render_claim_report(struct arena *a, const struct value *claim, const struct render_input *in,
                        const struct render_output *out, const struct value **ret, struct err *err)
{
        const struct value *after = render_composite_after(a, in, out);
        struct claim_request request = { .xrd = in->xrd, .claim = claim, .composite = after, .name = meta_name(after) };
        struct claim_bound bound;
        int r = claim_bind(a, &request, &bound, err);

        return r < 0 ? r : claim_report(a, in->xrd, bound.claim, after, ret, err);
}

/* --- Claims without a definition --- */

/* The usual names in definitions: claims of kind App belong to composites of kind XApp or CompositeApp, requirements of kind
 * AppRequirement to infrastructure of kind App. */
static bool is_claim_kind(struct str kind, struct str composite_kind)
{
        struct str required = kind;

        if (str_cut_suffix(&required, STR("Requirement")) && str_equal(required, composite_kind))
                return true;
        return (str_cut_prefix(&composite_kind, STR("X")) || str_cut_prefix(&composite_kind, STR("Composite"))) &&
               str_equal(kind, composite_kind);
}

/* Whether the object has fields that only claims have. */
static bool has_claim_fields(const struct value *object)
{
        const struct value *spec = value_get(object, STR("spec"));

        return value_get(spec, STR("compositeDeletePolicy")) || value_get(spec, STR("resourceRef")) ||
               (value_get(spec, STR("writeConnectionSecretToRef")) &&
                !value_find(spec, "writeConnectionSecretToRef", "namespace"));
}

bool render_claim_is_of(const struct value *object, const struct value *composition)
{
        struct gvk gvk = gvk_of(object), type = gvk_of(value_find(composition, "spec", "compositeTypeRef"));

        if (!str_equal(gvk.group, type.group) || str_equal(gvk.kind, type.kind))
                return false;
        return is_claim_kind(gvk.kind, type.kind) || has_claim_fields(object);
}

int render_claim_check(const struct render_files *files, const struct manifest *object, struct err *err)
{
        struct gvk gvk = gvk_of(object->object);
        bool is_requirement = str_ends_with(gvk.kind, STR("Requirement"));

        if (render_files_definition(files, object->object))
                return 0;
        for (size_t i = 0; i < files->compositions.n; i++) {
                const struct value *composition = files->compositions.p[i].object;

                if (!render_claim_is_of(object->object, composition))
                        continue;
                err_set(err, ERR_INVALID, "%.*s/%.*s is a %s of %.*s: give its definition%s with --xrd",
                        STR_ARG(gvk.kind), STR_ARG(meta_name(object->object)), is_requirement ? "requirement" : "claim",
                        STR_ARG(value_str(value_find(composition, "spec", "compositeTypeRef", "kind"))),
                        is_requirement ? " and its publication" : "");
                return manifest_error(object, STR("kind"), err);
        }
        return 0;
}
