/* Names: which names the API accepts, and how names are generated. The validators return Kubernetes' own error texts; no text means
 * that the name is valid. */
#pragma once

#include "err.h"
#include "value.h"

/* Kubernetes' messages, e.g. `a lowercase RFC 1123 subdomain must consist of ...`. Each returns the number of messages it has put
 * into texts (room for 4). as_prefix: the name is a generateName, whose trailing dash is masked. */
size_t name_check_subdomain(struct arena *a, struct str name, bool as_prefix, struct str *texts);
size_t name_check_label(struct arena *a, struct str name, bool as_prefix, struct str *texts);        /* RFC 1123 */
size_t name_check_label_1035(struct arena *a, struct str name, bool as_prefix, struct str *texts);   /* RFC 1035 */
size_t name_check_path_segment(struct arena *a, struct str name, bool as_prefix, struct str *texts); /* RBAC, events */
size_t name_check_qualified(struct arena *a, struct str name, struct str *texts);                    /* label keys */
size_t name_check_label_value(struct arena *a, struct str v, struct str *texts);
size_t name_check_config_key(struct arena *a, struct str key, struct str *texts); /* keys of Secrets and ConfigMaps */

/* prefix cut to 58 bytes + 5 random characters of `bcdfghjklmnpqrstvwxz2456789`. */
struct str name_generate(struct arena *a, struct str prefix);

/* The name of a composed resource, made from its composite's name and its own (docs/spec/engine 2.7): deterministic. */
struct str name_deterministic(struct arena *a, struct str prefix, struct str composite_uid, struct str resource_name);
