/* Shared by the tests of the store: a store with a run, requests from JSON, and checks of results. */
#pragma once

#include "test.h"

#include "json.h"
#include "store.h"

#include <stdarg.h>

struct fixture {
        struct store *store;
        struct cluster *cluster;
        struct arena arena;
        struct run run;
        struct str_list warnings;
        struct err err; /* of the last call */
};

static inline void fixture_init_with(struct fixture *f, const struct store_options *options)
{
        *f = (struct fixture) { 0 };
        arena_init(&f->arena, "test", 0);
        str_list_init(&f->warnings, &f->arena);
        f->run = (struct run) { .arena = &f->arena, .deadline = DEADLINE_NONE, .warnings = &f->warnings };
        f->run.user.name = STR("tester");
        f->run.cause = STR("a test");
        ASSERT_INT(store_new(options, &f->store, &f->err), 0);
        f->cluster = store_cluster(f->store);
}

static inline void fixture_init(struct fixture *f)
{
        struct store_options options = { .accepts_any_kind = true };

        fixture_init_with(f, &options);
}

static inline void fixture_done(struct fixture *f)
{
        err_done(&f->err);
        arena_done(&f->arena);
        store_free(f->store);
}

#define _cleanup_fixture_ _cleanup_(fixture_done)

static inline const struct value *from_json(struct fixture *f, const char *text)
{
        const struct value *v = NULL;

        if (json_parse(&f->arena, str_from(text), NULL, &v, &f->err) < 0)
                test_fail(__FILE__, __LINE__, "%s: %s", err_message(&f->err), text);
        return v;
}

static inline struct str to_json(struct fixture *f, const struct value *v)
{
        struct str s = STR("nothing");

        if (v)
                ASSERT_INT(json_to_str(&f->arena, v, JSON_SORT_KEYS, &s, NULL), 0);
        return s;
}

/* Formats like printf, then replaces single quotes by double quotes, and parses the JSON. */
#define JSON(f, ...) from_json((f), quoted((f), __VA_ARGS__))

_printf_(2, 3) static inline const char *quoted(struct fixture *f, const char *format, ...)
{
        char *p;
        va_list arguments;
        int n;

        va_start(arguments, format);
        n = vsnprintf(NULL, 0, format, arguments);
        va_end(arguments);
        p = arena_alloc(&f->arena, (size_t)n + 1);
        va_start(arguments, format);
        vsnprintf(p, (size_t)n + 1, format, arguments);
        va_end(arguments);
        for (char *c = p; *c; c++)
                if (*c == '\'')
                        *c = '"';
        return p;
}

static inline struct gvk widget_gvk(void)
{
        return (struct gvk) { STR("example.org"), STR("v1"), STR("Widget") };
}

static inline struct gvk config_map_gvk(void)
{
        return (struct gvk) { STR(""), STR("v1"), STR("ConfigMap") };
}

static inline struct object_key key_of(struct gvk gvk, const char *ns, const char *name)
{
        return (struct object_key) { .gvk = gvk, .ns = str_from(ns), .name = str_from(name) };
}

static inline int write_request(struct fixture *f, struct write_request req, struct write_result *ret)
{
        struct write_result result = { 0 };
        int r;

        err_done(&f->err);
        f->err = (struct err) { 0 };
        r = cluster_write(f->cluster, &f->run, &req, &result, &f->err);
        ASSERT_INT(r, f->err.code);
        if (ret)
                *ret = result;
        return r;
}

static inline int create(struct fixture *f, const struct value *body)
{
        return write_request(
                f, (struct write_request) { .verb = WRITE_CREATE, .key = object_key_of(body), .body = body }, NULL);
}

#define MUST(f, call)                                                                           \
        do {                                                                                    \
                if ((call) < 0)                                                                 \
                        test_fail(__FILE__, __LINE__, "%s: %s", #call, err_message(&(f)->err)); \
        } while (0)

static inline int merge(struct fixture *f, struct object_key key, const struct value *patch, struct write_result *ret)
{
        return write_request(f, (struct write_request) { .verb = WRITE_MERGE_PATCH, .key = key, .body = patch }, ret);
}

static inline int delete_with(struct fixture *f, struct object_key key, enum propagation propagation)
{
        return write_request(f, (struct write_request) { .verb = WRITE_DELETE, .key = key, .propagation = propagation },
                             NULL);
}

/* The object, or NULL when it does not exist. */
static inline const struct value *get(struct fixture *f, struct object_key key)
{
        const struct value *v = NULL;
        int r;

        err_done(&f->err);
        f->err = (struct err) { 0 };
        r = cluster_get_value(f->cluster, &f->run, &key, &v, &f->err);
        ASSERT(r == 0 || r == ERR_NOT_FOUND);
        return v;
}

static inline void settle(struct fixture *f)
{
        MUST(f, store_settle(f->store, &f->run, &f->err));
}

/* A Widget with additional members of its metadata (JSON, or ""). */
static inline const struct value *widget(struct fixture *f, const char *ns, const char *name, const char *more)
{
        return JSON(f, "{'apiVersion':'example.org/v1','kind':'Widget','metadata':{'name':'%s'%s%s%s%s%s}}", name,
                    *ns ? ",'namespace':'" : "", ns, *ns ? "'" : "", *more ? "," : "", more);
}
