/* The form in which an answer shows objects: as they are, as rows of a Table, or their metadata alone (docs/spec/apiserver 8.3). */
#pragma once

#include "accept.h"
#include "kind.h"
#include "object.h"
#include "options.h"

struct object_list;
struct table;

struct form {
        struct accepted accepted;
        enum include_object include; /* of rows */
        struct table *table;         /* NULL unless it is a Table */
        const struct kind *kind;     /* borrowed */
};

/* version is the served version of the request. */
int form_init(struct form *f, const struct accepted *accepted, const struct api_query *q, const struct kind *kind,
              const struct kind_version *version, struct err *err);
void form_done(struct form *f); /* may be called twice */

/* Appends JSON text: an object as an item of a list, and as a whole answer. scratch is emptied. */
void form_append_item(const struct form *f, struct object *o, struct arena *scratch, struct buf *b);
void form_append_whole(const struct form *f, struct object *o, struct arena *scratch, struct buf *b);

/* The same as a value, for an answer that exists only as a value. */
struct value form_value(const struct form *f, struct arena *a, const struct value *object);

/* The object of a Table's event. Only the first event of a watch has the definitions of the columns. */
void form_append_event(const struct form *f, struct object *o, bool has_columns, struct arena *scratch, struct buf *b);

/* The object of a bookmark. */
void form_append_bookmark(const struct form *f, struct gvk gvk, uint64_t version, bool ends_initial, bool has_columns,
                          struct arena *scratch, struct buf *b);

/* `{"kind":"WidgetList",...,"items":[`: everything before the first item of a list; and behind the last one. */
void form_begin_list(const struct form *f, struct gvk gvk, struct arena *scratch, struct buf *b);
void form_end_list(const struct form *f, const struct object_list *last, struct buf *b);
