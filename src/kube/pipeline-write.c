/* What create and update do to a decoded object: who manages it, admission, server-set metadata, validation. */
#include "pipeline-steps.h"

#include "buf.h"
#include "managed.h"
#include "name.h"
#include "number.h"
#include "uuid.h"

/* --- Managed fields --- */

static int convert_for_manager(void *arg, struct arena *a, const struct value *object, struct str api_version,
                               const struct value **ret, const struct schema **ret_schema, struct err *err)
{
        const struct managed_scope *scope = arg;
        const struct kind_version *version;
        struct str group, name;
        int r = gvk_split_api_version(api_version, &group, &name, err);

        if (r < 0)
                return r;
        version = str_equal(group, scope->kind->group) ? kind_version(scope->kind, name) : NULL;
        if (!version)
                return err_set(err, ERR_NOT_FOUND, "version %.*s is not there", STR_ARG(api_version));
        *ret_schema = version->schema;
        return convert_object(a, scope->kind->conversions, scope->kind->n_conversions, object, name, ret, err);
}

void managed_scope_init(struct managed_scope *m, const struct step *s)
{
        const struct kind *kind = s->p->kind;

        *m = (struct managed_scope) {
                .kind = kind,
                .type = {
                        .gvk = { .group = kind->group, .version = s->p->version->name, .kind = kind->kind },
                        .schema = s->p->version->schema,
                        .has_status = s->p->version->has_status,
                        .hub_version = kind_storage(kind)->name,
                        .convert = convert_for_manager,
                },
        };
        m->type.convert_arg = m;
}

/* An apply has done this already, as part of itself. */
static int track_managers(struct step *s, struct err *err)
{
        struct managed_scope scope;
        struct managed_request managed = {
                .type = &scope.type,
                .manager = s->req->manager.n ? s->req->manager : STR("unknown"),
                .subresource = s->req->subresource,
                .now = s->p->now,
        };

        const struct value *updated = s->object, *result;
        bool is_scale = str_equal(s->req->subresource, STR("scale"));
        int r;

        if (s->req->verb == WRITE_APPLY || (is_scale && !scale_is_managed(s)))
                return 0;
        managed_scope_init(&scope, s);
        if (is_scale)
                updated = scale_without_zero(s);
        r = managed_update(s->arena, &managed, s->current, updated, &result, err);
        if (r < 0)
                return r;
        s->object = is_scale ? meta_with(s->arena, s->object, STR("managedFields"),
                                         value_get(meta(result), STR("managedFields")))
                             : result;
        return 0;
}

/* --- Metadata that the API sets --- */

static const struct value *time_value(struct arena *a, struct instant t)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        time_append_rfc3339(&b, t, 0);
        return value_put(a, value_of_str(buf_to_arena(&b, a)));
}

static const struct value *new_uid(struct arena *a)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        uuid_append(&b, uuid_v4());
        return value_put(a, value_of_str(buf_to_arena(&b, a)));
}

static bool is_server_set(struct str field)
{
        static const char *const fields[] = {
                "uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink",
        };

        for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
                if (str_equal(field, str_from(fields[i])))
                        return true;
        return false;
}

/* The metadata of a new object: what only the API sets is set afresh, whatever the client said. */
static void set_new_metadata(struct step *s)
{
        const struct kind *kind = s->p->kind;
        struct str prefix = meta_str(s->object, STR("generateName"));
        const struct value *old = meta(s->object);
        struct object_builder b;

        object_builder_init(&b, s->arena, value_count(old) + 4);
        VALUE_FOREACH_MEMBER (m, old)
                if (!is_server_set(m->key))
                        object_builder_set(&b, m->key, m->value);
        object_builder_set(&b, STR("uid"), *new_uid(s->arena));
        object_builder_set(&b, STR("creationTimestamp"), *time_value(s->arena, s->p->now));
        if (kind->has_generation)
                object_builder_set(&b, STR("generation"), value_of_int(1));
        if (meta_name(s->object).n == 0 && prefix.n)
                object_builder_set(&b, STR("name"), value_of_str(name_generate(s->arena, prefix)));
        s->object = value_with(s->arena, s->object, STR("metadata"), value_put(s->arena, object_builder_finish(&b)));
}

/* A create does not even notice what clients say about these. */
static void forget_server_set(struct step *s)
{
        VALUE_FOREACH_MEMBER (m, meta(s->object))
                if (is_server_set(m->key))
                        s->object = meta_with(s->arena, s->object, m->key, NULL);
}

static const struct value *restore(struct arena *a, const struct value *object, const struct value *old, struct str key)
{
        const struct value *before = value_get(old, key);

        return before ? value_with(a, object, key, before) : value_without(a, object, key);
}

static const struct value *restore_meta(struct arena *a, const struct value *object, const struct value *old,
                                        struct str field)
{
        return meta_with(a, object, field, value_get(meta(old), field));
}

/* The metadata of an update: what only the API sets stays as it was. */
static void keep_metadata(struct step *s)
{
        static const char *const restored[] = { "generation", "creationTimestamp", "selfLink", "deletionTimestamp" };
        static const char *const if_absent[] = { "uid", "deletionTimestamp", "deletionGracePeriodSeconds" };

        for (size_t i = 0; i < ARRAY_SIZE(restored) - !meta_is_deleting(s->current); i++)
                s->object = restore_meta(s->arena, s->object, s->current, str_from(restored[i]));
        for (size_t i = 0; i < ARRAY_SIZE(if_absent); i++)
                if (!value_get(meta(s->object), str_from(if_absent[i])))
                        s->object = restore_meta(s->arena, s->object, s->current, str_from(if_absent[i]));
}

/* --- Which part of the object a request writes --- */

/* A status write takes the status alone, and who manages it. */
static void take_status(struct step *s)
{
        const struct value *managers = value_get(meta(s->object), STR("managedFields"));
        const struct value *status = value_get(s->object, STR("status"));
        const struct value *version = value_get(meta(s->object), STR("resourceVersion"));
        const struct value *object = s->current;

        object = status ? value_with(s->arena, object, STR("status"), status)
                        : value_without(s->arena, object, STR("status"));
        object = meta_with(s->arena, object, STR("managedFields"), managers);
        s->object = meta_with(s->arena, object, STR("resourceVersion"), version);
}

static void take_part(struct step *s)
{
        if (step_is_status(s))
                take_status(s);
        else if (s->p->version->has_status && s->req->subresource.n == 0)
                s->object = restore(s->arena, s->object, s->current, STR("status"));
}

static bool is_changed(const struct step *s, struct str key)
{
        const struct value *now = value_get(s->object, key), *before = value_get(s->current, key);

        return now != before && !(now && before && value_equal(now, before));
}

/* Whether anything changed that counts as a new generation. */
static bool has_new_generation(const struct step *s)
{
        if (!s->p->kind->has_generation || step_is_status(s))
                return false;
        if (!s->p->kind->is_custom)
                return is_changed(s, STR("spec"));
        VALUE_FOREACH_MEMBER (m, s->object)
                if (!str_equal(m->key, STR("metadata")) && is_changed(s, m->key))
                        return true;
        VALUE_FOREACH_MEMBER (m, s->current)
                if (!str_equal(m->key, STR("metadata")) && is_changed(s, m->key))
                        return true;
        return false;
}

static void set_generation(struct step *s)
{
        if (has_new_generation(s))
                s->object = meta_with(s->arena, s->object, STR("generation"),
                                      value_put(s->arena, value_of_int(meta_generation(s->current) + 1)));
}

/* --- Validation --- */

/* The object's type against that of the request; what is wrong is said of the type that the object claims. */
static int check_type(const struct step *s, struct err *err)
{
        struct gvk wanted = { .group = s->p->kind->group, .version = s->p->version->name, .kind = s->p->kind->kind };
        struct gvk given = gvk_of(s->object);
        struct str api_version = value_str(value_get(s->object, STR("apiVersion")));
        struct status_subject subject = { .group = given.group, .kind = given.kind, .name = s->req->key.name };
        struct value shown_version = value_of_str(api_version), shown_kind = value_of_str(given.kind);
        struct field_errors errors;

        if (gvk_equal(wanted, given))
                return 0;
        if (subject.name.n == 0)
                subject.name = meta_name(s->object);
        field_errors_init(&errors, s->arena);
        if (!str_equal(api_version, gvk_api_version(s->arena, wanted)))
                field_error_add(&errors, FIELD_INVALID, STR("apiVersion"), &shown_version, "must be %.*s",
                                STR_ARG(gvk_api_version(s->arena, wanted)));
        if (!str_equal(given.kind, wanted.kind))
                field_error_add(&errors, FIELD_INVALID, STR("kind"), &shown_kind, "must be %.*s", STR_ARG(wanted.kind));
        return status_invalid(err, &subject, &errors);
}

static int validate(struct step *s, struct err *err)
{
        const struct kind_strategy *strategy = s->p->kind->strategy;
        struct status_subject subject = step_subject(s);
        struct field_errors errors;
        int r = check_type(s, err);

        if (r < 0)
                return r;
        field_errors_init(&errors, s->arena);
        if (s->current) {
                /* Twice: once for every kind, once by the kind's own rules. The API's causes show both. */
                metadata_validate_update(s->arena, s->object, s->current, &errors);
                metadata_validate_update(s->arena, s->object, s->current, &errors);
        }
        if (!step_is_status(s))
                metadata_validate(s->arena, s->p->kind, s->object, s->current, &errors, s->run->warnings);
        schema_validate(s->p->version->schema, s->object, s->current, step_is_status(s) ? STR("status") : STR(""),
                        &errors);
        scale_validate(s->arena, s->p->version, s->object, &errors);
        if (strategy && strategy->validate)
                strategy->validate(s->arena, s->req, s->current, s->object, &errors, s->run->warnings);
        return errors.n ? status_invalid(err, &subject, &errors) : 0;
}

static void prepare(struct step *s)
{
        const struct kind_strategy *strategy = s->p->kind->strategy;

        if (strategy && strategy->prepare)
                s->object = strategy->prepare(s->arena, s->req, s->current, s->object);
}

/* --- Create --- */

static bool is_set_version(struct str s)
{
        uint64_t number;

        return number_parse_uint(s, &number, NULL) >= 0 && number > 0;
}

int step_create(struct step *s, struct write_outcome *ret, struct err *err)
{
        int r;

        s->current = NULL;
        if (s->req->verb == WRITE_CREATE)
                forget_server_set(s);
        if (s->req->verb == WRITE_CREATE || s->req->verb == WRITE_UPDATE)
                s->object = metadata_dedupe_owners(s->arena, s->object, false, s->run->warnings);
        r = track_managers(s, err);
        if (r == 0 && s->p->may_create)
                r = s->p->may_create(s->p->may_create_arg, err);
        if (r < 0)
                return r;
        r = step_admit(s, true, err);
        if (r < 0)
                return r;
        s->object = metadata_dedupe_owners(s->arena, s->object, true, s->run->warnings);
        if (s->p->version->has_status)
                s->object = value_without(s->arena, s->object, STR("status"));
        set_new_metadata(s);
        prepare(s);
        r = validate(s, err);
        if (r < 0)
                return r;
        r = step_admit(s, false, err);
        if (r < 0)
                return r;
        if (s->req->verb != WRITE_APPLY && is_set_version(meta_resource_version(s->object)))
                return status_internal(err, "resourceVersion should not be set on objects to be created");
        *ret = (struct write_outcome) { .effect = EFFECT_STORE, .is_create = true };
        r = step_to_storage(s, s->object, &ret->object, err);
        if (r < 0)
                return r;
        return pipeline_read(s->p->kind, s->p->version, s->arena, ret->object, &ret->answer, err);
}

/* --- Update --- */

static int check_put_uid(const struct step *s, struct err *err)
{
        struct status_subject subject = step_subject(s);
        struct str uid = meta_uid(s->object), live = meta_uid(s->current);
        const struct object_key *key = &s->req->key;

        if (s->req->verb != WRITE_UPDATE || uid.n == 0 || str_equal(uid, live))
                return 0;
        return status_conflict(
                err, &subject,
                "StorageError: invalid object, Code: 4, Key: %s/%.*s/%.*s/%.*s%s%.*s, ResourceVersion: "
                "0, AdditionalErrorMsg: Precondition failed: UID in precondition: %.*s, UID in object meta: "
                "%.*s",
                s->req->is_dry_run ? "" : "/registry", STR_ARG(s->p->kind->group), STR_ARG(s->p->kind->plural),
                STR_ARG(s->p->kind->is_namespaced ? key->namespace : STR("")), s->p->kind->is_namespaced ? "/" : "",
                STR_ARG(key->name), STR_ARG(uid), STR_ARG(live));
}

static int check_version(const struct step *s, struct err *err)
{
        struct status_subject subject = step_subject(s);
        struct str version = meta_resource_version(s->object);
        struct field_errors errors;
        struct value zero = value_of_int(0);
        uint64_t number = 0;

        if (version.n && number_parse_uint(version, &number, err) < 0) {
                err_set_reason(err, REASON_UNKNOWN);
                return ERR_INVALID;
        }
        if (number == 0) {
                if (s->p->kind->allows_unconditional_update)
                        return 0;
                subject.kind = subject.plural;
                field_errors_init(&errors, s->arena);
                field_error_add(&errors, FIELD_INVALID, STR("metadata.resourceVersion"), &zero,
                                "must be specified for an update");
                return status_invalid(err, &subject, &errors);
        }
        return str_equal(version, meta_resource_version(s->current)) ? 0 : status_modified(err, &subject);
}

/* The last finalizer of a deleted object is gone, so the object goes too. */
static bool is_finished(const struct step *s)
{
        const struct kind_strategy *strategy = s->p->kind->strategy;

        if (!meta_is_deleting(s->object) || value_count(value_get(meta(s->object), STR("finalizers"))))
                return false;
        if (value_int(value_get(meta(s->object), STR("deletionGracePeriodSeconds")), 0) != 0)
                return false;
        return !strategy || !strategy->may_remove || strategy->may_remove(s->object);
}

static int finish_update(struct step *s, struct write_outcome *ret, struct err *err)
{
        const struct value *stored;
        struct value version = value_of_str(meta_resource_version(s->live));
        int r;

        s->object = meta_with(s->arena, s->object, STR("resourceVersion"), value_put(s->arena, version));
        if (!step_is_status(s) && is_finished(s)) {
                *ret = (struct write_outcome) { .effect = EFFECT_REMOVE, .object = s->live, .answer = s->object };
                return 0;
        }
        r = step_to_storage(s, s->object, &stored, err);
        if (r < 0)
                return r;
        if (value_equal(stored, meta_with(s->arena, s->live, STR("resourceVersion"), NULL))) {
                *ret = (struct write_outcome) { .effect = EFFECT_NONE, .object = s->live, .answer = s->current };
                return 0;
        }
        *ret = (struct write_outcome) { .effect = EFFECT_STORE, .object = stored };
        r = pipeline_read(s->p->kind, s->p->version, s->arena, stored, &ret->answer, err);
        if (r < 0)
                return r;
        ret->answer = meta_with(s->arena, ret->answer, STR("resourceVersion"), value_put(s->arena, version));
        return 0;
}

int step_update(struct step *s, struct write_outcome *ret, struct err *err)
{
        int r = check_put_uid(s, err);

        if (r < 0)
                return r;
        if (s->req->verb == WRITE_CREATE || s->req->verb == WRITE_UPDATE)
                s->object = metadata_dedupe_owners(s->arena, s->object, false, s->run->warnings);
        r = track_managers(s, err);
        if (r < 0)
                return r;
        r = step_admit(s, true, err);
        if (r < 0)
                return r;
        s->object = metadata_dedupe_owners(s->arena, s->object, true, s->run->warnings);
        r = check_version(s, err);
        if (r < 0)
                return r;
        take_part(s);
        keep_metadata(s);
        set_generation(s);
        prepare(s);
        r = validate(s, err);
        if (r < 0)
                return r;
        s->object = managed_revert_times(s->arena, s->current, s->object);
        r = step_admit(s, false, err);
        if (r < 0)
                return r;
        return finish_update(s, ret, err);
}
