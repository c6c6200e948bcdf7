#include "store-test.h"

#include "store-state.h"

TEST(namespaces_are_there_from_the_start)
{
        static const char *const names[] = { "default", "kube-node-lease", "kube-public", "kube-system" };
        _cleanup_fixture_ struct fixture f;
        struct list_request req = { .gvk = { STR(""), STR("v1"), STR("Namespace") } };
        struct object_list list;

        fixture_init(&f);
        MUST(&f, cluster_list(f.cluster, &f.run, &req, &list, &f.err));
        ASSERT_INT(list.n, 4);
        for (size_t i = 0; i < list.n; i++) {
                ASSERT_STR(meta_name(object_list_value(&list, i, &f.arena)), str_from(names[i]));
                ASSERT_STR(value_str(value_find(object_list_value(&list, i, &f.arena), "status", "phase")),
                           STR("Active"));
        }
        ASSERT_STR(list.resource_version, STR("4"));
        ASSERT_INT(store_version(f.store), 4);
}

TEST(an_object_lives)
{
        _cleanup_fixture_ struct fixture f;
        struct object_key key = key_of(config_map_gvk(), "default", "a");
        const struct value *v;
        struct write_result result;

        fixture_init(&f);
        ASSERT(!get(&f, key));
        ASSERT_TEXT(err_message(&f.err), "configmaps \"a\" not found");
        MUST(&f,
             create(&f, JSON(&f, "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'a','namespace':'default'},"
                                 "'data':{'k':'v'}}")));
        v = get(&f, key);
        ASSERT_STR(meta_resource_version(v), STR("5"));
        ASSERT_INT(meta_uid(v).n, 36);
        ASSERT_STR(value_str(value_find(v, "data", "k")), STR("v"));
        ASSERT_INT(create(&f,
                          JSON(&f,
                               "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'a','namespace':'default'}}")),
                   ERR_EXISTS);
        ASSERT_TEXT(err_message(&f.err), "configmaps \"a\" already exists");
        MUST(&f, merge(&f, key, JSON(&f, "{'data':{'k':'w'}}"), &result));
        ASSERT(result.is_changed && !result.is_created && !result.is_removed);
        ASSERT_STR(meta_resource_version(result.value), STR("6"));
        ASSERT_INT(object_version(result.object), 6);
        MUST(&f, merge(&f, key, JSON(&f, "{'data':{'k':'w'}}"), &result));
        ASSERT(!result.is_changed);
        ASSERT_STR(meta_resource_version(result.value), STR("6"));
        MUST(&f, write_request(&f, (struct write_request) { .verb = WRITE_DELETE, .key = key }, &result));
        ASSERT(result.is_removed && !result.object);
        ASSERT(!get(&f, key));
        ASSERT_INT(store_version(f.store), 7);
}

/* --- Lists --- */

static void make_many(struct fixture *f, size_t n)
{
        for (size_t i = 0; i < n; i++)
                MUST(f, create(f, widget(f, i % 2 ? "default" : "kube-public", quoted(f, "w%03zu", i),
                                         quoted(f, "'labels':{'parity':'%s','number':'%zu'}", i % 2 ? "odd" : "even",
                                                i))));
}

/* Names of a list, joined by blanks. */
static struct str names(struct fixture *f, const struct object_list *list)
{
        struct str all = STR("");

        for (size_t i = 0; i < list->n; i++)
                all = arena_printf(&f->arena, "%.*s%s%.*s", STR_ARG(all), i ? " " : "",
                                   STR_ARG(meta_name(object_list_value(list, i, &f->arena))));
        return all;
}

static int list(struct fixture *f, struct list_request req, struct object_list *ret)
{
        if (req.gvk.kind.n == 0)
                req.gvk = widget_gvk();
        err_done(&f->err);
        f->err = (struct err) { 0 };
        *ret = (struct object_list) { 0 };
        return cluster_list(f->cluster, &f->run, &req, ret, &f->err);
}

TEST(lists_are_by_key_as_etcd_has_them)
{
        static const struct {
                const char *ns, *name;
        } objects[] = { { "a", "x" }, { "a-b", "x" }, { "a", "b" }, { "ab", "a" } };
        struct store_options options = { .accepts_any_kind = true, .creates_namespaces = true };
        _cleanup_fixture_ struct fixture f;
        struct object_list l;

        fixture_init_with(&f, &options);
        for (size_t i = 0; i < ARRAY_SIZE(objects); i++)
                MUST(&f, create(&f, widget(&f, objects[i].ns, objects[i].name, "")));
        MUST(&f, list(&f, (struct list_request) { 0 }, &l));
        ASSERT_INT(l.n, 4);
        ASSERT_STR(meta_namespace(object_list_value(&l, 0, &f.arena)), STR("a-b")); /* '-' is before '/' */
        ASSERT_STR(meta_namespace(object_list_value(&l, 1, &f.arena)), STR("a"));
        ASSERT_STR(meta_name(object_list_value(&l, 1, &f.arena)), STR("b"));
        ASSERT_STR(meta_namespace(object_list_value(&l, 3, &f.arena)), STR("ab"));
        ASSERT_INT(l.remaining, 0);
        MUST(&f, list(&f, (struct list_request) { .ns = STR("a") }, &l));
        ASSERT_STR(names(&f, &l), STR("b x"));
}

TEST(pages_show_one_version)
{
        _cleanup_fixture_ struct fixture f;
        struct list_request req = { .gvk = widget_gvk(), .ns = STR("default"), .limit = 3 };
        struct object_list l;

        fixture_init(&f);
        make_many(&f, 16); /* versions 5 to 20: w001 w003 ... w015 in default */
        MUST(&f, list(&f, req, &l));
        ASSERT_STR(names(&f, &l), STR("w001 w003 w005"));
        ASSERT_INT(l.remaining, 5);
        ASSERT_STR(l.resource_version, STR("20"));
        MUST(&f, delete_with(&f, key_of(widget_gvk(), "default", "w007"), PROPAGATE_UNSET));
        MUST(&f, create(&f, widget(&f, "default", "w008x", "")));
        MUST(&f, merge(&f, key_of(widget_gvk(), "default", "w011"), JSON(&f, "{'spec':1}"), NULL));
        req.continue_token = l.continue_token;
        MUST(&f, list(&f, req, &l));
        ASSERT_STR(names(&f, &l), STR("w007 w009 w011"));
        ASSERT_STR(l.resource_version, STR("20"));
        ASSERT(!value_get(object_list_value(&l, 2, &f.arena), STR("spec")));
        ASSERT_STR(meta_resource_version(object_list_value(&l, 2, &f.arena)), STR("16"));
        ASSERT_INT(l.remaining, 2);
        req.continue_token = l.continue_token;
        req.limit = 0;
        MUST(&f, list(&f, req, &l));
        ASSERT_STR(names(&f, &l), STR("w013 w015"));
        ASSERT_STR(l.continue_token, STR(""));
        MUST(&f, list(&f, (struct list_request) { .ns = STR("default") }, &l));
        ASSERT_STR(names(&f, &l), STR("w001 w003 w005 w008x w009 w011 w013 w015"));
        ASSERT_STR(l.resource_version, STR("23"));
}

TEST(an_old_token_goes_on_inconsistently)
{
        struct store_options options = { .accepts_any_kind = true, .history_events = 2 };
        _cleanup_fixture_ struct fixture f;
        struct list_request req = { .gvk = widget_gvk(), .limit = 2 };
        struct object_list l;
        struct str token;

        fixture_init_with(&f, &options);
        make_many(&f, 6);
        MUST(&f, list(&f, req, &l));
        ASSERT_STR(names(&f, &l), STR("w001 w003"));
        for (int i = 0; i < 4; i++)
                MUST(&f, merge(&f, key_of(widget_gvk(), "kube-public", "w002"), JSON(&f, "{'spec':%d}", i), NULL));
        req.continue_token = l.continue_token;
        ASSERT_INT(list(&f, req, &l), ERR_EXPIRED);
        ASSERT_INT(f.err.reason, REASON_EXPIRED);
        ASSERT(str_starts_with(str_from(err_message(&f.err)),
                               STR("The provided continue parameter is too old to display")));
        token = l.continue_token;
        ASSERT(token.n > 0);
        req.continue_token = token;
        MUST(&f, list(&f, req, &l));
        ASSERT_STR(names(&f, &l), STR("w005 w000"));
        ASSERT_STR(l.resource_version, STR("14"));
        req.continue_token = l.continue_token;
        MUST(&f, list(&f, req, &l));
        ASSERT_STR(names(&f, &l), STR("w002 w004"));
        ASSERT_STR(l.resource_version, STR("14"));
}

TEST(long_lists_stay_in_one_version_between_turns)
{
        _cleanup_fixture_ struct fixture f;
        struct object_list l;
        struct label_selector odd;

        fixture_init(&f);
        make_many(&f, 700);
        MUST(&f, list(&f, (struct list_request) { 0 }, &l));
        ASSERT_INT(l.n, 700);
        MUST(&f, list(&f, (struct list_request) { .limit = 300 }, &l));
        ASSERT_INT(l.n, 300);
        ASSERT_INT(l.remaining, 400);
        ASSERT_INT(label_selector_parse(&f.arena, STR("parity!=even"), &odd, NULL), 0);
        MUST(&f, list(&f, (struct list_request) { .labels = &odd, .limit = 100, .ns = STR("default") }, &l));
        ASSERT_INT(l.n, 100);
        ASSERT_INT(l.remaining, -1);
        ASSERT(l.continue_token.n > 0);
}

/* A full page has a next one only if that would have an object, however far behind it is. */
TEST(pages_end_with_the_last_match)
{
        _cleanup_fixture_ struct fixture f;
        struct object_list l;
        struct label_selector odd;
        struct list_request req = { .labels = &odd, .limit = 350 };

        fixture_init(&f);
        make_many(&f, 700);
        ASSERT_INT(label_selector_parse(&f.arena, STR("parity!=even"), &odd, NULL), 0);
        MUST(&f, list(&f, req, &l));
        ASSERT_INT(l.n, 350);
        ASSERT_INT(l.remaining, 0);
        ASSERT_STR(l.continue_token, STR(""));
        req.limit = 349;
        MUST(&f, list(&f, req, &l));
        ASSERT_INT(l.n, 349);
        req.continue_token = l.continue_token;
        MUST(&f, list(&f, req, &l));
        ASSERT_INT(l.n, 1);
        ASSERT_STR(l.continue_token, STR(""));
}

/* --- Cursors --- */

static struct list_cursor *begin_list(struct fixture *f, const struct list_request *req)
{
        struct list_cursor *c = NULL;

        MUST(f, cluster_list_begin(f->cluster, &f->run, req, &c, &f->err));
        return c;
}

/* The next batch, in an arena of its own that the caller empties. */
static int next_batch(struct fixture *f, struct list_cursor *c, struct arena *a, struct object_list *ret)
{
        struct run run = f->run;

        run.arena = a;
        return list_cursor_next(c, &run, ret, &f->err);
}

TEST(a_cursor_gives_batches)
{
        _cleanup_fixture_ struct fixture f;
        struct list_request req = { .gvk = widget_gvk() };
        struct list_cursor *c;
        struct object_list l;
        struct arena a;
        size_t n = 0, n_batches = 0;
        int r;

        fixture_init(&f);
        make_many(&f, 700);
        c = begin_list(&f, &req);
        arena_init(&a, "batch", 0);
        while ((r = next_batch(&f, c, &a, &l)) > 0) {
                ASSERT(l.n > 0 && l.n <= 256);
                ASSERT_STR(l.resource_version, STR("704"));
                ASSERT_INT(l.continue_token.n, 0);
                n += l.n;
                n_batches++;
                arena_reset(&a);
        }
        ASSERT_INT(r, 0);
        ASSERT_INT(n, 700);
        ASSERT(n_batches >= 3);
        ASSERT_STR(l.resource_version, STR("704"));
        ASSERT_INT(l.remaining, 0);
        ASSERT_INT(l.n, 0);
        ASSERT_INT(next_batch(&f, c, &a, &l), 0); /* it stays at its end */
        list_cursor_free(c);
        req.limit = 300;
        c = begin_list(&f, &req);
        for (n = 0; next_batch(&f, c, &a, &l) > 0; n += l.n)
                ;
        ASSERT_INT(n, 300);
        ASSERT_INT(l.remaining, 400);
        ASSERT(l.continue_token.n > 0);
        list_cursor_free(c);
        arena_done(&a);
}

TEST(a_cursor_shows_one_version_whatever_happens_between)
{
        _cleanup_fixture_ struct fixture f;
        struct list_request req = { .gvk = widget_gvk(), .ns = STR("default") };
        struct list_cursor *c;
        struct object_list l;
        size_t n = 0;
        int r;

        fixture_init(&f);
        make_many(&f, 700); /* w001 ... w699 in default */
        c = begin_list(&f, &req);
        for (int round = 0; (r = list_cursor_next(c, &f.run, &l, &f.err)) > 0; round++) {
                for (size_t i = 0; i < l.n; i++) {
                        const struct value *v = object_list_value(&l, i, &f.arena);

                        ASSERT_STR(meta_name(v), arena_printf(&f.arena, "w%03zu", 2 * (n + i) + 1));
                        ASSERT(!value_get(v, STR("spec")));
                }
                n += l.n;
                if (round > 0)
                        continue;
                MUST(&f, delete_with(&f, key_of(widget_gvk(), "default", "w601"), PROPAGATE_UNSET));
                MUST(&f, create(&f, widget(&f, "default", "w600", "")));
                MUST(&f, merge(&f, key_of(widget_gvk(), "default", "w699"), JSON(&f, "{'spec':1}"), NULL));
        }
        ASSERT_INT(r, 0);
        ASSERT_INT(n, 350);
        ASSERT_STR(l.resource_version, STR("704"));
        list_cursor_free(c);
}

TEST(a_cursor_does_not_hold_memory_without_bound)
{
        struct store_options options = { .accepts_any_kind = true, .history_events = 10, .watch_bytes = 20000 };
        _cleanup_fixture_ struct fixture f;
        struct list_request req = { .gvk = widget_gvk() };
        struct list_cursor *c;
        struct store_stats stats;
        struct object_list l;

        fixture_init_with(&f, &options);
        make_many(&f, 600);
        c = begin_list(&f, &req);
        ASSERT_INT(list_cursor_next(c, &f.run, &l, &f.err), 1);
        ASSERT_INT(l.n, 256); /* the last one is w511 of default */
        for (int i = 0; i < 20; i++)
                MUST(&f, merge(&f, key_of(widget_gvk(), "default", "w599"), JSON(&f, "{'spec':%d}", i), NULL));
        store_stats(f.store, &stats);
        ASSERT(stats.history_bytes > 10 * 300); /* more than 10 events: the cursor keeps them */
        for (int i = 20; i < 200; i++)
                MUST(&f, merge(&f, key_of(widget_gvk(), "default", "w599"), JSON(&f, "{'spec':%d}", i), NULL));
        store_stats(f.store, &stats);
        ASSERT(stats.history_bytes < 20000 + 10 * 2000);
        ASSERT_INT(list_cursor_next(c, &f.run, &l, &f.err), ERR_EXPIRED);
        ASSERT_INT(f.err.reason, REASON_EXPIRED);
        ASSERT(str_starts_with(str_from(err_message(&f.err)), STR("The provided continue parameter is too old")));
        list_cursor_free(c);
        req.continue_token = l.continue_token;
        MUST(&f, list(&f, req, &l));
        ASSERT_INT(l.n, 600 - 256);
        ASSERT_STR(meta_name(object_list_value(&l, 0, &f.arena)), STR("w513"));
}

/* A store of one object of 1 MiB keeps 16 MiB of history, not 64. */
TEST(the_history_follows_the_size_of_the_objects)
{
        struct store_options options = { .accepts_any_kind = true };
        _cleanup_fixture_ struct fixture f;
        size_t n = 1u << 20;
        char *filling = NULL;
        struct store_stats stats;

        fixture_init_with(&f, &options);
        filling = arena_alloc(&f.arena, n + 1);
        memset(filling, 'x', n);
        filling[n] = '\0';
        make_many(&f, 2);
        for (int i = 0; i < 20; i++)
                MUST(&f,
                     merge(&f, key_of(widget_gvk(), "default", "w001"), JSON(&f, "{'spec':'%d%s'}", i, filling), NULL));
        store_stats(f.store, &stats);
        ASSERT(stats.history_bytes > 14u << 20 && stats.history_bytes <= 16u << 20);
}

/* Events of other kinds fill the history too; a cursor whose own kind has lost nothing goes on. */
TEST(a_cursor_outlives_what_other_kinds_lose)
{
        struct store_options options = { .accepts_any_kind = true, .history_events = 10, .watch_bytes = 20000 };
        _cleanup_fixture_ struct fixture f;
        struct list_request req = { .gvk = config_map_gvk() };
        struct list_cursor *c;
        struct object_list l;

        fixture_init_with(&f, &options);
        for (int i = 0; i < 300; i++)
                MUST(&f, create(&f, JSON(&f,
                                         "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'c%03d','namespace':"
                                         "'default'}}",
                                         i)));
        c = begin_list(&f, &req);
        ASSERT_INT(list_cursor_next(c, &f.run, &l, &f.err), 1);
        make_many(&f, 300);
        ASSERT_INT(list_cursor_next(c, &f.run, &l, &f.err), 1);
        ASSERT_INT(l.n, 300 - 256);
        ASSERT_INT(list_cursor_next(c, &f.run, &l, &f.err), 0);
        list_cursor_free(c);
}

TEST(lists_decode_only_what_they_look_at)
{
        _cleanup_fixture_ struct fixture f;
        struct label_selector one;
        struct object_list l;
        size_t n_bytes = 0, used;

        fixture_init(&f);
        make_many(&f, 300);
        arena_reset(&f.arena);
        used = object_cache_used_bytes(f.store->cache);
        MUST(&f, list(&f, (struct list_request) { 0 }, &l));
        for (size_t i = 0; i < l.n; i++)
                n_bytes += object_size_bytes(l.objects[i]);
        ASSERT_INT(l.n, 300);
        ASSERT_INT(f.arena.pinned_bytes, n_bytes);
        ASSERT_INT(object_cache_used_bytes(f.store->cache), used);

        ASSERT_INT(label_selector_parse(&f.arena, STR("number in (17,18)"), &one, NULL), 0);
        n_bytes = f.arena.pinned_bytes;
        MUST(&f, list(&f, (struct list_request) { .labels = &one }, &l));
        ASSERT_INT(l.n, 2);
        ASSERT_INT(f.arena.pinned_bytes, n_bytes + object_size_bytes(l.objects[0]) + object_size_bytes(l.objects[1]));
        ASSERT_INT(object_cache_used_bytes(f.store->cache), used);
        object_list_value(&l, 0, &f.arena);
        ASSERT(object_cache_used_bytes(f.store->cache) > used);
}

TEST(a_list_beyond_the_budget_of_its_run_is_refused)
{
        _cleanup_fixture_ struct fixture f;
        struct list_request req = { .gvk = widget_gvk() };
        struct object_list l;
        struct arena a;
        struct run run;

        fixture_init(&f);
        make_many(&f, 600);
        arena_init(&a, "request", 64 << 10);
        run = f.run;
        run.arena = &a;
        ASSERT_INT(cluster_list(f.cluster, &run, &req, &l, &f.err), ERR_LIMIT);
        ASSERT_TEXT(err_message(&f.err), "request memory limit of 65536 bytes exceeded");
        arena_done(&a);
}

TEST(what_remains_is_counted_in_its_range)
{
        static const struct {
                const char *ns;
                size_t limit;
                int64_t remaining;
        } cases[] = { { "", 1, 8 }, { "", 8, 1 }, { "a", 1, 2 }, { "a-b", 2, 1 }, { "ab", 1, 2 } };
        static const char *const namespaces[] = { "a", "a-b", "ab" };
        struct store_options options = { .accepts_any_kind = true, .creates_namespaces = true };
        _cleanup_fixture_ struct fixture f;
        struct object_list l;

        fixture_init_with(&f, &options);
        for (size_t i = 0; i < 12; i++)
                MUST(&f, create(&f, widget(&f, namespaces[i % 3], quoted(&f, "w%zu", i), "")));
        for (size_t i = 9; i < 12; i++) /* history still knows these */
                MUST(&f,
                     delete_with(&f, key_of(widget_gvk(), namespaces[i % 3], quoted(&f, "w%zu", i)), PROPAGATE_UNSET));
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct list_request req = { .ns = str_from(cases[i].ns), .limit = cases[i].limit };

                MUST(&f, list(&f, req, &l));
                ASSERT_INT(l.remaining, cases[i].remaining);
        }
}

/* As of the version of the list while that is cheap to know, of what is there now beyond. */
TEST(what_remains_of_an_older_version)
{
        _cleanup_fixture_ struct fixture f;
        struct list_request req = { .gvk = widget_gvk(), .ns = STR("default"), .limit = 2 };
        struct object_list l;
        struct str token;

        fixture_init(&f);
        make_many(&f, 40); /* 20 of them in default */
        MUST(&f, list(&f, req, &l));
        ASSERT_INT(l.remaining, 18);
        token = req.continue_token = l.continue_token;
        for (int i = 0; i < 5; i++) {
                MUST(&f, create(&f, widget(&f, "default", quoted(&f, "x%d", i), "")));
                MUST(&f,
                     delete_with(&f, key_of(widget_gvk(), "default", quoted(&f, "w0%d", 21 + 2 * i)), PROPAGATE_UNSET));
                MUST(&f, delete_with(&f, key_of(widget_gvk(), "default", quoted(&f, "x%d", i)), PROPAGATE_UNSET));
        }
        MUST(&f, list(&f, req, &l));
        ASSERT_INT(l.remaining, 16);
        for (int i = 0; i < 1100; i++)
                MUST(&f, merge(&f, key_of(widget_gvk(), "default", "w039"), JSON(&f, "{'spec':%d}", i), NULL));
        req.continue_token = token;
        MUST(&f, list(&f, req, &l));
        ASSERT_STR(names(&f, &l), STR("w005 w007"));
        ASSERT_INT(l.remaining, 16 - 5);
}

/* --- Versions --- */

TEST(versions_can_be_asked_for)
{
        struct store_options options = { .accepts_any_kind = true, .history_events = 5 };
        _cleanup_fixture_ struct fixture f;
        struct object_list l;
        struct list_request exact = { .match = MATCH_EXACT };

        fixture_init_with(&f, &options);
        make_many(&f, 3);                                                                    /* 5 6 7 */
        MUST(&f, delete_with(&f, key_of(widget_gvk(), "default", "w001"), PROPAGATE_UNSET)); /* 8 */
        MUST(&f, create(&f, widget(&f, "default", "w001", "'labels':{'second':'life'}")));   /* 9 */
        exact.resource_version = STR("7");
        MUST(&f, list(&f, exact, &l));
        ASSERT_STR(names(&f, &l), STR("w001 w000 w002"));
        ASSERT_STR(meta_label(object_list_value(&l, 0, &f.arena), STR("parity")), STR("odd"));
        exact.resource_version = STR("8");
        MUST(&f, list(&f, exact, &l));
        ASSERT_STR(names(&f, &l), STR("w000 w002"));
        exact.resource_version = STR("9");
        MUST(&f, list(&f, exact, &l));
        ASSERT_STR(meta_label(object_list_value(&l, 0, &f.arena), STR("second")), STR("life"));
        MUST(&f,
             list(&f, (struct list_request) { .resource_version = STR("6"), .limit = 10 }, &l)); /* exactly: legacy */
        ASSERT_STR(names(&f, &l), STR("w001 w000"));
        ASSERT_STR(l.resource_version, STR("6"));
        MUST(&f, list(&f, (struct list_request) { .resource_version = STR("6") }, &l)); /* not older than */
        ASSERT_STR(l.resource_version, STR("9"));
        MUST(&f, list(&f, (struct list_request) { .resource_version = STR("0"), .limit = 1 }, &l));
        ASSERT_STR(l.resource_version, STR("9"));
        for (int i = 0; i < 3; i++)
                MUST(&f, merge(&f, key_of(widget_gvk(), "default", "w001"), JSON(&f, "{'spec':%d}", i), NULL));
        exact.resource_version = STR("5");
        ASSERT_INT(list(&f, exact, &l), ERR_EXPIRED);
        ASSERT_TEXT(err_message(&f.err), "The resourceVersion for the provided list is too old.");
}

TEST(bad_list_options)
{
        static const struct {
                struct list_request req;
                enum reason reason;
                const char *message;
        } cases[] = {
                { { .match = MATCH_EXACT },
                  REASON_INVALID,
                  "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch is "
                  "forbidden "
                  "unless resourceVersion is provided" },
                { { .match = MATCH_EXACT, .resource_version = STR_INIT("0") },
                  REASON_INVALID,
                  "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch "
                  "\"exact\" is "
                  "forbidden for resourceVersion \"0\"" },
                { { .match = MATCH_NOT_OLDER_THAN, .resource_version = STR_INIT("1"), .continue_token = STR_INIT("x") },
                  REASON_INVALID,
                  "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch is "
                  "forbidden "
                  "when continue is provided" },
                { { .resource_version = STR_INIT("abc") },
                  REASON_BAD_REQUEST,
                  "invalid resource version: resourceVersion: Invalid value: \"abc\": strconv.ParseUint: parsing "
                  "\"abc\": "
                  "invalid syntax" },
                { { .resource_version = STR_INIT("1"),
                    .continue_token = STR_INIT("eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiJhIn0") },
                  REASON_BAD_REQUEST,
                  "specifying resource version is not allowed when using continue" },
                { { .resource_version = STR_INIT("1"),
                    .continue_token = STR_INIT("eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MCwic3RhcnQiOiJhIn0") },
                  REASON_BAD_REQUEST,
                  "invalid continue token: continue key is not valid: incorrect encoded start resourceVersion "
                  "(version meta.k8s.io/v1)" },
                { { .continue_token = STR_INIT("!") },
                  REASON_BAD_REQUEST,
                  "invalid continue token: continue key is not valid: illegal base64 data at input byte 0" },
        };
        _cleanup_fixture_ struct fixture f;
        struct object_list l;

        fixture_init(&f);
        make_many(&f, 1);
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                ASSERT_CASE(cases[i].message, list(&f, cases[i].req, &l) < 0);
                ASSERT_STR_CASE("message", str_from(err_message(&f.err)), str_from(cases[i].message));
                ASSERT_INT(f.err.reason, cases[i].reason);
        }
}

TEST(selectors_and_indexes_find_the_same)
{
        static const struct {
                const char *labels, *ns, *wanted;
        } cases[] = {
                { "parity=odd", "", "w001 w003 w005" },
                { "parity=odd,number=3", "", "w003" },
                { "number=3,parity!=odd", "", "" },
                { "parity in (even)", "", "w000 w002 w004" },
                { "parity", "default", "w001 w003 w005" },
                { "parity=even", "default", "" },
                { "!parity", "", "" },
                { "number in (1,2)", "", "w001 w002" },
        };
        _cleanup_fixture_ struct fixture f;
        struct object_list l;

        fixture_init(&f);
        make_many(&f, 6);
        MUST(&f,
             create(&f, JSON(&f, "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'x','namespace':'default',"
                                 "'labels':{'parity':'odd'}}}")));
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct label_selector labels;
                struct list_request req = { .labels = &labels, .ns = str_from(cases[i].ns) };

                ASSERT_INT(label_selector_parse(&f.arena, str_from(cases[i].labels), &labels, NULL), 0);
                MUST(&f, list(&f, req, &l));
                ASSERT_STR_CASE(cases[i].labels, names(&f, &l), str_from(cases[i].wanted));
        }
        MUST(&f, merge(&f, key_of(widget_gvk(), "default", "w001"),
                       JSON(&f, "{'metadata':{'labels':{'parity':'even'}}}"), NULL));
        MUST(&f, delete_with(&f, key_of(widget_gvk(), "default", "w003"), PROPAGATE_UNSET));
        {
                struct label_selector labels;

                ASSERT_INT(label_selector_parse(&f.arena, STR("parity=odd"), &labels, NULL), 0);
                MUST(&f, list(&f, (struct list_request) { .labels = &labels }, &l));
                ASSERT_STR(names(&f, &l), STR("w005"));
        }
}

TEST(field_selectors_and_owners)
{
        _cleanup_fixture_ struct fixture f;
        struct field_selector fields;
        struct object_list l;
        struct str uid;

        fixture_init(&f);
        make_many(&f, 4);
        ASSERT_INT(field_selector_parse(&f.arena, STR("metadata.name=w001"), &fields, NULL), 0);
        MUST(&f, list(&f, (struct list_request) { .fields = &fields }, &l));
        ASSERT_STR(names(&f, &l), STR("w001"));
        MUST(&f, list(&f, (struct list_request) { .fields = &fields, .ns = STR("default") }, &l));
        ASSERT_STR(names(&f, &l), STR("w001"));
        MUST(&f, list(&f, (struct list_request) { .fields = &fields, .ns = STR("kube-public") }, &l));
        ASSERT_STR(names(&f, &l), STR(""));
        ASSERT_INT(field_selector_parse(&f.arena, STR("spec.x=1"), &fields, NULL), 0);
        ASSERT(list(&f, (struct list_request) { .fields = &fields }, &l) < 0);
        uid = meta_uid(get(&f, key_of(widget_gvk(), "default", "w001")));
        MUST(&f,
             create(&f, widget(&f, "default", "child",
                               quoted(&f,
                                      "'ownerReferences':[{'apiVersion':'example.org/v1','kind':'Widget','name':'w001',"
                                      "'uid':'%.*s'}]",
                                      STR_ARG(uid)))));
        MUST(&f, list(&f, (struct list_request) { .owner_uid = uid }, &l));
        ASSERT_STR(names(&f, &l), STR("child"));
        MUST(&f,
             list(&f, (struct list_request) { .owner_uid = uid, .resource_version = STR("9"), .match = MATCH_EXACT },
                  &l));
        ASSERT_STR(names(&f, &l), STR("child"));
        MUST(&f, list(&f, (struct list_request) { .owner_uid = STR("nobody") }, &l));
        ASSERT_INT(l.n, 0);
}

TEST(a_kind_nobody_has_met_is_empty)
{
        _cleanup_fixture_ struct fixture f;
        struct object_list l;
        struct kind *kind;

        fixture_init(&f);
        MUST(&f, list(&f, (struct list_request) { 0 }, &l));
        ASSERT_INT(l.n, 0);
        ASSERT_STR(l.resource_version, STR("4"));
        ASSERT(!get(&f, key_of(widget_gvk(), "default", "x")));
        ASSERT_TEXT(err_message(&f.err), "widgets.example.org \"x\" not found");
        ASSERT_INT(f.cluster->ops->kind(f.cluster, &f.run, widget_gvk(), &kind, &f.err), ERR_NOT_FOUND);
}

/* --- Gets --- */

static int get_at(struct fixture *f, const char *version, struct object **ret)
{
        struct get_request req = { .key = key_of(widget_gvk(), "default", "w001"),
                                   .resource_version = str_from(version) };
        struct run run = f->run;

        run.deadline = deadline_after_ms(-1);
        err_done(&f->err);
        f->err = (struct err) { 0 };
        return cluster_get(f->cluster, &run, &req, ret, &f->err);
}

TEST(gets_are_not_older_than_asked)
{
        _cleanup_fixture_ struct fixture f;
        struct object *o;

        fixture_init(&f);
        make_many(&f, 2);
        ASSERT_INT(get_at(&f, "0", &o), 0);
        ASSERT_INT(get_at(&f, "6", &o), 0);
        ASSERT_INT(object_version(o), 6);
        ASSERT_INT(get_at(&f, "7", &o), ERR_TIMEOUT);
        ASSERT_TEXT(err_message(&f.err), "Timeout: Too large resource version: 7, current: 6");
        ASSERT_INT(f.err.reason, REASON_TIMEOUT);
        ASSERT(strstr(f.err.details, "ResourceVersionTooLarge"));
        ASSERT_INT(get_at(&f, "x", &o), ERR_INVALID);
        ASSERT_INT(f.err.reason, REASON_UNKNOWN);
        ASSERT_TEXT(err_message(&f.err),
                    "resourceVersion: Invalid value: \"x\": strconv.ParseUint: parsing \"x\": invalid syntax");
}

struct late {
        struct fixture *f;
        int result;
        uint64_t version;
};

static void get_late(void *arg)
{
        struct late *late = arg;
        struct get_request req = { .key = key_of(widget_gvk(), "default", "w001"), .resource_version = STR("7") };
        struct object *o;
        struct arena a;
        struct run run = { .arena = &a, .deadline = DEADLINE_NONE };

        arena_init(&a, "test", 0);
        late->result = cluster_get(late->f->cluster, &run, &req, &o, NULL);
        if (late->result == 0)
                late->version = object_version(o);
        arena_done(&a);
}

TEST(a_version_that_comes_soon_is_waited_for)
{
        _cleanup_fixture_ struct fixture f;
        struct late late = { .f = &f, .result = -100 };
        struct thread *t;

        fixture_init(&f);
        make_many(&f, 2);
        ASSERT_INT(thread_start("late", get_late, &late, &t, NULL), 0);
        MUST(&f, merge(&f, key_of(widget_gvk(), "default", "w001"), JSON(&f, "{'spec':1}"), NULL));
        thread_join(t);
        ASSERT_INT(late.result, 0);
        ASSERT_INT(late.version, 7);
}

/* --- Writes --- */

TEST(names_are_generated_until_one_is_free)
{
        _cleanup_fixture_ struct fixture f;
        const struct value *body;
        struct write_result result;

        fixture_init(&f);
        body = JSON(&f, "{'apiVersion':'example.org/"
                        "v1','kind':'Widget','metadata':{'generateName':'x-','namespace':'default'}}");
        for (int i = 0; i < 20; i++) {
                MUST(&f, write_request(&f,
                                       (struct write_request) {
                                               .verb = WRITE_CREATE, .key = object_key_of(body), .body = body },
                                       &result));
                ASSERT(result.is_created);
                ASSERT_INT(meta_name(result.value).n, 7);
        }
        ASSERT_INT(store_version(f.store), 24);
}

TEST(a_dry_run_changes_nothing)
{
        _cleanup_fixture_ struct fixture f;
        struct object_key key = key_of(widget_gvk(), "default", "a");
        struct write_request req = { .verb = WRITE_CREATE, .key = key, .is_dry_run = true };
        struct write_result result;

        fixture_init(&f);
        req.body = widget(&f, "default", "a", "");
        MUST(&f, write_request(&f, req, &result));
        ASSERT(result.is_created && !result.is_changed && meta_uid(result.value).n);
        ASSERT_STR(meta_resource_version(result.value), STR(""));
        ASSERT(!get(&f, key));
        MUST(&f, create(&f, req.body));
        ASSERT_INT(write_request(&f, req, &result), ERR_EXISTS);
        req = (struct write_request) { .verb = WRITE_MERGE_PATCH, .key = key, .is_dry_run = true };
        req.body = JSON(&f, "{'spec':1}");
        MUST(&f, write_request(&f, req, &result));
        ASSERT_INT(meta_generation(result.value), 2);
        ASSERT_STR(meta_resource_version(result.value), STR("5"));
        req = (struct write_request) { .verb = WRITE_DELETE, .key = key, .is_dry_run = true };
        MUST(&f, write_request(&f, req, &result));
        ASSERT(result.is_removed && !result.is_changed);
        ASSERT(get(&f, key));
        ASSERT_INT(store_version(f.store), 5);
}

TEST(updates_are_checked_against_what_is_there)
{
        _cleanup_fixture_ struct fixture f;
        struct object_key key = key_of(widget_gvk(), "default", "a");
        struct write_request req = { .verb = WRITE_UPDATE, .key = key };
        const struct value *v;

        fixture_init(&f);
        MUST(&f, create(&f, widget(&f, "default", "a", "")));
        v = get(&f, key);
        req.body = value_with(&f.arena, v, STR("spec"), &value_true);
        MUST(&f, write_request(&f, req, NULL));
        ASSERT_INT(write_request(&f, req, NULL), ERR_CONFLICT);
        ASSERT_TEXT(err_message(&f.err),
                    "Operation cannot be fulfilled on widgets.example.org \"a\": the object has been "
                    "modified; please apply your changes to the latest version and try again");
        req.key.name = STR("b");
        req.body = widget(&f, "default", "b", "");
        ASSERT_INT(write_request(&f, req, NULL), ERR_NOT_FOUND);
        ASSERT_INT(merge(&f, req.key, JSON(&f, "{}"), NULL), ERR_NOT_FOUND);
        ASSERT_INT(delete_with(&f, req.key, PROPAGATE_UNSET), ERR_NOT_FOUND);
}

TEST(finalizers_hold_an_object_and_its_name)
{
        _cleanup_fixture_ struct fixture f;
        struct object_key key = key_of(widget_gvk(), "default", "a");
        struct write_result result;

        fixture_init(&f);
        MUST(&f, create(&f, widget(&f, "default", "a", "'finalizers':['a.b/c']")));
        MUST(&f, write_request(&f, (struct write_request) { .verb = WRITE_DELETE, .key = key }, &result));
        ASSERT(!result.is_removed && result.object && meta_is_deleting(result.value));
        ASSERT_STR(meta_resource_version(result.value), STR("6"));
        MUST(&f, write_request(&f, (struct write_request) { .verb = WRITE_DELETE, .key = key }, &result));
        ASSERT(!result.is_changed && !result.is_removed);
        ASSERT_INT(create(&f, widget(&f, "default", "a", "")), ERR_EXISTS);
        ASSERT_TEXT(err_message(&f.err), "object is being deleted: widgets.example.org \"a\" already exists");
        MUST(&f, merge(&f, key, JSON(&f, "{'metadata':{'finalizers':null},'spec':1}"), &result));
        ASSERT(result.is_removed && result.is_changed);
        ASSERT_STR(meta_resource_version(result.value), STR("6")); /* the old one */
        ASSERT_INT(object_version(result.object), 6);
        ASSERT(!get(&f, key));
        ASSERT_INT(store_version(f.store), 7);
}

TEST(collections_are_deleted)
{
        _cleanup_fixture_ struct fixture f;
        struct label_selector odd;
        struct list_request which = { .gvk = widget_gvk(), .labels = &odd };
        struct write_request how = { .verb = WRITE_DELETE };
        struct object_list l;

        fixture_init(&f);
        make_many(&f, 5);
        MUST(&f, create(&f, widget(&f, "default", "x", "'finalizers':['a.b/c'],'labels':{'parity':'odd'}")));
        ASSERT_INT(label_selector_parse(&f.arena, STR("parity=odd"), &odd, NULL), 0);
        MUST(&f, cluster_delete_collection(f.cluster, &f.run, &which, &how, &l, &f.err));
        ASSERT_STR(names(&f, &l), STR("w001 w003 x"));
        ASSERT(!meta_is_deleting(object_list_value(&l, 2, &f.arena))); /* as they were before */
        MUST(&f, list(&f, (struct list_request) { 0 }, &l));
        ASSERT_STR(names(&f, &l), STR("x w000 w002 w004"));
        ASSERT(meta_is_deleting(object_list_value(&l, 0, &f.arena)));
        how.precondition_uid = STR("other");
        ASSERT_INT(cluster_delete_collection(f.cluster, &f.run, &which, &how, &l, &f.err), ERR_CONFLICT);
}

TEST(every_write_is_recorded_with_its_cause)
{
        struct store_options options = { .accepts_any_kind = true, .records_writes = true };
        _cleanup_fixture_ struct fixture f;
        const struct store_write *writes;
        struct object_key key = key_of(widget_gvk(), "default", "a");
        struct write_request req = { .verb = WRITE_MERGE_PATCH, .key = key, .manager = STR("me") };

        fixture_init_with(&f, &options);
        ASSERT_INT(store_writes(f.store, 0, &f.arena, &writes), 4);
        ASSERT_STR(writes[0].cause, STR("bootstrap"));
        MUST(&f, create(&f, widget(&f, "default", "a", "")));
        f.run.cause = STR("another reason");
        req.body = JSON(&f, "{'spec':1}");
        MUST(&f, write_request(&f, req, NULL));
        MUST(&f, write_request(&f, req, NULL)); /* changes nothing */
        MUST(&f, delete_with(&f, key, PROPAGATE_UNSET));
        ASSERT_INT(store_writes(f.store, 4, &f.arena, &writes), 3);
        ASSERT(!writes[0].before && writes[0].after && writes[0].verb == WRITE_CREATE);
        ASSERT_STR(writes[0].cause, STR("a test"));
        ASSERT_STR(writes[0].user, STR("tester"));
        ASSERT(writes[1].before == writes[0].after && writes[1].verb == WRITE_MERGE_PATCH);
        ASSERT_STR(writes[1].cause, STR("another reason"));
        ASSERT_STR(writes[1].manager, STR("me"));
        ASSERT_INT(writes[1].version, 6);
        ASSERT(writes[2].before == writes[1].after && !writes[2].after && writes[2].verb == WRITE_DELETE);
        ASSERT_STR(writes[2].key.name, STR("a"));
        ASSERT_INT(store_writes(f.store, 7, &f.arena, &writes), 0);
}

TEST(wrong_places_are_refused)
{
        struct store_options options = { 0 };
        _cleanup_fixture_ struct fixture f;

        fixture_init_with(&f, &options);
        ASSERT_INT(create(&f, widget(&f, "default", "a", "")), ERR_NOT_FOUND);
        ASSERT_TEXT(err_message(&f.err), "no matches for kind \"Widget\" in version \"example.org/v1\"");
        ASSERT(create(&f, JSON(&f, "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'a'}}")) < 0);
        ASSERT_TEXT(err_message(&f.err), "an empty namespace may not be set during creation");
        ASSERT(delete_with(&f, key_of(config_map_gvk(), "", "a"), PROPAGATE_UNSET) < 0);
        ASSERT_TEXT(err_message(&f.err), "an empty namespace may not be set when a resource name is provided");
        f.run.cancel = cancel_new(NULL);
        cancel_trigger(f.run.cancel, "enough");
        ASSERT_INT(delete_with(&f, key_of(config_map_gvk(), "default", "a"), PROPAGATE_UNSET), ERR_CANCELED);
        cancel_unref(f.run.cancel);
        f.run.cancel = NULL;
}

TEST(schemaless_kinds_have_any_version)
{
        _cleanup_fixture_ struct fixture f;
        struct object_key key = key_of(widget_gvk(), "default", "a");
        const struct kind *kind;

        fixture_init(&f);
        MUST(&f, create(&f, widget(&f, "default", "a", "")));
        key.gvk.version = STR("v2");
        MUST(&f, merge(&f, key, JSON(&f, "{'spec':1}"), NULL));
        ASSERT_STR(value_str(value_get(get(&f, key), STR("apiVersion"))), STR("example.org/v2"));
        key.gvk.version = STR("v1");
        ASSERT_STR(value_str(value_get(get(&f, key), STR("apiVersion"))), STR("example.org/v1"));
        ASSERT_INT(value_int(value_get(get(&f, key), STR("spec")), 0), 1);
        MUST(&f, cluster_kind(f.cluster, &f.run, key.gvk, &kind, &f.err));
        ASSERT_INT(kind->n_versions, 2);
        ASSERT(kind->is_namespaced && kind->is_custom);
}

TEST(statistics)
{
        _cleanup_fixture_ struct fixture f;
        struct store_stats before, after;

        fixture_init(&f);
        store_stats(f.store, &before);
        ASSERT_INT(before.n_objects, 4);
        make_many(&f, 10);
        store_stats(f.store, &after);
        ASSERT_INT(after.n_objects, 14);
        ASSERT_INT(after.n_kinds, before.n_kinds + 1);
        ASSERT(after.object_bytes > before.object_bytes && after.history_bytes > before.history_bytes);
        for (int i = 0; i < 10; i++)
                MUST(&f,
                     delete_with(&f, key_of(widget_gvk(), i % 2 ? "default" : "kube-public", quoted(&f, "w%03d", i)),
                                 PROPAGATE_UNSET));
        store_stats(f.store, &after);
        ASSERT_INT(after.n_objects, 4);
}

TEST(depth_has_a_limit)
{
        _cleanup_fixture_ struct fixture f;
        struct value deep = value_of_int(1);

        fixture_init(&f);
        MUST(&f, create(&f, widget(&f, "default", "a", "")));
        for (int i = 0; i < 1200; i++)
                deep = value_of_items(&f.arena, &deep, 1);
        ASSERT_INT(merge(&f, key_of(widget_gvk(), "default", "a"),
                         value_with(&f.arena, &value_empty_object, STR("spec"), value_put(&f.arena, deep)), NULL),
                   ERR_LIMIT);
        ASSERT_TEXT(err_message(&f.err), "the object is nested deeper than the limit of 1000 levels");
}

/* --- The pipeline behind it, as far as the store has a part in it --- */

static int apply(struct fixture *f, const char *manager, bool force, const struct value *body, struct write_result *ret)
{
        return write_request(f,
                             (struct write_request) { .verb = WRITE_APPLY,
                                                      .key = object_key_of(body),
                                                      .body = body,
                                                      .manager = str_from(manager),
                                                      .force = force },
                             ret);
}

TEST(applied_objects)
{
        _cleanup_fixture_ struct fixture f;
        struct write_result result;
        const struct value *red, *blue;

        fixture_init(&f);
        red = JSON(
                &f,
                "{'apiVersion':'example.org/v1','kind':'Widget','metadata':{'name':'a','namespace':'default'},'spec':{"
                "'color':'red'}}");
        blue = JSON(
                &f,
                "{'apiVersion':'example.org/v1','kind':'Widget','metadata':{'name':'a','namespace':'default'},'spec':{"
                "'color':'blue'}}");
        MUST(&f, apply(&f, "one", false, red, &result));
        ASSERT(result.is_created && result.is_changed);
        MUST(&f, apply(&f, "one", false, red, &result));
        ASSERT(!result.is_created && !result.is_changed);
        ASSERT_STR(meta_resource_version(result.value), STR("5"));
        ASSERT_INT(apply(&f, "two", false, blue, &result), ERR_CONFLICT);
        ASSERT_TEXT(err_message(&f.err), "Apply failed with 1 conflict: conflict with \"one\": .spec.color");
        MUST(&f, apply(&f, "two", true, blue, &result));
        ASSERT_STR(value_str(value_find(result.value, "spec", "color")), STR("blue"));
        ASSERT_INT(store_version(f.store), 6);
}

TEST(the_request_is_wrong_before_its_namespace_is)
{
        _cleanup_fixture_ struct fixture f;
        struct write_request req = { .verb = WRITE_CREATE, .key = key_of(widget_gvk(), "nowhere", "a") };

        fixture_init(&f);
        req.body =
                JSON(&f,
                     "{'apiVersion':'example.org/v2','kind':'Widget','metadata':{'name':'a','namespace':'nowhere'}}");
        ASSERT(write_request(&f, req, NULL) < 0);
        ASSERT_INT(f.err.reason, REASON_BAD_REQUEST);
        req.body = widget(&f, "nowhere", "Not A Name", "");
        req.key.name = STR("Not A Name");
        ASSERT_INT(write_request(&f, req, NULL), ERR_NOT_FOUND);
        ASSERT_TEXT(err_message(&f.err), "namespaces \"nowhere\" not found");
        req.key = key_of(widget_gvk(), "default", "Not A Name");
        req.body = widget(&f, "default", "Not A Name", "");
        ASSERT(write_request(&f, req, NULL) < 0);
        ASSERT_INT(f.err.reason, REASON_INVALID);
}

/* --- Strategic merge patches --- */

static int strategic(struct fixture *f, struct object_key key, const struct value *patch, struct write_result *ret)
{
        return write_request(f, (struct write_request) { .verb = WRITE_STRATEGIC_PATCH, .key = key, .body = patch },
                             ret);
}

TEST(built_in_kinds_are_patched_strategically)
{
        struct object_key account = key_of((struct gvk) { STR(""), STR("v1"), STR("ServiceAccount") }, "default", "a");
        _cleanup_fixture_ struct fixture f;
        struct write_result result;

        fixture_init(&f);
        MUST(&f, create(&f, JSON(&f, "{'apiVersion':'v1','kind':'ServiceAccount','metadata':{'name':'a','namespace':"
                                     "'default','finalizers':['e.org/x']},'secrets':[{'name':'s'}],"
                                     "'imagePullSecrets':[{'name':'i'}]}")));
        MUST(&f, strategic(&f, account,
                           JSON(&f, "{'metadata':{'finalizers':['e.org/y']},'secrets':[{'name':'t'}],"
                                    "'imagePullSecrets':[{'name':'j'}]}"),
                           &result));
        ASSERT_STR(to_json(&f, value_get(result.value, STR("secrets"))), STR("[{\"name\":\"t\"},{\"name\":\"s\"}]"));
        ASSERT_STR(to_json(&f, value_get(result.value, STR("imagePullSecrets"))), STR("[{\"name\":\"j\"}]"));
        ASSERT_STR(to_json(&f, value_get(meta(result.value), STR("finalizers"))), STR("[\"e.org/y\",\"e.org/x\"]"));
        MUST(&f, strategic(&f, account, JSON(&f, "{'secrets':[{'name':'s','$patch':'delete'}]}"), &result));
        ASSERT_STR(to_json(&f, value_get(result.value, STR("secrets"))), STR("[{\"name\":\"t\"}]"));
        MUST(&f, strategic(&f, account, &value_null, &result));
        ASSERT(!result.is_changed);
        ASSERT_INT(strategic(&f, account, JSON(&f, "[]"), NULL), ERR_INVALID);
        ASSERT_TEXT(err_message(&f.err), "json: cannot unmarshal array into Go value of type map[string]interface {}");
        ASSERT_INT(f.err.reason, REASON_BAD_REQUEST);
        account.name = STR("nobody");
        ASSERT_INT(strategic(&f, account, JSON(&f, "{}"), NULL), ERR_NOT_FOUND);
}

TEST(custom_kinds_take_no_strategic_patch)
{
        _cleanup_fixture_ struct fixture f;

        fixture_init(&f);
        MUST(&f, create(&f, widget(&f, "default", "a", "")));
        ASSERT_INT(strategic(&f, key_of(widget_gvk(), "default", "a"), JSON(&f, "{}"), NULL), ERR_INVALID);
        ASSERT_INT(f.err.reason, REASON_UNSUPPORTED_MEDIA_TYPE);
        ASSERT_TEXT(err_message(&f.err),
                    "the body of the request was in an unknown format - accepted media types include: "
                    "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml");
        ASSERT_INT(strategic(&f, key_of(widget_gvk(), "default", "nobody"), JSON(&f, "{}"), NULL), ERR_INVALID);
}
