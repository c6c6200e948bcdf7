/* The values of Go templates: Go's types, as far as a template can distinguish them.
 *
 * A gt_value is 16 bytes and passed by value. It owns nothing: all memory it points at is in the arena of the execution's
 * context (gt-context.h) or outlives the execution. A value belongs to one execution and one thread.
 *
 * Lists and maps of the template's data wrap our immutable values (value.h): nothing is copied until a template changes a map
 * (`set`, `merge`). Go's maps are references: reading the same member twice gives the same map, and a change is visible through
 * every variable that holds the map. The data itself never changes. Lists never change: functions that change a list return a
 * new one.
 *
 * Nil maps and lists keep their type, as in Go: list or map is then NULL. Every function here accepts them. */
#pragma once

#include "str.h"
#include "value.h"

struct buf;
struct gt_class;
struct gt_context;
struct gt_list;
struct gt_map;
struct gt_object;

enum gt_type {
        GT_NONE, /* no value (reflect's zero Value): a missing key, or a nil result of a pipeline. Prints <no value>. */
        GT_NIL,  /* a nil in an interface {}: a null as an element of a map or list. Always boxed. */
        GT_BOOL, /* bool */
        GT_INT,  /* int: literals, len, until, integers from fromYaml */
        GT_INT64,      /* int64: integers of the data, sprig's arithmetic */
        GT_UINT8,      /* uint8: one byte of a string or of GT_BYTES */
        GT_UINT64,     /* uint64: integers above int64 from fromYaml */
        GT_FLOAT64,    /* float64 */
        GT_COMPLEX128, /* complex128: literals that end in i */
        GT_STRING,     /* string; any bytes */
        GT_BYTES,      /* []uint8; bytes NULL is nil */
        GT_LIST,       /* []interface {} */
        GT_STRINGS,    /* []string */
        GT_INTS,       /* []int */
        GT_LISTS,      /* [][]interface {} */
        GT_MAP,        /* map[string]interface {} */
        GT_STRING_MAP, /* map[string]string */
        GT_BYTES_MAP,  /* map[string][]uint8 */
        GT_ANY_MAP, /* map[interface {}]interface {}: made by fromYaml for keys that are not strings; never changes */
        GT_OBJECT,  /* every other type: times, versions, conditions, ...; its class names the type */
        _GT_TYPES,
};

struct gt_value {
        uint8_t type;  /* enum gt_type */
        bool is_boxed; /* its static type is interface {}: it is an element of a map, list or result of that type */
        uint16_t _unused;
        uint32_t n; /* bytes of a string or GT_BYTES */
        union {
                bool boolean;
                int64_t integer;  /* GT_INT, GT_INT64 */
                uint64_t natural; /* GT_UINT8, GT_UINT64 */
                double number;
                const double *parts; /* GT_COMPLEX128: real, imaginary */
                const char *bytes;
                struct gt_list *list; /* GT_LIST ... GT_LISTS, and GT_ANY_MAP: key, value, key, value ... in order */
                struct gt_map *map;   /* GT_MAP ... GT_BYTES_MAP */
                struct gt_object *object;
        };
};

/* Kinds of package reflect, with the names in kindOf and in sprig's error texts. */
enum gt_kind {
        GT_KIND_INVALID,
        GT_KIND_BOOL,
        GT_KIND_INT,
        GT_KIND_INT64,
        GT_KIND_UINT8,
        GT_KIND_UINT64,
        GT_KIND_FLOAT64,
        GT_KIND_COMPLEX128,
        GT_KIND_MAP,
        GT_KIND_PTR,
        GT_KIND_SLICE,
        GT_KIND_STRING,
        GT_KIND_STRUCT,
};

/* --- Making values --- */

static inline struct gt_value gt_none(void)
{
        return (struct gt_value) { .type = GT_NONE };
}

static inline struct gt_value gt_nil(void)
{
        return (struct gt_value) { .type = GT_NIL, .is_boxed = true };
}

static inline struct gt_value gt_bool(bool b)
{
        return (struct gt_value) { .type = GT_BOOL, .boolean = b };
}

static inline struct gt_value gt_int(int64_t i)
{
        return (struct gt_value) { .type = GT_INT, .integer = i };
}

static inline struct gt_value gt_int64(int64_t i)
{
        return (struct gt_value) { .type = GT_INT64, .integer = i };
}

static inline struct gt_value gt_uint8(uint8_t u)
{
        return (struct gt_value) { .type = GT_UINT8, .natural = u };
}

static inline struct gt_value gt_uint64(uint64_t u)
{
        return (struct gt_value) { .type = GT_UINT64, .natural = u };
}

static inline struct gt_value gt_float64(double d)
{
        return (struct gt_value) { .type = GT_FLOAT64, .number = d };
}

/* The bytes are borrowed: they live in the context's arena, in the template or in the data. */
static inline struct gt_value gt_string(struct str s)
{
        assert(s.n <= UINT32_MAX);
        return (struct gt_value) { .type = GT_STRING, .n = (uint32_t)s.n, .bytes = s.n ? s.p : "" };
}

static inline struct gt_value gt_bytes(struct str s)
{
        assert(s.n <= UINT32_MAX);
        return (struct gt_value) { .type = GT_BYTES, .n = (uint32_t)s.n, .bytes = s.p ? s.p : "" };
}

static inline struct gt_value gt_object(struct gt_object *o)
{
        return (struct gt_value) { .type = GT_OBJECT, .object = o };
}

/* The nil list, map or bytes of that type. */
static inline struct gt_value gt_nil_of(enum gt_type type)
{
        return (struct gt_value) { .type = (uint8_t)type };
}

/* The same value in an interface {}; no value (GT_NONE) becomes nil. */
static inline struct gt_value gt_boxed(struct gt_value v)
{
        v.type = v.type == GT_NONE ? GT_NIL : v.type;
        v.is_boxed = true;
        return v;
}

/* The value inside the interface {}, as a pipeline passes it on; nil becomes no value (GT_NONE). */
static inline struct gt_value gt_unboxed(struct gt_value v)
{
        v.type = v.type == GT_NIL ? GT_NONE : v.type;
        v.is_boxed = false;
        return v;
}

/* Wraps a struct value, which must outlive the execution: objects become GT_MAP, arrays GT_LIST, ints int64, doubles float64,
 * null a nil. The result is not boxed (a null is). Wrapping the same object twice gives two maps. */
struct gt_value gt_from_value(struct gt_context *c, const struct value *v);

/* The value as encoding/json sees it, in the context's arena: bytes as base64 text, nil lists and maps as null, objects as their
 * class defines. Fails where json.Marshal does (`json: unsupported type: map[interface {}]interface {}`), with ERR_LIMIT if it
 * is nested deeper than LIMIT_DEPTH (a map that contains itself). NaN and infinities are passed on: json_write rejects them. */
int gt_to_value(struct gt_context *c, struct gt_value v, struct value *ret, struct err *err);

/* --- Questions --- */

static inline bool gt_is_nil(struct gt_value v) /* no value, or a nil interface: sprig receives both as nil */
{
        return v.type == GT_NONE || v.type == GT_NIL;
}

static inline bool gt_is_list(struct gt_value v) /* a slice of any kind, bytes included */
{
        return v.type >= GT_BYTES && v.type <= GT_LISTS;
}

static inline bool gt_is_map(struct gt_value v)
{
        return v.type >= GT_MAP && v.type <= GT_ANY_MAP;
}

static inline bool gt_is_integer(struct gt_value v)
{
        return v.type >= GT_INT && v.type <= GT_UINT64;
}

/* The bytes of a string or of GT_BYTES; of a named string type too. The empty str for everything else. */
struct str gt_str(struct gt_value v);

/* True if a condition treats the value as true: neither false, 0, "", empty, nil nor no value. Structs are true. */
bool gt_truth(struct gt_context *c, struct gt_value v);

/* reflect's kind; GT_KIND_INVALID for nil and for no value. Its name: `slice`, `map`, `ptr`, `invalid`, ... */
enum gt_kind gt_kind(struct gt_value v);
struct str gt_kind_name(enum gt_kind kind);

/* Go's name of the dynamic type, as %T prints it: `[]interface {}`, `time.Time`; `<nil>` for a nil and for no value. */
struct str gt_type_name(struct gt_value v);

/* Values of a named type of a basic kind (time.Duration, time.Month, a condition's status) as their basic value; everything
 * else as it is. For arithmetic, comparison and conversion. */
struct gt_value gt_basic(struct gt_value v);

/* reflect.DeepEqual of two interface {}: types must agree (int 1 and int64 1 differ). Fails when nested deeper than LIMIT_DEPTH. */
int gt_deep_equal(struct gt_context *c, struct gt_value a, struct gt_value b, bool *ret);

/* --- Lists --- */

/* Elements of a list of any type, bytes included; 0 for nil lists and for other types. */
size_t gt_list_count(struct gt_value list);

/* Element i < count: boxed for []interface {}, of the element type for all other lists. */
struct gt_value gt_list_at(struct gt_context *c, struct gt_value list, size_t i);

/* A new list of n elements. The caller fills it with gt_list_put before any other code sees it. Not for GT_BYTES. */
struct gt_value gt_list_new(struct gt_context *c, enum gt_type type, size_t n);
void gt_list_put(struct gt_value list, size_t i, struct gt_value element);

/* Elements from..to of the list, as a list of the same type that shares them. from <= to <= count. */
struct gt_value gt_list_slice(struct gt_context *c, struct gt_value list, size_t from, size_t to);

/* --- Maps --- */

/* The number of members, also of a GT_ANY_MAP; 0 for nil maps and for other types. */
size_t gt_map_count(struct gt_value map);

/* The member's value (boxed in map[string]interface {}); false, with *ret untouched, if the key is missing. In a GT_ANY_MAP only
 * string keys are searched. */
bool gt_map_get(struct gt_context *c, struct gt_value map, struct str key, struct gt_value *ret);

struct gt_value gt_map_new(struct gt_context *c, enum gt_type type);

/* Adds or replaces. The caller has checked that the map is not nil and not a GT_ANY_MAP. The key's bytes are borrowed. */
void gt_map_set(struct gt_context *c, struct gt_value map, struct str key, struct gt_value v);

/* Does nothing if the key is missing. */
void gt_map_remove(struct gt_context *c, struct gt_value map, struct str key);

/* The members in the order in which Go prints and ranges: a snapshot in the arena; later changes of the map do not affect it. */
struct gt_member {
        struct gt_value key; /* a GT_STRING, except in a GT_ANY_MAP */
        struct gt_value value;
};
const struct gt_member *gt_map_members(struct gt_context *c, struct gt_value map, size_t *ret_n);

/* A GT_ANY_MAP of n members with different keys, in any order. */
struct gt_value gt_any_map(struct gt_context *c, const struct gt_member *members, size_t n);

/* --- Types beyond these --- */

struct gt_func;

/* One Go type. Constant. The comment of each callback gives the meaning of NULL. */
struct gt_class {
        struct str type_name; /* as %T: "time.Time", "*semver.Version" */
        enum gt_kind
                kind; /* types of GT_KIND_STRUCT and GT_KIND_PTR have only fields and methods; all others are named basic types */

        /* Methods, by Go's name; the receiver is the first argument of the callback and not in the signature. */
        const struct gt_func *methods;
        size_t n_methods;

        /* Returns the exported field, or false. NULL: the type has no fields. */
        bool (*field)(struct gt_context *c, const struct gt_object *o, struct str name, struct gt_value *ret);

        /* The text of %v and %s. NULL for a named basic type: printed as the basic value. */
        void (*print)(struct gt_context *c, const struct gt_object *o, struct buf *b);

        /* The text of %#v. NULL: that of the basic value, or `TYPE{...}`. */
        void (*print_go)(struct gt_context *c, const struct gt_object *o, struct buf *b);

        /* The value of a named basic type. NULL for all other types. */
        struct gt_value (*basic)(const struct gt_object *o);

        /* == of two objects of this class. NULL: equal only if they are the same object. */
        bool (*equal)(const struct gt_object *a, const struct gt_object *b);

        /* As encoding/json. NULL: the basic value, or {} for a struct. */
        int (*to_json)(struct gt_context *c, const struct gt_object *o, struct value *ret, struct err *err);

        /* As yaml.v3: returns a value to write instead; a GT_ANY_MAP keeps its order. NULL: the text of print as a string. */
        struct gt_value (*to_yaml)(struct gt_context *c, const struct gt_object *o);

        bool is_comparable; /* == is defined (otherwise eq fails with `non-comparable type`) */
};

/* The first member of every object of a class. */
struct gt_object {
        const struct gt_class *class_of;
};
