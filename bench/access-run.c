/* access-run: our side of bench-access. Times access_may for users with one binding, in one namespace, of one role with three rules, of
 * which the last allows it; prints one line for each number of roles: nanoseconds of one question and a name. */
#include "bench.h"

#include "access.h"
#include "json.h"
#include "store.h"

#include <stdio.h>

#define FEW       10
#define MANY      1000
#define QUESTIONS 1000 /* of one unit of work */

struct world {
        struct store *store;
        struct access *access;
        size_t n;
        struct arena arena; /* of the questions */
        struct question {
                struct user user;
                struct access_request request;
        } * questions; /* n of them */
};

static void write_json(struct world *w, const char *format, size_t i)
{
        static const struct str groups[] = { STR_INIT("system:masters") };
        _cleanup_arena_ struct arena a;
        struct run run = { .deadline = DEADLINE_NONE, .user = { .groups = groups, .n_groups = 1 } };
        struct write_request req = { .verb = WRITE_CREATE };
        struct write_result result;
        struct str text;
        char *p;

        arena_init(&a, "bench", 0);
        run.arena = &a;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        text = arena_printf(&a, format, i, i, i);
#pragma GCC diagnostic pop
        p = arena_cstring(&a, text);
        for (char *c = p; *c; c++)
                if (*c == '\'')
                        *c = '"';
        if (json_parse(&a, str_from(p), NULL, &req.body, NULL) < 0)
                abort();
        req.key = object_key_of(req.body);
        if (cluster_write(store_cluster(w->store), &run, &req, &result, NULL) < 0)
                abort();
}

static void make_question(struct world *w, size_t i)
{
        static const struct str groups[] = { STR_INIT("system:authenticated"), STR_INIT("team") };

        w->questions[i] = (struct question) {
                .user = { .name = arena_printf(&w->arena, "user-%zu", i), .groups = groups, .n_groups = ARRAY_SIZE(groups) },
                .request = {
                        .verb = STR("update"),
                        .gvk.group = arena_printf(&w->arena, "group-%zu.example.org", i),
                        .plural = arena_printf(&w->arena, "widgets-%zu", i),
                        .ns = STR("default"),
                        .name = STR("a"),
                },
        };
}

static void world_init(struct world *w, size_t n)
{
        struct store_options options = { .accepts_any_kind = true };

        *w = (struct world) { .n = n };
        arena_init(&w->arena, "questions", 0);
        w->questions = ARENA_NEW_ARRAY(&w->arena, struct question, n);
        if (store_new(&options, &w->store, NULL) < 0)
                abort();
        for (size_t i = 0; i < n; i++) {
                make_question(w, i);
                write_json(w,
                           "{'apiVersion':'rbac.authorization.k8s.io/"
                           "v1','kind':'ClusterRole','metadata':{'name':'role-%zu'},"
                           "'rules':[{'verbs':['get','list','watch'],'apiGroups':[''],'resources':['pods','services']},"
                           "{'verbs':['*'],'apiGroups':['apps'],'resources':['deployments','statefulsets']},"
                           "{'verbs':['get','list','watch','update'],'apiGroups':['group-%zu.example.org'],"
                           "'resources':['widgets-%zu']}]}",
                           i);
                write_json(
                        w,
                        "{'apiVersion':'rbac.authorization.k8s.io/"
                        "v1','kind':'RoleBinding','metadata':{'name':'binding-%zu',"
                        "'namespace':'default'},'roleRef':{'apiGroup':'rbac.authorization.k8s.io','kind':'ClusterRole',"
                        "'name':'role-%zu'},'subjects':[{'kind':'User','name':'user-%zu'}]}",
                        i);
        }
        if (access_new(store_cluster(w->store), &w->access, NULL) < 0)
                abort();
}

static void world_done(struct world *w)
{
        access_free(w->access);
        store_free(w->store);
        arena_done(&w->arena);
}

static void ask_all(void *arg)
{
        struct world *w = arg;

        for (size_t i = 0; i < QUESTIONS; i++) {
                const struct question *q = &w->questions[i % w->n];
                struct run run = { .deadline = DEADLINE_NONE, .user = q->user };
                bool is_allowed = false;

                if (access_may(w->access, &run, &q->request, &is_allowed, NULL, NULL) < 0 || !is_allowed)
                        abort();
        }
}

int main(void)
{
        struct world few, many;
        double ns[2];

        world_init(&few, FEW);
        world_init(&many, MANY);
        bench_compare((struct contender[]) { { "few", ask_all, &few }, { "many", ask_all, &many } }, 2, 3, ns);
        printf("%.0f a question among %d roles and bindings\n", ns[0] / QUESTIONS, FEW);
        printf("%.0f a question among %d roles and bindings\n", ns[1] / QUESTIONS, MANY);
        world_done(&few);
        world_done(&many);
        return 0;
}
