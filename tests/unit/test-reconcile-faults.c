/* After any failure the next runs reach the state that one run without failures reaches, and leave nothing behind on the way. Every
 * scenario runs with a failure at every call of the cluster and at every step. */
#include "engine-test.h"

#define RESOURCE(key, kind, spec) \
        key ": {ready: READY_TRUE, resource: {apiVersion: " kind ", metadata: {namespace: default}, spec: " spec "}}"
#define A   RESOURCE("a", "s3.example.org/v1, kind: Bucket", "{size: 1}")
#define A9  RESOURCE("a", "s3.example.org/v1, kind: Bucket", "{class: fast}")
#define B   RESOURCE("b", "s3.example.org/v1, kind: Bucket", "{size: 2}")
#define C   RESOURCE("c", "s3.example.org/v1, kind: Bucket", "{size: 2}")
#define OLD RESOURCE("old", "s3.example.org/v1, kind: Bucket", "{size: 7}")

#define SAYS "conditions: [{type: Database, status: STATUS_CONDITION_TRUE, reason: Up}]"
#define FIRST                                                                                                       \
        "{desired: {composite: {resource: {status: {url: x}}, connectionDetails: {user: cm9vdA==}}, resources: {" A \
        "}}, " SAYS "}"
#define SECOND "{desired: {resources: {" B "}}, results: [{severity: SEVERITY_NORMAL, message: hi}]}"

struct scenario {
        const char *name;
        const char *before[MAX_STEPS]; /* what steps answer first; nothing: the composite is new */
        const char *after[MAX_STEPS];  /* and then */
        const char *later[MAX_STEPS];  /* once the run has failed, if that is something else */
        const char *spec;              /* of the composite, in Crossplane's part */
        const char *change;            /* of Crossplane's part of its spec */
        void (*prepare)(void);         /* called before the runs */
        void (*act)(void);             /* called between them */
        bool depends_on_time;          /* what comes of it depends on when the change is seen */
        enum {
                NAMESPACED,
                LEGACY,
                BOTH,
        } scopes;
};

static struct composite composite_now;

static void delete_composite(void)
{
        remove_object(&key);
}

static void delete_in_foreground(void)
{
        struct write_request req = { .verb = WRITE_DELETE, .key = key, .propagation = PROPAGATE_FOREGROUND };
        struct write_result result;

        ASSERT(cluster_write(store_cluster(store), &run, &req, &result, NULL) >= 0);
        ASSERT(store_settle(store, &run, NULL) >= 0);
}

static void pause_composite(void)
{
        patch(&key, "{metadata: {annotations: {crossplane.io/paused: 'true'}}}");
}

/* A resource of the time before server-side apply: nobody controls it, and its fields are an updater's. */
static void plant_resource(void)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        const struct value *refs;

        buf_appendf(&b,
                    "{apiVersion: s3.example.org/v1, kind: Bucket, metadata: {name: planted-%.*s, namespace: default, "
                    "annotations: "
                    "{crossplane.io/composition-resource-name: old}}, spec: {size: 1, left: over}}",
                    STR_ARG(key.name));
        create(yaml(arena_cstring(&arena, buf_to_arena(&b, &arena))));
        buf_clear(&b);
        buf_appendf(&b, "[{apiVersion: s3.example.org/v1, kind: Bucket, name: planted-%.*s%s}]", STR_ARG(key.name),
                    scope == SCOPE_NAMESPACED ? "" : ", namespace: default");
        refs = yaml(arena_cstring(&arena, buf_to_arena(&b, &arena)));
        composite_now = composite();
        update(composite_with(&arena, &composite_now, STR("resourceRefs"), refs).object, "");
}

/* The composed resource b. */
static const struct value *find_b(void)
{
        struct object_list found = list(BUCKET, meta_uid(get(&key)));

        for (size_t i = 0; i < found.n; i++)
                if (str_equal(composed_key(object_list_value(&found, i, &arena)), STR("b")))
                        return object_list_value(&found, i, &arena);
        test_fail(__FILE__, __LINE__, "there is no b");
        return NULL;
}

static void delete_b(void)
{
        struct object_key k = object_key_of(find_b());

        remove_object(&k);
}

static void change_b(void)
{
        struct object_key k = object_key_of(find_b());

        patch(&k, "{metadata: {labels: {by: somebody}}, spec: {size: 9}}");
}

static const struct scenario scenarios[] = {
        { .name = "create", .after = { FIRST, SECOND }, .scopes = BOTH },
        { .name = "create with a secret",
          .after = { FIRST, SECOND },
          .spec = "{writeConnectionSecretToRef: {name: NAME, namespace: default}}",
          .scopes = LEGACY },
        { .name = "create nothing", .after = { NULL, NULL } },
        { .name = "change",
          .before = { FIRST, SECOND },
          .after = { "{desired: {composite: {resource: {status: {size: 4}}}, resources: {" A9 "}}, " SAYS "}",
                     SECOND } },
        { .name = "scale down", .before = { FIRST, SECOND }, .after = { FIRST, "{desired: {}}" } },
        { .name = "scale to nothing", .before = { FIRST, SECOND }, .after = { "{" SAYS "}" } },
        { .name = "rename",
          .scopes = BOTH,
          .before = { FIRST, SECOND },
          .after = { FIRST, "{desired: {resources: {" C "}}}" } },
        { .name = "create less", .after = { FIRST, SECOND }, .later = { FIRST, "{desired: {}}" } },
        { .name = "rename and back",
          .before = { FIRST, SECOND },
          .after = { FIRST, "{desired: {resources: {" C "}}}" },
          .later = { FIRST, SECOND } },
        { .name = "adopt", .after = { FIRST, "{desired: {resources: {" OLD "}}}" }, .prepare = plant_resource },
        { .name = "another composition",
          .before = { FIRST, SECOND, "{desired: {resources: {" B "," C "}}, " SAYS "}" },
          .after = { FIRST, SECOND, "{desired: {resources: {" B "," C "}}, " SAYS "}" },
          .change = "{compositionRef: {name: other}}" },
        { .name = "another revision",
          .before = { FIRST, SECOND, "{desired: {resources: {" C "}}}" },
          .after = { FIRST, SECOND, "{desired: {resources: {" C "}}}" },
          .change = "{compositionRevisionSelector: {matchLabels: {channel: new}}}" },
        { .name = "somebody deletes a resource",
          .before = { FIRST, SECOND },
          .after = { FIRST, SECOND },
          .act = delete_b },
        { .name = "somebody changes a resource",
          .before = { FIRST, SECOND },
          .after = { FIRST, SECOND },
          .act = change_b },
        { .name = "somebody changes a resource that goes",
          .before = { FIRST, SECOND },
          .after = { FIRST, "{desired: {}}" },
          .act = change_b },
        { .name = "delete", .before = { FIRST, SECOND }, .after = { FIRST, SECOND }, .act = delete_composite },
        { .name = "delete in the foreground",
          .before = { FIRST, SECOND },
          .after = { FIRST, SECOND },
          .act = delete_in_foreground },
        { .name = "pause",
          .before = { FIRST, SECOND },
          .after = { "{" SAYS "}" },
          .act = pause_composite,
          .depends_on_time = true },
};

/* --- What there is --- */

static int compare_texts(const void *a, const void *b)
{
        return str_compare(*(const struct str *)a, *(const struct str *)b);
}

static bool is_referenced(const struct composite *xr, const struct value *object)
{
        const struct resource_reference *refs;
        size_t n = xr->object ? composite_resource_refs(&arena, xr, &refs) : 0;

        for (size_t i = 0; i < n; i++)
                if (str_equal(refs[i].name, meta_name(object)) &&
                    str_equal(refs[i].kind, value_str(value_get(object, STR("kind")))))
                        return true;
        return false;
}

/* At any time: what belongs to the composite and is not on its way out is found by its references. What belongs to one that is on
 * its way out follows it. */
static void check_no_orphan(const char *what, struct str uid)
{
        struct object_list found = list(BUCKET, uid);
        struct composite xr = composite();

        for (size_t i = 0; i < found.n && xr.object && !meta_is_deleting(xr.object); i++)
                if (!meta_is_deleting(object_list_value(&found, i, &arena)) &&
                    !is_referenced(&xr, object_list_value(&found, i, &arena)))
                        test_fail(__FILE__, __LINE__, "[%s] %.*s is an orphan", what,
                                  STR_ARG(meta_name(object_list_value(&found, i, &arena))));
}

static void describe_resources(struct buf *b, struct str uid)
{
        struct gvk kinds[] = { BUCKET, TABLE, SECRET };
        struct composite xr = composite();
        struct str texts[32];
        size_t n = 0;

        for (size_t k = 0; k < ARRAY_SIZE(kinds); k++) {
                struct object_list found = list(kinds[k], uid);

                for (size_t i = 0; i < found.n && n < ARRAY_SIZE(texts); i++) {
                        const struct value *v = object_list_value(&found, i, &arena);

                        texts[n++] =
                                arena_printf(&arena, "%.*s %.*s%s labels %s spec %s data %s\n", STR_ARG(kinds[k].kind),
                                             STR_ARG(composed_key(v)), is_referenced(&xr, v) ? "" : " (not referenced)",
                                             text_of(value_get(meta(v), STR("labels")) ?: &value_null, JSON_SORT_KEYS),
                                             text_of(value_get(v, STR("spec")) ?: &value_null, JSON_SORT_KEYS),
                                             text_of(value_get(v, STR("data")) ?: &value_null, JSON_SORT_KEYS));
                }
        }
        qsort(texts, n, sizeof(*texts), compare_texts);
        for (size_t i = 0; i < n; i++)
                buf_append_str(b, texts[i]);
}

static const char *replace(const char *from, struct str what, const char *with)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        const char *name = arena_cstring(&arena, what);

        for (const char *p; (p = strstr(from, name)); from = p + what.n)
                buf_appendf(&b, "%.*s%s", (int)(p - from), from, with);
        buf_append_str(&b, str_from(from));
        return arena_cstring(&arena, buf_to_arena(&b, &arena));
}

/* Their order tells which came first, and so depends on what failed. */
static void describe_conditions(struct buf *b, const struct value *object)
{
        struct str texts[16];
        size_t n = 0;

        VALUE_FOREACH_ITEM (item, value_find(object, "status", "conditions")) {
                struct condition c = condition_of(item);

                ASSERT(n < ARRAY_SIZE(texts));
                texts[n++] = arena_printf(&arena, "%.*s=%s/%.*s: %.*s\n", STR_ARG(c.type),
                                          condition_status_name(c.status), STR_ARG(c.reason), STR_ARG(c.message));
        }
        qsort(texts, n, sizeof(*texts), compare_texts);
        for (size_t i = 0; i < n; i++)
                buf_append_str(b, texts[i]);
}

/* Everything that counts of the composite and of what belongs to it, whatever it is called. */
static const char *describe(struct str uid)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        struct composite xr = composite();
        const struct resource_reference *refs;

        if (xr.object) {
                buf_appendf(&b, "%zu references, finalizers %s, labels %s\n",
                            composite_resource_refs(&arena, &xr, &refs),
                            text_of(value_get(meta(xr.object), STR("finalizers")) ?: &value_null, 0),
                            text_of(value_get(meta(xr.object), STR("labels")) ?: &value_null, JSON_SORT_KEYS));
                buf_appendf(&b, "composition %.*s revision %.*s\n", STR_ARG(composite_ref(&xr, STR("compositionRef"))),
                            STR_ARG(composite_ref(&xr, STR("compositionRevisionRef"))));
                buf_appendf(&b, "url %s size %s published %d\n",
                            text_of(value_find(xr.object, "status", "url") ?: &value_null, 0),
                            text_of(value_find(xr.object, "status", "size") ?: &value_null, 0),
                            value_find(xr.object, "status", "connectionDetails", "lastPublishedTime") != NULL);
                describe_conditions(&b, xr.object);
        }
        describe_resources(&b, uid);
        return replace(replace(arena_cstring(&arena, buf_to_arena(&b, &arena)), key.name, "NAME"), uid, "UID");
}

/* --- The runs --- */

static void settle(const char *what)
{
        for (int i = 0; i < 6; i++) {
                reconcile_ok();
                if (faulty.n_writes == 0)
                        return;
        }
        test_fail(__FILE__, __LINE__, "[%s] does not settle", what);
}

static const char *machinery(const char *fields)
{
        fields = replace(fields, STR("NAME"), arena_cstring(&arena, key.name));
        return scope == SCOPE_LEGACY ? text("{spec: %s}", fields) : text("{spec: {crossplane: %s}}", fields);
}

static uint64_t version_before; /* what others did to the scenario's composite comes behind it */

/* A composite of the scenario, ready for the run that is to fail. */
static struct str begin_scenario(const struct scenario *s)
{
        static int number;

        faulty.late = (struct late_reads) { 0 };
        version_before = store_version(store);

        make_composite(text("web%dx", ++number), "{size: 3}");
        patch(&key,
              machinery(
                      "{compositionRef: {name: apps}, compositionUpdatePolicy: Automatic, compositionRevisionSelector: "
                      "{matchLabels: {channel: old}}}"));
        if (s->spec)
                patch(&key, machinery(s->spec));
        if (s->prepare)
                s->prepare();
        memcpy(answers, s->before, sizeof(answers));
        if (s->before[0])
                reconcile_ok();
        if (s->before[0])
                version_before = store_version(store);
        memcpy(answers, s->after, sizeof(answers));
        if (s->change)
                patch(&key, machinery(s->change));
        if (s->act)
                s->act();
        return meta_uid(get(&key));
}

static const char *end_scenario(const struct scenario *s, struct str uid)
{
        if (s->later[0])
                memcpy(answers, s->later, sizeof(answers));
        ASSERT(store_settle(store, &run, NULL) >= 0);
        settle(s->name);
        ASSERT(store_settle(store, &run, NULL) >= 0);
        check_no_orphan(s->name, uid);
        return describe(uid);
}

static void begin_world(enum scope sc)
{
        const struct value *composition;
        struct object_key k = own_kind("Composition", "apps");

        set_up(sc, NULL);
        composition = make_composition("apps", 0, 2, "{metadata: {labels: {channel: old}}}");
        make_revision(composition, 1, true);
        composition = patch(&k, "{metadata: {labels: {channel: new}}, spec: {pipeline: [{step: s0, functionRef: {name: "
                                "scripted}, input: "
                                "{step: 0}}, {step: s2, functionRef: {name: scripted}, input: {step: 2}}]}}");
        make_revision(composition, 2, true);
        make_revision(make_composition("other", 2, 1, "{metadata: {labels: {channel: old}}}"), 1, true);
}

static void try_faults(const struct scenario *s, enum fault_mode mode, const char *wanted)
{
        for (size_t n = 1;; n++) {
                const char *what = text("%s, fault %d at call %zu", s->name, mode, n);
                _cleanup_err_ struct err err = { 0 };
                struct reconcile_result result;
                struct str uid = begin_scenario(s);

                faulty_reset(&faulty, mode, n);
                reconcile(&result, &err);
                check_no_orphan(what, uid);
                if (!faulty.has_fired) {
                        ASSERT_CASE(what, n > 1 || faulty.n_writes == 0);
                        return;
                }
                ASSERT_STR_CASE(what, str_from(end_scenario(s, uid)), str_from(wanted));
        }
}

/* A run sees the changes of others late: the composite itself, its changes, its deletion, what the collector did. Afterwards it sees
 * them all. */
static void try_late_reads(const struct scenario *s, const char *wanted)
{
        const char *count = getenv("WEFT_SEEDS"), *first = getenv("WEFT_SEED");
        uint64_t seed = first ? strtoull(first, NULL, 10) : 1, end = seed + (count ? strtoull(count, NULL, 10) : 12);

        for (; seed < end; seed++) {
                const char *what = text("%s, late reads with seed %llu", s->name, (unsigned long long)seed);
                struct str uid = begin_scenario(s);

                late_begin(&faulty.late, store, version_before, seed);
                for (int i = 0; i < 4; i++) {
                        _cleanup_err_ struct err err = { 0 };
                        struct reconcile_result result;

                        faulty_reset(&faulty, FAULT_NONE, 0);
                        reconcile(&result, &err);
                        check_no_orphan(what, uid);
                        if (seed % 2)
                                ASSERT(store_settle(store, &run, NULL) >= 0);
                }
                faulty.late = (struct late_reads) { 0 };
                ASSERT_STR_CASE(what, str_from(end_scenario(s, uid)), str_from(wanted));
        }
}

/* A step that fails writes nothing but the composite: of one that is settled, its status alone. */
static void check_writes(const char *what, bool is_new)
{
        for (size_t i = 0; i < faulty.n_writes; i++) {
                ASSERT_CASE(what, object_key_equal(&faulty.writes[i].key, &key));
                ASSERT_CASE(what, is_new || str_equal(faulty.writes[i].subresource, STR("status")));
                ASSERT_CASE(what, faulty.writes[i].verb == WRITE_UPDATE);
        }
}

static void try_steps(const struct scenario *s, const char *wanted)
{
        for (int step = 0; step < 3; step++)
                for (int is_fatal = 0; is_fatal < 2; is_fatal++) {
                        const char *what = text("%s, step %d fails", s->name, step);
                        _cleanup_err_ struct err err = { 0 };
                        struct reconcile_result result;
                        struct str uid = begin_scenario(s);
                        struct condition synced;

                        *(is_fatal ? &fatal_step : &failing_step) = step;
                        faulty_reset(&faulty, FAULT_NONE, 0);
                        if (reconcile(&result, &err) < 0) {
                                ASSERT_CASE(what, result.is_fatal == is_fatal);
                                check_writes(what, !s->before[0] || s->change);
                                synced = condition("Synced");
                                ASSERT_STR_CASE(what, synced.message, str_from(err_message(&err)));
                        }
                        fatal_step = failing_step = -1;
                        ASSERT_STR_CASE(what, str_from(end_scenario(s, uid)), str_from(wanted));
                }
}

static void try_all(enum scope sc)
{
        for (size_t i = 0; i < ARRAY_SIZE(scenarios); i++) {
                const struct scenario *s = &scenarios[i];
                const char *wanted;

                if (s->scopes != BOTH && (s->scopes == LEGACY) != (sc == SCOPE_LEGACY))
                        continue;
                begin_world(sc);
                wanted = end_scenario(s, begin_scenario(s));
                for (enum fault_mode mode = FAULT_BEFORE; mode < _FAULT_MODES; mode++)
                        try_faults(s, mode, wanted);
                try_steps(s, wanted);
                if (!s->depends_on_time)
                        try_late_reads(s, wanted);
                tear_down();
        }
}

/* The view of others stands still; own writes show in gets and lists. */
TEST(late_reads_show_own_writes_alone)
{
        struct write_request req = { .verb = WRITE_MERGE_PATCH, .manager = STR("me") };
        struct list_request all = { .gvk = BUCKET };
        struct get_request wanted = { 0 };
        struct write_result result;
        struct object_list found;
        struct object *o;

        set_up(SCOPE_NAMESPACED, NULL);
#define BUCKET_NAMED(name) \
        yaml("{apiVersion: s3.example.org/v1, kind: Bucket, metadata: {name: " name ", namespace: default}}")
        req.key = wanted.key = object_key_of(create(BUCKET_NAMED("mine")));
        create(BUCKET_NAMED("theirs"));
        late_begin(&faulty.late, store, store_version(store), 0);
        patch(&req.key, "{metadata: {labels: {by: somebody}}}");
        create(BUCKET_NAMED("new"));
        ASSERT(cluster_get(&faulty.cluster, &run, &wanted, &o, NULL) == 0);
        ASSERT(!meta_has_label(object_value(o, &arena), STR("by")));
        ASSERT(cluster_list(&faulty.cluster, &run, &all, &found, NULL) == 0);
        ASSERT_INT(found.n, 2);
        req.body = yaml("{metadata: {labels: {own: 'yes'}}}");
        ASSERT(cluster_write(&faulty.cluster, &run, &req, &result, NULL) == 0);
        ASSERT(cluster_get(&faulty.cluster, &run, &wanted, &o, NULL) == 0);
        ASSERT(meta_has_label(object_value(o, &arena), STR("own")));
        ASSERT(meta_has_label(object_value(o, &arena), STR("by")));
        req = (struct write_request) { .verb = WRITE_DELETE, .key = req.key };
        ASSERT(cluster_write(&faulty.cluster, &run, &req, &result, NULL) == 0);
        ASSERT(cluster_get(&faulty.cluster, &run, &wanted, &o, NULL) == ERR_NOT_FOUND);
        ASSERT(cluster_list(&faulty.cluster, &run, &all, &found, NULL) == 0);
        ASSERT_INT(found.n, 1);
        wanted.key.name = STR("new");
        ASSERT(cluster_get(&faulty.cluster, &run, &wanted, &o, NULL) == ERR_NOT_FOUND);
        faulty.late.version = store_version(store);
        ASSERT(cluster_get(&faulty.cluster, &run, &wanted, &o, NULL) == 0);
        tear_down();
}

TEST(namespaced_composites_converge)
{
        try_all(SCOPE_NAMESPACED);
}

TEST(legacy_composites_converge)
{
        try_all(SCOPE_LEGACY);
}
