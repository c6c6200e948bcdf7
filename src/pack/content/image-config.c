#include "image-config.h"

/* Where a purpose stands in the spec. */
static const struct {
        const char *outer, *inner;
        struct str reason;
} purposes[] = {
        [IMAGE_REWRITE] = { "rewriteImage", NULL, STR_INIT("RewriteImage") },
        [IMAGE_PULL_SECRET] = { "registry", "authentication", STR_INIT("SetImagePullSecret") },
        [IMAGE_VERIFICATION] = { "verification", NULL, STR_INIT("VerifyImage") },
        [IMAGE_RUNTIME] = { "runtime", "configRef", STR_INIT("ConfigureRuntime") },
};

struct str image_purpose_reason(enum image_purpose purpose)
{
        return purposes[purpose].reason;
}

static const struct value *find_purpose(const struct value *config, enum image_purpose purpose)
{
        return value_find(config, "spec", purposes[purpose].outer, purposes[purpose].inner);
}

int image_configs_list(struct cluster *c, struct run *run, struct object_list *ret, struct err *err)
{
        struct list_request req = { .gvk = { STR("pkg.crossplane.io"), STR("v1beta1"), STR("ImageConfig") } };
        int r = cluster_list(c, run, &req, ret, err);

        return r < 0 ? err_wrap(err, "cannot list ImageConfigs") : 0;
}

/* The length of the longest prefix that matches; -1: none does. An empty prefix matches everything. */
static ptrdiff_t match(const struct value *config, struct str reference)
{
        ptrdiff_t best = -1;

        VALUE_FOREACH_ITEM (image, value_find(config, "spec", "matchImages")) {
                struct str prefix = value_str(value_get(image, STR("prefix")));

                if (str_starts_with(reference, prefix))
                        best = MAX(best, (ptrdiff_t)prefix.n);
        }
        return best;
}

const struct value *image_config_best(const struct object_list *configs, struct arena *a, enum image_purpose purpose,
                                      struct str reference)
{
        const struct value *best = NULL;
        ptrdiff_t longest = -1;

        for (size_t i = 0; i < configs->n; i++) {
                const struct value *config = object_list_value(configs, i, a);
                ptrdiff_t n = find_purpose(config, purpose) ? match(config, reference) : -1;

                if (n > longest) {
                        longest = n;
                        best = config;
                }
        }
        return best;
}

int image_config_rewrite(struct arena *a, const struct value *config, struct str reference, struct str *ret,
                         struct err *err)
{
        struct str prefix = value_str(value_find(config, "spec", "rewriteImage", "prefix"));
        ptrdiff_t n = match(config, reference);

        if (prefix.n == 0 || n < 0)
                return err_set(err, ERR_INVALID,
                               "rewriteImage.prefix of ImageConfig \"%.*s\" is empty: give it a prefix",
                               STR_ARG(meta_name(config)));
        *ret = arena_printf(a, "%.*s%.*s", STR_ARG(prefix), STR_ARG(str_skip(reference, (size_t)n)));
        return 0;
}

struct str image_config_pull_secret(const struct value *config)
{
        return value_str(value_find(config, "spec", "registry", "authentication", "pullSecretRef", "name"));
}

const struct value *image_config_verification(const struct value *config)
{
        return find_purpose(config, IMAGE_VERIFICATION);
}

const struct value *image_config_runtime(const struct value *config)
{
        return find_purpose(config, IMAGE_RUNTIME);
}
