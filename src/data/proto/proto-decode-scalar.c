/* Converts wire scalars to values, by protobuf's JSON mapping. */
#include "proto-decoder.h"

#include "base64.h"
#include "number.h"

#include <math.h>

static struct value value_of_text(struct proto_decoder *d)
{
        return value_of_str(buf_to_arena(&d->text, d->arena));
}

static struct value value_of_int64(struct proto_decoder *d, int64_t i)
{
        buf_append_int(&d->text, i);
        return value_of_text(d);
}

static struct value value_of_uint64(struct proto_decoder *d, uint64_t u)
{
        buf_append_uint(&d->text, u);
        return value_of_text(d);
}

static struct value value_of_any_double(double number)
{
        if (isnan(number))
                return value_of_literal("NaN");
        if (isinf(number))
                return number > 0 ? value_of_literal("Infinity") : value_of_literal("-Infinity");
        return value_of_double(number);
}

/* A float is printed with the fewest digits that identify it among floats, so the value is the double of those digits. */
static struct value value_of_float(struct proto_decoder *d, uint64_t bits)
{
        uint32_t low = (uint32_t)bits;
        double shortest = 0;
        float number;

        memcpy(&number, &low, sizeof(number));
        if (!isfinite(number))
                return value_of_any_double(number);
        for (int digits = 1; digits <= 9; digits++) {
                number_append_go(&d->text, number, 'e', digits - 1);
                number_parse_double(buf_str(&d->text), &shortest, NULL);
                buf_clear(&d->text);
                if ((float)shortest == number)
                        break;
        }
        return value_of_double(shortest);
}

static struct value value_of_enum(const struct proto_enum *e, int32_t number)
{
        for (size_t i = 0; i < e->n_values; i++)
                if (e->values[i].number == number)
                        return value_of_str(e->values[i].name);
        return value_of_int(number);
}

struct value proto_value_of_bytes(struct proto_decoder *d, struct str bytes)
{
        base64_encode(&d->text, bytes, BASE64_STD);
        return value_of_text(d);
}

struct value proto_value_of_scalar(struct proto_decoder *d, const struct proto_field *f, uint64_t scalar,
                                   struct str bytes)
{
        double number;

        switch ((enum proto_type)f->type) {
        case PROTO_DOUBLE:
                memcpy(&number, &scalar, sizeof(number));
                return value_of_any_double(number);
        case PROTO_FLOAT:
                return value_of_float(d, scalar);
        case PROTO_INT64:
        case PROTO_SFIXED64:
                return value_of_int64(d, (int64_t)scalar);
        case PROTO_SINT64:
                return value_of_int64(d, proto_unzigzag(scalar));
        case PROTO_UINT64:
        case PROTO_FIXED64:
                return value_of_uint64(d, scalar);
        case PROTO_INT32:
        case PROTO_SFIXED32:
                return value_of_int((int32_t)(uint32_t)scalar);
        case PROTO_SINT32:
                return value_of_int((int32_t)proto_unzigzag((uint32_t)scalar));
        case PROTO_UINT32:
        case PROTO_FIXED32:
                return value_of_int((uint32_t)scalar);
        case PROTO_BOOL:
                return value_of_bool(scalar != 0);
        case PROTO_STRING:
                return value_of_str(bytes);
        case PROTO_BYTES:
                return proto_value_of_bytes(d, bytes);
        case PROTO_ENUM:
                return value_of_enum(f->enumeration, (int32_t)(uint32_t)scalar);
        case PROTO_MESSAGE:
                break;
        }
        return value_of_null();
}

bool proto_is_default(const struct proto_field *f, uint64_t scalar, struct str bytes)
{
        switch ((enum proto_type)f->type) {
        case PROTO_STRING:
        case PROTO_BYTES:
                return bytes.n == 0;
        case PROTO_INT32:
        case PROTO_UINT32:
        case PROTO_SINT32:
        case PROTO_ENUM:
                return (uint32_t)scalar == 0;
        default:
                return scalar == 0;
        }
}
