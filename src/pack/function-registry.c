/* Functions of revisions in the registry that pipelines read. */
#include "packages-state.h"

#include "buf.h"
#include "dialer.h"
#include "json.h"
#include "runtime.h"

#include <inttypes.h>

/* Whether the runtime of this pack runs the revision's program. */
static bool is_run_here(const struct packages *p, const struct value *revision)
{
        return p->options.runtime && !p->options.functions_run_elsewhere &&
               value_str(value_find(revision, "status", "tlsServerSecretName")).n > 0;
}

static int make_remote(struct packages *p, const struct value *revision, struct str endpoint, struct function **ret,
                       struct err *err)
{
        struct grpc_function_options options = { .target = endpoint,
                                                 .tls_certs_dir = p->options.tls_certs_dir,
                                                 .names_itself = true,
                                                 .patience_ms = FUNCTION_PATIENCE_MS };
        _cleanup_(dialer_unrefp)
        struct dialer *dialer = NULL;
        _cleanup_free_ char *server = NULL;

        if (is_run_here(p, revision)) {
                struct str name = revision_service(p, &package_kinds[XPKG_FUNCTION], revision);
                _cleanup_buf_ struct buf b = BUF_INIT(0);

                buf_appendf(&b, "%.*s.%.*s", STR_ARG(name), STR_ARG(PACKAGE_NAMESPACE));
                server = buf_take(&b);
                dialer = runtime_dialer(p->options.runtime, meta_name(revision));
                options.dialer = dialer;
                options.patience_ms = PROGRAM_PATIENCE_MS;
                options.server_name = str_from(server);
                options.tls_certs_dir = str_from(p->options.keys_directory);
        }
        return function_grpc_new(meta_label(revision, PACKAGE_LABEL), meta_name(revision), &options, ret, err);
}

static int make_function(struct packages *p, const struct value *revision, struct str endpoint, struct function **ret,
                         struct err *err)
{
        struct str builtin = endpoint;
        int r = 0;

        *ret = NULL;
        if (str_is_empty(endpoint))
                return 0;
        if (str_cut_prefix(&builtin, STR(BUILTIN)))
                *ret = function_builtin_as(p->options.find_builtin(builtin), meta_name(revision));
        else
                r = make_remote(p, revision, endpoint, ret, err);
        if (r == 0)
                function_describe(*ret, value_str(value_find(revision, "spec", "image")), endpoint);
        return r;
}

/* Notes what the registry is told of a revision; false if it knows that already. An empty text forgets it. */
static bool note_registered(struct packages *p, struct str name, struct str known)
{
        char *text = xmalloc(name.n + known.n + 1), *old;
        bool is_new;

        memcpy(text, known.p, known.n);
        text[known.n] = '\0';
        memcpy(text + known.n + 1, name.p, name.n);
        mutex_lock(&p->mutex);
        old = map_get(&p->registered, name);
        is_new = !old || !str_equal(str_from(old), known);
        if (is_new) {
                map_remove(&p->registered, name);
                if (known.n) {
                        map_add(&p->registered, str_make(text + known.n + 1, name.n), text);
                        text = NULL;
                }
        } else {
                old = NULL;
        }
        mutex_unlock(&p->mutex);
        free(old);
        free(text);
        return is_new;
}

int package_register_function(struct packages *p, struct kind_run *r, const struct value *revision, bool serves,
                              struct err *err)
{
        struct str function = meta_label(revision, PACKAGE_LABEL),
                   endpoint = value_str(value_find(revision, "status", "endpoint")), labels;
        struct function_revision entry = {
                .name = meta_name(revision),
                .number = value_int(value_find(revision, "spec", "revision"), 0),
                .labels = value_get(meta(revision), STR("labels")),
                .is_active = serves || package_revision_is_active(revision),
        };
        int e = package_begin_rollout(p, r, function, err);

        if (e == 0)
                e = json_to_str(r->run->arena, entry.labels ? entry.labels : &value_null, JSON_SORT_KEYS, &labels, err);
        if (e < 0 ||
            !note_registered(p, entry.name,
                             arena_printf(r->run->arena, "%.*s %d %d %" PRId64 " %.*s", STR_ARG(endpoint),
                                          is_run_here(p, revision), entry.is_active, entry.number, STR_ARG(labels))))
                return e;
        e = make_function(p, revision, endpoint, &entry.function, err);
        if (e < 0) {
                note_registered(p, entry.name, STR(""));
                return err_wrap(err, "cannot call function \"%.*s\"", STR_ARG(function));
        }
        registry_set_revision(p->options.registry, function, &entry);
        tracker_tell(manager_tracker(r->manager), arena_printf(r->run->arena, "function/%.*s", STR_ARG(function)));
        return 0;
}

/* --- Start --- */

/* The flags of this process decide which functions are built in or run beside it; the endpoint in the revision does not count. */
static int restore_endpoint(struct packages *p, struct kind_run *r, const struct value **revision, struct err *err)
{
        struct str endpoint = value_str(value_find(*revision, "status", "endpoint"));
        struct source source;
        int e = packages_source(p, r, &package_kinds[XPKG_FUNCTION], meta_label(*revision, PACKAGE_LABEL),
                                value_str(value_find(*revision, "spec", "image")), &source, err);

        if (e < 0)
                return e;
        if (source.is_found)
                endpoint = source.endpoint;
        else if (str_starts_with(endpoint, STR(BUILTIN)))
                endpoint = STR("");
        *revision = package_with_status_str(r->run->arena, *revision, STR("endpoint"), endpoint);
        return 0;
}

static void restore_function(struct packages *p, struct kind_run *r, const struct value *revision)
{
        struct gvk gvk = package_gvk(&package_kinds[XPKG_FUNCTION]);
        _cleanup_err_ struct err err = { 0 };
        const struct value *package;
        bool serves;
        int e = packages_get(r, gvk, STR(""), meta_label(revision, PACKAGE_LABEL), &package, &err);

        if (e == 0)
                e = package_function_serves(p, r, package, revision, &serves, &err);
        if (e == 0)
                e = restore_endpoint(p, r, &revision, &err);
        if (e == 0)
                package_register_function(p, r, revision, serves, &err);
}

void package_restore_functions(struct packages *p)
{
        struct manager *m = p->options.manager;
        struct list_request all = { .gvk = package_revision_gvk(&package_kinds[XPKG_FUNCTION]) };
        _cleanup_err_ struct err err = { 0 };
        _cleanup_arena_ struct arena a;
        struct run run = { .arena = &a, .deadline = DEADLINE_NONE, .user = *manager_user(m), .cause = STR("start") };
        struct kind_run r = { .manager = m, .run = &run, .cluster = manager_cluster(m) };
        struct object_list list = { 0 };

        arena_init(&a, "functions", 0);
        if (cluster_list(r.cluster, &run, &all, &list, &err) < 0)
                return;
        for (size_t i = 0; i < list.n; i++)
                restore_function(p, &r, object_list_value(&list, i, &a));
}

/* Which function a revision that is gone belonged to is not known any more, so the registry is asked for its name. */
void package_unregister_function(struct packages *p, struct kind_run *r, struct str revision)
{
        struct str function = registry_owner(p->options.registry, r->run->arena, revision);

        note_registered(p, revision, STR(""));
        if (registry_remove_revision(p->options.registry, function, revision))
                tracker_tell(manager_tracker(r->manager),
                             arena_printf(r->run->arena, "function/%.*s", STR_ARG(function)));
}
