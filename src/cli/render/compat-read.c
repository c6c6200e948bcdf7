#include "compat-read.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "buf.h"
#include "gotext.h"
#include "input.h"
#include "json.h"
#include "str-list.h"
#include "yaml.h"

/* --- Paths --- */

static void append_cleaned(struct buf *b, struct str path)
{
        struct str part;

        while (path.n > 0) {
                str_split(&path, '/', &part);
                if (part.n == 0 || str_equal(part, STR(".")))
                        continue;
                if (str_equal(part, STR(".."))) {
                        ptrdiff_t slash = str_find_last_char(buf_str(b), '/');

                        b->n = slash > 0 ? (size_t)slash : 0;
                        continue;
                }
                buf_appendf(b, "/%.*s", STR_ARG(part));
        }
}

struct str compat_path(struct arena *a, struct str path)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        if (!str_starts_with(path, STR("/"))) {
                char *here = getcwd(NULL, 0);

                append_cleaned(&b, str_from(here));
                free(here);
        }
        append_cleaned(&b, path);
        return str_from(arena_cstring(a, b.n ? buf_str(&b) : STR("/")));
}

int compat_set_errno(struct err *err, int errno_value, const char *verb, struct str path)
{
        const char *text = strerror(errno_value);

        return err_set(err, ERR_SYSTEM, "%s %.*s: %c%s", verb, STR_ARG(path), text[0] | 0x20, text + 1);
}

static int read_text(struct arena *a, struct str path, struct str *ret, struct err *err)
{
        _cleanup_buf_ struct buf text = BUF_INIT(0);
        int fd = open(path.p, O_RDONLY | O_CLOEXEC), r;

        if (fd < 0)
                return compat_set_errno(err, errno, "open", path);
        close(fd);
        r = input_read(path.p, &text, err);
        if (r >= 0)
                *ret = arena_copy(a, buf_str(&text));
        return r;
}

/* --- Documents --- */

static int check_kind(const struct value *v, struct err *err)
{
        _cleanup_buf_ struct buf text = BUF_INIT(0);
        int r;

        if (value_str(value_get(v, STR("kind"))).n)
                return 0;
        r = json_write(&text, v, JSON_SORT_KEYS, err);
        return r < 0 ? r : err_set(err, ERR_INVALID, "Object 'Kind' is missing in '%.*s'", STR_ARG(buf_str(&text)));
}

static int check_shape(const struct value *v, const struct compat_type *type, struct err *err)
{
        int r = 0;

        if (!value_is_object(v))
                r = err_set(err, ERR_INVALID, "json: cannot unmarshal %s into Go value of type %s", go_json_type(v),
                            type->go_type ?: "map[string]interface {}");
        else if (!type->go_type)
                r = check_kind(v, err);
        return r < 0 ? err_wrap(err, "error unmarshaling JSON: while decoding JSON") : 0;
}

static int parse(struct arena *a, struct str text, const struct compat_type *type, const struct value **ret,
                 struct err *err)
{
        int r = yaml_parse(a, text, NULL, ret, err);

        if (r < 0)
                return err_wrap(err, "error converting YAML to JSON");
        if (value_is_null(*ret)) {
                *ret = &value_empty_object;
                return 0;
        }
        return check_shape(*ret, type, err);
}

int compat_read_first(struct arena *a, struct str path, const struct compat_type *type, const struct value **ret,
                      struct err *err)
{
        struct str text;
        int r = read_text(a, path, &text, err);

        if (r < 0)
                return err_wrap(err, "cannot read %s", type->what);
        r = parse(a, text, type, ret, err);
        return r < 0 ? err_wrap(err, "cannot unmarshal %s", type->what) : 0;
}

/* --- Streams --- */

/* Adds the text of every document. A document of zero bytes is skipped. */
static int split(struct str text, struct str_list *to, struct err *err)
{
        struct yaml_document document;
        struct yaml_stream stream;
        int r;

        yaml_stream_init(&stream, text);
        while ((r = yaml_stream_next(&stream, &document, err)) > 0)
                if (document.text.n)
                        str_list_add(to, document.text);
        if (r < 0)
                err_wrap(err, "cannot load YAML stream from file: cannot parse YAML stream");
        return r;
}

static int split_file(struct str path, struct str_list *to, struct err *err)
{
        struct str text;
        int r = read_text(to->arena, path, &text, err);

        return r < 0 ? err_wrap(err, "cannot open file") : split(text, to, err);
}

static int is_yaml(const struct dirent *entry)
{
        struct str name = str_from(entry->d_name);

        return str_ends_with(name, STR(".yaml")) || str_ends_with(name, STR(".yml"));
}

static int split_directory(struct str path, struct str_list *to, struct err *err)
{
        struct dirent **entries;
        int n = scandir(path.p, &entries, is_yaml, alphasort), r = 0;

        if (n < 0)
                return compat_set_errno(err, errno, "open", path);
        if (n == 0)
                r = err_set(err, ERR_NOT_FOUND, "no YAML files found in \"%.*s\" (.yaml or .yml)", STR_ARG(path));
        for (int i = 0; i < n; i++) {
                if (r >= 0)
                        r = split_file(arena_printf(to->arena, "%.*s/%s", STR_ARG(path), entries[i]->d_name), to, err);
                free(entries[i]);
        }
        free(entries);
        return r;
}

int compat_read_all(struct arena *a, struct str path, const struct compat_type *type, struct manifests *ret,
                    struct err *err)
{
        struct str_list texts;
        struct stat st;
        int r;

        str_list_init(&texts, a);
        if (stat(path.p, &st) == 0 && S_ISDIR(st.st_mode))
                r = split_directory(path, &texts, err);
        else
                r = split_file(path, &texts, err);
        if (r < 0)
                return err_wrap(err, "cannot load YAML stream from file");
        for (size_t i = 0; i < texts.n; i++) {
                struct manifest m = { 0 };

                if (parse(a, texts.p[i], type, &m.object, err) < 0)
                        return err_wrap(err, "cannot parse %s", type->what);
                manifests_add(ret, m);
        }
        return 0;
}
