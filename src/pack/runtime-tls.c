#include "runtime-tls.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base64.h"
#include "buf.h"
#include "certificate.h"
#include "clock.h"
#include "input.h"
#include "meta.h"
#include "random.h"

#define LIFETIME_S (3650 * INT64_C(86400))
#define MARGIN_S   (30 * INT64_C(86400))
#define SKEW_S     300 /* for peers whose clock is behind */
#define MAX_TRIES  5   /* against others who write the same Secret */
#define MAX_WAIT_S 86400

/* Says on a Secret that its leaf was made here, so that it may be replaced when its authority is gone. */
#define ANNOTATION STR("weft/generated-tls")

struct tls {
        struct cluster *cluster;
        struct run *run;
        struct runtime_tls_options options;
        struct str bundle; /* certificates of authorities, the current one first */
        struct private_key *key;
        int64_t authority_end_s;
};

/* A Secret as it is, or as it is to be. */
struct secret {
        const struct value *object; /* NULL: there is none */
        struct str name;
        struct runtime_tls tls;
};

/* --- Secrets --- */

static struct object_key key_of(const struct tls *t, struct str name)
{
        return (struct object_key) { .gvk = { STR(""), STR("v1"), STR("Secret") }, .ns = t->options.ns, .name = name };
}

static struct str text_of(struct arena *a, const struct value *secret, const char *key)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        if (base64_decode(&b, value_str(value_find(secret, "data", key)), BASE64_STD, NULL) < 0)
                return STR("");
        return buf_to_arena(&b, a);
}

static int get_secret(const struct tls *t, struct str name, struct secret *ret, struct err *err)
{
        struct object_key key = key_of(t, name);
        int r;

        *ret = (struct secret) { .name = name };
        r = cluster_get_value(t->cluster, t->run, &key, &ret->object, err);
        if (r == ERR_NOT_FOUND) {
                err_done(err);
                ret->object = NULL;
                return 0;
        }
        if (r < 0)
                return err_wrap(err, "cannot get Secret \"%.*s\"", STR_ARG(name));
        ret->tls.cert = text_of(t->run->arena, ret->object, "tls.crt");
        ret->tls.key = text_of(t->run->arena, ret->object, "tls.key");
        ret->tls.ca = text_of(t->run->arena, ret->object, "ca.crt");
        return 0;
}

static const struct value *new_object(const struct tls *t, struct str name, const struct value *owner)
{
        struct arena *a = t->run->arena;
        struct object_builder b, metadata;

        object_builder_init(&metadata, a, 3);
        object_builder_add(&metadata, STR("name"), value_of_str(name));
        object_builder_add(&metadata, STR("namespace"), value_of_str(t->options.ns));
        if (owner)
                object_builder_add(&metadata, STR("ownerReferences"), value_of_items(a, owner, 1));
        object_builder_init(&b, a, 5);
        object_builder_add(&b, STR("apiVersion"), value_of_literal("v1"));
        object_builder_add(&b, STR("kind"), value_of_literal("Secret"));
        object_builder_add(&b, STR("metadata"), object_builder_finish(&metadata));
        object_builder_add(&b, STR("type"), value_of_literal("Opaque"));
        return value_put(a, object_builder_finish(&b));
}

static const struct value *with_text(struct arena *a, const struct value *data, const char *key, struct str text)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        if (text.n == 0)
                return data;
        base64_encode(&b, text, BASE64_STD);
        return value_with(a, data, str_from(key), value_put(a, value_of_str(buf_to_arena(&b, a))));
}

static int make_namespace(const struct tls *t, struct err *err)
{
        struct arena *a = t->run->arena;
        struct object_builder b, metadata;
        struct write_request req = { .verb = WRITE_CREATE, .key = { .gvk = { STR(""), STR("v1"), STR("Namespace") } } };
        struct write_result result;

        object_builder_init(&metadata, a, 1);
        object_builder_add(&metadata, STR("name"), value_of_str(t->options.ns));
        object_builder_init(&b, a, 3);
        object_builder_add(&b, STR("apiVersion"), value_of_literal("v1"));
        object_builder_add(&b, STR("kind"), value_of_literal("Namespace"));
        object_builder_add(&b, STR("metadata"), object_builder_finish(&metadata));
        req.body = value_put(a, object_builder_finish(&b));
        return cluster_write(t->cluster, t->run, &req, &result, err);
}

/* ERR_CONFLICT or ERR_EXISTS: someone else was faster. */
static int put_secret(const struct tls *t, const struct secret *s, const struct value *owner, struct err *err)
{
        struct arena *a = t->run->arena;
        const struct value *object = s->object ? s->object : new_object(t, s->name, owner);
        const struct value *data = value_find(object, "data");
        struct write_request req = { .verb = s->object ? WRITE_UPDATE : WRITE_CREATE,
                                     .key = key_of(t, s->name),
                                     .manager = STR("weft") };
        struct write_result result;
        int r;

        data = with_text(a, data ? data : &value_empty_object, "tls.crt", s->tls.cert);
        data = with_text(a, data, "tls.key", s->tls.key);
        data = with_text(a, data, "ca.crt", s->tls.ca);
        req.body = meta_with_annotation(a, value_with(a, object, STR("data"), data), ANNOTATION, STR("true"));
        r = cluster_write(t->cluster, t->run, &req, &result, err);
        if (r == ERR_NOT_FOUND && !s->object) {
                err_done(err);
                r = make_namespace(t, err);
                if (r >= 0)
                        r = cluster_write(t->cluster, t->run, &req, &result, err);
        }
        return r < 0 ? err_wrap(err, "cannot write Secret \"%.*s\"", STR_ARG(s->name)) : 0;
}

/* --- Certificates --- */

/* The first PEM block of the text with what is before it; *rest is what follows. */
static struct str next_block(struct str *rest)
{
        static const struct str end = STR_INIT("-----END CERTIFICATE-----");
        ptrdiff_t at = str_find(*rest, end);
        struct str block = at < 0 ? STR("") : str_first(*rest, (size_t)at + end.n);

        *rest = str_skip(*rest, block.n);
        while (rest->n > 0 && (rest->p[0] == '\n' || rest->p[0] == '\r'))
                *rest = str_skip(*rest, 1);
        return block;
}

/* Whether an authority of the bundle has signed the certificate. */
static bool is_signed_by(struct str certificate, struct str bundle)
{
        struct certificate_facts facts;
        struct str block;

        while ((block = next_block(&bundle)).n > 0)
                if (certificate_inspect(certificate, NULL, block, &facts, NULL) >= 0 && facts.is_signed)
                        return true;
        return false;
}

/* Appends the authorities of the bundle that have not expired. */
static void append_living(struct buf *b, struct str bundle, int64_t now_s)
{
        struct certificate_facts facts;
        struct str block;

        while ((block = next_block(&bundle)).n > 0)
                if (certificate_inspect(block, NULL, STR(""), &facts, NULL) >= 0 && facts.not_after > now_s)
                        buf_appendf(b, "%.*s\n", STR_ARG(block));
}

static int make_certificate(const struct tls *t, const struct certificate_request *request,
                            const struct private_key *key, struct str authority, const struct private_key *signer,
                            struct runtime_tls *ret, struct err *err)
{
        static const struct str organization = STR_INIT("Crossplane");
        _cleanup_buf_ struct buf cert = BUF_INIT(0), text = BUF_INIT(0);
        struct certificate_request full = *request;
        int r;

        full.organizations = &organization;
        full.n_organizations = 1;
        full.not_before = t->options.now_s - SKEW_S;
        random_system(full.serial, sizeof(full.serial));
        full.serial[0] &= 0x7F; /* serial numbers are positive */
        r = certificate_append(&cert, &full, key, &(struct certificate_signer) { authority, signer }, err);
        if (r < 0)
                return r;
        private_key_append(&text, key);
        ret->cert = buf_to_arena(&cert, t->run->arena);
        ret->key = buf_to_arena(&text, t->run->arena);
        return 0;
}

/* --- The authority --- */

static int make_authority(struct tls *t, struct secret *s, struct err *err)
{
        static const struct str name = STR_INIT("crossplane-root-ca");
        struct certificate_request request = {
                .common_name = STR("Crossplane"),
                .usage = CERTIFICATE_FOR_SIGNING,
                .dns_names = &name,
                .n_dns_names = 1,
                .not_after = t->options.now_s + t->options.lifetime_s,
                .is_authority = true,
        };
        _cleanup_buf_ struct buf bundle = BUF_INIT(0);
        _cleanup_private_key_ struct private_key *key = NULL;
        struct str old = s->tls.cert;
        int r = private_key_generate(PRIVATE_KEY_RSA_2048, &key, err);

        if (r >= 0)
                r = make_certificate(t, &request, key, STR(""), key, &s->tls, err);
        if (r < 0)
                return err_wrap(err, "cannot make the authority of packages");
        buf_append_str(&bundle, s->tls.cert);
        append_living(&bundle, old, t->options.now_s);
        s->tls.cert = buf_to_arena(&bundle, t->run->arena);
        return put_secret(t, s, NULL, err);
}

/* Whether what is there can sign for long enough. */
static int use_authority(struct tls *t, const struct secret *s, bool *ret_is_good, struct err *err)
{
        struct certificate_facts facts;

        *ret_is_good = false;
        if (s->tls.cert.n == 0 && s->tls.key.n == 0)
                return 0;
        private_key_free(TAKE(t->key));
        if (private_key_parse(s->tls.key, &t->key, err) < 0 ||
            certificate_inspect(s->tls.cert, t->key, STR(""), &facts, err) < 0)
                return err_wrap(err, "cannot use the authority in Secret \"%.*s\" (delete the Secret to get another)",
                                STR_ARG(s->name));
        if (!facts.is_of_key)
                return err_set(err, ERR_INVALID,
                               "cannot use the authority in Secret \"%.*s\": tls.key is not the key of tls.crt (delete "
                               "the Secret to "
                               "get another)",
                               STR_ARG(s->name));
        t->bundle = s->tls.cert;
        t->authority_end_s = facts.not_after;
        *ret_is_good = facts.not_after - t->options.now_s >= 2 * t->options.margin_s;
        return 0;
}

static bool is_race(int r)
{
        return r == ERR_CONFLICT || r == ERR_EXISTS;
}

static int ensure_authority(struct tls *t, struct err *err)
{
        for (int attempt = 0; attempt < MAX_TRIES; attempt++) {
                struct secret s;
                bool is_good;
                int r = get_secret(t, RUNTIME_TLS_ROOT, &s, err);

                if (r >= 0)
                        r = use_authority(t, &s, &is_good, err);
                if (r < 0 || is_good)
                        return r;
                r = make_authority(t, &s, err);
                if (r < 0 && !is_race(r))
                        return r;
                err_done(err);
        }
        return err_set(err, ERR_CONFLICT, "Secret \"crossplane-root-ca\" changes all the time");
}

/* --- Leaves --- */

static size_t list_names(const struct tls *t, const struct runtime_tls_leaf *leaf, struct str names[3])
{
        struct arena *a = t->run->arena;

        names[0] = leaf->name;
        if (leaf->use == RUNTIME_TLS_CALLS)
                return 1;
        names[1] = arena_printf(a, "%.*s.%.*s", STR_ARG(leaf->name), STR_ARG(t->options.ns));
        names[2] = arena_printf(a, "%.*s.%.*s.svc", STR_ARG(leaf->name), STR_ARG(t->options.ns));
        return 3;
}

/* The state of a leaf, which decides what is done about it. */
enum verdict {
        LEAF_GOOD,
        LEAF_LACKS_AUTHORITY, /* ca.crt is not the bundle */
        LEAF_REPLACE,
        LEAF_FOREIGN,
};

static enum verdict judge(const struct tls *t, const struct runtime_tls_leaf *leaf, const struct secret *s,
                          int64_t *ret_end_s)
{
        _cleanup_private_key_ struct private_key *key = NULL;
        struct certificate_facts facts;
        struct str names[3];
        size_t n = list_names(t, leaf, names);

        if (s->tls.cert.n == 0 && s->tls.key.n == 0 && s->tls.ca.n == 0)
                return LEAF_REPLACE;
        if (!is_signed_by(s->tls.cert, t->bundle))
                return meta_annotation(s->object, ANNOTATION).n ? LEAF_REPLACE : LEAF_FOREIGN;
        if (private_key_parse(s->tls.key, &key, NULL) < 0 ||
            certificate_inspect(s->tls.cert, key, STR(""), &facts, NULL) < 0 || !facts.is_of_key ||
            facts.not_after - t->options.now_s < t->options.margin_s)
                return LEAF_REPLACE;
        for (size_t i = 0; i < n; i++)
                if (!certificate_has_name(s->tls.cert, names[i]))
                        return LEAF_REPLACE;
        *ret_end_s = facts.not_after;
        return str_equal(s->tls.ca, t->bundle) ? LEAF_GOOD : LEAF_LACKS_AUTHORITY;
}

static int make_leaf(const struct tls *t, const struct runtime_tls_leaf *leaf, struct runtime_tls *ret,
                     int64_t *ret_end_s, struct err *err)
{
        struct str names[3], rest = t->bundle;
        struct certificate_request request = {
                /* Not the authority's name: OpenSSL would take it for its own issuer. */
                .common_name = leaf->use == RUNTIME_TLS_SERVES ? STR("Crossplane server") : STR("Crossplane client"),
                .usage = leaf->use == RUNTIME_TLS_SERVES ? CERTIFICATE_FOR_SERVERS : CERTIFICATE_FOR_CLIENTS,
                .dns_names = names,
                .n_dns_names = list_names(t, leaf, names),
                .not_after = MIN(t->options.now_s + t->options.lifetime_s, t->authority_end_s),
        };
        _cleanup_private_key_ struct private_key *key = NULL;
        int r = private_key_generate(PRIVATE_KEY_RSA_2048, &key, err);

        if (r >= 0)
                r = make_certificate(t, &request, key, next_block(&rest), t->key, ret, err);
        *ret_end_s = request.not_after;
        return r < 0 ? err_wrap(err, "cannot make a certificate for \"%.*s\"", STR_ARG(leaf->name)) : 0;
}

static int check_foreign(const struct secret *s, struct err *err)
{
        if (s->tls.cert.n && s->tls.key.n && s->tls.ca.n)
                return 0;
        return err_set(
                err, ERR_INVALID,
                "Secret \"%.*s\" needs all of tls.crt, tls.key and ca.crt; complete it, or delete it to get a new one",
                STR_ARG(s->name));
}

static int ensure_leaf(const struct tls *t, const struct runtime_tls_leaf *leaf, struct runtime_tls *ret,
                       int64_t *ret_end_s, struct err *err)
{
        for (int attempt = 0; attempt < MAX_TRIES; attempt++) {
                struct secret s;
                enum verdict verdict;
                int r = get_secret(t, leaf->secret, &s, err);

                if (r < 0)
                        return r;
                *ret_end_s = INT64_MAX;
                verdict = judge(t, leaf, &s, ret_end_s);
                if (verdict == LEAF_FOREIGN && check_foreign(&s, err) < 0)
                        return err->code;
                if (verdict == LEAF_REPLACE && make_leaf(t, leaf, &s.tls, ret_end_s, err) < 0)
                        return err->code;
                if (verdict != LEAF_FOREIGN)
                        s.tls.ca = t->bundle;
                *ret = s.tls;
                if (verdict == LEAF_GOOD || verdict == LEAF_FOREIGN)
                        return 0;
                r = put_secret(t, &s, leaf->owner, err);
                if (!is_race(r))
                        return r;
                err_done(err);
        }
        return err_set(err, ERR_CONFLICT, "Secret \"%.*s\" changes all the time", STR_ARG(leaf->secret));
}

int runtime_tls_ensure(struct cluster *c, struct run *run, const struct runtime_tls_options *options,
                       const struct runtime_tls_leaf *leaf, struct runtime_tls *ret, int64_t *ret_check_s,
                       struct err *err)
{
        struct tls t = { .cluster = c, .run = run, .options = *options };
        struct runtime_tls_options *o = &t.options;
        int64_t end_s = INT64_MAX;
        int r;

        o->ns = o->ns.n ? o->ns : STR("crossplane-system");
        o->lifetime_s = o->lifetime_s ? o->lifetime_s : LIFETIME_S;
        o->margin_s = o->margin_s ? o->margin_s : MARGIN_S;
        o->now_s = o->now_s ? o->now_s : clock_wall().seconds;
        r = ensure_authority(&t, err);
        if (r >= 0)
                r = ensure_leaf(&t, leaf, ret, &end_s, err);
        private_key_free(t.key);
        if (r >= 0 && ret_check_s) {
                int64_t wait_s = t.authority_end_s - 2 * o->margin_s - o->now_s;

                if (end_s != INT64_MAX)
                        wait_s = MIN(wait_s, end_s - o->margin_s - o->now_s);
                *ret_check_s = MAX(INT64_C(1), MIN(wait_s + 1, (int64_t)MAX_WAIT_S));
        }
        return r;
}

/* --- Files --- */

static int write_one(const char *directory, const char *name, struct str text, mode_t mode, struct err *err)
{
        _cleanup_buf_ struct buf path = BUF_INIT(0), beside = BUF_INIT(0), there = BUF_INIT(0);
        _cleanup_close_ int fd = -1;

        buf_appendf(&path, "%s/%s", directory, name);
        buf_appendf(&beside, "%s/.%s.new", directory, name);
        if (input_read(buf_cstring(&path), &there, NULL) >= 0 && str_equal(buf_str(&there), text))
                return 0;
        (void)unlink(buf_cstring(&beside));
        fd = open(buf_cstring(&beside), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (fd < 0 || write(fd, text.p, text.n) != (ssize_t)text.n ||
            rename(buf_cstring(&beside), buf_cstring(&path)) < 0)
                return err_set_errno(err, errno, "cannot write %s", buf_cstring(&path));
        return 0;
}

int runtime_tls_write(const char *directory, const struct runtime_tls *tls, struct err *err)
{
        int r;

        if (mkdir(directory, 0700) < 0 && errno != EEXIST)
                return err_set_errno(err, errno, "cannot make %s", directory);
        r = write_one(directory, "ca.crt", tls->ca, 0644, err);
        if (r >= 0)
                r = write_one(directory, "tls.key", tls->key, 0600, err);
        return r >= 0 ? write_one(directory, "tls.crt", tls->cert, 0644, err) : r;
}
