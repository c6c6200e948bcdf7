#include "managed-fields.h"

#include "buf.h"
#include "json.h"
#include "managed.h"
#include "meta.h"

/* --- Reading --- */

static bool is_string_or_absent(const struct value *entry, struct str key)
{
        const struct value *v = value_get(entry, key);

        return !v || value_is_null(v) || value_is_string(v);
}

static bool read_time(const struct value *entry, struct field_manager *ret)
{
        const struct value *v = value_get(entry, STR("time"));

        if (!v || value_is_null(v))
                return true;
        if (!value_is_string(v) || time_parse_rfc3339(value_str(v), &ret->time, NULL) < 0)
                return false;
        ret->has_time = true;
        return true;
}

/* Whether the value has the form of an entry. */
static bool is_entry(const struct value *v)
{
        static const struct str strings[] = { STR_INIT("manager"), STR_INIT("operation"), STR_INIT("apiVersion"),
                                              STR_INIT("fieldsType"), STR_INIT("subresource") };
        struct field_manager ignored = { 0 };

        if (!value_is_object(v))
                return false;
        for (size_t i = 0; i < ARRAY_SIZE(strings); i++)
                if (!is_string_or_absent(v, strings[i]))
                        return false;
        return read_time(v, &ignored);
}

/* The list of entries; NULL when it is missing or is not a list of entries. */
static const struct value *entries_of(const struct value *object)
{
        const struct value *list = value_find(object, "metadata", "managedFields");

        if (!value_is_array(list))
                return NULL;
        VALUE_FOREACH_ITEM (item, list)
                if (!is_entry(item))
                        return NULL;
        return list;
}

bool managed_fields_is_reset(const struct value *object)
{
        const struct value *list = entries_of(object);

        return list && (list->n == 0 || (list->n == 1 && value_count(&list->items[0]) == 0));
}

static int decode_entry(struct arena *a, const struct value *v, size_t position, struct field_manager *ret,
                        struct err *err)
{
        struct str operation = value_str(value_get(v, STR("operation")));
        struct str type = value_str(value_get(v, STR("fieldsType")));
        const struct value *fields = value_get(v, STR("fieldsV1"));
        int r = 0;

        *ret = (struct field_manager) {
                .name = value_str(value_get(v, STR("manager"))),
                .api_version = value_str(value_get(v, STR("apiVersion"))),
                .subresource = value_str(value_get(v, STR("subresource"))),
                .is_apply = str_equal(operation, STR("Apply")),
                .encoded = v,
        };
        read_time(v, ret);
        if (!ret->is_apply && !str_equal(operation, STR("Update")))
                return err_set(err, ERR_INVALID, "operation must be `Apply` or `Update`");
        if (str_is_empty(ret->api_version))
                return err_set(err, ERR_INVALID, "apiVersion must not be empty");
        if (str_is_empty(type))
                return err_set(err, ERR_INVALID, "missing fieldsType in managed fields entry %zu", position);
        if (!str_equal(type, STR("FieldsV1")))
                return err_set(err, ERR_INVALID, "invalid fieldsType \"%.*s\" in managed fields entry %zu",
                               STR_ARG(type), position);
        if (fields && !value_is_null(fields))
                r = field_set_decode(a, fields, &ret->set, err);
        ret->decoded = ret->set;
        return r < 0 ? err_wrap(err, "error decoding set") : 0;
}

int managed_fields_decode(struct arena *a, const struct value *object, bool is_stored, struct managers *ret,
                          struct err *err)
{
        const struct value *list = entries_of(object);

        *ret = (struct managers) { .arena = a };
        for (size_t i = 0; i < value_count(list); i++) {
                struct field_manager entry, *old;
                int r;

                r = decode_entry(a, &list->items[i], i, &entry, err);
                if (r < 0)
                        return r;
                if (!is_stored)
                        entry.encoded = NULL;
                old = managers_find(ret, &entry);
                if (old)
                        *old = entry;
                else
                        managers_add(ret, entry);
        }
        return 0;
}

/* --- Managers --- */

static bool is_same_manager(const struct field_manager *a, const struct field_manager *b)
{
        return a->is_apply == b->is_apply && str_equal(a->name, b->name) && str_equal(a->subresource, b->subresource) &&
               (a->is_apply || str_equal(a->api_version, b->api_version));
}

struct field_manager *managers_find(const struct managers *m, const struct field_manager *like)
{
        for (size_t i = 0; i < m->n; i++)
                if (is_same_manager(&m->p[i], like))
                        return &m->p[i];
        return NULL;
}

struct field_manager *managers_add(struct managers *m, struct field_manager entry)
{
        if (m->n == m->capacity) {
                size_t capacity = m->capacity ? 2 * m->capacity : 8;
                struct field_manager *p = arena_alloc(m->arena, capacity * sizeof(*p));

                if (m->n > 0)
                        memcpy(p, m->p, m->n * sizeof(*p));
                m->p = p;
                m->capacity = capacity;
        }
        m->p[m->n] = entry;
        return &m->p[m->n++];
}

void managers_remove(struct managers *m, struct field_manager *entry)
{
        size_t i = (size_t)(entry - m->p);

        memmove(entry, entry + 1, (m->n - i - 1) * sizeof(*entry));
        m->n--;
}

void managers_drop_empty(struct managers *m)
{
        size_t kept = 0;

        for (size_t i = 0; i < m->n; i++)
                if (m->p[i].set)
                        m->p[kept++] = m->p[i];
        m->n = kept;
}

/* --- Too many updates --- */

struct str manager_identifier(struct arena *a, const struct field_manager *m)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        buf_append_char(&b, '{');
        if (!str_is_empty(m->name)) {
                buf_append_literal(&b, "\"manager\":");
                json_write_string(&b, m->name, JSON_GO);
                buf_append_char(&b, ',');
        }
        if (m->is_apply) {
                buf_append_literal(&b, "\"operation\":\"Apply\"");
        } else {
                buf_append_literal(&b, "\"operation\":\"Update\",\"apiVersion\":");
                json_write_string(&b, m->api_version, JSON_GO);
        }
        if (!str_is_empty(m->subresource)) {
                buf_append_literal(&b, ",\"subresource\":");
                json_write_string(&b, m->subresource, JSON_GO);
        }
        buf_append_char(&b, '}');
        return buf_to_arena(&b, a);
}

struct updater {
        struct field_manager entry;
        struct str identifier;
};

static int compare_updaters(const void *a, const void *b)
{
        const struct updater *x = a, *y = b;
        int64_t s = x->entry.has_time ? x->entry.time.seconds : 0, t = y->entry.has_time ? y->entry.time.seconds : 0;

        return s != t ? (s > t) - (s < t) : str_compare(x->identifier, y->identifier);
}

/* Moves the set of updater i into the bucket of its version, and removes the updater. The first updater of a version stays until a
 * second one comes, and then becomes the bucket. False when nothing moved. */
static bool pour(struct managers *m, struct updater *updaters, size_t i)
{
        struct field_manager entry = updaters[i].entry, *bucket;
        struct field_manager like = { .name = STR("ancient-changes"), .api_version = entry.api_version };
        size_t first = 0;

        while (!str_equal(updaters[first].entry.api_version, entry.api_version))
                first++;
        if (first == i)
                return false;
        bucket = managers_find(m, &like);
        if (!bucket) {
                bucket = managers_find(m, &updaters[first].entry);
                bucket->name = like.name;
                bucket->subresource = like.subresource;
                bucket->encoded = NULL;
        }
        bucket->set = field_set_union(m->arena, entry.set, bucket->set);
        bucket->has_time = entry.has_time;
        bucket->time = entry.time;
        bucket = managers_find(m, &entry);
        managers_remove(m, bucket);
        return true;
}

void managers_cap(struct managers *m)
{
        struct updater *updaters;
        size_t n = 0, left;

        for (size_t i = 0; i < m->n; i++)
                n += !m->p[i].is_apply;
        if (n <= MANAGED_UPDATES_MAX)
                return;
        left = n;
        updaters = arena_alloc(m->arena, n * sizeof(*updaters));
        n = 0;
        for (size_t i = 0; i < m->n; i++)
                if (!m->p[i].is_apply)
                        updaters[n++] = (struct updater) { m->p[i], manager_identifier(m->arena, &m->p[i]) };
        qsort(updaters, n, sizeof(*updaters), compare_updaters);
        for (size_t i = 0; i < n && left > MANAGED_UPDATES_MAX; i++)
                left -= pour(m, updaters, i);
}

/* --- Writing --- */

static int compare_entries(const void *a, const void *b)
{
        const struct field_manager *x = a, *y = b;
        int64_t s = x->has_time ? x->time.seconds : 0, t = y->has_time ? y->time.seconds : 0;
        int order;

        if (x->is_apply != y->is_apply)
                return y->is_apply - x->is_apply;
        if (s != t)
                return (s > t) - (s < t);
        order = str_compare(x->name, y->name);
        if (order == 0)
                order = str_compare(x->api_version, y->api_version);
        return order ? order : str_compare(x->subresource, y->subresource);
}

static struct str time_text(struct arena *a, struct instant t)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        time_append_rfc3339(&b, t, 0);
        return buf_to_arena(&b, a);
}

static struct value encode_entry(struct arena *a, const struct field_manager *m)
{
        const struct value *fields = m->encoded && m->set == m->decoded ? value_get(m->encoded, STR("fieldsV1")) : NULL;
        struct object_builder b;

        object_builder_init(&b, a, 7);
        object_builder_add(&b, STR("apiVersion"), value_of_str(m->api_version));
        object_builder_add(&b, STR("fieldsType"), value_of_literal("FieldsV1"));
        object_builder_add(&b, STR("fieldsV1"), fields ? *fields : field_set_encode(a, m->set));
        if (!str_is_empty(m->name))
                object_builder_add(&b, STR("manager"), value_of_str(m->name));
        object_builder_add(&b, STR("operation"), m->is_apply ? value_of_literal("Apply") : value_of_literal("Update"));
        if (!str_is_empty(m->subresource))
                object_builder_add(&b, STR("subresource"), value_of_str(m->subresource));
        if (m->has_time)
                object_builder_add(&b, STR("time"), value_of_str(time_text(a, m->time)));
        return object_builder_finish(&b);
}

/* The entries as a list; the old list itself if it is equal. */
static const struct value *encode(struct arena *a, struct field_manager *sorted, size_t n, const struct value *old)
{
        struct array_builder b;
        struct value list;

        array_builder_init(&b, a, n);
        for (size_t i = 0; i < n; i++) {
                struct value entry = encode_entry(a, &sorted[i]);

                if (sorted[i].encoded && value_equal(sorted[i].encoded, &entry))
                        entry = *sorted[i].encoded;
                array_builder_add(&b, entry);
        }
        list = array_builder_finish(&b);
        return old && value_equal(old, &list) ? old : value_put(a, list);
}

const struct value *managed_fields_store(const struct value *object, const struct managers *m)
{
        const struct value *old = value_find(object, "metadata", "managedFields");
        struct arena *a = m->arena;
        struct field_manager *sorted;

        if (m->n == 0)
                return old ? meta_with(a, object, STR("managedFields"), NULL) : object;
        sorted = arena_alloc(a, m->n * sizeof(*sorted));
        memcpy(sorted, m->p, m->n * sizeof(*sorted));
        qsort(sorted, m->n, sizeof(*sorted), compare_entries);
        return meta_with(a, object, STR("managedFields"), encode(a, sorted, m->n, old));
}

/* --- Times --- */

static bool entries_differ_in_time_only(const struct value *a, const struct value *b)
{
        size_t n_a = 0, n_b = 0;

        VALUE_FOREACH_MEMBER (m, a) {
                const struct value *other = value_get(b, m->key);

                if (str_equal(m->key, STR("time")))
                        continue;
                n_a++;
                if (!other || !value_equal(&m->value, other))
                        return false;
        }
        VALUE_FOREACH_MEMBER (m, b)
                n_b += !str_equal(m->key, STR("time"));
        return n_a == n_b;
}

static bool lists_differ_in_times_only(const struct value *a, const struct value *b)
{
        if (value_count(a) != value_count(b) || !value_is_array(a) || !value_is_array(b))
                return false;
        for (size_t i = 0; i < a->n; i++)
                if (!value_is_object(&a->items[i]) || !value_is_object(&b->items[i]) ||
                    !entries_differ_in_time_only(&a->items[i], &b->items[i]))
                        return false;
        return true;
}

/* Compares the members of two objects, except two of them. */
static bool members_are_equal(const struct value *a, const struct value *b, struct str x, struct str y)
{
        size_t n_a = 0, n_b = 0;

        VALUE_FOREACH_MEMBER (m, a) {
                if (str_equal(m->key, x) || str_equal(m->key, y))
                        continue;
                n_a++;

                const struct value *other = value_get(b, m->key);

                if (!other || !value_equal(&m->value, other))
                        return false;
        }
        VALUE_FOREACH_MEMBER (m, b)
                n_b += !str_equal(m->key, x) && !str_equal(m->key, y);
        return n_a == n_b;
}

static bool objects_are_equal(const struct value *a, const struct value *b)
{
        return members_are_equal(a, b, STR("metadata"), STR("metadata")) &&
               members_are_equal(meta(a), meta(b), STR("managedFields"), STR("resourceVersion"));
}

const struct value *managed_revert_times(struct arena *a, const struct value *old, const struct value *new_object)
{
        const struct value *before = value_find(old, "metadata", "managedFields");
        const struct value *after = value_find(new_object, "metadata", "managedFields");

        if (!lists_differ_in_times_only(before, after) || !objects_are_equal(old, new_object))
                return new_object;
        return meta_with(a, new_object, STR("managedFields"), before);
}

static bool has_entry(const struct value *list, const struct value *entry)
{
        VALUE_FOREACH_ITEM (item, list)
                if (entries_differ_in_time_only(item, entry))
                        return true;
        return false;
}

bool managed_is_same(const struct value *a, const struct value *b)
{
        const struct value *mine = value_find(a, "metadata", "managedFields");
        const struct value *theirs = value_find(b, "metadata", "managedFields");

        if (value_count(mine) != value_count(theirs))
                return false;
        VALUE_FOREACH_ITEM (entry, mine)
                if (!has_entry(theirs, entry))
                        return false;
        return objects_are_equal(a, b);
}
