/* kindgen OUT FILE...: writes the table of src/compose/own-kinds-data.h. Each FILE is YAML, with a member for each kind: the name of
 * its CRD and the CRD's spec; the member `parts` is left out. Runs at build time, so that the program reads compact JSON, and that
 * only of kinds it needs; the input is our own, so anything unexpected ends it with a message. */
#include "buf.h"
#include "json.h"
#include "rare-fields.h"
#include "str-list.h"
#include "yaml.h"

#include <stdio.h>

static _Noreturn void die(const char *file, const char *message)
{
        fprintf(stderr, "kindgen: %s: %s\n", file, message);
        exit(1);
}

static struct str read_file(struct arena *a, const char *path)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        char chunk[4096];
        FILE *f = fopen(path, "re");
        size_t n;

        if (!f)
                die(path, "cannot open it");
        while ((n = fread(chunk, 1, sizeof(chunk), f)) > 0)
                buf_append(&b, chunk, n);
        if (ferror(f))
                die(path, "cannot read it");
        fclose(f);
        return buf_to_arena(&b, a);
}

/* STR_INIT("..."), escaped for C. */
static void write_literal(FILE *out, struct str s)
{
        fputs("STR_INIT(\"", out);
        for (size_t i = 0; i < s.n; i++) {
                if (s.p[i] == '"' || s.p[i] == '\\')
                        fputc('\\', out);
                fputc(s.p[i], out);
        }
        fputs("\"), ", out);
}

static const struct value *without_rare_fields(struct arena *a, const struct value *openapi)
{
        const struct value *properties = value_get(openapi, STR("properties")),
                           *spec = value_get(properties, STR("spec"));
        const struct value *fields = value_get(spec, STR("properties")), *rest = fields;

        for (size_t i = 0; i < ARRAY_SIZE(rare_fields); i++)
                rest = value_is_object(rest) ? value_without(a, rest, rare_fields[i]) : rest;
        if (rest == fields)
                return openapi;
        spec = value_with(a, spec, STR("properties"), rest);
        return value_with(a, openapi, STR("properties"), value_with(a, properties, STR("spec"), spec));
}

/* The spec of the CRD with schemas that have no rare fields. */
static const struct value *common_spec(struct arena *a, const struct value *spec)
{
        const struct value *versions = value_get(spec, STR("versions"));

        for (size_t i = 0; i < value_count(versions); i++) {
                const struct value *version = value_item(versions, i), *schema = value_get(version, STR("schema"));
                const struct value *openapi = value_get(schema, STR("openAPIV3Schema"));

                if (!openapi)
                        continue;
                schema = value_with(a, schema, STR("openAPIV3Schema"), without_rare_fields(a, openapi));
                versions = value_with_item(a, versions, i, value_with(a, version, STR("schema"), schema));
        }
        return value_with(a, spec, STR("versions"), versions);
}

static void write_kind(FILE *out, struct arena *a, const char *file, const struct member *kind)
{
        const struct value *versions = value_get(&kind->value, STR("versions"));
        struct str_list names;
        struct str json, common;

        str_list_init(&names, a);
        VALUE_FOREACH_ITEM (version, versions)
                str_list_add(&names, value_str(value_get(version, STR("name"))));
        if (names.n == 0 || json_to_str(a, &kind->value, 0, &json, NULL) < 0 ||
            json_to_str(a, common_spec(a, &kind->value), 0, &common, NULL) < 0)
                die(file, "a kind without versions, or that cannot be written");
        fputs("{ ", out);
        write_literal(out, kind->key);
        write_literal(out, value_str(value_get(&kind->value, STR("group"))));
        write_literal(out, value_str(value_find(&kind->value, "names", "kind")));
        write_literal(out, str_list_join(&names, STR(" ")));
        write_literal(out, json);
        write_literal(out, str_equal(json, common) ? STR("") : common);
        fputs("},\n", out);
}

static void write_file(FILE *out, const char *file)
{
        _cleanup_err_ struct err err = { 0 };
        const struct value *kinds;
        struct arena a;

        arena_init(&a, "kindgen", 0);
        if (yaml_parse(&a, read_file(&a, file), &(struct yaml_read_options) { .is_strict = true }, &kinds, &err) < 0)
                die(file, err_message(&err));
        VALUE_FOREACH_MEMBER (kind, kinds)
                if (!str_equal(kind->key, STR("parts")))
                        write_kind(out, &a, file, kind);
        arena_done(&a);
}

int main(int argc, char **argv)
{
        FILE *out;

        if (argc < 3)
                die("usage", "kindgen OUT FILE...");
        out = fopen(argv[1], "we");
        if (!out)
                die(argv[1], "cannot write it");
        fputs("#include \"own-kinds-data.h\"\n\nconst struct own_kind_data own_kinds_data[] = {\n", out);
        for (int i = 2; i < argc; i++)
                write_file(out, argv[i]);
        fputs("{ { NULL, 0 } },\n};\n", out);
        if (fclose(out) != 0)
                die(argv[1], "cannot write it");
        return 0;
}
