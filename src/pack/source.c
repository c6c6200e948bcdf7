/* Functions that need no image: those that are built in, and those that run beside. */
#include "package-client.h"
#include "packages-state.h"

#include "semver.h"

/* REGISTRY/PATH/NAME:TAG@DIGEST */
struct reference {
        struct str name; /* the last element of the path */
        struct str tag;
        struct str digest;
};

static struct reference split_reference(struct str text)
{
        struct reference r = { 0 };
        ptrdiff_t at = str_find_char(text, '@'), slash, colon;

        if (at >= 0) {
                r.digest = str_skip(text, (size_t)at + 1);
                text = str_first(text, (size_t)at);
        }
        slash = str_find_last_char(text, '/');
        r.name = str_skip(text, (size_t)(slash + 1));
        colon = str_find_char(r.name, ':');
        if (colon >= 0) {
                r.tag = str_skip(r.name, (size_t)colon + 1);
                r.name = str_first(r.name, (size_t)colon);
        }
        return r;
}

/* Whether a built-in function of this version can stand for the tag: any version up to the same minor one. */
static bool covers(struct str version, struct str tag)
{
        struct semver own, wanted;

        return semver_parse(version, &own, NULL) == 0 && semver_parse(tag, &wanted, NULL) == 0 &&
               wanted.major == own.major && wanted.minor <= own.minor;
}

static struct source builtin_source(struct packages *p, struct arena *a, const struct builtin_function *b,
                                    const struct reference *r)
{
        struct str version = str_from(b->version ? b->version : "");

        if (!p->options.ignores_versions && r->digest.n)
                return (struct source) {
                        .message = arena_printf(a,
                                                "the package is given by a digest, and the built-in %s, which behaves "
                                                "like %.*s, stands "
                                                "only for tags: give a tag, or start with --builtin-functions=always",
                                                b->name, STR_ARG(version)),
                };
        if (!p->options.ignores_versions && !covers(version, r->tag))
                return (struct source) {
                        .message = arena_printf(
                                a,
                                "version %.*s is not built in: the built-in %s behaves like %.*s and stands for that "
                                "and "
                                "older versions; give such a tag, start with --builtin-functions=always, or run the "
                                "function beside with --function NAME=HOST:PORT",
                                STR_ARG(r->tag.n ? r->tag : STR("latest")), b->name, STR_ARG(version)),
                };
        return (struct source) {
                .is_found = true,
                .endpoint = arena_printf(a, BUILTIN "%s", b->name),
                .message = arena_printf(a, "built in: behaves like %.*s", STR_ARG(version)),
        };
}

static const struct packages_external *find_external(const struct packages *p, struct str name)
{
        for (size_t i = 0; i < p->options.n_externals; i++)
                if (str_equal(p->options.externals[i].name, name))
                        return &p->options.externals[i];
        return NULL;
}

int packages_source(struct packages *p, struct kind_run *r, const struct package_kind *kind, struct str name,
                    struct str reference, struct source *ret, struct err *err)
{
        struct arena *a = r->run->arena;
        const struct packages_external *external = find_external(p, name);
        struct reference parts = split_reference(reference);
        const struct builtin_function *b = p->options.find_builtin ? p->options.find_builtin(parts.name) : NULL;
        bool is_verified = false;
        int e = 0;

        *ret = (struct source) { 0 };
        if (kind->kind != XPKG_FUNCTION)
                return 0;
        if (external)
                *ret = (struct source) {
                        .is_found = true,
                        .endpoint = arena_copy(a, external->target),
                        .message = arena_printf(a, "runs beside, at %.*s", STR_ARG(external->target)),
                };
        else if (!b)
                ret->message = arena_printf(a, "run the function beside and start with --function %.*s=HOST:PORT",
                                            STR_ARG(name));
        else
                e = package_client_is_verified(r, reference, &is_verified, err);
        if (e == 0 && !external && b)
                *ret = is_verified ? (struct source) { 0 } : builtin_source(p, a, b, &parts);
        return e;
}
