/* Bodies of requests: JSON, YAML and Kubernetes' protobuf form to values (docs/spec/apiserver 0.3, 4.1, 8.1, 8.2). */
#pragma once

#include "cluster.h"

/* Decompresses a body with `Content-Encoding: gzip`; at most LIMIT_API_BODY_BYTES come out. Another encoding is 415. */
int body_decompress(struct arena *a, struct str encoding, struct str *body, struct err *err);

/* ERR_LIMIT with the API's text for a body that is too large. */
int body_too_large(struct err *err);

/* The kind of patch that a content type names, or the API's 415, whose words differ for custom kinds. */
int body_patch_verb(struct str content_type, const struct kind *kind, enum write_verb *ret, struct err *err);

/* Sets req->body and req->duplicate_fields from the text of an object (create, update) or of a patch, as req->verb and
 * req->field_validation say. Everything lives in the run's arena. */
int body_decode(struct run *run, struct str content_type, struct str text, const struct kind *kind,
                struct write_request *req, struct err *err);

/* A body that is not an object of a kind: DeleteOptions, reviews. An empty text is NULL. */
int body_decode_other(struct arena *a, struct str content_type, struct str text, const struct value **ret,
                      struct err *err);
