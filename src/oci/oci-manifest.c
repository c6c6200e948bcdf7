#include "oci-manifest.h"

#include "buf.h"
#include "json.h"
#include "limits.h"
#include "oci-digest.h"

static int want_object(const struct value *v, const char *what, struct err *err)
{
        return value_is_object(v) ? 0 : err_set(err, ERR_INVALID, "%s is not an object", what);
}

/* A string, or "" if it is absent or null. */
static int read_str(const struct value *object, const char *key, struct str *ret, struct err *err)
{
        const struct value *v = value_get(object, str_from(key));

        *ret = value_str(v);
        if (v && !value_is_string(v) && !value_is_null(v))
                return err_set(err, ERR_INVALID, "%s is not a string", key);
        return 0;
}

/* An object of strings, or NULL. */
static int read_strings_map(const struct value *object, const char *key, const struct value **ret, struct err *err)
{
        const struct value *map = value_get(object, str_from(key));

        *ret = NULL;
        if (!map || value_is_null(map))
                return 0;
        if (!value_is_object(map))
                return err_set(err, ERR_INVALID, "%s is not an object", key);
        VALUE_FOREACH_MEMBER (m, map) {
                if (!value_is_string(&m->value))
                        return err_set(err, ERR_INVALID, "%s: the value of \"%.*s\" is not a string", key,
                                       STR_ARG(m->key));
        }
        *ret = map;
        return 0;
}

static int read_platform(const struct value *object, struct oci_platform *ret, struct err *err)
{
        int r = read_str(object, "os", &ret->os, err);

        if (r >= 0)
                r = read_str(object, "architecture", &ret->architecture, err);
        if (r >= 0)
                r = read_str(object, "variant", &ret->variant, err);
        if (r >= 0)
                r = read_str(object, "os.version", &ret->os_version, err);
        return r;
}

static int read_size(const struct value *object, int64_t *ret, struct err *err)
{
        const struct value *size = value_get(object, STR("size"));

        if (!value_is_int(size) || size->integer < 0)
                return err_set(err, ERR_INVALID, "size is not a number of bytes");
        if ((uint64_t)size->integer > LIMIT_BLOB_BYTES)
                return err_set(err, ERR_LIMIT, "size is %lld bytes; the limit is %llu", (long long)size->integer,
                               LIMIT_BLOB_BYTES);
        *ret = size->integer;
        return 0;
}

static int read_descriptor(const struct value *object, struct oci_descriptor *ret, struct err *err)
{
        const struct value *platform = value_get(object, STR("platform"));
        struct oci_descriptor d = { 0 };
        int r = want_object(object, "it", err);

        if (r >= 0)
                r = read_str(object, "mediaType", &d.media_type, err);
        if (r >= 0)
                r = read_str(object, "digest", &d.digest, err);
        if (r >= 0)
                r = oci_digest_check(d.digest, err);
        if (r >= 0)
                r = read_size(object, &d.size_bytes, err);
        if (r >= 0)
                r = read_str(object, "artifactType", &d.artifact_type, err);
        if (r >= 0)
                r = read_strings_map(object, "annotations", &d.annotations, err);
        if (r >= 0 && platform && !value_is_null(platform)) {
                d.has_platform = true;
                r = want_object(platform, "platform", err);
                if (r >= 0)
                        r = read_platform(platform, &d.platform, err);
        }
        if (r < 0)
                return r;
        *ret = d;
        return 0;
}

static int read_descriptors(struct arena *a, const struct value *list, const char *what, size_t max,
                            const struct oci_descriptor **ret, size_t *ret_n, struct err *err)
{
        size_t n = value_count(list);
        struct oci_descriptor *descriptors;

        if (list && !value_is_array(list) && !value_is_null(list))
                return err_set(err, ERR_INVALID, "%s is not a list", what);
        if (n > max)
                return err_set(err, ERR_LIMIT, "it has %zu %s; the limit is %zu", n, what, max);
        descriptors = ARENA_NEW_ARRAY(a, struct oci_descriptor, n);
        for (size_t i = 0; i < n; i++) {
                int r = read_descriptor(value_item(list, i), &descriptors[i], err);

                if (r < 0)
                        return err_wrap(err, "%s[%zu]", what, i);
        }
        *ret = descriptors;
        *ret_n = n;
        return 0;
}

static bool is_index_type(struct str type)
{
        return str_equal(type, STR(OCI_MEDIA_INDEX)) || str_equal(type, STR(DOCKER_MEDIA_INDEX));
}

static bool is_manifest_type(struct str type)
{
        return str_equal(type, STR(OCI_MEDIA_MANIFEST)) || str_equal(type, STR(DOCKER_MEDIA_MANIFEST));
}

/* Decides what the document is from its own media type, the registry's, or its members, in this order. */
static int read_kind(const struct value *root, struct str media_type, struct oci_manifest *m, struct err *err)
{
        bool has_manifests = value_get(root, STR("manifests")), has_layers = value_get(root, STR("layers"));
        int64_t version = value_int(value_get(root, STR("schemaVersion")), 0);
        struct str own;
        int r = read_str(root, "mediaType", &own, err);

        if (r < 0)
                return r;
        if (version == 1 && !has_manifests && !has_layers)
                return err_set(err, ERR_UNSUPPORTED,
                               "it is a manifest of Docker's old schema 1, which has no digests that can be checked: "
                               "push the image again with a current tool");
        if (version != 2)
                return err_set(err, ERR_INVALID, "schemaVersion is not 2");
        if (has_manifests && (has_layers || value_get(root, STR("config"))))
                return err_set(err, ERR_INVALID, "it has both manifests and layers");
        if (own.n > 0 && media_type.n > 0 && !str_equal(own, media_type))
                return err_set(err, ERR_INVALID, "the registry calls it %.*s, but it calls itself %.*s",
                               STR_ARG(str_first(media_type, 128)), STR_ARG(str_first(own, 128)));
        m->media_type = own.n > 0 ? own : media_type;
        if (m->media_type.n == 0)
                m->media_type = has_manifests ? STR(OCI_MEDIA_INDEX) : STR(OCI_MEDIA_MANIFEST);
        m->is_index = is_index_type(m->media_type);
        if (!m->is_index && !is_manifest_type(m->media_type))
                return err_set(err, ERR_UNSUPPORTED, "its media type is %.*s, which is neither a manifest nor an index",
                               STR_ARG(str_first(m->media_type, 128)));
        if (m->is_index != has_manifests)
                return err_set(err, ERR_INVALID, "it calls itself %.*s but has %s", STR_ARG(m->media_type),
                               has_manifests ? "manifests" : "none");
        return 0;
}

static int read_image(struct arena *a, const struct value *root, struct oci_manifest *m, struct err *err)
{
        int r = read_descriptor(value_get(root, STR("config")), &m->config, err);
        uint64_t n_bytes = 0; /* cannot overflow: the number of layers is limited, and the size of each */

        if (r < 0)
                return err_wrap(err, "config");
        r = read_descriptors(a, value_get(root, STR("layers")), "layers", LIMIT_IMAGE_LAYERS, &m->layers, &m->n_layers,
                             err);
        for (size_t i = 0; r >= 0 && i < m->n_layers; i++)
                n_bytes += (uint64_t)m->layers[i].size_bytes;
        if (r >= 0 && n_bytes > LIMIT_IMAGE_BYTES)
                r = err_set(err, ERR_LIMIT, "it has %llu bytes of layers; the limit is %llu",
                            (unsigned long long)n_bytes, LIMIT_IMAGE_BYTES);
        return r;
}

static int parse_manifest(struct arena *a, struct str json, struct str media_type, struct oci_manifest *ret,
                          struct err *err)
{
        struct oci_manifest m = { 0 };
        const struct value *root;
        int r = json_parse(a, json, &(struct json_read_options) { .max_bytes = LIMIT_MANIFEST_BYTES }, &root, err);

        if (r >= 0)
                r = want_object(root, "it", err);
        if (r >= 0)
                r = read_kind(root, media_type, &m, err);
        if (r >= 0)
                r = read_strings_map(root, "annotations", &m.annotations, err);
        if (r >= 0 && m.is_index)
                r = read_descriptors(a, value_get(root, STR("manifests")), "manifests", LIMIT_INDEX_MANIFESTS,
                                     &m.manifests, &m.n_manifests, err);
        else if (r >= 0)
                r = read_image(a, root, &m, err);
        if (r < 0)
                return r;
        *ret = m;
        return 0;
}

int oci_manifest_parse(struct arena *a, struct str json, struct str media_type, struct oci_manifest *ret,
                       struct err *err)
{
        ptrdiff_t end = str_find_char(media_type, ';'); /* `; charset=utf-8` */
        int r;

        media_type = arena_copy(a, str_trim(end < 0 ? media_type : str_first(media_type, (size_t)end)));
        /* Some registries and mirrors send every file with a type of their own. */
        if (!is_index_type(media_type) && !is_manifest_type(media_type))
                media_type = STR("");
        r = parse_manifest(a, json, media_type, ret, err);
        return r < 0 ? err_wrap(err, "manifest") : 0;
}

struct str oci_annotation(const struct value *annotations, const char *key)
{
        return value_str(value_get(annotations, str_from(key)));
}

/* Platforms */

struct oci_platform oci_platform_here(void)
{
#if defined(__x86_64__)
        return (struct oci_platform) { .os = STR("linux"), .architecture = STR("amd64") };
#elif defined(__aarch64__)
        return (struct oci_platform) { .os = STR("linux"), .architecture = STR("arm64") };
#elif defined(__riscv) && __riscv_xlen == 64
        return (struct oci_platform) { .os = STR("linux"), .architecture = STR("riscv64") };
#elif defined(__powerpc64__) && defined(__LITTLE_ENDIAN__)
        return (struct oci_platform) { .os = STR("linux"), .architecture = STR("ppc64le") };
#elif defined(__s390x__)
        return (struct oci_platform) { .os = STR("linux"), .architecture = STR("s390x") };
#else
#error "add this machine's name in OCI platforms"
#endif
}

struct str oci_platform_text(struct arena *a, const struct oci_platform *p)
{
        return arena_printf(a, "%.*s/%.*s%s%.*s", STR_ARG(p->os), STR_ARG(p->architecture), p->variant.n > 0 ? "/" : "",
                            STR_ARG(p->variant));
}

static struct oci_platform platform_of(const struct oci_descriptor *d)
{
        if (d->has_platform)
                return d->platform;
        return (struct oci_platform) { .os = STR("linux"), .architecture = STR("amd64") };
}

static bool platform_fits(const struct oci_platform *have, const struct oci_platform *want)
{
        return str_equal(have->os, want->os) && str_equal(have->architecture, want->architecture) &&
               (want->variant.n == 0 || have->variant.n == 0 || str_equal(have->variant, want->variant));
}

static int no_such_platform(const struct oci_manifest *index, const struct oci_platform *platform, struct err *err)
{
        _cleanup_arena_ struct arena a;
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        size_t n = MIN(index->n_manifests, (size_t)20);

        arena_init(&a, "platforms", 0);
        for (size_t i = 0; i < n; i++) {
                struct oci_platform p = platform_of(&index->manifests[i]);

                buf_appendf(&b, "%s%.*s", i > 0 ? ", " : "", STR_ARG(oci_platform_text(&a, &p)));
        }
        return err_set(err, ERR_NOT_FOUND, "the index has no image for %.*s; it has: %s%s",
                       STR_ARG(oci_platform_text(&a, platform)), index->n_manifests > 0 ? buf_cstring(&b) : "none",
                       n < index->n_manifests ? ", ..." : "");
}

int oci_index_choose(const struct oci_manifest *index, const struct oci_platform *platform,
                     const struct oci_descriptor **ret, struct err *err)
{
        const struct oci_descriptor *best = NULL;

        for (size_t i = 0; i < index->n_manifests; i++) {
                const struct oci_descriptor *d = &index->manifests[i];
                struct oci_platform have = platform_of(d);
                bool is_exact = str_equal(have.variant, platform->variant);

                if (!platform_fits(&have, platform) || (best && !is_exact))
                        continue;
                best = d;
                if (is_exact)
                        break;
        }
        if (!best)
                return no_such_platform(index, platform, err);
        *ret = best;
        return 0;
}

/* Configurations */

static int read_strings(struct arena *a, const struct value *object, const char *key, struct oci_strings *ret,
                        struct err *err)
{
        const struct value *list = value_get(object, str_from(key));
        size_t n = value_count(list);
        struct str *texts = ARENA_NEW_ARRAY(a, struct str, n);

        if (list && !value_is_array(list) && !value_is_null(list))
                return err_set(err, ERR_INVALID, "%s is not a list", key);
        for (size_t i = 0; i < n; i++) {
                if (!value_is_string(value_item(list, i)))
                        return err_set(err, ERR_INVALID, "%s[%zu] is not a string", key, i);
                texts[i] = value_str(value_item(list, i));
                if (memchr(texts[i].p, 0, texts[i].n))
                        return err_set(err, ERR_INVALID, "%s[%zu] has a NUL", key, i);
        }
        *ret = (struct oci_strings) { texts, n };
        return 0;
}

static int read_start(struct arena *a, const struct value *config, struct oci_config *c, struct err *err)
{
        int r = read_strings(a, config, "Entrypoint", &c->entrypoint, err);

        if (r >= 0)
                r = read_strings(a, config, "Cmd", &c->command, err);
        if (r >= 0)
                r = read_strings(a, config, "Env", &c->environment, err);
        if (r >= 0)
                r = read_str(config, "WorkingDir", &c->working_directory, err);
        if (r >= 0)
                r = read_str(config, "User", &c->user, err);
        if (r >= 0)
                r = read_strings_map(config, "Labels", &c->labels, err);
        return r < 0 ? err_wrap(err, "config") : 0;
}

static int read_diff_ids(struct arena *a, const struct value *root, struct oci_config *c, struct err *err)
{
        int r = read_strings(a, value_get(root, STR("rootfs")), "diff_ids", &c->diff_ids, err);

        if (r >= 0 && c->diff_ids.n > LIMIT_IMAGE_LAYERS)
                r = err_set(err, ERR_LIMIT, "it has %zu layers; the limit is %d", c->diff_ids.n, LIMIT_IMAGE_LAYERS);
        for (size_t i = 0; r >= 0 && i < c->diff_ids.n; i++)
                r = oci_digest_check(c->diff_ids.p[i], err);
        return r < 0 ? err_wrap(err, "rootfs") : 0;
}

int oci_config_parse(struct arena *a, struct str json, struct oci_config *ret, struct err *err)
{
        struct oci_config c = { 0 };
        const struct value *config;
        int r = json_parse(a, json, &(struct json_read_options) { .max_bytes = LIMIT_MANIFEST_BYTES }, &c.root, err);

        if (r >= 0)
                r = want_object(c.root, "it", err);
        if (r >= 0)
                r = read_platform(c.root, &c.platform, err);
        config = r >= 0 ? value_get(c.root, STR("config")) : NULL;
        if (config && !value_is_null(config)) {
                r = want_object(config, "config", err);
                if (r >= 0)
                        r = read_start(a, config, &c, err);
        }
        if (r >= 0)
                r = read_diff_ids(a, c.root, &c, err);
        if (r < 0)
                return err_wrap(err, "image configuration");
        *ret = c;
        return 0;
}
