/* Which form of a discovery document the Accept header asks for (docs/spec/apiserver 1.1). */
#pragma once

#include "err.h"

enum discovery_form {
        DISCOVERY_LEGACY,
        DISCOVERY_V2BETA1, /* clients before Kubernetes 1.30 know nothing newer */
        DISCOVERY_V2,
};

enum discovery_notation {
        DISCOVERY_JSON,
        DISCOVERY_YAML,
};

struct discovery_accept {
        enum discovery_form form;
        enum discovery_notation notation;
};

/* No header (p == NULL) is everything. With may_aggregate, the newest aggregated form in the header wins, whatever else stands
 * before it: kube-apiserver does the same. Otherwise the clause with the highest q decides, the first of equals. A header that
 * allows neither JSON nor YAML is an error with REASON_NOT_ACCEPTABLE. */
int discovery_accept_parse(struct str header, bool may_aggregate, struct discovery_accept *ret, struct err *err);

/* application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList, application/yaml, ...: clients look at all of it. */
struct str discovery_content_type(struct discovery_accept accept);

/* True if the If-None-Match header has this entity tag, which is quoted. */
bool discovery_has_tag(struct str if_none_match, struct str tag);
