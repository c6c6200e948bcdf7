/* One call of patch-and-transform: what its parts share. */
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
        bool has_skipped; /* a resource that lacks a required field */
        bool is_native;   /* the rules of `mode: Resources` */
};

/* {} for a Struct that is absent. */
int pt_read_struct(struct arena *a, const struct fn_struct *s, const struct value **ret, struct err *err);

/* Replaces what is desired under the name. */
void pt_set_desired(struct pt_session *s, struct str name, const struct value *object, enum fn_ready ready);

/* Renders a template into the desired resources, or skips it with a warning. */
int pt_render(struct pt_session *s, const struct pt_template *template, struct err *err);
