/* Housekeeping on a store. Every test waits for events of the cluster, never for time alone. */
#include "test.h"

#include "authenticator.h"
#include "base64.h"
#include "buf.h"
#include "keeper.h"
#include "pki.h"
#include "store-test.h"

#define PATIENCE_MS 20000

struct house {
        struct fixture f;
        struct pki *pki;
        struct keeper *keeper;
};

static void house_init(struct house *h, int64_t ttl_ms)
{
        struct keeper_options options = { .event_ttl_ms = ttl_ms };
        struct store_options store = { .history_events = 50 }; /* so that a slow watch expires */
        struct pki_options pki = { 0 };

        fixture_init_with(&h->f, &store);
        MUST(&h->f, pki_open(&pki, &h->pki, &h->f.err));
        options.cluster = h->f.cluster;
        options.pki = h->pki;
        MUST(&h->f, keeper_start(&options, &h->keeper, &h->f.err));
}

static void house_done(struct house *h)
{
        keeper_free(h->keeper);
        pki_free(h->pki);
        fixture_done(&h->f);
}

/* Waits until the object is there and the test holds, or until it is gone (test NULL). */
static const struct value *await(struct house *h, const char *kind, const char *ns, const char *name,
                                 bool (*is_right)(const struct value *object))
{
        struct fixture *f = &h->f;
        struct watch_request req = { .gvk = { .version = STR("v1"), .kind = str_from(kind) }, .ns = str_from(ns) };
        struct object_key key = key_of(req.gvk, ns, name);
        struct run run = f->run;

        run.deadline = deadline_after_ms(PATIENCE_MS);
        for (;;) {
                _cleanup_(watch_freep)
                struct watch *w = NULL;
                struct watch_event event;
                const struct value *object = NULL;

                MUST(f, cluster_watch(f->cluster, &run, &req, &w, &f->err));
                do {
                        int r = cluster_get_value(f->cluster, &run, &key, &object, NULL);

                        if (is_right ? r == 0 && is_right(object) : r == ERR_NOT_FOUND)
                                return object;
                        r = watch_next(w, &run, &event, &f->err);
                        if (r == ERR_EXPIRED)
                                break;
                        if (r < 0)
                                test_fail(__FILE__, __LINE__, "%s %s/%s: %s", kind, ns, name, err_message(&f->err));
                } while (true);
        }
}

static bool is_there(const struct value *object)
{
        return object != NULL;
}

static bool has_authority(const struct value *map)
{
        return str_starts_with(value_str(value_find(map, "data", "ca.crt")), STR("-----BEGIN CERTIFICATE-----\n"));
}

TEST(namespaces_are_completed)
{
        const struct value *map;
        struct house h;
        struct fixture *f = &h.f;

        house_init(&h, 0);
        await(&h, "ServiceAccount", "kube-system", "default", is_there);
        MUST(f, create(f, JSON(f, "{'apiVersion':'v1','kind':'Namespace','metadata':{'name':'team'}}")));
        await(&h, "ServiceAccount", "team", "default", is_there);
        await(&h, "ConfigMap", "team", "kube-root-ca.crt", has_authority);
        MUST(f, delete_with(f,
                            key_of((struct gvk) { .version = STR("v1"), .kind = STR("ServiceAccount") }, "team",
                                   "default"),
                            PROPAGATE_BACKGROUND));
        await(&h, "ServiceAccount", "team", "default", is_there);
        MUST(f, merge(f, key_of(config_map_gvk(), "team", "kube-root-ca.crt"),
                      JSON(f, "{'data':{'ca.crt':'x','more':'y'},'metadata':{'labels':{'mine':'1'}}}"), NULL));
        map = await(&h, "ConfigMap", "team", "kube-root-ca.crt", has_authority);
        ASSERT_INT(value_count(value_get(map, STR("data"))), 1);
        ASSERT_STR(meta_label(map, STR("mine")), STR("1"));
        MUST(f, delete_with(f, key_of(config_map_gvk(), "team", "kube-root-ca.crt"), PROPAGATE_BACKGROUND));
        await(&h, "ConfigMap", "team", "kube-root-ca.crt", has_authority);
        house_done(&h);
}

TEST(a_namespace_that_goes_stays_gone)
{
        struct house h;
        struct fixture *f = &h.f;

        house_init(&h, 0);
        MUST(f, create(f, JSON(f, "{'apiVersion':'v1','kind':'Namespace','metadata':{'name':'team'}}")));
        await(&h, "ServiceAccount", "team", "default", is_there);
        MUST(f, delete_with(f, key_of((struct gvk) { .version = STR("v1"), .kind = STR("Namespace") }, "", "team"),
                            PROPAGATE_BACKGROUND));
        await(&h, "Namespace", "", "team", NULL);
        house_done(&h);
}

static bool has_token(const struct value *secret)
{
        return value_str(value_find(secret, "data", "token")).n > 0;
}

TEST(secrets_get_tokens)
{
        struct house h;
        struct fixture *f = &h.f;
        const struct value *secret;
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        house_init(&h, 0);
        MUST(f, create(f, JSON(f, "{'apiVersion':'v1','kind':'ServiceAccount','metadata':{'name':'robot','namespace':"
                                  "'default'}}")));
        MUST(f, create(f, JSON(f, "{'apiVersion':'v1','kind':'Secret','type':'kubernetes.io/service-account-token',"
                                  "'metadata':{'name':'st','namespace':'default','annotations':{"
                                  "'kubernetes.io/service-account.name':'robot'}}}")));
        secret = await(&h, "Secret", "default", "st", has_token);
        ASSERT(meta_annotation(secret, STR("kubernetes.io/service-account.uid")).n > 0);
        ASSERT_INT(base64_decode(&b, value_str(value_find(secret, "data", "namespace")), BASE64_STD, NULL), 0);
        ASSERT_STR(buf_str(&b), STR("default"));
        MUST(f, delete_with(f,
                            key_of((struct gvk) { .version = STR("v1"), .kind = STR("ServiceAccount") }, "default",
                                   "robot"),
                            PROPAGATE_BACKGROUND));
        await(&h, "Secret", "default", "st", NULL);
        MUST(f, create(f, JSON(f, "{'apiVersion':'v1','kind':'Secret','type':'kubernetes.io/service-account-token',"
                                  "'metadata':{'name':'orphan','namespace':'default','annotations':{"
                                  "'kubernetes.io/service-account.name':'nobody'}}}")));
        await(&h, "Secret", "default", "orphan", NULL);
        house_done(&h);
}

/* The token of a Secret counts as long as the Secret holds it. */
TEST(tokens_of_secrets_count)
{
        struct house h;
        struct fixture *f = &h.f;
        struct authenticator_options options = { 0 };
        struct authenticator *authenticator;
        struct http_head head = { 0 };
        struct access *access;
        struct user user;
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        const struct value *secret;

        house_init(&h, 0);
        MUST(f, access_new(f->cluster, &access, &f->err));
        options.cluster = f->cluster;
        options.access = access;
        options.pki = h.pki;
        MUST(f, authenticator_new(&options, &authenticator, &f->err));
        await(&h, "ServiceAccount", "default", "default", is_there);
        MUST(f, create(f, JSON(f, "{'apiVersion':'v1','kind':'Secret','type':'kubernetes.io/service-account-token',"
                                  "'metadata':{'name':'st','namespace':'default','annotations':{"
                                  "'kubernetes.io/service-account.name':'default'}}}")));
        secret = await(&h, "Secret", "default", "st", has_token);
        buf_append_literal(&b, "Bearer ");
        ASSERT_INT(base64_decode(&b, value_str(value_find(secret, "data", "token")), BASE64_STD, NULL), 0);
        http_fields_add(&head.fields, &f->arena, STR("authorization"), buf_str(&b));
        for (int i = 0; i < 2; i++) { /* also from the cache of signatures */
                MUST(f, authenticator_user(authenticator, &f->run, &head, NULL, &user, &f->err));
                ASSERT_STR(user.name, STR("system:serviceaccount:default:default"));
        }
        MUST(f, delete_with(f, key_of((struct gvk) { .version = STR("v1"), .kind = STR("Secret") }, "default", "st"),
                            PROPAGATE_BACKGROUND));
        ASSERT(authenticator_user(authenticator, &f->run, &head, NULL, &user, &f->err) < 0);
        ASSERT_INT(f->err.reason, REASON_UNAUTHORIZED);
        authenticator_free(authenticator);
        access_free(access);
        house_done(&h);
}

static void create_event(struct fixture *f, const char *name, const char *more)
{
        MUST(f, create(f, JSON(f,
                               "{'apiVersion':'v1','kind':'Event','metadata':{'name':'%s','namespace':'default'},"
                               "'involvedObject':{'namespace':'default'}%s}",
                               name, more)));
}

TEST(events_end)
{
        struct house h;

        house_init(&h, 1);
        create_event(&h.f, "one", "");
        create_event(&h.f, "two", ",'lastTimestamp':'2999-01-01T00:00:00Z'");
        await(&h, "Event", "default", "one", NULL);
        await(&h, "Event", "default", "two", NULL);
        house_done(&h);
}

/* More than the keeper deletes in one turn. */
TEST(many_events_end)
{
        struct house h;

        house_init(&h, 1);
        for (int i = 0; i < 1100; i++)
                create_event(&h.f, arena_printf(&h.f.arena, "event-%d", i).p, "");
        for (int i = 0; i < 1100; i++)
                await(&h, "Event", "default", arena_printf(&h.f.arena, "event-%d", i).p, NULL);
        house_done(&h);
}

TEST(events_stay_until_then)
{
        struct house h;
        const struct value *event;
        struct object_key key = key_of((struct gvk) { .version = STR("v1"), .kind = STR("Event") }, "default", "one");

        house_init(&h, 0);
        create_event(&h.f, "one", ",'lastTimestamp':'1999-01-01T00:00:00Z'");
        MUST(&h.f, create(&h.f, JSON(&h.f, "{'apiVersion':'v1','kind':'Namespace','metadata':{'name':'team'}}")));
        await(&h, "ServiceAccount", "team", "default", is_there);
        ASSERT_INT(cluster_get_value(h.f.cluster, &h.f.run, &key, &event, NULL), 0);
        house_done(&h);
}

/* Far more writes than the history holds: watches of the keeper expire and begin again, and nothing is missed. */
TEST(expired_watches)
{
        struct house h;
        struct fixture *f = &h.f;

        house_init(&h, 0);
        for (int i = 0; i < 300; i++)
                MUST(f, create(f, JSON(f, "{'apiVersion':'v1','kind':'Namespace','metadata':{'name':'n%d'}}", i)));
        for (int i = 0; i < 300; i++) {
                char name[16];

                snprintf(name, sizeof(name), "n%d", i);
                await(&h, "ServiceAccount", name, "default", is_there);
                await(&h, "ConfigMap", name, "kube-root-ca.crt", is_there);
        }
        house_done(&h);
}

TEST(stops_at_any_time)
{
        for (int i = 0; i < 20; i++) {
                struct house h;

                house_init(&h, 0);
                house_done(&h);
        }
}
