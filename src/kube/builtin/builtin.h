/* The kinds that come with the API (docs/spec/apiserver 6), from a table of facts that a tool makes of the real API's OpenAPI and .proto
 * files (builtin.txt): fields, types, defaults, list types, patch keys, protobuf numbers. kind_builtins() in kind.h gives the kinds;
 * their schemas are compiled when they are first used. */
#pragma once

#include "kind.h"

/* The schema of a component (`io.k8s.api.core.v1.PodSpec`) as OpenAPI v3 has it, with $ref to others and without descriptions. NULL if
 * there is none. */
const struct value *builtin_component(struct arena *a, struct str name);

/* The name of the component of a built-in kind; "" if there is none. */
struct str builtin_component_of(struct gvk gvk);

/* Subresources that are in discovery and cannot be served, such as pods/log: the text for an answer of 501. "" for all others. */
struct str builtin_unimplemented(const struct kind *k, struct str subresource);

/* Whether objects of the kind can be in a Crossplane package and builtin_packaged knows their type. */
bool builtin_is_packaged(struct gvk gvk);

/* The object as Crossplane's tools write it into a package: decoded into its Go type and encoded again. Unknown fields go, zero values that
 * Go writes come. Values that do not fit are ERR_INVALID with Go's text. ERR_NOT_FOUND for other kinds. */
int builtin_packaged(struct arena *a, struct gvk gvk, const struct value *object, const struct value **ret,
                     struct err *err);

/* True for an object's text in Kubernetes' protobuf form: it begins with `k8s` and a zero byte. */
bool builtin_is_protobuf(struct str bytes);

/* Decodes such a body: a built-in kind, or one of the messages that requests bring (DeleteOptions, Scale, TokenRequest, reviews). The
 * result is what a JSON body of the same object would give, apiVersion and kind included. ERR_INVALID for bytes that are wrong,
 * ERR_NOT_FOUND for a kind that the table does not have. */
int builtin_decode(struct arena *a, struct str bytes, const struct value **ret, struct err *err);

/* A HorizontalPodAutoscaler of any version in autoscaling/v2. */
const struct value *autoscaler_in_v2(struct arena *a, const struct value *object);
