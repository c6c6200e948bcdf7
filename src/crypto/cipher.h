/* AES-256 in CBC mode, without padding: the caller pads. */
#pragma once

#include "str.h"

#define AES_KEY_BYTES   32
#define AES_BLOCK_BYTES 16

/* The input consists of whole blocks; ret has room for as many bytes and does not overlap the input. */
void aes_cbc_encrypt(const uint8_t key[AES_KEY_BYTES], const uint8_t iv[AES_BLOCK_BYTES], struct str blocks,
                     uint8_t *ret);
void aes_cbc_decrypt(const uint8_t key[AES_KEY_BYTES], const uint8_t iv[AES_BLOCK_BYTES], struct str blocks,
                     uint8_t *ret);
