/* Base64 as Go's encoding/base64 reads and writes it. */
#pragma once

#include "err.h"
#include "str.h"

struct arena;
struct buf;

enum base64_alphabet {
        BASE64_STD,     /* A-Z a-z 0-9 + / with = padding */
        BASE64_URL,     /* - _ with padding */
        BASE64_RAW_STD, /* without padding */
        BASE64_RAW_URL,
};

void base64_encode(struct buf *b, struct str bytes, enum base64_alphabet alphabet);

/* CR and LF are ignored anywhere; trailing bits are not checked. On ERR_INVALID the text is Go's
 * `illegal base64 data at input byte N`, and the bytes decoded before the bad group have been appended. */
int base64_decode(struct buf *b, struct str text, enum base64_alphabet alphabet, struct err *err);

/* As protobuf JSON takes bytes: either alphabet, with or without padding. */
int base64_decode_any(struct buf *b, struct str text, struct err *err);
