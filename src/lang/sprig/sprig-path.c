/* Slash-separated paths; only the text counts, no file is accessed. On Linux, Go's filepath package does the same except for one
 * case of Base. */
#include "sprig.h"

/* The shortest equivalent path. */
static struct str clean(struct gt_context *c, struct str path)
{
        bool is_rooted = str_starts_with(path, STR("/"));
        char *out = arena_alloc(c->arena, path.n + 1);
        size_t n = 0, least = is_rooted; /* the part of the path that `..` cannot remove */
        struct str part;

        if (is_rooted)
                out[n++] = '/';
        while (path.n > 0) {
                str_split(&path, '/', &part);
                if (part.n == 0 || str_equal(part, STR(".")))
                        continue;
                if (str_equal(part, STR("..")) && n > least) {
                        while (n > least && out[n - 1] != '/')
                                n--;
                        if (n > least)
                                n--;
                        continue;
                }
                if (str_equal(part, STR("..")) && is_rooted)
                        continue;
                if (n > is_rooted)
                        out[n++] = '/';
                memcpy(out + n, part.p, part.n);
                n += part.n;
                if (str_equal(part, STR("..")))
                        least = n;
        }
        return n ? str_make(out, n) : STR(".");
}

SPRIG(clean)
{
        return sprig_return_text(clean(c, gt_str(arguments[0])), ret);
}

SPRIG(base)
{
        struct str path = gt_str(arguments[0]);
        ptrdiff_t slash;

        if (path.n == 0)
                return sprig_return_text(STR("."), ret);
        while (str_cut_suffix(&path, STR("/")))
                ;
        slash = str_find_last_char(path, '/');
        path = str_skip(path, (size_t)(slash + 1));
        return sprig_return_text(path.n ? path : STR("/"), ret);
}

SPRIG(dir)
{
        struct str path = gt_str(arguments[0]);

        return sprig_return_text(clean(c, str_first(path, (size_t)(str_find_last_char(path, '/') + 1))), ret);
}

SPRIG(ext)
{
        struct str path = gt_str(arguments[0]);

        path = str_skip(path, (size_t)(str_find_last_char(path, '/') + 1));
        return sprig_return_text(
                str_find_char(path, '.') < 0 ? STR("") : str_skip(path, (size_t)str_find_last_char(path, '.')), ret);
}

SPRIG(is_abs)
{
        return sprig_return_bool(str_starts_with(gt_str(arguments[0]), STR("/")), ret);
}
