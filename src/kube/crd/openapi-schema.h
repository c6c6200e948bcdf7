/* Single schemas of an OpenAPI document. Private to openapi*.c. */
#pragma once

#include "map.h"
#include "meta.h"
#include "schema.h"

struct openapi_schemas {
        struct arena *arena;
        const struct value *components; /* sorted */
        struct map expanded;            /* name of a component -> struct component */
        size_t n_left;                  /* how many more nodes may be compiled */
};

void openapi_schemas_init(struct openapi_schemas *s, struct arena *a, const struct value *document);
void openapi_schemas_done(struct openapi_schemas *s);

/* The compiled schema of the component for exactly this kind; schema_any if there is none. Counted. */
int openapi_compile(struct openapi_schemas *s, struct gvk gvk, struct schema **ret, struct err *err);
