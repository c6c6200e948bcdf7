/* The state of one call of patch-and-transform. */
#pragma once

#include "map.h"
#include "pt.h"

struct pt_session {
        struct arena *arena;
        struct run *run;
        struct fn_request *req;
        struct fn_response *rsp;
        struct pt_input input;
        struct map sets;    /* name -> struct pt_patch_set */
        struct map desired; /* name -> struct fn_resource in the arena */
        struct pt_object observed_composite;
        struct pt_object composite;
        struct pt_object environment;
        struct pt_details details;
        bool has_skipped; /* a resource was skipped because a required field is missing */
        bool is_native;   /* use the rules of `mode: Resources` */
};

/* Reads a Struct; {} if it is absent. */
int pt_read_struct(struct arena *a, const struct fn_struct *s, const struct value **ret, struct err *err);

/* Sets the desired resource of that name. */
void pt_set_desired(struct pt_session *s, struct str name, const struct value *object, enum fn_ready ready);

/* Renders a template into the desired resources, or skips it with a warning. */
int pt_render(struct pt_session *s, const struct pt_template *tmpl, struct err *err);
