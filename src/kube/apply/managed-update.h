/* Declarations shared by the files of the updater. Private to them. */
#pragma once

#include "managed-fields.h"
#include "managed.h"
#include "typed.h"

/* The old and the new object, converted to one version. */
struct view {
        struct str api_version;
        bool is_missing; /* the version is no longer served */
        struct typed_type type;
        const struct value *old, *updated;
        struct comparison comparison;
};

struct update {
        struct arena *arena;
        const struct managed_request *req;
        struct str api_version; /* the version of the request */
        struct typed_type type; /* the type of the request's version */
        const struct field_set *reset;
        struct managers managers;
};

struct views {
        const struct update *update;
        const struct value *old, *updated;
        struct view *p;
        size_t n;
        size_t capacity;
};

struct conflict {
        const struct field_manager *manager;
        const struct field_set *set;
        struct str who;
        struct str identifier;
};

struct conflicts {
        struct conflict *p;
        size_t n;
        size_t count; /* of fields */
};

/* Begins an update without managers. */
void update_begin(struct update *u, struct arena *a, const struct managed_request *req);

/* An object with only its type. A create compares with it. */
const struct value *update_empty_object(const struct update *u);

/* `namespace/name; group/version, Kind=kind`, for messages. */
const char *update_object_text(const struct update *u, const struct value *object);

/* The object converted to the version. 0 when the version is no longer served, 1 otherwise. */
int update_convert(const struct update *u, const struct value *object, struct str api_version, const struct value **ret,
                   struct typed_type *ret_type, struct err *err);

/* Adapts the managers' sets to the current schema: below a field that has become atomic, the set owns the field as a whole. */
int update_reconcile(struct update *u, const struct value *live, struct err *err);

/* The differences between two objects, in the version of the request. Other versions are added when they are needed. */
struct views update_compare(struct update *u, const struct value *old, const struct value *updated);

/* The changed fields that belong to managers other than `me` (which may be NULL). */
int update_find_conflicts(struct update *u, struct views *views, const struct field_manager *me, struct conflicts *ret,
                          struct err *err);

/* Removes the conflicting fields from the sets of their managers, and fields that no longer exist from the sets of all managers but
 * `me`. */
void update_take(struct update *u, struct views *views, const struct field_manager *me,
                 const struct conflicts *conflicts);

/* The set without system fields, which have no manager. */
const struct field_set *update_without_system_fields(const struct update *u, const struct field_set *set);

/* Gives the changed fields to the manager of an update. */
int update_track(struct update *u, const struct value *old, const struct value *updated, struct str manager,
                 struct err *err);

/* ERR_CONFLICT with a cause for each field. */
int conflicts_refuse(const struct update *u, struct conflicts *c, struct err *err);

/* The hand-over from client-side apply, for the manager `kubectl`. Removes conflicts about fields whose live value is still the one
 * that was last applied on the client's side. True when no conflicts are left. */
bool kubectl_forgive(const struct update *u, const struct value *live, struct conflicts *conflicts);

/* Updates the annotation of client-side apply in an object that has it, so that users can go back to client-side apply. */
int kubectl_update_annotation(const struct update *u, const struct value *config, const struct value **object,
                              struct err *err);
