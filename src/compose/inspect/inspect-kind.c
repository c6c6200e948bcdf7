/* The kind that a user means by a word (docs/spec/packages 6.4). */
#include "inspect.h"

struct wanted {
        struct str word;
        struct str version; /* "": any */
        struct str group;
        bool has_group;
};

static bool has_name(const struct kind *k, struct str word)
{
        if (str_equal_ignore_case(k->plural, word) || str_equal_ignore_case(k->singular, word) ||
            str_equal_ignore_case(k->kind, word))
                return true;
        for (size_t i = 0; i < k->n_short_names; i++)
                if (str_equal_ignore_case(k->short_names[i], word))
                        return true;
        return false;
}

static bool is_wanted(const struct kind *k, const struct wanted *w)
{
        return has_name(k, w->word) && (!w->has_group || str_equal(k->group, w->group)) &&
               (w->version.n == 0 || kind_served_version(k, w->version));
}

/* Kinds that come with the API are preferred, as in discovery. */
static const struct kind *find_kind(const struct kind_list *all, const struct wanted *w)
{
        const struct kind *found = NULL;

        for (size_t i = 0; i < all->n; i++) {
                const struct kind *k = all->kinds[i].kind;

                if (is_wanted(k, w) && (!found || (found->is_custom && !k->is_custom)))
                        found = k;
        }
        return found;
}

static struct str preferred_version(const struct kind *k)
{
        struct str best = STR("");

        for (size_t i = 0; i < k->n_versions; i++)
                if (k->versions[i].is_served && (best.n == 0 || kind_version_compare(k->versions[i].name, best) > 0))
                        best = k->versions[i].name;
        return best;
}

/* `site.v1.example.org` may be a version and a group, or a group alone. */
static struct wanted with_version(struct str type)
{
        struct wanted w = { .has_group = true };

        str_split(&type, '.', &w.word);
        str_split(&type, '.', &w.version);
        w.group = type;
        return w;
}

static struct wanted with_group(struct str type)
{
        struct wanted w = { 0 };

        w.has_group = str_split(&type, '.', &w.word);
        w.group = type;
        return w;
}

int inspect_kind(struct cluster *c, struct run *run, struct str type, struct gvk *ret_gvk, const struct kind **ret,
                 struct err *err)
{
        struct wanted w = with_version(type);
        struct kind_list all;
        const struct kind *k = NULL;
        int r = cluster_kinds(c, run, &all, err);

        if (r < 0)
                return r;
        if (w.version.n)
                k = find_kind(&all, &w);
        if (!k) {
                w = with_group(type);
                k = find_kind(&all, &w);
        }
        if (!k)
                return err_set(err, ERR_NOT_FOUND, "the server doesn't have a resource type \"%.*s\"", STR_ARG(w.word));
        *ret_gvk = (struct gvk) { k->group, w.version.n ? w.version : preferred_version(k), k->kind };
        *ret = k;
        return 0;
}
