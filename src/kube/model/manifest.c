#include "manifest.h"

#include "buf.h"
#include "input.h"
#include "yaml.h"

#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>

void manifests_add(struct manifests *m, struct manifest manifest)
{
        if (m->n == m->capacity) {
                size_t capacity = m->capacity ? 2 * m->capacity : 8;
                struct manifest *p = ARENA_NEW_ARRAY(m->arena, struct manifest, capacity);

                if (m->n > 0)
                        memcpy(p, m->p, m->n * sizeof(*p));
                m->p = p;
                m->capacity = capacity;
        }
        m->p[m->n++] = manifest;
}

/* The whole path, from the root of the document. */
static struct str whole_path(struct arena *a, const struct manifest *m, struct str path)
{
        if (str_is_empty(m->prefix))
                return path;
        if (str_is_empty(path))
                return m->prefix;
        return arena_printf(a, "%.*s%s%.*s", STR_ARG(m->prefix), path.p[0] == '[' ? "" : ".", STR_ARG(path));
}

static struct position locate(struct arena *a, const struct manifest *m, struct str path)
{
        struct position position = { 0 };
        struct path parsed = { 0 };

        /* If the path cannot be parsed, the position is that of the object. */
        if (path_parse(a, whole_path(a, m, path), &parsed, NULL) < 0)
                path_parse(a, m->prefix, &parsed, NULL);
        source_locate(m->source, m->document, &parsed, &position, NULL);
        return position;
}

static void append_place(struct buf *b, const struct manifest *m, struct position position)
{
        buf_append_str(b, m->source->name);
        if (position.line > 0)
                buf_appendf(b, ":%u:%u", position.line, position.column);
}

/* Appends `XBucket "a"`; missing parts are left out. */
static void append_object(struct buf *b, const struct value *object)
{
        struct str kind = gvk_of(object).kind, name = meta_name(object);

        if (str_is_empty(name))
                name = meta_str(object, STR("generateName"));
        if (str_is_empty(kind) && str_is_empty(name))
                return;
        buf_append_literal(b, ": ");
        buf_append_str(b, str_is_empty(kind) ? STR("object") : kind);
        if (!str_is_empty(name))
                buf_appendf(b, " \"%.*s\"", STR_ARG(name));
}

int manifest_error_at(const struct manifest *m, struct str path, struct position position, struct err *err)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        int r;

        append_place(&b, m, position);
        append_object(&b, m->object);
        if (!str_is_empty(path) && !(err && str_starts_with(str_from(err_message(err)), path))) {
                buf_append_literal(&b, ": ");
                buf_append_str(&b, path);
        }
        r = err_wrap(err, "%.*s", STR_ARG(buf_str(&b)));
        err_set_position(err, position);
        if (!str_is_empty(path))
                err_set_path(err, path);
        return r;
}

int manifest_error(const struct manifest *m, struct str path, struct err *err)
{
        _cleanup_arena_ struct arena a;

        arena_init(&a, "error", 0);
        if (!m->source && err)
                return err->code;
        return m->source ? manifest_error_at(m, path, locate(&a, m, path), err) : err_wrap(NULL, "nowhere");
}

static int check(const struct manifest *m, struct err *err)
{
        static const struct str required[] = { STR_INIT("apiVersion"), STR_INIT("kind") };

        if (!value_is_object(m->object)) {
                err_set(err, ERR_INVALID, "a manifest must be an object");
                return manifest_error(m, STR(""), err);
        }
        for (size_t i = 0; i < ARRAY_SIZE(required); i++) {
                const struct value *v = value_get(m->object, required[i]);

                if (value_is_string(v) && v->n > 0)
                        continue;
                err_set(err, ERR_INVALID, !v || (value_is_string(v)) ? "Required value" : "must be a string");
                return manifest_error(m, required[i], err);
        }
        return 0;
}

static int add_list(struct manifests *m, const struct manifest *list, struct err *err)
{
        const struct value *items = value_get(list->object, STR("items"));

        if (items && !value_is_null(items) && !value_is_array(items)) {
                err_set(err, ERR_INVALID, "must be an array");
                return manifest_error(list, STR("items"), err);
        }
        for (size_t i = 0; i < value_count(items); i++) {
                struct manifest item = *list;
                int r;

                item.object = value_item(items, i);
                item.prefix = arena_printf(m->arena, "items[%zu]", i);
                r = check(&item, err);
                if (r < 0)
                        return r;
                manifests_add(m, item);
        }
        return 0;
}

static int add_document(struct manifests *m, const struct manifest *manifest, struct err *err)
{
        int r = check(manifest, err);

        if (r < 0)
                return r;
        if (str_equal(gvk_of(manifest->object).kind, STR("List")))
                return add_list(m, manifest, err);
        manifests_add(m, *manifest);
        return 0;
}

static int add_source(struct manifests *m, const struct source_file *source, struct err *err)
{
        const struct value *documents;
        int r = yaml_parse_stream(m->arena, source->text, NULL, &documents, err);

        if (r < 0 && err && err->position.line > 0)
                return err_wrap(err, "%.*s:%u:%u", STR_ARG(source->name), err->position.line, err->position.column);
        if (r < 0)
                return err_wrap(err, "%.*s", STR_ARG(source->name));
        for (size_t i = 0; i < value_count(documents); i++) {
                struct manifest manifest = { .object = value_item(documents, i), .source = source, .document = i };

                r = add_document(m, &manifest, err);
                if (r < 0)
                        return r;
        }
        return 0;
}

int manifests_add_text(struct manifests *m, struct str name, struct str text, struct err *err)
{
        struct source_file *source = ARENA_NEW(m->arena, struct source_file);

        source->name = arena_copy(m->arena, name);
        source->text = arena_copy(m->arena, text);
        return add_source(m, source, err);
}

static int load_file(struct manifests *m, const char *path, struct err *err)
{
        _cleanup_buf_ struct buf text = BUF_INIT(0);
        int r = input_read(path, &text, err);

        return r < 0 ? r : manifests_add_text(m, input_name(path), buf_str(&text), err);
}

static bool is_manifest(const struct dirent *entry)
{
        struct str name = str_from(entry->d_name);

        return name.p[0] != '.' && (str_ends_with(name, STR(".yaml")) || str_ends_with(name, STR(".yml")) ||
                                    str_ends_with(name, STR(".json")));
}

/* Compares bytewise, independent of the locale. */
static int by_name(const struct dirent **a, const struct dirent **b)
{
        return strcmp((*a)->d_name, (*b)->d_name);
}

static int load_entry(struct manifests *m, struct str directory, const char *name, struct err *err)
{
        struct str path = arena_printf(m->arena, "%.*s%s%s", STR_ARG(directory),
                                       str_ends_with(directory, STR("/")) ? "" : "/", name);
        struct stat st;

        if (stat(path.p, &st) == 0 && !S_ISREG(st.st_mode))
                return 0;
        return load_file(m, path.p, err);
}

static int load_directory(struct manifests *m, const char *path, struct err *err)
{
        struct dirent **entries;
        int n = scandir(path, &entries, NULL, by_name), r = 0;

        if (n < 0)
                return err_set_errno(err, errno, "cannot read directory %s", path);
        for (int i = 0; i < n; i++) {
                if (r == 0 && is_manifest(entries[i]))
                        r = load_entry(m, str_from(path), entries[i]->d_name, err);
                free(entries[i]);
        }
        free(entries);
        return r;
}

int manifests_load(struct manifests *m, struct str path, struct err *err)
{
        const char *name = arena_cstring(m->arena, path);
        struct stat st;

        if (strcmp(name, "-") != 0 && stat(name, &st) == 0 && S_ISDIR(st.st_mode))
                return load_directory(m, name, err);
        return load_file(m, name, err);
}
