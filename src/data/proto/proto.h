/* Protobuf: one codec between wire bytes and values, driven by tables generated from proto/ at build time.
 *
 * As values, messages follow the proto3 JSON mapping: lowerCamelCase names (original names are accepted too when encoding),
 * 64-bit integers as strings, enums by name (numbers accepted), bytes as base64, Duration and Timestamp as text, Struct, Value
 * and ListValue as the plain value. Fields at their default are left out when decoding unless they have presence. */
#pragma once

#include "err.h"
#include "value.h"

struct buf;

enum proto_type { /* as in descriptor.proto */
                  PROTO_DOUBLE = 1,
                  PROTO_FLOAT = 2,
                  PROTO_INT64 = 3,
                  PROTO_UINT64 = 4,
                  PROTO_INT32 = 5,
                  PROTO_FIXED64 = 6,
                  PROTO_FIXED32 = 7,
                  PROTO_BOOL = 8,
                  PROTO_STRING = 9,
                  PROTO_MESSAGE = 11,
                  PROTO_BYTES = 12,
                  PROTO_UINT32 = 13,
                  PROTO_ENUM = 14,
                  PROTO_SFIXED32 = 15,
                  PROTO_SFIXED64 = 16,
                  PROTO_SINT32 = 17,
                  PROTO_SINT64 = 18,
};

/* Kinds of messages; all but PLAIN have their own form as values. */
enum proto_kind {
        PROTO_KIND_PLAIN,
        PROTO_KIND_MAP_ENTRY,
        PROTO_KIND_STRUCT,
        PROTO_KIND_VALUE,
        PROTO_KIND_LIST_VALUE,
        PROTO_KIND_DURATION,
        PROTO_KIND_TIMESTAMP,
};

struct proto_enum {
        struct str name; /* full, e.g. apiextensions.fn.proto.v1.Ready */
        const struct proto_enum_value {
                struct str name;
                int32_t number;
        } * values;
        size_t n_values;
};

struct proto_field {
        struct str name;
        struct str json_name;
        uint32_t number;
        uint8_t type; /* enum proto_type */
        bool is_repeated;
        bool is_packed;
        bool has_presence; /* optional, in a oneof, or a message */
        int16_t oneof; /* index of the oneof it belongs to, or -1; synthetic oneofs of optional fields do not count */
        const struct proto_message *message; /* of a message field */
        const struct proto_enum *enumeration;
};

struct proto_message {
        struct str name; /* full, e.g. apiextensions.fn.proto.v1.State */
        enum proto_kind kind;
        const struct proto_field *fields; /* by number, ascending */
        size_t n_fields;
};

/* The field with the number or name (either form), or NULL. */
const struct proto_field *proto_field_by_number(const struct proto_message *m, uint32_t number);
const struct proto_field *proto_field_by_name(const struct proto_message *m, struct str name);

enum proto_flags {
        /* Decoding: unknown fields go into the member PROTO_UNKNOWN_KEY (base64 of their bytes), which encoding writes back
         * after the known ones; otherwise they are skipped. Messages with their own form and map entries cannot hold unknown
         * fields. */
        PROTO_KEEP_UNKNOWN = 1 << 0,
        /* Encoding: members that the message does not have are skipped; otherwise they are an error. */
        PROTO_IGNORE_UNKNOWN = 1 << 1,
        /* Decoding: fields without presence appear with their default. */
        PROTO_EMIT_DEFAULTS = 1 << 2,
        /* Decoding: strings may point into the message, which must outlive the arena. */
        PROTO_BORROW_BYTES = 1 << 3,
};
#define PROTO_UNKNOWN_KEY STR("@unknown")

struct proto_options {
        unsigned flags;
        size_t max_bytes;   /* 0: LIMIT_MESSAGE_BYTES */
        uint32_t max_depth; /* 0: LIMIT_DEPTH, in levels of value */
};

/* Strings must be valid UTF-8 and the numbers of a Value finite; a Value without a kind is null. A field whose wire type differs
 * from its declared one counts as unknown. Maps and Structs come out with their keys in bytewise order. Errors name the message
 * and the field: `cannot decode M: field x.y: ...`. options may be NULL. Strings are copied into the arena (all at once,
 * together with the wire bytes between them). */
int proto_decode(struct arena *a, const struct proto_message *m, struct str bytes, const struct proto_options *options,
                 const struct value **ret, struct err *err);

/* Appends the message; on an error nothing is appended. Equal values give equal bytes. The bytes are those of Go's deterministic
 * mode: first the fields outside of oneofs, then those inside, both by number; map entries by key. As in protobuf's JSON, a null
 * member counts as absent (a null Value is null), numbers may be given as text, and bytes in either base64 alphabet. Errors:
 * `cannot encode M: field x.y: ...`. */
int proto_encode(struct buf *b, const struct proto_message *m, const struct value *v,
                 const struct proto_options *options, struct err *err);

/* Encodes an object as a google.protobuf.Struct, and decodes one. All numbers become doubles on the wire; decoding gives
 * doubles. */
int proto_encode_struct(struct buf *b, const struct value *object, struct err *err);
int proto_decode_struct(struct arena *a, struct str bytes, const struct proto_options *options,
                        const struct value **ret, struct err *err);

/* Reads fields one by one without decoding their contents, for messages that are passed on. */
enum proto_wire {
        PROTO_WIRE_VARINT = 0,
        PROTO_WIRE_FIXED64 = 1,
        PROTO_WIRE_BYTES = 2,
        PROTO_WIRE_GROUP = 3, /* deprecated in protobuf, but the reader must be able to skip it */
        PROTO_WIRE_FIXED32 = 5,
};

struct proto_raw_field {
        uint32_t number;
        enum proto_wire wire;
        uint64_t scalar;  /* varint and fixed */
        struct str bytes; /* PROTO_WIRE_BYTES and PROTO_WIRE_GROUP: the contents, in the message's own bytes */
        struct str whole; /* tag, length and contents: append it to a message to pass the field on unchanged */
};

/* Returns 1 with the next field, and moves *rest past it; 0 at the end; negative on malformed bytes. */
int proto_next_field(struct str *rest, struct proto_raw_field *ret, struct err *err);

/* A sub-message that is kept as bytes and decoded at the first proto_lazy_get. Home: one thread. */
struct proto_lazy {
        const struct proto_message *message;
        struct str bytes;            /* borrowed */
        const struct value *decoded; /* NULL until proto_lazy_get */
};

int proto_lazy_get(struct arena *a, struct proto_lazy *lazy, const struct proto_options *options,
                   const struct value **ret, struct err *err);

/* Appends one field around contents that are already encoded (a sub-message, string or bytes), or a varint field. */
void proto_append_bytes_field(struct buf *b, uint32_t number, struct str contents);
void proto_append_varint_field(struct buf *b, uint32_t number, uint64_t v);

/* The same for an entry of a map from text to messages, text or bytes. */
void proto_append_map_entry(struct buf *b, uint32_t number, struct str key, struct str value);

/* The messages of proto/, by full name. Each also has its own symbol in the generated proto-tables.h, made of `proto_`, a short
 * name for its package (src/data/meson.build has the list) and its name with _ for dots: proto_fn_v1_RunFunctionRequest,
 * proto_google_Struct. */
extern const struct proto_message *const proto_messages[];
extern const size_t proto_n_messages;

/* Finds one of them by its full name, or NULL. */
const struct proto_message *proto_message_by_name(struct str full_name);

/* The serialised FileDescriptorProto of every file in proto/, for reflection; imports come before the files that use them. */
struct proto_file {
        struct str name; /* as in imports, e.g. apiextensions/fn/proto/v1/run_function.proto */
        struct str descriptor;
};
extern const struct proto_file proto_files[];
extern const size_t proto_n_files;
