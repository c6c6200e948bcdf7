/* Shared by the tests of steps: a store with the resources that steps request, and a registry of functions. */
#pragma once

#include "values.h"

#include "step.h"
#include "store.h"

static struct store *store;
static struct registry *registry;
static struct run run;
static struct fn_state observed;

static inline void put(const char *json)
{
        _cleanup_err_ struct err err = { 0 };
        const struct value *object = parse(json);
        struct write_request req = { .verb = WRITE_CREATE, .key = object_key_of(object), .body = object };
        struct write_result result;

        if (cluster_write(store_cluster(store), &run, &req, &result, &err) < 0)
                test_fail(__FILE__, __LINE__, "%s: %s", json, err_message(&err));
}

static inline void world_begin(bool accepts_any_kind)
{
        struct store_options options = { .accepts_any_kind = accepts_any_kind, .creates_namespaces = true };

        begin();
        run = (struct run) { .arena = &arena, .deadline = DEADLINE_NONE };
        ASSERT(store_new(&options, &store, NULL) >= 0);
        registry = registry_new();
        observed = (struct fn_state) { .is_present = true, .is_open = true };
}

static inline void world_end(void)
{
        registry_free(registry);
        arena_done(&arena);
        store_free(store);
}
