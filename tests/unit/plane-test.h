/* Shared by tests of the control plane: a store with all controllers, the functions that are built in, and deletion protection. */
#pragma once

#include "store-test.h"

#include "buf.h"
#include "condition.h"
#include "functions.h"
#include "own-kinds.h"
#include "plane.h"
#include "protection.h"
#include "yaml.h"

struct world {
        struct fixture f;
        struct registry *registry;
        struct manager *manager;
        struct plane *plane;
        struct protection *protection;
};

static inline void plane_start(struct world *w)
{
        struct manager_options manager = {
                .cluster = w->f.cluster,
                .user = { .name = STR("system:serviceaccount:crossplane-system:crossplane") },
                .max_workers = 8,
        };
        struct plane_options options = { .protection = w->protection, .steps = { .registry = w->registry } };

        MUST(&w->f, manager_new(&manager, &w->manager, &w->f.err));
        options.manager = w->manager;
        MUST(&w->f, plane_new(&options, &w->plane, &w->f.err));
}

static inline void plane_stop(struct world *w)
{
        plane_free(w->plane);
        manager_free(w->manager);
}

/* more: a hook besides the one of usages; may be NULL. */
static inline void world_init_with(struct world *w, const struct admission_hook *more)
{
        struct store_options options = { .strategy_of = own_kind_strategy, .records_writes = true };
        struct admission_hook hook;

        *w = (struct world) { 0 };
        fixture_init_with(&w->f, &options);
        w->protection = protection_new(w->f.cluster);
        hook = protection_hook(w->protection);
        store_add_hook(w->f.store, &hook);
        if (more)
                store_add_hook(w->f.store, more);
        MUST(&w->f, plane_install(w->f.cluster, &w->f.run, (struct features) { 0 }, &w->f.err));
        w->registry = registry_new();
        functions_register_native(w->registry);
        for (size_t i = 0; i < builtin_n_functions; i++)
                registry_set(w->registry, str_from(builtin_functions[i]->name), function_builtin(builtin_functions[i]));
        plane_start(w);
}

static inline void world_init(struct world *w)
{
        world_init_with(w, NULL);
}

static inline void world_done(struct world *w)
{
        plane_stop(w);
        store_stop(w->f.store);
        protection_free(w->protection);
        registry_free(w->registry);
        fixture_done(&w->f);
}

/* `Kind NAME by MANAGER` for each write since. */
static inline const char *writes_since(struct world *w, uint64_t version)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        const struct store_write *writes;
        size_t n = store_writes(w->f.store, version, &w->f.arena, &writes);

        for (size_t i = 0; i < n; i++)
                buf_appendf(&b, "%.*s %.*s by %.*s\n", STR_ARG(writes[i].key.gvk.kind), STR_ARG(writes[i].key.name),
                            STR_ARG(writes[i].manager));
        return arena_cstring(&w->f.arena, buf_to_arena(&b, &w->f.arena));
}

static inline void quiet(struct world *w)
{
        for (uint64_t before = 0; before != store_version(w->f.store);) {
                before = store_version(w->f.store);
                MUST(&w->f, manager_settle(w->manager, DEADLINE_NONE, NULL));
                settle(&w->f);
        }
}

static inline const struct value *from_yaml(struct world *w, const char *text)
{
        const struct value *v = NULL;

        if (yaml_parse(&w->f.arena, str_from(text), NULL, &v, &w->f.err) < 0)
                test_fail(__FILE__, __LINE__, "%s", err_message(&w->f.err));
        return v;
}

static inline void apply(struct world *w, const char *text)
{
        const struct value *body = from_yaml(w, text);

        MUST(&w->f, write_request(&w->f,
                                  (struct write_request) { .verb = WRITE_APPLY,
                                                           .key = object_key_of(body),
                                                           .body = body,
                                                           .manager = STR("tester"),
                                                           .force = true },
                                  NULL));
}

static inline const char *condition_text(struct world *w, const struct value *object, const char *type)
{
        struct condition c;

        condition_get(object, str_from(type), &c);
        return arena_cstring(&w->f.arena,
                             arena_printf(&w->f.arena, "%s/%.*s", condition_status_name(c.status), STR_ARG(c.reason)));
}
