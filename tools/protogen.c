/* protogen PREFIX SET OUT.c OUT.h [PACKAGE=SHORT...]: turns a FileDescriptorSet, as protoc writes it, into the tables of
 * src/data/proto/proto.h. Runs at build time; its input is our own, so anything unexpected ends it with a message.
 *
 * OUT.h declares each message as PREFIX_SHORT_Name, where SHORT stands for its package; OUT.c defines them, PREFIX_messages (by
 * full name), and PREFIX_files (the serialised FileDescriptorProtos). Messages of packages without a short name are left
 * out of the tables (they belong to another set) and referred to by the symbols of the set `proto`. */
#include "arena.h"
#include "buf.h"
#include "proto.h"
#include "vec.h"

#include <stdio.h>

/* Numbers of descriptor.proto. */
enum {
        SET_FILE = 1,
        FILE_NAME = 1,
        FILE_PACKAGE = 2,
        FILE_MESSAGE = 4,
        FILE_ENUM = 5,
        MESSAGE_NAME = 1,
        MESSAGE_FIELD = 2,
        MESSAGE_NESTED = 3,
        MESSAGE_ENUM = 4,
        MESSAGE_OPTIONS = 7,
        MESSAGE_OPTIONS_MAP_ENTRY = 7,
        FIELD_NAME = 1,
        FIELD_NUMBER = 3,
        FIELD_LABEL = 4,
        FIELD_LABEL_REPEATED = 3,
        FIELD_TYPE = 5,
        FIELD_TYPE_NAME = 6,
        FIELD_OPTIONS = 8,
        FIELD_OPTIONS_PACKED = 2,
        FIELD_ONEOF_INDEX = 9,
        FIELD_JSON_NAME = 10,
        FIELD_PROTO3_OPTIONAL = 17,
        ENUM_NAME = 1,
        ENUM_VALUE = 2,
        VALUE_NAME = 1,
        VALUE_NUMBER = 2,
};

struct field {
        struct str name, json_name, type_name;
        uint32_t number;
        enum proto_type type;
        bool is_repeated, is_packed, is_optional;
        int oneof;
};

struct message {
        struct str name; /* full, without a leading dot */
        struct str symbol;
        bool is_map_entry;
        VEC(struct field) fields;
};

struct enumeration {
        struct str name;
        struct str symbol;
        VEC(struct proto_enum_value) values;
};

struct file {
        struct str name, descriptor;
};

struct package {
        struct str name, short_name;
};

static struct {
        struct arena arena;
        const char *prefix;
        VEC(struct package) packages;
        VEC(struct file) files;
        VEC(struct message) messages;
        VEC(struct enumeration) enums;
} set;

static _Noreturn void fail(const char *what, struct str detail)
{
        fprintf(stderr, "protogen: %s: %.*s\n", what, STR_ARG(detail));
        exit(1);
}

static bool next(struct str *rest, struct proto_raw_field *f)
{
        _cleanup_err_ struct err err = { 0 };
        int r = proto_next_field(rest, f, &err);

        if (r < 0)
                fail("cannot read the descriptor set", str_from(err_message(&err)));
        return r;
}

/* The short name of the package that the full name is in, and what follows the package in it; false for another set's. */
static bool split_package(struct str full_name, struct str *ret_short, struct str *ret_rest)
{
        for (size_t i = 0; i < set.packages.n; i++) {
                struct package *package = &set.packages.p[i];
                struct str rest = full_name;

                if (str_cut_prefix(&rest, package->name) && str_cut_prefix(&rest, STR("."))) {
                        *ret_short = package->short_name;
                        *ret_rest = rest;
                        return true;
                }
        }
        return false;
}

static struct str symbol_of(struct str full_name)
{
        struct str package, rest = full_name;
        char *symbol;

        if (split_package(full_name, &package, &rest))
                symbol = arena_cstring(&set.arena, arena_printf(&set.arena, "%s_%.*s_%.*s", set.prefix,
                                                                STR_ARG(package), STR_ARG(rest)));
        else if (str_cut_prefix(&rest, STR("google.protobuf.")))
                symbol = arena_cstring(&set.arena, arena_printf(&set.arena, "proto_google_%.*s", STR_ARG(rest)));
        else
                fail("no short name for the package of", full_name);
        for (char *c = symbol; *c; c++)
                if (*c == '.')
                        *c = '_';
        return str_from(symbol);
}

static bool is_ours(struct str full_name)
{
        struct str package, rest;

        return split_package(full_name, &package, &rest);
}

static struct str join(struct str scope, struct str name)
{
        return str_is_empty(scope) ? name : arena_printf(&set.arena, "%.*s.%.*s", STR_ARG(scope), STR_ARG(name));
}

/* The contents of the first field with the number, or nothing. */
static struct str find_bytes(struct str message, uint32_t number)
{
        struct proto_raw_field f;

        while (next(&message, &f))
                if (f.number == number && f.wire == PROTO_WIRE_BYTES)
                        return f.bytes;
        return STR_NONE;
}

static uint64_t find_scalar(struct str message, uint32_t number, uint64_t otherwise)
{
        struct proto_raw_field f;

        while (next(&message, &f))
                if (f.number == number && f.wire == PROTO_WIRE_VARINT)
                        return f.scalar;
        return otherwise;
}

static struct field read_field(struct str bytes)
{
        struct field f = {
                .name = find_bytes(bytes, FIELD_NAME),
                .json_name = find_bytes(bytes, FIELD_JSON_NAME),
                .type_name = str_skip(find_bytes(bytes, FIELD_TYPE_NAME), 1),
                .number = (uint32_t)find_scalar(bytes, FIELD_NUMBER, 0),
                .type = (enum proto_type)find_scalar(bytes, FIELD_TYPE, 0),
                .is_repeated = find_scalar(bytes, FIELD_LABEL, 0) == FIELD_LABEL_REPEATED,
                .is_optional = find_scalar(bytes, FIELD_PROTO3_OPTIONAL, 0),
        };
        bool is_scalar = f.type != PROTO_STRING && f.type != PROTO_BYTES && f.type != PROTO_MESSAGE;

        f.is_packed =
                f.is_repeated && is_scalar && find_scalar(find_bytes(bytes, FIELD_OPTIONS), FIELD_OPTIONS_PACKED, 1);
        f.oneof = f.is_optional ? -1 : (int)find_scalar(bytes, FIELD_ONEOF_INDEX, UINT64_MAX);
        return f;
}

static void read_enum(struct str bytes, struct str scope)
{
        struct enumeration e = { .name = join(scope, find_bytes(bytes, ENUM_NAME)) };
        struct proto_raw_field f;

        if (!is_ours(e.name))
                return;
        e.symbol = symbol_of(e.name);
        while (next(&bytes, &f))
                if (f.number == ENUM_VALUE)
                        vec_push(&e.values, (struct proto_enum_value) {
                                                    .name = find_bytes(f.bytes, VALUE_NAME),
                                                    .number = (int32_t)find_scalar(f.bytes, VALUE_NUMBER, 0),
                                            });
        vec_push(&set.enums, e);
}

static int by_number(const void *a, const void *b)
{
        const struct field *x = a, *y = b;

        return (x->number > y->number) - (x->number < y->number);
}

static void read_message(struct str bytes, struct str scope)
{
        struct message m = { .name = join(scope, find_bytes(bytes, MESSAGE_NAME)) };
        struct proto_raw_field f;

        m.is_map_entry = find_scalar(find_bytes(bytes, MESSAGE_OPTIONS), MESSAGE_OPTIONS_MAP_ENTRY, 0);
        for (struct str rest = bytes; next(&rest, &f);) {
                if (f.number == MESSAGE_FIELD)
                        vec_push(&m.fields, read_field(f.bytes));
                else if (f.number == MESSAGE_NESTED)
                        read_message(f.bytes, m.name);
                else if (f.number == MESSAGE_ENUM)
                        read_enum(f.bytes, m.name);
        }
        if (!is_ours(m.name)) {
                vec_done(&m.fields);
                return;
        }
        m.symbol = symbol_of(m.name);
        if (m.fields.n)
                qsort(m.fields.p, m.fields.n, sizeof(*m.fields.p), by_number);
        vec_push(&set.messages, m);
}

static void read_file_descriptor(struct str bytes)
{
        struct str package = find_bytes(bytes, FILE_PACKAGE);
        struct proto_raw_field f;

        vec_push(&set.files, (struct file) { .name = find_bytes(bytes, FILE_NAME), .descriptor = bytes });
        for (struct str rest = bytes; next(&rest, &f);) {
                if (f.number == FILE_MESSAGE)
                        read_message(f.bytes, package);
                else if (f.number == FILE_ENUM)
                        read_enum(f.bytes, package);
        }
}

static int by_name(const void *a, const void *b)
{
        return str_compare(((const struct message *)a)->name, ((const struct message *)b)->name);
}

static void read_set(struct str bytes)
{
        struct proto_raw_field f;

        while (next(&bytes, &f))
                if (f.number == SET_FILE)
                        read_file_descriptor(f.bytes);
        qsort(set.messages.p, set.messages.n, sizeof(*set.messages.p), by_name);
}

static const char *kind_of(const struct message *m)
{
        static const struct {
                struct str name;
                const char *kind;
        } kinds[] = {
                { STR_INIT("google.protobuf.Struct"), "PROTO_KIND_STRUCT" },
                { STR_INIT("google.protobuf.Value"), "PROTO_KIND_VALUE" },
                { STR_INIT("google.protobuf.ListValue"), "PROTO_KIND_LIST_VALUE" },
                { STR_INIT("google.protobuf.Duration"), "PROTO_KIND_DURATION" },
                { STR_INIT("google.protobuf.Timestamp"), "PROTO_KIND_TIMESTAMP" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
                if (str_equal(kinds[i].name, m->name))
                        return kinds[i].kind;
        return m->is_map_entry ? "PROTO_KIND_MAP_ENTRY" : "PROTO_KIND_PLAIN";
}

static void write_field(struct buf *b, const struct field *f)
{
        bool has_presence = !f->is_repeated && (f->is_optional || f->oneof >= 0 || f->type == PROTO_MESSAGE);

        buf_appendf(
                b, "        { .name = STR_INIT(\"%.*s\"), .json_name = STR_INIT(\"%.*s\"), .number = %u, .type = %d,\n",
                STR_ARG(f->name), STR_ARG(f->json_name), f->number, f->type);
        buf_appendf(b, "          .is_repeated = %d, .is_packed = %d, .has_presence = %d, .oneof = %d", f->is_repeated,
                    f->is_packed, has_presence, f->oneof);
        if (f->type == PROTO_MESSAGE)
                buf_appendf(b, ", .message = &%.*s", STR_ARG(symbol_of(f->type_name)));
        if (f->type == PROTO_ENUM)
                buf_appendf(b, ", .enumeration = &%.*s", STR_ARG(symbol_of(f->type_name)));
        buf_append_literal(b, " },\n");
}

static void write_message(struct buf *b, const struct message *m)
{
        if (m->fields.n) {
                buf_appendf(b, "static const struct proto_field %.*s_fields[] = {\n", STR_ARG(m->symbol));
                for (size_t i = 0; i < m->fields.n; i++)
                        write_field(b, &m->fields.p[i]);
                buf_append_literal(b, "};\n");
        }
        buf_appendf(b, "const struct proto_message %.*s = {\n        .name = STR_INIT(\"%.*s\"), .kind = %s,\n",
                    STR_ARG(m->symbol), STR_ARG(m->name), kind_of(m));
        if (m->fields.n)
                buf_appendf(b, "        .fields = %.*s_fields, .n_fields = %zu,\n", STR_ARG(m->symbol), m->fields.n);
        buf_append_literal(b, "};\n\n");
}

static void write_enum(struct buf *b, const struct enumeration *e)
{
        buf_appendf(b, "static const struct proto_enum_value %.*s_values[] = {\n", STR_ARG(e->symbol));
        for (size_t i = 0; i < e->values.n; i++)
                buf_appendf(b, "        { STR_INIT(\"%.*s\"), %d },\n", STR_ARG(e->values.p[i].name),
                            e->values.p[i].number);
        buf_appendf(b, "};\nconst struct proto_enum %.*s = { STR_INIT(\"%.*s\"), %.*s_values, %zu };\n\n",
                    STR_ARG(e->symbol), STR_ARG(e->name), STR_ARG(e->symbol), e->values.n);
}

static void write_file_bytes(struct buf *b, size_t i)
{
        struct str bytes = set.files.p[i].descriptor;

        buf_appendf(b, "/* %.*s */\nstatic const unsigned char file_%zu[] = {", STR_ARG(set.files.p[i].name), i);
        for (size_t k = 0; k < bytes.n; k++)
                buf_appendf(b, "%s%d,", k % 24 ? "" : "\n        ", (unsigned char)bytes.p[k]);
        buf_append_literal(b, "\n};\n");
}

static void write_files(struct buf *b)
{
        for (size_t i = 0; i < set.files.n; i++)
                write_file_bytes(b, i);
        buf_appendf(b, "\nconst struct proto_file %s_files[] = {\n", set.prefix);
        for (size_t i = 0; i < set.files.n; i++)
                buf_appendf(b, "        { STR_INIT(\"%.*s\"), { (const char *)file_%zu, sizeof(file_%zu) } },\n",
                            STR_ARG(set.files.p[i].name), i, i);
        buf_appendf(b, "};\nconst size_t %s_n_files = %zu;\n", set.prefix, set.files.n);
}

static void write_header(struct buf *b)
{
        buf_append_literal(b,
                           "/* Made by protogen from the .proto files. */\n#pragma once\n\n#include \"proto.h\"\n\n");
        for (size_t i = 0; i < set.messages.n; i++)
                buf_appendf(b, "extern const struct proto_message %.*s;\n", STR_ARG(set.messages.p[i].symbol));
        buf_append_char(b, '\n');
        for (size_t i = 0; i < set.enums.n; i++)
                buf_appendf(b, "extern const struct proto_enum %.*s;\n", STR_ARG(set.enums.p[i].symbol));
        buf_appendf(b,
                    "\nextern const struct proto_message *const %s_messages[];\nextern const size_t %s_n_messages;\n",
                    set.prefix, set.prefix);
        buf_appendf(b, "extern const struct proto_file %s_files[];\nextern const size_t %s_n_files;\n", set.prefix,
                    set.prefix);
}

static void write_tables(struct buf *b, const char *header)
{
        buf_appendf(b, "/* Made by protogen from the .proto files. */\n#include \"%s\"\n", header);
        if (strcmp(set.prefix, "proto") != 0)
                buf_append_literal(b, "#include \"proto-tables.h\"\n");
        buf_append_char(b, '\n');
        for (size_t i = 0; i < set.enums.n; i++)
                write_enum(b, &set.enums.p[i]);
        for (size_t i = 0; i < set.messages.n; i++)
                write_message(b, &set.messages.p[i]);
        buf_appendf(b, "const struct proto_message *const %s_messages[] = {\n", set.prefix);
        for (size_t i = 0; i < set.messages.n; i++)
                buf_appendf(b, "        &%.*s,\n", STR_ARG(set.messages.p[i].symbol));
        buf_appendf(b, "};\nconst size_t %s_n_messages = %zu;\n\n", set.prefix, set.messages.n);
        write_files(b);
}

static void read_whole(const char *name, struct buf *b)
{
        FILE *f = fopen(name, "rb");
        size_t n;

        if (!f)
                fail("cannot open", str_from(name));
        do {
                if (!buf_reserve(b, 65536))
                        fail("too large", str_from(name));
                n = fread(b->p + b->n, 1, 65536, f);
                b->n += n;
        } while (n > 0);
        fclose(f);
}

static void write_whole(const char *name, struct buf *b)
{
        FILE *f = fopen(name, "wb");

        if (!f || fwrite(b->p, 1, b->n, f) != b->n || fclose(f) != 0)
                fail("cannot write", str_from(name));
}

static const char *base_name(const char *path)
{
        const char *slash = strrchr(path, '/');

        return slash ? slash + 1 : path;
}

static void done(void)
{
        for (size_t i = 0; i < set.messages.n; i++)
                vec_done(&set.messages.p[i].fields);
        for (size_t i = 0; i < set.enums.n; i++)
                vec_done(&set.enums.p[i].values);
        vec_done(&set.messages);
        vec_done(&set.enums);
        vec_done(&set.files);
        vec_done(&set.packages);
        arena_done(&set.arena);
        arena_trim_cache();
}

int main(int argc, char **argv)
{
        _cleanup_buf_ struct buf input = BUF_INIT(0), tables = BUF_INIT(0), header = BUF_INIT(0);

        if (argc < 5)
                fail("usage", STR("protogen PREFIX SET OUT.c OUT.h [PACKAGE=SHORT...]"));
        arena_init(&set.arena, "protogen", 0);
        set.prefix = argv[1];
        for (int i = 5; i < argc; i++) {
                struct str short_name = str_from(argv[i]), name;

                if (!str_split(&short_name, '=', &name))
                        fail("not PACKAGE=SHORT", name);
                vec_push(&set.packages, (struct package) { .name = name, .short_name = short_name });
        }
        read_whole(argv[2], &input);
        read_set(buf_str(&input));
        write_tables(&tables, base_name(argv[4]));
        write_header(&header);
        write_whole(argv[3], &tables);
        write_whole(argv[4], &header);
        done();
        return 0;
}
