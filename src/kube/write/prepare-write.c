/* The steps of create and update on a decoded object: managed fields, admission, server-set metadata, validation. */
#include "draft.h"

#include "buf.h"
#include "builtin-table.h"
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
        /* As upstream, an entry of another group is lost. */
        version = str_equal(group, scope->kind->group) ? kind_version(scope->kind, name) : NULL;
        if (!version)
                return err_set(err, ERR_NOT_FOUND, "version %.*s is not there", STR_ARG(api_version));
        *ret_schema = kind_schema(version);
        return prepare_convert(scope->kind, version, a, object, ret, err);
}

void managed_scope_init(struct managed_scope *m, const struct draft *s)
{
        const struct kind *kind = s->p->kind;

        *m = (struct managed_scope) {
                .kind = kind,
                .type = {
                        .gvk = { .group = kind->group, .version = s->p->version->name, .kind = kind->kind },
                        .schema = kind_schema(s->p->version),
                        .has_status = s->p->version->has_status,
                        .status_writes_metadata = kind->status_writes_metadata,
                        .spec_is_fixed = kind->spec_is_fixed,
                        .hub_version = draft_storage(s)->name,
                        .convert = convert_for_manager,
                },
        };
        m->type.convert_arg = m;
        if (s->p->version->type)
                m->type.empty = draft_zero(s);
}

static bool is_empty_container(const struct value *v)
{
        return (value_is_array(v) || value_is_object(v)) && value_count(v) == 0;
}

/* Storage makes null of an empty list that is always written, as the rules of a role are. To its managers the list differs from null: a
 * request that says [] owns the field. */
static const struct value *with_empty_lists(const struct draft *s)
{
        const struct value *object = s->object;

        VALUE_FOREACH_MEMBER (m, s->object) {
                const struct value *said = s->decoded ? value_get(s->decoded, m->key) : NULL;

                if (value_is_null(&m->value) && said && is_empty_container(said))
                        object = value_with(s->arena, object, m->key, said);
        }
        return object;
}

/* Updates managedFields. An apply has already done this. */
static int track_managers(struct draft *s, struct err *err)
{
        struct managed_scope scope;
        struct managed_request managed = {
                .type = &scope.type,
                .manager = s->req->manager.n ? s->req->manager : STR("unknown"),
                .subresource = s->req->subresource,
                .now = s->p->now,
        };

        const struct value *updated = with_empty_lists(s), *result;
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
        s->object = is_scale || updated != s->object ? meta_with(s->arena, s->object, STR("managedFields"),
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

/* Sets the metadata of a new object: fields that only the API sets get new values, and the client's values are ignored. */
static void set_new_metadata(struct draft *s)
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

/* Removes server-set fields from the metadata: a create ignores the client's values. */
static void forget_server_set(struct draft *s)
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

/* Sets the metadata of an update: fields that only the API sets keep their values. */
static void keep_metadata(struct draft *s)
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

/* A status write changes only the status and managedFields. */
static void take_status(struct draft *s)
{
        const struct value *managers = value_get(meta(s->object), STR("managedFields"));
        const struct value *status = value_get(s->object, STR("status"));
        const struct value *version = value_get(meta(s->object), STR("resourceVersion"));
        const struct value *object = s->current;

        if (s->p->kind->status_writes_metadata)
                object = value_with(s->arena, object, STR("metadata"), meta(s->object));
        object = status ? value_with(s->arena, object, STR("status"), status)
                        : value_without(s->arena, object, STR("status"));
        object = meta_with(s->arena, object, STR("managedFields"), managers);
        s->object = meta_with(s->arena, object, STR("resourceVersion"), version);
}

static void take_part(struct draft *s)
{
        if (draft_is_status(s))
                take_status(s);
        else if (s->p->version->has_status && s->req->subresource.n == 0)
                s->object = restore(s->arena, s->object, s->current, STR("status"));
}

static bool is_changed(const struct draft *s, struct str key)
{
        const struct value *now = value_get(s->object, key), *before = value_get(s->current, key);

        return now != before && !(now && before && value_equal(now, before));
}

/* Whether a change needs a new generation. Some kinds that come with the API have no generation; a kind made from an OpenAPI
 * document does not show that, but its objects do. */
static bool has_new_generation(const struct draft *s)
{
        if (!s->p->kind->has_generation || draft_is_status(s))
                return false;
        if (!s->p->kind->is_custom && !value_get(meta(s->current), STR("generation")))
                return false;
        if (!s->p->kind->is_custom && (!s->p->version->type || builtin_field_of(s->p->version->type, STR("spec"))))
                return is_changed(s, STR("spec"));
        VALUE_FOREACH_MEMBER (m, s->object)
                if (!str_equal(m->key, STR("metadata")) && is_changed(s, m->key))
                        return true;
        VALUE_FOREACH_MEMBER (m, s->current)
                if (!str_equal(m->key, STR("metadata")) && is_changed(s, m->key))
                        return true;
        return false;
}

static void set_generation(struct draft *s)
{
        if (has_new_generation(s))
                s->object = meta_with(s->arena, s->object, STR("generation"),
                                      value_put(s->arena, value_of_int(meta_generation(s->current) + 1)));
}

/* --- Validation --- */

/* Checks the object's type against the request's. Errors name the type in the object. */
static int check_type(const struct draft *s, struct err *err)
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

static void validate_finalizers(struct draft *s, struct field_errors *errors)
{
        if (s->p->kind->metadata_rules & METADATA_FINALIZERS)
                metadata_validate_finalizers(s->arena, s->object, errors);
}

static void validate_whole(struct draft *s, struct field_errors *errors)
{
        metadata_validate(s->arena, s->p->kind, s->object, s->current, errors, s->run->warnings);
}

/* First the rules of all kinds, then those of this one. */
static void validate_metadata(struct draft *s, struct field_errors *errors)
{
        unsigned rules = s->p->kind->metadata_rules;

        validate_whole(s, errors);
        if (!s->current) {
                validate_finalizers(s, errors);
                return;
        }
        metadata_validate_update(s->arena, s->object, s->current, errors);
        if (rules & METADATA_UPDATE) {
                metadata_validate_update(s->arena, s->object, s->current, errors);
                validate_finalizers(s, errors);
        }
        if (rules & METADATA_WHOLE && !draft_is_status(s)) {
                validate_whole(s, errors);
                validate_finalizers(s, errors);
        }
}

static int validate(struct draft *s, struct err *err)
{
        const struct kind_strategy *strategy = s->p->kind->strategy;
        struct status_subject subject = draft_subject(s);
        struct field_errors errors;
        int r = check_type(s, err);

        if (r < 0)
                return r;
        subject.group = draft_storage(s)->group; /* validation is about what is stored */
        if (s->p->version->type && str_equal(s->req->subresource, STR("scale"))) {
                subject.group = STR("autoscaling");
                subject.kind = STR("Scale");
        }
        field_errors_init(&errors, s->arena);
        validate_metadata(s, &errors);
        if (!s->p->version->type)
                schema_validate(s->p->version->schema, s->object, s->current,
                                draft_is_status(s) ? STR("status") : STR(""), &errors);
        scale_validate(s->arena, s->p->version, s->object, &errors);
        if (strategy && strategy->validate)
                strategy->validate(s->arena, s->req, s->current, s->object, &errors, s->run->warnings);
        return errors.n ? status_invalid(err, &subject, &errors) : 0;
}

static void note_user(struct draft *s)
{
        const struct kind_strategy *strategy = s->p->kind->strategy;

        if (strategy && strategy->note_user)
                s->object = strategy->note_user(s->arena, &s->run->user, s->object);
}

static void prepare(struct draft *s)
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

/* A PUT with a uid is for that object alone, also where a PUT may create one. */
static int check_put_uid(const struct draft *s, struct err *err)
{
        struct status_subject subject = draft_subject(s);
        struct str uid = meta_uid(s->object), live = meta_uid(s->current);
        const struct object_key *key = &s->req->key;

        if (s->req->verb != WRITE_UPDATE || uid.n == 0 || str_equal(uid, live))
                return 0;
        return status_conflict(
                err, &subject,
                "StorageError: invalid object, Code: 4, Key: %s/%.*s%s%.*s/%.*s%s%.*s, ResourceVersion: "
                "0, AdditionalErrorMsg: Precondition failed: UID in precondition: %.*s, UID in object meta: "
                "%.*s",
                s->req->is_dry_run ? "" : "/registry", STR_ARG(s->p->kind->is_custom ? s->p->kind->group : STR("")),
                s->p->kind->is_custom ? "/" : "", STR_ARG(s->p->kind->plural),
                STR_ARG(s->p->kind->is_namespaced ? key->ns : STR("")), s->p->kind->is_namespaced ? "/" : "",
                STR_ARG(key->name), STR_ARG(uid), STR_ARG(live));
}

int draft_create(struct draft *s, struct write_outcome *ret, struct err *err)
{
        struct status_subject subject = draft_subject(s);
        int r;

        if (s->p->kind->refusal.n)
                return status_forbidden(err, &subject, "%.*s", STR_ARG(s->p->kind->refusal));
        s->current = NULL;
        r = check_put_uid(s, err);
        if (r < 0)
                return r;
        if (s->req->verb == WRITE_CREATE)
                forget_server_set(s);
        if (s->req->verb == WRITE_CREATE || s->req->verb == WRITE_UPDATE)
                s->object = metadata_dedupe_owners(s->arena, s->object, false, s->run->warnings);
        r = track_managers(s, err);
        if (r == 0 && s->p->may_create)
                r = s->p->may_create(s->p->may_create_arg, err);
        if (r < 0)
                return r;
        r = draft_admit(s, true, err);
        if (r < 0)
                return r;
        s->object = metadata_dedupe_owners(s->arena, s->object, true, s->run->warnings);
        if (s->p->version->has_status && !s->p->kind->keeps_status_on_create)
                s->object = draft_retype(s, value_without(s->arena, s->object, STR("status")));
        set_new_metadata(s);
        note_user(s);
        prepare(s);
        r = validate(s, err);
        if (r < 0)
                return r;
        r = draft_admit(s, false, err);
        if (r < 0)
                return r;
        if (s->req->verb == WRITE_CREATE && is_set_version(meta_resource_version(s->object)))
                return status_internal(err, "resourceVersion should not be set on objects to be created");
        *ret = (struct write_outcome) { .effect = EFFECT_STORE, .is_create = true };
        r = draft_to_storage(s, s->object, &ret->object, err);
        if (r < 0)
                return r;
        return prepare_read(s->p->kind, s->p->version, s->arena, ret->object, &ret->answer, err);
}

/* --- Update --- */

static int check_version(const struct draft *s, struct err *err)
{
        struct status_subject subject = draft_subject(s);
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

/* Whether the last finalizer of a deleted object was removed, so that the object is removed too. */
static bool is_finished(const struct draft *s)
{
        const struct kind_strategy *strategy = s->p->kind->strategy;

        if (!meta_is_deleting(s->object) || value_count(value_get(meta(s->object), STR("finalizers"))))
                return false;
        if (value_int(value_get(meta(s->object), STR("deletionGracePeriodSeconds")), 0) != 0)
                return false;
        return !strategy || !strategy->may_remove || strategy->may_remove(s->object);
}

static int finish_update(struct draft *s, struct write_outcome *ret, struct err *err)
{
        const struct value *stored;
        struct value version = value_of_str(meta_resource_version(s->live));
        int r;

        s->object = meta_with(s->arena, s->object, STR("resourceVersion"), value_put(s->arena, version));
        if (!draft_is_status(s) && is_finished(s)) {
                *ret = (struct write_outcome) { .effect = EFFECT_REMOVE, .object = s->live, .answer = s->object };
                return 0;
        }
        r = draft_to_storage(s, s->object, &stored, err);
        if (r < 0)
                return r;
        if (value_equal(stored, meta_with(s->arena, s->live, STR("resourceVersion"), NULL))) {
                *ret = (struct write_outcome) { .effect = EFFECT_NONE, .object = s->live, .answer = s->current };
                return 0;
        }
        *ret = (struct write_outcome) { .effect = EFFECT_STORE, .object = stored };
        r = prepare_read(s->p->kind, s->p->version, s->arena, stored, &ret->answer, err);
        if (r < 0)
                return r;
        ret->answer = meta_with(s->arena, ret->answer, STR("resourceVersion"), value_put(s->arena, version));
        return 0;
}

int draft_update(struct draft *s, struct write_outcome *ret, struct err *err)
{
        int r = check_put_uid(s, err);

        if (r < 0)
                return r;
        if (s->req->verb == WRITE_CREATE || s->req->verb == WRITE_UPDATE)
                s->object = metadata_dedupe_owners(s->arena, s->object, false, s->run->warnings);
        r = track_managers(s, err);
        if (r < 0)
                return r;
        r = draft_admit(s, true, err);
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
        r = draft_admit(s, false, err);
        if (r < 0)
                return r;
        return finish_update(s, ret, err);
}
