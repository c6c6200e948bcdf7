/* The API for values and field paths: it takes C strings, and turns errors into fatal results. */
#include "sdk.h"

#include <math.h>

#include "buf.h"
#include "json.h"
#include "path.h"
#include "settings.h"
#include "utf8.h"
#include "yaml.h"

struct weft_value *sdk_value(struct call *call, const struct value *v, const char *what, const char *name)
{
        struct weft_value *handle = arena_alloc(call->arena, sizeof(*handle));

        *handle = (struct weft_value) {
                .call = call,
                .v = v,
                .what = what,
                .name = name ? arena_cstring(call->arena, str_from(name)) : NULL,
                .index = SIZE_MAX,
        };
        return handle;
}

static void append_where(struct buf *b, const struct weft_value *v)
{
        if (v->parent) {
                append_where(b, v->parent);
                buf_appendf(b, ": %s", v->name);
        } else if (v->name) {
                buf_appendf(b, "%s \"%s\"", v->what, v->name);
        } else {
                buf_appendf(b, "%s", v->what);
        }
        if (v->index != SIZE_MAX)
                buf_appendf(b, "[%zu]", v->index);
}

struct str sdk_where(const struct weft_value *v)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        append_where(&b, v);
        return buf_to_arena(&b, v->call->arena);
}

static void fail_at(const struct weft_value *v, const char *what)
{
        struct str where = sdk_where(v);

        sdk_fail(v->call, "%.*s: %s", STR_ARG(where), what);
}

static bool is_self(const char *path)
{
        return !path || !*path;
}

/* The parsed path, or NULL if it does not parse; then the path library's calls on the text give the error. */
static const struct path *known_path(struct call *call, const char *path)
{
        struct known_path *known = &call->paths[((uintptr_t)path ^ (uintptr_t)path >> 4) % N_KNOWN_PATHS];
        struct str given = str_from(path);

        if (known->address == path && str_equal(known->text, given))
                return &known->path;
        known->address = NULL;
        known->text = arena_copy(call->arena, given);
        if (path_parse(call->arena, known->text, &known->path, NULL) < 0)
                return NULL;
        known->address = path;
        return &known->path;
}

static int get(const struct weft_value *v, const char *path, const struct value **ret)
{
        const struct path *known = known_path(v->call, path);

        return known ? path_get_segments(v->call->arena, v->v, known, ret, NULL) : ERR_INVALID;
}

/* Returns 0 with the value, or with NULL when there is none. If the path does not parse, adds a fatal result and returns a negative
 * code. */
static int find(const struct weft_value *v, const char *path, const struct value **ret)
{
        _cleanup_err_ struct err err = { 0 };
        int r;

        *ret = NULL;
        if (is_self(path)) {
                *ret = v->v;
                return 0;
        }
        if (!v->v)
                return 0;
        r = get(v, path, ret);
        if (r == 0)
                return 0;
        if (r != ERR_NOT_FOUND) { /* again, for the error text */
                path_get(v->call->arena, v->v, str_from(path), ret, &err);
                fail_at(v, err_message(&err));
        }
        *ret = NULL;
        return r == ERR_NOT_FOUND ? 0 : r;
}

/* As find, but a missing value is a fatal result with the path library's message. */
static const struct value *require(const struct weft_value *v, const char *path)
{
        _cleanup_err_ struct err err = { 0 };
        const struct value *found;

        if (!v->v) {
                fail_at(v, "there is no such value");
                return NULL;
        }
        if (is_self(path))
                return v->v;
        if (get(v, path, &found) == 0)
                return found;
        path_get(v->call->arena, v->v, str_from(path), &found, &err); /* again, for the error text */
        fail_at(v, err_message(&err));
        return NULL;
}

static void fail_type(const struct weft_value *v, const char *path, const char *what)
{
        struct str where;

        if (is_self(path)) {
                fail_at(v, what);
                return;
        }
        where = sdk_where(v);
        sdk_fail(v->call, "%.*s: %s: %s", STR_ARG(where), path, what);
}

static const char *to_string(const struct weft_value *v, const char *path, const struct value *found)
{
        if (value_is_string(found))
                return arena_cstring(v->call->arena, value_str(found));
        fail_type(v, path, "not a string");
        return "";
}

static int64_t to_int(const struct weft_value *v, const char *path, const struct value *found)
{
        if (value_is_number(found) && value_int(found, 0) == value_int(found, 1))
                return value_int(found, 0);
        fail_type(v, path, "not a (int64) number");
        return 0;
}

static double to_double(const struct weft_value *v, const char *path, const struct value *found)
{
        if (value_is_number(found))
                return value_double(found, 0);
        fail_type(v, path, "not a (float64) number");
        return 0;
}

static bool to_bool(const struct weft_value *v, const char *path, const struct value *found)
{
        if (value_is_bool(found))
                return found->boolean;
        fail_type(v, path, "not a bool");
        return false;
}

/* The required and the optional form of one type. */
#define ACCESSORS(name, type, zero)                                                             \
        type weft_get_##name(const struct weft_value *v, const char *path)                      \
        {                                                                                       \
                const struct value *found = require(v, path);                                   \
                                                                                                \
                return found ? to_##name(v, path, found) : zero;                                \
        }                                                                                       \
                                                                                                \
        type weft_get_##name##_or(const struct weft_value *v, const char *path, type otherwise) \
        {                                                                                       \
                const struct value *found;                                                      \
                                                                                                \
                if (find(v, path, &found) < 0 || !found || value_is_null(found))                \
                        return otherwise;                                                       \
                return to_##name(v, path, found);                                               \
        }

typedef const char *text;
ACCESSORS(string, text, "")
ACCESSORS(int, int64_t, 0)
ACCESSORS(double, double, 0)
ACCESSORS(bool, bool, false)

static const struct weft_value *below(const struct weft_value *v, const char *path, const struct value *found)
{
        struct weft_value *handle;

        if (is_self(path))
                return v;
        handle = sdk_value(v->call, found, v->what, path);
        handle->parent = v;
        return handle;
}

const struct weft_value *weft_get(const struct weft_value *v, const char *path)
{
        return below(v, path, require(v, path));
}

const struct weft_value *weft_find(const struct weft_value *v, const char *path)
{
        const struct value *found;

        find(v, path, &found);
        return below(v, path, found);
}

bool weft_exists(const struct weft_value *v, const char *path)
{
        const struct value *found;

        return find(v, path, &found) == 0 && found;
}

enum weft_type weft_type(const struct weft_value *v)
{
        static const enum weft_type types[] = {
                [VALUE_NULL] = WEFT_NULL,     [VALUE_BOOL] = WEFT_BOOL,     [VALUE_INT] = WEFT_NUMBER,
                [VALUE_DOUBLE] = WEFT_NUMBER, [VALUE_STRING] = WEFT_STRING, [VALUE_ARRAY] = WEFT_ARRAY,
                [VALUE_OBJECT] = WEFT_OBJECT,
        };

        return v->v ? types[value_type(v->v)] : WEFT_MISSING;
}

size_t weft_count(const struct weft_value *v, const char *path)
{
        const struct value *found;

        find(v, path, &found);
        return value_count(found);
}

/* The container at the path if it has an element i; otherwise adds a fatal result. */
static const struct value *container(const struct weft_value *v, const char *path, size_t i)
{
        const struct value *found = require(v, path);

        if (!found)
                return NULL;
        if (i < value_count(found))
                return found;
        fail_type(v, path, "no such element");
        return NULL;
}

const struct weft_value *weft_at(const struct weft_value *v, const char *path, size_t i)
{
        const struct value *c = container(v, path, i);
        const struct value *element = NULL;
        struct weft_value *handle;

        if (c)
                element = value_is_array(c) ? value_item(c, i) : &value_member(c, i)->value;
        handle = sdk_value(v->call, element, v->what, path ? path : "");
        handle->parent = v;
        handle->index = i;
        return handle;
}

const char *weft_key_at(const struct weft_value *v, const char *path, size_t i)
{
        const struct value *c = container(v, path, i);

        if (!c)
                return "";
        if (value_is_object(c))
                return arena_cstring(v->call->arena, value_member(c, i)->key);
        fail_type(v, path, "not an object");
        return "";
}

const char *weft_to_json(const struct weft_value *v)
{
        struct str json;

        if (!v->v || json_to_str(v->call->arena, v->v, JSON_SORT_KEYS, &json, NULL) < 0)
                return "";
        return arena_cstring(v->call->arena, json);
}

static bool is_known_key(struct str key, bool is_root, const char *const *keys)
{
        static const char *const always[] = { "apiVersion", "kind", "metadata", NULL };

        for (; *keys; keys++) {
                if (str_equal(key, str_from(*keys)))
                        return true;
        }
        return is_root && is_known_key(key, false, always);
}

static void refuse_key(const struct weft_value *v, const char *path, struct str key, const char *const *keys)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        const char *nearest;
        size_t n = 0;

        while (keys[n])
                n++;
        nearest = settings_nearest(key, keys, n);
        buf_appendf(&b, "unknown field \"%.*s\"", STR_ARG(key));
        if (nearest)
                buf_appendf(&b, "; did you mean \"%s\"?", nearest);
        fail_type(v, path, buf_cstring(&b));
}

void weft_check_keys(const struct weft_value *v, const char *path, const char *const *keys)
{
        const struct value *found;

        if (find(v, path, &found) < 0 || !found)
                return;
        if (!value_is_object(found)) {
                fail_type(v, path, "not an object");
                return;
        }
        for (size_t i = 0; i < value_count(found); i++) {
                struct str key = value_member(found, i)->key;

                if (!is_known_key(key, is_self(path), keys))
                        refuse_key(v, path, key, keys);
        }
}

static const struct value *find_condition(const struct value *object, struct str type)
{
        VALUE_FOREACH_ITEM (c, value_find(object, "status", "conditions")) {
                if (str_equal(value_str(value_find(c, "type")), type))
                        return c;
        }
        return NULL;
}

const struct weft_value *weft_find_condition(const struct weft_value *object, const char *type)
{
        struct weft_value *handle =
                sdk_value(object->call, find_condition(object->v, str_from(type)), object->what, "status.conditions");

        handle->parent = object;
        return handle;
}

const char *weft_condition_status(const struct weft_value *object, const char *type)
{
        struct str status = value_str(value_find(find_condition(object->v, str_from(type)), "status"));

        return status.n ? arena_cstring(object->call->arena, status) : "Unknown";
}

bool weft_is_ready(const struct weft_value *object)
{
        return str_equal(value_str(value_find(find_condition(object->v, STR("Ready")), "status")), STR("True"));
}

#define EXTERNAL_NAME_PATH "metadata.annotations[crossplane.io/external-name]"

const char *weft_external_name(const struct weft_value *object)
{
        return weft_get_string_or(object, EXTERNAL_NAME_PATH, "");
}

/* --- Writing --- */

/* The parsed path must stay in memory: its segments become the keys of objects that are created on the path. */
static void set(struct weft_value *v, const char *path, const struct value *updated)
{
        const struct value *root = v->v ? v->v : &value_empty_object;
        _cleanup_err_ struct err err = { 0 };
        const struct path *known;
        int r;

        if (is_self(path)) {
                v->v = updated;
                return;
        }
        known = known_path(v->call, path);
        if (known)
                r = path_set_segments(v->call->arena, root, known, updated, &v->v, &err);
        else
                r = path_set(v->call->arena, root, str_from(path), updated, &v->v, &err);
        if (r < 0)
                fail_at(v, err_message(&err));
}

static void set_scalar(struct weft_value *v, const char *path, struct value updated)
{
        set(v, path, value_put(v->call->arena, updated));
}

void weft_set_string(struct weft_value *v, const char *path, const char *s)
{
        if (!s || !utf8_is_valid(str_from(s)))
                fail_type(v, path, s ? "the text to set is not valid UTF-8" : "the text to set is NULL");
        else
                set_scalar(v, path, value_of_str(arena_copy(v->call->arena, str_from(s))));
}

void weft_set_int(struct weft_value *v, const char *path, int64_t i)
{
        set_scalar(v, path, value_of_int(i));
}

void weft_set_double(struct weft_value *v, const char *path, double d)
{
        if (!isfinite(d))
                fail_type(v, path, "the number to set is not finite");
        else
                set_scalar(v, path, value_of_double(d));
}

void weft_set_bool(struct weft_value *v, const char *path, bool b)
{
        set_scalar(v, path, value_of_bool(b));
}

void weft_set(struct weft_value *v, const char *path, const struct weft_value *other)
{
        if (other->v)
                set(v, path, other->v);
}

void weft_set_yaml(struct weft_value *v, const char *path, const char *yaml)
{
        _cleanup_err_ struct err err = { 0 };
        const struct value *updated;

        if (yaml_parse(v->call->arena, str_from(yaml), NULL, &updated, &err) < 0)
                fail_type(v, path, err_message(&err));
        else
                set(v, path, updated);
}

void weft_delete(struct weft_value *v, const char *path)
{
        _cleanup_err_ struct err err = { 0 };

        if (is_self(path))
                v->v = v->v ? &value_empty_object : NULL;
        else if (v->v && path_delete(v->call->arena, v->v, str_from(path), &v->v, &err) < 0)
                fail_at(v, err_message(&err));
}

void weft_set_external_name(struct weft_value *object, const char *name)
{
        weft_set_string(object, EXTERNAL_NAME_PATH, name);
}
