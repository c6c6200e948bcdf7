#include "store-test.h"

#include "log.h"
#include "store-state.h"

#include <sys/mman.h>

static struct gvk cluster_gvk(void)
{
        return (struct gvk) { STR("example.org"), STR("v1"), STR("Cluster") };
}

static struct object_key in_default(const char *name)
{
        return key_of(widget_gvk(), "default", name);
}

/* An owner reference to an object that is there. */
static const char *ref_to(struct fixture *f, struct object_key key, const char *more)
{
        const struct value *v = get(f, key);

        ASSERT(v);
        return quoted(f, "{'apiVersion':'example.org/v1','kind':'%.*s','name':'%.*s','uid':'%.*s'%s}",
                      STR_ARG(key.gvk.kind), STR_ARG(key.name), STR_ARG(meta_uid(v)), more);
}

static void make(struct fixture *f, const char *name, const char *more)
{
        MUST(f, create(f, widget(f, "default", name, more)));
}

/* A widget that the owner owns. */
static void make_owned(struct fixture *f, const char *name, const char *owner, const char *more)
{
        make(f, name, quoted(f, "'ownerReferences':[%s]", ref_to(f, in_default(owner), more)));
}

static bool is_there(struct fixture *f, const char *name)
{
        return get(f, in_default(name)) != NULL;
}

#define BLOCKING ",'blockOwnerDeletion':true"

TEST(dependents_go_with_their_owner)
{
        _cleanup_fixture_ struct fixture f;

        fixture_init(&f);
        make(&f, "owner", "");
        make_owned(&f, "child", "owner", "");
        make_owned(&f, "grandchild", "child", "");
        make(&f, "other", "");
        settle(&f);
        ASSERT(is_there(&f, "child"));
        MUST(&f, delete_with(&f, in_default("owner"), PROPAGATE_BACKGROUND));
        ASSERT(!is_there(&f, "owner"));
        settle(&f);
        ASSERT(!is_there(&f, "child") && !is_there(&f, "grandchild") && is_there(&f, "other"));
}

TEST(another_owner_keeps_a_dependent)
{
        _cleanup_fixture_ struct fixture f;
        const struct value *v;

        fixture_init(&f);
        make(&f, "one", "");
        make(&f, "two", "");
        make(&f, "child",
             quoted(&f, "'ownerReferences':[%s,%s]", ref_to(&f, in_default("one"), ""),
                    ref_to(&f, in_default("two"), "")));
        MUST(&f, delete_with(&f, in_default("one"), PROPAGATE_BACKGROUND));
        settle(&f);
        v = get(&f, in_default("child"));
        ASSERT_INT(value_count(value_find(v, "metadata", "ownerReferences")), 1);
        MUST(&f, delete_with(&f, in_default("two"), PROPAGATE_BACKGROUND));
        settle(&f);
        ASSERT(!is_there(&f, "child"));
}

TEST(a_foreground_deletion_waits_for_those_that_block_it)
{
        _cleanup_fixture_ struct fixture f;
        const struct value *v;

        fixture_init(&f);
        make(&f, "owner", "");
        make(&f, "held",
             quoted(&f, "'finalizers':['a.b/c'],'ownerReferences':[%s]", ref_to(&f, in_default("owner"), BLOCKING)));
        make_owned(&f, "free", "owner", BLOCKING);
        make_owned(&f, "unblocking", "owner", "");
        MUST(&f, delete_with(&f, in_default("owner"), PROPAGATE_FOREGROUND));
        settle(&f);
        v = get(&f, in_default("owner"));
        ASSERT(meta_is_deleting(v) && meta_has_finalizer(v, STR("foregroundDeletion")));
        ASSERT_INT(meta_generation(v), 2);
        ASSERT(meta_is_deleting(get(&f, in_default("held"))));
        ASSERT(!is_there(&f, "free"));
        ASSERT(is_there(&f, "unblocking"));
        MUST(&f, merge(&f, in_default("held"), JSON(&f, "{'metadata':{'finalizers':null}}"), NULL));
        settle(&f);
        ASSERT(!is_there(&f, "held") && !is_there(&f, "owner") && !is_there(&f, "unblocking"));
}

TEST(a_foreground_deletion_goes_down_the_tree)
{
        _cleanup_fixture_ struct fixture f;

        fixture_init(&f);
        make(&f, "owner", "");
        make_owned(&f, "child", "owner", BLOCKING);
        make(&f, "grandchild",
             quoted(&f, "'finalizers':['a.b/c'],'ownerReferences':[%s]", ref_to(&f, in_default("child"), BLOCKING)));
        MUST(&f, delete_with(&f, in_default("owner"), PROPAGATE_FOREGROUND));
        settle(&f);
        ASSERT(meta_has_finalizer(get(&f, in_default("child")), STR("foregroundDeletion")));
        ASSERT(meta_is_deleting(get(&f, in_default("grandchild"))));
        MUST(&f, merge(&f, in_default("grandchild"), JSON(&f, "{'metadata':{'finalizers':null}}"), NULL));
        settle(&f);
        ASSERT(!is_there(&f, "owner") && !is_there(&f, "child") && !is_there(&f, "grandchild"));
}

TEST(letting_go_of_an_owner_ends_its_waiting)
{
        _cleanup_fixture_ struct fixture f;

        fixture_init(&f);
        make(&f, "owner", "");
        make(&f, "child",
             quoted(&f, "'finalizers':['a.b/c'],'ownerReferences':[%s]", ref_to(&f, in_default("owner"), BLOCKING)));
        MUST(&f, delete_with(&f, in_default("owner"), PROPAGATE_FOREGROUND));
        settle(&f);
        ASSERT(is_there(&f, "owner"));
        MUST(&f, merge(&f, in_default("child"), JSON(&f, "{'metadata':{'ownerReferences':null}}"), NULL));
        settle(&f);
        ASSERT(!is_there(&f, "owner") && is_there(&f, "child"));
}

TEST(orphans_stay)
{
        _cleanup_fixture_ struct fixture f;
        const struct value *v;

        fixture_init(&f);
        make(&f, "owner", "");
        make_owned(&f, "child", "owner", BLOCKING);
        MUST(&f, delete_with(&f, in_default("owner"), PROPAGATE_ORPHAN));
        settle(&f);
        ASSERT(!is_there(&f, "owner"));
        v = get(&f, in_default("child"));
        ASSERT(v && !value_find(v, "metadata", "ownerReferences"));
}

TEST(dangling_owners_are_no_owners)
{
        _cleanup_fixture_ struct fixture f;

        fixture_init(&f);
        make(&f, "owner", "");
        make(&f, "wrong-uid",
             "'ownerReferences':[{'apiVersion':'example.org/v1','kind':'Widget','name':'owner','uid':'x'}]");
        make(&f, "wrong-name",
             "'ownerReferences':[{'apiVersion':'example.org/v1','kind':'Widget','name':'nobody','uid':'y'}]");
        settle(&f);
        ASSERT(!is_there(&f, "wrong-uid") && !is_there(&f, "wrong-name"));
}

TEST(owners_of_unknown_kinds_are_given_time)
{
        _cleanup_fixture_ struct fixture f;

        fixture_init(&f);
        make(&f, "child", "'ownerReferences':[{'apiVersion':'example.org/v1','kind':'Unheard','name':'x','uid':'x'}]");
        settle(&f);
        ASSERT(is_there(&f, "child"));
        /* Once there is such a kind, it is clear that there is no such owner. */
        MUST(&f,
             create(&f, JSON(&f, "{'apiVersion':'example.org/v1','kind':'Unheard','metadata':{'name':'y','namespace':"
                                 "'default'}}")));
        settle(&f);
        ASSERT(!is_there(&f, "child"));
}

TEST(owners_live_in_the_namespace_or_in_none)
{
        _cleanup_fixture_ struct fixture f;
        struct object_key global = key_of(cluster_gvk(), "", "global"),
                          far = key_of(widget_gvk(), "kube-system", "far");

        fixture_init(&f);
        MUST(&f, create(&f, JSON(&f, "{'apiVersion':'example.org/v1','kind':'Cluster','metadata':{'name':'global'}}")));
        MUST(&f, create(&f, widget(&f, "kube-system", "far", "")));
        make(&f, "of-global", quoted(&f, "'ownerReferences':[%s]", ref_to(&f, global, "")));
        make(&f, "of-far", quoted(&f, "'ownerReferences':[%s]", ref_to(&f, far, "")));
        MUST(&f, create(&f, JSON(&f,
                                 "{'apiVersion':'example.org/v1','kind':'Cluster','metadata':{'name':'cluster-of-far',"
                                 "'ownerReferences':[%s]}}",
                                 ref_to(&f, far, ""))));
        settle(&f);
        ASSERT(is_there(&f, "of-global") && !is_there(&f, "of-far"));
        MUST(&f, delete_with(&f, far, PROPAGATE_BACKGROUND));
        MUST(&f, delete_with(&f, global, PROPAGATE_BACKGROUND));
        settle(&f);
        ASSERT(!is_there(&f, "of-global"));
        ASSERT(get(&f, key_of(cluster_gvk(), "", "cluster-of-far"))); /* unresolvable: never collected */
}

TEST(circles_of_owners_can_be_deleted)
{
        _cleanup_fixture_ struct fixture f;

        fixture_init(&f);
        make(&f, "a", "");
        make_owned(&f, "b", "a", BLOCKING);
        MUST(&f, merge(&f, in_default("a"),
                       JSON(&f, "{'metadata':{'ownerReferences':[%s]}}", ref_to(&f, in_default("b"), BLOCKING)), NULL));
        settle(&f);
        ASSERT(is_there(&f, "a") && is_there(&f, "b"));
        MUST(&f, delete_with(&f, in_default("a"), PROPAGATE_FOREGROUND));
        settle(&f);
        ASSERT(!is_there(&f, "a") && !is_there(&f, "b"));
}

TEST(without_a_collector_nothing_is_collected)
{
        struct store_options options = { .accepts_any_kind = true, .without_gc = true };
        _cleanup_fixture_ struct fixture f;

        fixture_init_with(&f, &options);
        make(&f, "owner", "");
        make_owned(&f, "child", "owner", "");
        MUST(&f, delete_with(&f, in_default("owner"), PROPAGATE_BACKGROUND));
        settle(&f);
        ASSERT(is_there(&f, "child"));
}

/* --- Refusals --- */

struct gate {
        _Atomic bool is_closed;
        _Atomic int n_refused;
};

static int refuse(void *arg, struct run *run, struct admission *admission, struct err *err)
{
        struct gate *gate = arg;

        if (admission->request->verb != WRITE_DELETE || !gate->is_closed ||
            !str_equal(admission->request->key.name, STR("child")))
                return 0;
        gate->n_refused++;
        return err_set(err, ERR_FORBIDDEN, "it is in use");
}

TEST(what_was_refused_is_tried_again)
{
        _cleanup_fixture_ struct fixture f;
        struct gate gate = { .is_closed = true };
        struct admission_hook hook = { .name = "gate", .admit = refuse, .arg = &gate };
        struct watch_request watch = { .gvk = widget_gvk(), .resource_version = STR("4") };
        struct watch_event e = { 0 };
        struct watch *w;

        fixture_init(&f);
        store_add_hook(f.store, &hook);
        make(&f, "owner", "");
        make_owned(&f, "child", "owner", "");
        MUST(&f, cluster_watch(f.cluster, &f.run, &watch, &w, &f.err));
        MUST(&f, delete_with(&f, in_default("owner"), PROPAGATE_BACKGROUND));
        settle(&f); /* does not wait for another try */
        ASSERT(is_there(&f, "child") && gate.n_refused > 0);
        gate.is_closed = false;
        while (e.type != WATCH_DELETED || !str_equal(meta_name(object_value(e.object, &f.arena)), STR("child")))
                MUST(&f, watch_next(w, &f.run, &e, &f.err));
        ASSERT(!is_there(&f, "child"));
        watch_free(w);
}

static void touch(struct fixture *f, const char *name, int n)
{
        struct write_result result;

        for (int i = 0; i < n; i++) {
                MUST(f, merge(f, in_default(name), JSON(f, "{'metadata':{'annotations':{'n':'%d'}}}", i), &result));
                settle(f);
        }
}

TEST(what_is_refused_waits_once)
{
        _cleanup_fixture_ struct fixture f;
        struct gate gate = { .is_closed = true };
        struct admission_hook hook = { .name = "gate", .admit = refuse, .arg = &gate };

        fixture_init(&f);
        store_add_hook(f.store, &hook);
        make(&f, "owner", "");
        make_owned(&f, "child", "owner", "");
        MUST(&f, delete_with(&f, in_default("owner"), PROPAGATE_BACKGROUND));
        settle(&f);
        touch(&f, "child", 20);
        ASSERT(collector_count_waiting(f.store) <= 1); /* none while it is being tried */
        ASSERT(gate.n_refused > 20);
}

/* The lines of the log that have the text in them. */
static size_t count_lines(int fd, const char *text)
{
        char log[16384], *line = log, *end;
        ssize_t n = pread(fd, log, sizeof(log) - 1, 0);
        size_t count = 0;

        ASSERT(n >= 0);
        log[n] = 0;
        for (; (end = strchr(line, '\n')); line = end + 1) {
                *end = 0;
                count += strstr(line, text) != NULL;
        }
        return count;
}

TEST(what_is_refused_is_logged)
{
        _cleanup_close_ int fd = memfd_create("log", MFD_CLOEXEC);
        struct gate gate = { .is_closed = true };
        struct admission_hook hook = { .name = "gate", .admit = refuse, .arg = &gate };
        struct fixture f;

        log_set_output(fd, LOG_FORMAT_JSON);
        fixture_init(&f);
        store_add_hook(f.store, &hook);
        make(&f, "owner", "");
        make_owned(&f, "child", "owner", "");
        MUST(&f, delete_with(&f, in_default("owner"), PROPAGATE_BACKGROUND));
        settle(&f);
        fixture_done(&f);
        log_set_output(STDERR_FILENO, LOG_FORMAT_AUTO);
        ASSERT_INT(count_lines(fd, "\"task\":\"object\",\"object\":\"example.org/Widget default/child\""),
                   gate.n_refused);
        ASSERT_INT(count_lines(fd, "it is in use"), gate.n_refused);
        ASSERT_INT(count_lines(fd, "\"failures\":1,"), 1);
}

TEST(what_waits_for_a_kind_waits_once_and_as_long_as_it_is_there)
{
        _cleanup_fixture_ struct fixture f;
        int i;

        fixture_init(&f);
        for (i = 0; i < 20; i++) {
                make(&f, "child",
                     "'ownerReferences':[{'apiVersion':'example.org/v1','kind':'Unheard','name':'x','uid':'x'}]");
                touch(&f, "child", 5);
                ASSERT(collector_count_waiting(f.store) == 1);
                MUST(&f, delete_with(&f, in_default("child"), PROPAGATE_BACKGROUND));
                settle(&f);
                ASSERT(collector_count_waiting(f.store) == 0);
        }
}

/* --- Namespaces --- */

static struct object_key namespace_key(const char *name)
{
        return key_of((struct gvk) { STR(""), STR("v1"), STR("Namespace") }, "", name);
}

static void make_namespace(struct fixture *f, const char *name)
{
        MUST(f, create(f, JSON(f, "{'apiVersion':'v1','kind':'Namespace','metadata':{'name':'%s'}}", name)));
}

TEST(a_namespace_goes_with_what_is_in_it)
{
        _cleanup_fixture_ struct fixture f;
        struct write_result result;

        fixture_init(&f);
        make_namespace(&f, "team");
        MUST(&f, create(&f, widget(&f, "team", "a", "")));
        MUST(&f,
             create(&f, JSON(&f, "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'b','namespace':'team'}}")));
        make(&f, "elsewhere", "");
        MUST(&f,
             write_request(&f, (struct write_request) { .verb = WRITE_DELETE, .key = namespace_key("team") }, &result));
        ASSERT(!result.is_removed && meta_is_deleting(result.value));
        ASSERT(!value_find(result.value, "metadata", "deletionGracePeriodSeconds"));
        ASSERT_STR(value_str(value_find(result.value, "status", "phase")), STR("Terminating"));
        settle(&f);
        ASSERT(!get(&f, namespace_key("team")));
        ASSERT(!get(&f, key_of(widget_gvk(), "team", "a")) && !get(&f, key_of(config_map_gvk(), "team", "b")));
        ASSERT(is_there(&f, "elsewhere"));
}

TEST(a_terminating_namespace_waits_and_takes_nothing_new)
{
        _cleanup_fixture_ struct fixture f;
        const struct value *v, *conditions;

        fixture_init(&f);
        make_namespace(&f, "team");
        MUST(&f, create(&f, widget(&f, "team", "held", "'finalizers':['a.b/c']")));
        MUST(&f, delete_with(&f, namespace_key("team"), PROPAGATE_UNSET));
        settle(&f);
        v = get(&f, namespace_key("team"));
        conditions = value_find(v, "status", "conditions");
        ASSERT_INT(value_count(conditions), 5);
        ASSERT_STR(value_str(value_get(value_item(conditions, 3), STR("message"))),
                   STR("Some resources are remaining: widgets.example.org has 1 resource instances"));
        ASSERT_STR(value_str(value_get(value_item(conditions, 4), STR("message"))),
                   STR("Some content in the namespace has finalizers remaining: a.b/c in 1 resource instances"));
        ASSERT_INT(create(&f, widget(&f, "team", "new", "")), ERR_FORBIDDEN);
        ASSERT_TEXT(err_message(&f.err),
                    "widgets.example.org \"new\" is forbidden: unable to create new content in namespace "
                    "team because it is being terminated");
        ASSERT(strstr(f.err.details, "NamespaceTerminating") &&
               strstr(f.err.details, "namespace team is being terminated"));
        MUST(&f, merge(&f, key_of(widget_gvk(), "team", "held"), JSON(&f, "{'spec':1}"), NULL)); /* updates are fine */
        MUST(&f, merge(&f, key_of(widget_gvk(), "team", "held"), JSON(&f, "{'metadata':{'finalizers':null}}"), NULL));
        settle(&f);
        ASSERT(!get(&f, namespace_key("team")));
}

TEST(a_namespace_can_be_finalized_by_hand)
{
        _cleanup_fixture_ struct fixture f;
        const struct value *v;
        struct write_result result;

        fixture_init(&f);
        make_namespace(&f, "team");
        MUST(&f, create(&f, widget(&f, "team", "held", "'finalizers':['a.b/c']")));
        MUST(&f, delete_with(&f, namespace_key("team"), PROPAGATE_UNSET));
        settle(&f);
        v = value_with(&f.arena, get(&f, namespace_key("team")), STR("spec"), &value_empty_object);
        MUST(&f, write_request(&f,
                               (struct write_request) { .verb = WRITE_UPDATE,
                                                        .key = namespace_key("team"),
                                                        .subresource = STR("finalize"),
                                                        .body = v },
                               &result));
        ASSERT(result.is_removed);
        ASSERT(!get(&f, namespace_key("team")));
        ASSERT(get(&f, key_of(widget_gvk(), "team", "held")));
}

TEST(some_namespaces_stay)
{
        static const char *const names[] = { "default", "kube-system", "kube-public" };
        _cleanup_fixture_ struct fixture f;

        fixture_init(&f);
        for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
                ASSERT_INT(delete_with(&f, namespace_key(names[i]), PROPAGATE_UNSET), ERR_FORBIDDEN);
                ASSERT_STR(str_from(err_message(&f.err)),
                           arena_printf(&f.arena, "namespaces \"%s\" is forbidden: this namespace may not be deleted",
                                        names[i]));
        }
        MUST(&f, delete_with(&f, namespace_key("kube-node-lease"), PROPAGATE_UNSET));
        settle(&f);
        ASSERT(!get(&f, namespace_key("kube-node-lease")));
}

TEST(a_namespace_must_be_there_or_is_made)
{
        struct store_options options = { .accepts_any_kind = true, .creates_namespaces = true };
        _cleanup_fixture_ struct fixture f, g;

        fixture_init(&f);
        ASSERT_INT(create(&f, widget(&f, "nowhere", "a", "")), ERR_NOT_FOUND);
        ASSERT_TEXT(err_message(&f.err), "namespaces \"nowhere\" not found");
        fixture_init_with(&g, &options);
        MUST(&g, create(&g, widget(&g, "nowhere", "a", "")));
        ASSERT(get(&g, namespace_key("nowhere")));
        ASSERT(create(&g, widget(&g, "No Such Name", "a", "")) < 0);
}
