#include "grpc-reflection.h"

#include "buf.h"
#include "proto.h"
#include "vec.h"

/* A ServerReflectionRequest: the field number of its oneof and the text in it. */
struct question {
        struct str host;
        uint32_t number;
        struct str text;
};

enum {
        ASK_FILE_BY_NAME = 3,
        ASK_FILE_OF_SYMBOL = 4,
        ASK_FILE_OF_EXTENSION = 5,
        ASK_EXTENSION_NUMBERS = 6,
        ASK_SERVICES = 7,
        ANSWER_FILES = 4,
        ANSWER_EXTENSION_NUMBERS = 5,
        ANSWER_SERVICES = 6,
        ANSWER_ERROR = 7,
};

static void append_error(struct buf *b, enum grpc_status status, const char *message, struct str what)
{
        _cleanup_buf_ struct buf error = BUF_INIT(0), text = BUF_INIT(0);

        buf_appendf(&text, "%s: %.*s", message, STR_ARG(what));
        proto_append_varint_field(&error, 1, (uint64_t)status);
        proto_append_bytes_field(&error, 2, buf_str(&text));
        proto_append_bytes_field(b, ANSWER_ERROR, buf_str(&error));
}

/* The fields of a FileDescriptorProto that are used here. */
enum {
        FILE_NAME = 1,
        FILE_PACKAGE = 2,
        FILE_DEPENDENCY = 3,
        FILE_MESSAGE = 4,
        FILE_ENUM = 5,
        FILE_SERVICE = 6,
        MESSAGE_NESTED = 3,
        MESSAGE_ENUM = 4,
        SERVICE_METHOD = 2,
        ANY_NAME = 1,
};

static struct str name_of(struct str descriptor)
{
        struct proto_raw_field field;

        while (proto_next_field(&descriptor, &field, NULL) > 0)
                if (field.number == ANY_NAME && field.wire == PROTO_WIRE_BYTES)
                        return field.bytes;
        return STR("");
}

/* Whether `symbol`, relative to the scope of the descriptor, is the descriptor's name or is inside it. Everything below a matching
 * name belongs to this file: packages do not split messages or services. */
static bool descriptor_has(struct str descriptor, struct str symbol)
{
        struct str name = name_of(descriptor);

        return str_equal(symbol, name) ||
               (name.n > 0 && str_starts_with(symbol, name) && symbol.n > name.n && symbol.p[name.n] == '.');
}

static bool file_has(const struct proto_file *f, struct str symbol)
{
        struct str rest = f->descriptor, package = STR("");
        struct proto_raw_field field;

        while (proto_next_field(&rest, &field, NULL) > 0)
                if (field.number == FILE_PACKAGE)
                        package = field.bytes;
        if (package.n > 0 && (!str_cut_prefix(&symbol, package) || !str_cut_prefix(&symbol, STR("."))))
                return false;
        rest = f->descriptor;
        while (proto_next_field(&rest, &field, NULL) > 0)
                if ((field.number == FILE_MESSAGE || field.number == FILE_ENUM || field.number == FILE_SERVICE) &&
                    descriptor_has(field.bytes, symbol))
                        return true;
        return false;
}

static const struct proto_file *file_by_name(struct str name)
{
        for (size_t i = 0; i < proto_n_files; i++)
                if (str_equal(proto_files[i].name, name))
                        return &proto_files[i];
        return NULL;
}

static const struct proto_file *file_of_symbol(struct str symbol)
{
        for (size_t i = 0; i < proto_n_files; i++)
                if (file_has(&proto_files[i], symbol))
                        return &proto_files[i];
        return NULL;
}

/* Appends the file and all files that it imports, each once; there are few files, so one flag per file is enough. */
static void append_files(struct buf *b, const struct proto_file *f, bool *is_sent)
{
        struct str rest = f->descriptor;
        struct proto_raw_field field;

        if (is_sent[f - proto_files])
                return;
        is_sent[f - proto_files] = true;
        proto_append_bytes_field(b, 1, f->descriptor);
        while (proto_next_field(&rest, &field, NULL) > 0) {
                const struct proto_file *import = field.number == FILE_DEPENDENCY ? file_by_name(field.bytes) : NULL;

                if (import)
                        append_files(b, import, is_sent);
        }
}

static void answer_file(struct buf *b, const struct proto_file *f, const char *missing, struct str what)
{
        _cleanup_buf_ struct buf files = BUF_INIT(0);
        _cleanup_free_ bool *is_sent = xcalloc(proto_n_files, sizeof(*is_sent));

        if (!f) {
                append_error(b, GRPC_NOT_FOUND, missing, what);
                return;
        }
        append_files(&files, f, is_sent);
        proto_append_bytes_field(b, ANSWER_FILES, buf_str(&files));
}

static void answer_services(struct buf *b, const struct str *services, size_t n)
{
        _cleanup_buf_ struct buf list = BUF_INIT(0);

        for (size_t i = 0; i < n; i++) {
                _cleanup_buf_ struct buf service = BUF_INIT(0);

                proto_append_bytes_field(&service, 1, services[i]);
                proto_append_bytes_field(&list, 1, buf_str(&service));
        }
        proto_append_bytes_field(b, ANSWER_SERVICES, buf_str(&list));
}

/* None of our messages has extensions: a known type gets an empty list, an unknown type gets `not found`. */
static void answer_extensions(struct buf *b, struct str type)
{
        _cleanup_buf_ struct buf numbers = BUF_INIT(0);

        if (!proto_message_by_name(type)) {
                append_error(b, GRPC_NOT_FOUND, "type not found", type);
                return;
        }
        proto_append_bytes_field(&numbers, 1, type);
        proto_append_bytes_field(b, ANSWER_EXTENSION_NUMBERS, buf_str(&numbers));
}

static struct question read_question(struct str request)
{
        struct question q = { 0 };
        struct proto_raw_field field;

        while (proto_next_field(&request, &field, NULL) > 0) {
                if (field.wire != PROTO_WIRE_BYTES)
                        continue;
                if (field.number == 1) {
                        q.host = field.bytes;
                } else if (field.number >= ASK_FILE_BY_NAME && field.number <= ASK_SERVICES) {
                        q.number = field.number;
                        q.text = field.bytes;
                }
        }
        return q;
}

void grpc_reflect(struct str request, const struct str *services, size_t n_services, struct buf *ret)
{
        struct question q = read_question(request);

        if (q.host.n > 0)
                proto_append_bytes_field(ret, 1, q.host);
        proto_append_bytes_field(ret, 2, request);
        switch (q.number) {
        case ASK_FILE_BY_NAME:
                answer_file(ret, file_by_name(q.text), "file not found", q.text);
                break;
        case ASK_FILE_OF_SYMBOL:
                answer_file(ret, file_of_symbol(q.text), "symbol not found", q.text);
                break;
        case ASK_FILE_OF_EXTENSION:
                append_error(ret, GRPC_NOT_FOUND, "extension not found", name_of(q.text));
                break;
        case ASK_EXTENSION_NUMBERS:
                answer_extensions(ret, q.text);
                break;
        case ASK_SERVICES:
                answer_services(ret, services, n_services);
                break;
        default:
                append_error(ret, GRPC_INVALID_ARGUMENT, "the request asks for nothing known", STR(""));
                break;
        }
}
