#include "oci-reference.h"

#include "address.h"
#include "arena.h"
#include "buf.h"
#include "oci-digest.h"

#define MAX_REFERENCE_BYTES  1024
#define MAX_REGISTRY_BYTES   255
#define MAX_REPOSITORY_BYTES 255
#define MAX_TAG_BYTES        128

#define LOWER   "abcdefghijklmnopqrstuvwxyz"
#define UPPER   "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS  "0123456789"
#define SPECIAL "_-."

static bool has_only(struct str s, const char *allowed)
{
        for (size_t i = 0; i < s.n; i++)
                if (s.p[i] == 0 || !strchr(allowed, s.p[i]))
                        return false;
        return true;
}

static int check_tag(struct str tag, struct str text, struct err *err)
{
        if (tag.n == 0 || tag.n > MAX_TAG_BYTES)
                return err_set(err, ERR_INVALID, "reference \"%.*s\": the tag has %zu characters; it takes 1 to %d",
                               STR_ARG(text), tag.n, MAX_TAG_BYTES);
        if (!has_only(tag, LOWER UPPER DIGITS SPECIAL))
                return err_set(err, ERR_INVALID,
                               "reference \"%.*s\": the tag \"%.*s\" takes only letters, digits and _ - .",
                               STR_ARG(text), STR_ARG(tag));
        return 0;
}

/* Registries refuse empty parts, and `.` or `..` as a part would change the URL. */
static bool has_bad_part(struct str repository)
{
        for (bool has_more = true; has_more;) {
                struct str part;

                has_more = str_split(&repository, '/', &part);
                if (part.n == 0 || str_equal(part, STR(".")) || str_equal(part, STR("..")))
                        return true;
        }
        return false;
}

static int check_repository(struct str repository, struct str text, struct err *err)
{
        if (repository.n < 2 || repository.n > MAX_REPOSITORY_BYTES)
                return err_set(err, ERR_INVALID,
                               "reference \"%.*s\": the repository has %zu characters; it takes 2 to %d", STR_ARG(text),
                               repository.n, MAX_REPOSITORY_BYTES);
        if (!has_only(repository, LOWER DIGITS SPECIAL "/") || has_bad_part(repository))
                return err_set(err, ERR_INVALID,
                               "reference \"%.*s\": the repository \"%.*s\" takes only lower-case letters, digits and "
                               "_ - . in parts between slashes",
                               STR_ARG(text), STR_ARG(repository));
        return 0;
}

static bool is_host(struct str host)
{
        if (host.n > 2 && host.p[0] == '[' && host.p[host.n - 1] == ']') {
                struct address address;

                return address_from_ip(host, 0, &address, NULL) >= 0;
        }
        return host.n > 0 && host.p[0] != '-' && host.p[0] != '.' && has_only(host, LOWER UPPER DIGITS "-._");
}

static int check_registry(struct str registry, struct str text, struct err *err)
{
        struct str host, port = STR_NONE;
        ptrdiff_t colon = str_find_last_char(registry, ':');
        bool is_good = registry.n <= MAX_REGISTRY_BYTES;
        uint16_t number;

        if (colon >= 0 && str_find_char(str_skip(registry, (size_t)colon), ']') < 0)
                port = str_skip(registry, (size_t)colon + 1);
        /* address_split also takes bare IPv6 addresses; a registry must have brackets around those. */
        is_good = is_good && address_split(registry, &host, &number, NULL) >= 0;
        is_good = is_good && (!port.p || (port.n > 0 && has_only(port, DIGITS) && number > 0));
        host = port.p ? str_first(registry, (size_t)colon) : registry;
        if (!is_good || !is_host(host))
                return err_set(err, ERR_INVALID,
                               "reference \"%.*s\": \"%.*s\" is not a registry: it takes host or host:port",
                               STR_ARG(text), STR_ARG(registry));
        return 0;
}

static bool names_registry(struct str first)
{
        return str_find_char(first, '.') >= 0 || str_find_char(first, ':') >= 0 || str_equal(first, STR("localhost"));
}

/* A plain name of Docker Hub is one beneath library/, and must be a valid repository as that. */
static int set_docker_hub(struct arena *a, struct str text, struct oci_reference *r, struct err *err)
{
        r->registry = STR(OCI_DOCKER_HUB);
        if (str_find_char(r->repository, '/') >= 0)
                return 0;
        r->repository = ARENA_CONCAT(a, STR("library/"), r->repository);
        return check_repository(r->repository, text, err);
}

static int split_source(struct arena *a, struct str text, unsigned flags, struct oci_reference *r, struct err *err)
{
        struct str rest = r->source, first;
        bool has_slash = str_split(&rest, '/', &first);
        int result;

        if (!has_slash || !names_registry(first)) {
                if (flags & OCI_NEEDS_REGISTRY)
                        return err_set(err, ERR_INVALID,
                                       "reference \"%.*s\" names no registry: write registry/repository, for example "
                                       "xpkg.crossplane.io/%.*s",
                                       STR_ARG(text), STR_ARG(text));
                r->repository = r->source;
                result = check_repository(r->repository, text, err);
                return result < 0 ? result : set_docker_hub(a, text, r, err);
        }
        r->registry = first;
        r->repository = rest;
        result = check_registry(first, text, err);
        if (result >= 0)
                result = check_repository(rest, text, err);
        if (result >= 0 && (str_equal(first, STR("docker.io")) || str_equal(first, STR(OCI_DOCKER_HUB))))
                result = set_docker_hub(a, text, r, err);
        return result;
}

/* Cuts `:tag` and `@digest` off the source. A colon before the last slash belongs to the registry's port. */
static int split_version(struct str text, unsigned flags, struct oci_reference *r, struct err *err)
{
        ptrdiff_t at = str_find_char(r->source, '@'), colon, slash;
        int result = 0;

        r->tag = r->digest = STR("");
        if (at >= 0) {
                r->digest = str_skip(r->source, (size_t)at + 1);
                r->source = str_first(r->source, (size_t)at);
                result = oci_digest_check(r->digest, err);
                if (result < 0)
                        return err_wrap(err, "reference \"%.*s\"", STR_ARG(text));
        }
        colon = str_find_last_char(r->source, ':');
        slash = str_find_last_char(r->source, '/');
        if (colon > slash) {
                r->tag = str_skip(r->source, (size_t)colon + 1);
                r->source = str_first(r->source, (size_t)colon);
                return check_tag(r->tag, text, err);
        }
        if (at >= 0)
                return 0;
        if (flags & OCI_NEEDS_TAG)
                return err_set(err, ERR_INVALID, "reference \"%.*s\" has no tag: write %.*s:TAG", STR_ARG(text),
                               STR_ARG(text));
        r->tag = STR("latest");
        return 0;
}

int oci_reference_parse(struct arena *a, struct str text, unsigned flags, struct oci_reference *ret, struct err *err)
{
        struct oci_reference reference = { 0 };
        int r;

        if (text.n == 0)
                return err_set(err, ERR_INVALID, "a reference to an image cannot be empty");
        if (text.n > MAX_REFERENCE_BYTES)
                return err_set(err, ERR_INVALID, "reference \"%.*s...\" has more than %d characters",
                               STR_ARG(str_first(text, 64)), MAX_REFERENCE_BYTES);
        text = arena_copy(a, text);
        reference.source = text;
        r = split_version(text, flags, &reference, err);
        if (r >= 0)
                r = split_source(a, text, flags, &reference, err);
        if (r < 0)
                return r;
        *ret = reference;
        return 0;
}

void oci_reference_append(struct buf *b, const struct oci_reference *r)
{
        buf_appendf(b, "%.*s/%.*s", STR_ARG(r->registry), STR_ARG(r->repository));
        if (r->tag.n > 0)
                buf_appendf(b, ":%.*s", STR_ARG(r->tag));
        if (r->digest.n > 0)
                buf_appendf(b, "@%.*s", STR_ARG(r->digest));
}

struct str oci_reference_text(struct arena *a, const struct oci_reference *r)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        oci_reference_append(&b, r);
        return buf_to_arena(&b, a);
}

struct str oci_reference_version(const struct oci_reference *r)
{
        return r->digest.n > 0 ? r->digest : r->tag;
}

bool oci_registry_is_loopback(struct str registry)
{
        struct address address;
        struct str host;
        uint16_t port;

        if (address_split(registry, &host, &port, NULL) < 0)
                return false;
        if (str_equal_ignore_case(host, STR("localhost")))
                return true;
        if (address_from_ip(host, 0, &address, NULL) < 0)
                return false;
        if (address.any.sa_family == AF_INET)
                return (ntohl(address.ip4.sin_addr.s_addr) >> 24) == 127;
        return IN6_IS_ADDR_LOOPBACK(&address.ip6.sin6_addr);
}
