/* Versions in templates: objects of *semver.Version with its methods. */
#pragma once

#include "gt-func.h"
#include "semver.h"

struct sprig_version {
        struct gt_object object;
        struct semver version;
};

/* The texts in v are borrowed. */
struct gt_value sprig_make_version(struct gt_context *c, struct semver v);

static inline const struct semver *sprig_version_of(struct gt_value v)
{
        return &((const struct sprig_version *)v.object)->version;
}
