/* What the files of the updater share. Private to them. */
#pragma once

#include "managed-fields.h"
#include "managed.h"
#include "typed.h"

/* The old and the new object as one version sees them. */
struct view {
        struct str api_version;
        bool is_missing; /* the version is no longer there */
        struct type type;
        const struct value *old, *new;
        struct comparison comparison;
};

struct update {
        struct arena *arena;
        const struct managed_request *req;
        struct str api_version; /* of the request */
        struct type type;       /* likewise */
        const struct field_set *reset;
        struct managers managers;
};

struct views {
        const struct update *update;
        const struct value *old, *new;
        struct view *p;
        size_t n;
        size_t capacity;
};

struct conflict {
        const struct manager *manager;
        const struct field_set *set;
        struct str who;
        struct str identifier;
};

struct conflicts {
        struct conflict *p;
        size_t n;
        size_t count; /* of fields */
};

/* An update whose managers are nobody yet. */
void update_begin(struct update *u, struct arena *a, const struct managed_request *req);

/* An object with nothing but its type: what a create begins from. */
const struct value *update_empty_object(const struct update *u);

/* `namespace/name; group/version, Kind=kind`, for messages. */
const char *update_object_text(const struct update *u, const struct value *object);

/* The object as the version sees it. 0 when the version is no longer there, 1 otherwise. */
int update_convert(const struct update *u, const struct value *object, struct str api_version, const struct value **ret,
                   struct type *ret_type, struct err *err);

/* Sets are kept in terms of the schema of the day: what has become atomic is owned as a whole. */
int update_reconcile(struct update *u, const struct value *live, struct err *err);

/* What changed between two objects, as the version of the request sees it; that of other versions is added as it is needed. */
struct views update_compare(struct update *u, const struct value *old, const struct value *new);

/* What changed and belongs to managers other than `me` (which may be NULL). */
int update_find_conflicts(struct update *u, struct views *views, const struct manager *me, struct conflicts *ret,
                          struct err *err);

/* Takes these, and what went away, from all managers but `me`. */
void update_take(struct update *u, struct views *views, const struct manager *me, const struct conflicts *conflicts);

/* The set without fields that nobody manages. */
const struct field_set *update_without_system_fields(const struct update *u, const struct field_set *set);

/* Gives what changed to the manager, by an update. */
int update_track(struct update *u, const struct value *old, const struct value *new, struct str manager,
                 struct err *err);

/* ERR_CONFLICT with a cause for each field. */
int conflicts_refuse(const struct update *u, struct conflicts *c, struct err *err);

/* The hand-over from client-side apply, for the manager `kubectl`. Takes conflicts about what live still has as it was last applied
 * there out of the list; true when none are left. */
bool kubectl_forgive(const struct update *u, const struct value *live, struct conflicts *conflicts);

/* Keeps the annotation of client-side apply up to date in an object that has it, so that one can go back. */
int kubectl_update_annotation(const struct update *u, const struct value *config, const struct value **object,
                              struct err *err);
