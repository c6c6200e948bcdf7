/* Impersonation (docs/spec/apiserver 9.3): a user who may `impersonate` acts as another one. Each part of the other user is a
 * resource: users, groups and serviceaccounts of the core group, uids and userextras/KEY of authentication.k8s.io. */
#include "authenticator-state.h"

#include "ascii.h"
#include "buf.h"
#include "map.h"
#include "status.h"
#include "str-list.h"

#define EXTRA_PREFIX STR("impersonate-extra-")

/* The wanted user, as the fields of the head name it. */
struct wanted {
        struct str name;
        struct str uid;
        struct str_list groups;
        struct user_extra *extra;
        size_t n_extra;
};

static int hex_digit(char c)
{
        if (c >= '0' && c <= '9')
                return c - '0';
        c = (char)(c | 0x20);
        return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The key in lower case, with %XX decoded; a text with a bad escape stays as it is. */
static struct str extra_key(struct arena *a, struct str text)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        for (size_t i = 0; i < text.n; i++) {
                char c = text.p[i];

                if (c == '%') {
                        int high = i + 2 < text.n ? hex_digit(text.p[i + 1]) : -1;
                        int low = i + 2 < text.n ? hex_digit(text.p[i + 2]) : -1;

                        if (high < 0 || low < 0)
                                return arena_copy(a, text);
                        c = (char)(high << 4 | low);
                        i += 2;
                }
                buf_append_char(&b, c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c);
        }
        return buf_to_arena(&b, a);
}

/* Values of one key are gathered, in the order of the fields. There may be as many of either as a head can hold. */
struct gathered {
        struct str key;
        struct str_list values;
};

static void add_extra(struct map *by_key, struct arena *a, struct str key, struct str value)
{
        struct gathered *g = map_get(by_key, key);

        if (!g) {
                g = ARENA_NEW(a, struct gathered);
                g->key = key;
                str_list_init(&g->values, a);
                map_add(by_key, g->key, g);
        }
        str_list_add(&g->values, value);
}

static void set_extra(struct wanted *w, struct arena *a, const struct map *by_key)
{
        w->extra = ARENA_NEW_ARRAY(a, struct user_extra, by_key->n);
        for (struct map_entry *e = map_first(by_key); e; e = map_next(by_key, e)) {
                const struct gathered *g = e->value;

                w->extra[w->n_extra++] =
                        (struct user_extra) { .key = g->key, .values = g->values.p, .n_values = g->values.n };
        }
}

static void read_fields(const struct http_head *head, struct arena *a, struct wanted *w)
{
        _cleanup_map_ struct map extra = { 0 };

        *w = (struct wanted) { .name = http_fields_get(&head->fields, STR("impersonate-user")),
                               .uid = http_fields_get(&head->fields, STR("impersonate-uid")) };
        str_list_init(&w->groups, a);
        for (size_t i = 0; i < head->fields.n; i++) {
                struct str key = head->fields.p[i].name;

                if (str_equal(key, STR("impersonate-group")))
                        str_list_add(&w->groups, head->fields.p[i].value);
                else if (str_cut_prefix(&key, EXTRA_PREFIX))
                        add_extra(&extra, a, extra_key(a, key), head->fields.p[i].value);
        }
        if (extra.n)
                set_extra(w, a, &extra);
}

static bool is_any_wanted(const struct wanted *w)
{
        return w->name.n || w->uid.n || w->groups.n || w->n_extra;
}

static void append_go_list(struct buf *b, const struct str *texts, size_t n)
{
        buf_append_literal(b, "[]string");
        if (n == 0) {
                buf_append_literal(b, "(nil)");
                return;
        }
        for (size_t i = 0; i < n; i++)
                buf_appendf(b, "%s\"%.*s\"", i ? ", " : "{", STR_ARG(texts[i]));
        buf_append_char(b, '}');
}

/* The API shows the user in Go's notation. */
static int without_name(const struct wanted *w, struct err *err)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        buf_appendf(&b, "requested &user.DefaultInfo{Name:\"\", UID:\"%.*s\", Groups:", STR_ARG(w->uid));
        append_go_list(&b, w->groups.p, w->groups.n);
        buf_append_literal(&b, ", Extra:map[string][]string");
        if (w->n_extra == 0)
                buf_append_literal(&b, "(nil)");
        for (size_t i = 0; i < w->n_extra; i++) {
                buf_appendf(&b, "%s\"%.*s\":", i ? ", " : "{", STR_ARG(w->extra[i].key));
                append_go_list(&b, w->extra[i].values, w->extra[i].n_values);
        }
        if (w->n_extra)
                buf_append_char(&b, '}');
        buf_append_literal(&b, "} without impersonating a user name");
        return status_bad_request(err, "%s", buf_cstring(&b));
}

static int check_part(struct authenticator *a, struct run *run, struct str group, struct str plural,
                      struct str subresource, struct str name, struct err *err)
{
        struct access_request req = { .verb = STR("impersonate"),
                                      .gvk = { .group = group, .version = STR("v1") },
                                      .plural = plural,
                                      .subresource = subresource,
                                      .name = name };

        return access_check(a->access, run, &req, err);
}

static int check_name(struct authenticator *a, struct run *run, struct str name, struct err *err)
{
        struct access_request req = { .verb = STR("impersonate"),
                                      .gvk = { .version = STR("v1") },
                                      .plural = STR("serviceaccounts") };

        if (service_account_of_user(name, &req.ns, &req.name))
                return access_check(a->access, run, &req, err);
        return check_part(a, run, STR(""), STR("users"), STR(""), name, err);
}

static int check_wanted(struct authenticator *a, struct run *run, const struct wanted *w, struct err *err)
{
        const struct str group = STR("authentication.k8s.io");
        int r = check_name(a, run, w->name, err);

        for (size_t i = 0; r == 0 && i < w->groups.n; i++)
                r = check_part(a, run, STR(""), STR("groups"), STR(""), w->groups.p[i], err);
        for (size_t i = 0; r == 0 && i < w->n_extra; i++)
                for (size_t k = 0; r == 0 && k < w->extra[i].n_values; k++)
                        r = check_part(a, run, group, STR("userextras"), w->extra[i].key, w->extra[i].values[k], err);
        if (r == 0 && w->uid.n)
                r = check_part(a, run, group, STR("uids"), STR(""), w->uid, err);
        return r;
}

static void become(const struct wanted *w, struct arena *a, struct user *user)
{
        struct str ns, name;

        *user = (struct user) { .name = w->name,
                                .uid = w->uid,
                                .groups = w->groups.p,
                                .n_groups = w->groups.n,
                                .extra = w->extra,
                                .n_extra = w->n_extra };
        if (user->n_groups == 0 && service_account_of_user(w->name, &ns, &name)) {
                user->groups = service_account_groups(a, ns);
                user->n_groups = 2;
        }
        if (str_equal(w->name, STR("system:anonymous")))
                user_add_group(user, a, STR("system:unauthenticated"));
        else if (!user_has_group(user, STR("system:unauthenticated")))
                user_add_group(user, a, STR("system:authenticated"));
}

int authenticator_impersonate(struct authenticator *a, struct run *run, const struct http_head *head, struct user *user,
                              struct err *err)
{
        struct run as_user = *run;
        struct wanted wanted;
        int r;

        read_fields(head, run->arena, &wanted);
        if (!is_any_wanted(&wanted))
                return 0;
        if (wanted.name.n == 0)
                return without_name(&wanted, err);
        as_user.user = *user;
        r = check_wanted(a, &as_user, &wanted, err);
        if (r == 0)
                become(&wanted, run->arena, user);
        return r;
}
