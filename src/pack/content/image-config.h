/* ImageConfigs (docs/spec/packages 3.6): what is so for images whose references begin with a prefix. */
#pragma once

#include "cluster.h"

enum image_purpose { IMAGE_REWRITE, IMAGE_PULL_SECRET, IMAGE_VERIFICATION, IMAGE_RUNTIME };

/* The reason in status.appliedImageConfigRefs that stands for the purpose. */
struct str image_purpose_reason(enum image_purpose purpose);

/* All ImageConfigs, read through a run's cluster. */
int image_configs_list(struct cluster *c, struct run *run, struct object_list *ret, struct err *err);

/* The ImageConfig that counts for a purpose: of those that have it, the one with the longest prefix of the reference, the first in the
 * list of several; NULL if there is none. */
const struct value *image_config_best(const struct object_list *configs, struct arena *a, enum image_purpose purpose,
                                      struct str reference);

/* The reference with the longest of the config's prefixes that it has replaced by rewriteImage.prefix. */
int image_config_rewrite(struct arena *a, const struct value *config, struct str reference, struct str *ret,
                         struct err *err);

struct str image_config_pull_secret(const struct value *config);
const struct value *image_config_verification(const struct value *config);
const struct value *image_config_runtime(const struct value *config); /* a reference to a runtime config */
