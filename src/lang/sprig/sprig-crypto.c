/* Passwords and encryption. */
#include "sprig.h"

#include "base64.h"
#include "cipher.h"
#include "password.h"
#include "random.h"

/* Steps that a call costs, in proportion to its time, so that a template cannot call it thousands of times. */
#define STEPS_BCRYPT (1u << 18)
#define STEPS_SCRYPT (1u << 19)

/* --- bcrypt --- */

/* On an error the result is the error text. */
static int append_bcrypt(struct gt_context *c, struct buf *b, struct str password)
{
        _cleanup_err_ struct err err = { 0 };
        uint8_t salt[BCRYPT_SALT_BYTES];
        int r = gt_spend(c, STEPS_BCRYPT);

        if (r < 0)
                return r;
        random_system(salt, sizeof(salt));
        if (bcrypt_append(b, password, salt, &err) < 0)
                buf_appendf(b, "failed to encrypt string with bcrypt: %s", err_message(&err));
        return 0;
}

SPRIG(bcrypt)
{
        _cleanup_buf_ struct buf b = BUF_INIT(gt_max_text(c));
        int r = append_bcrypt(c, &b, gt_str(arguments[0]));

        return r < 0 ? r : gt_take_text(c, &b, ret);
}

SPRIG(htpasswd)
{
        _cleanup_buf_ struct buf b = BUF_INIT(gt_max_text(c));
        struct str user = gt_str(arguments[0]);
        int r;

        if (str_find_char(user, ':') >= 0)
                return sprig_return_text(ARENA_CONCAT(c->arena, STR("invalid username: "), user), ret);
        buf_append_str(&b, user);
        buf_append_char(&b, ':');
        r = append_bcrypt(c, &b, gt_str(arguments[1]));
        return r < 0 ? r : gt_take_text(c, &b, ret);
}

/* --- AES --- */

/* The password's first bytes, padded with zeros. */
static void make_key(struct str password, uint8_t key[AES_KEY_BYTES])
{
        size_t n = MIN(password.n, (size_t)AES_KEY_BYTES);

        memset(key, 0, AES_KEY_BYTES);
        if (n)
                memcpy(key, password.p, n);
}

/* The text with PKCS #7's padding. */
static struct str padded(struct arena *a, struct str text)
{
        size_t n = AES_BLOCK_BYTES - text.n % AES_BLOCK_BYTES;
        char padding[AES_BLOCK_BYTES];

        memset(padding, (int)n, sizeof(padding));
        return ARENA_CONCAT(a, text, str_make(padding, n));
}

/* Base64 of a random initialisation vector and the encrypted blocks. */
SPRIG(encrypt_aes)
{
        _cleanup_buf_ struct buf b = BUF_INIT(gt_max_text(c));
        struct str text = gt_str(arguments[1]), blocks;
        uint8_t key[AES_KEY_BYTES], *bytes;
        int r = gt_spend(c, text.n / 64);

        if (r < 0)
                return r;
        if (text.n == 0)
                return sprig_return_text(STR(""), ret);
        blocks = padded(c->arena, text);
        bytes = arena_alloc(c->arena, AES_BLOCK_BYTES + blocks.n);
        make_key(gt_str(arguments[0]), key);
        random_system(bytes, AES_BLOCK_BYTES);
        aes_cbc_encrypt(key, bytes, blocks, bytes + AES_BLOCK_BYTES);
        base64_encode(&b, str_make((char *)bytes, AES_BLOCK_BYTES + blocks.n), BASE64_STD);
        return gt_take_text(c, &b, ret);
}

/* Go slices the decoded bytes without a check and panics if they are too short; capacity is that of its buffer. */
static int check_encrypted(struct gt_context *c, struct str bytes, size_t capacity)
{
        if (capacity < AES_BLOCK_BYTES)
                return gt_fail(c, "runtime error: slice bounds out of range [:16] with capacity %zu", capacity);
        if (bytes.n < AES_BLOCK_BYTES)
                return gt_fail(c, "runtime error: slice bounds out of range [16:%zu]", bytes.n);
        if (bytes.n % AES_BLOCK_BYTES)
                return gt_fail(c, "crypto/cipher: input not full blocks");
        if (bytes.n == AES_BLOCK_BYTES)
                return gt_fail(c, "runtime error: index out of range [-1]");
        return 0;
}

SPRIG(decrypt_aes)
{
        _cleanup_buf_ struct buf b = BUF_INIT(gt_max_text(c));
        _cleanup_err_ struct err err = { 0 };
        struct str text = gt_str(arguments[1]), blocks;
        uint8_t key[AES_KEY_BYTES], *plain;
        int r = gt_spend(c, text.n / 64);

        if (r < 0)
                return r;
        if (text.n == 0)
                return sprig_return_text(STR(""), ret);
        if (base64_decode(&b, text, BASE64_STD, &err) < 0)
                return gt_fail(c, "%s", err_message(&err));
        r = check_encrypted(c, buf_str(&b), text.n / 4 * 3);
        if (r < 0)
                return r;
        blocks = str_skip(buf_str(&b), AES_BLOCK_BYTES);
        plain = arena_alloc(c->arena, blocks.n);
        make_key(gt_str(arguments[0]), key);
        aes_cbc_decrypt(key, (const uint8_t *)b.p, blocks, plain);
        if (plain[blocks.n - 1] > blocks.n)
                return gt_fail(c, "runtime error: slice bounds out of range [:%d]",
                               (int)blocks.n - plain[blocks.n - 1]);
        return sprig_return_text(str_make((char *)plain, blocks.n - plain[blocks.n - 1]), ret);
}

/* --- derivePassword: the algorithm of Master Password --- */

#define SEED_TEXT "com.lyndir.masterpassword"

static const char *const long_templates[] = {
        "CvcvnoCvcvCvcv", "CvcvCvcvnoCvcv", "CvcvCvcvCvcvno", "CvccnoCvcvCvcv", "CvccCvcvnoCvcv", "CvccCvcvCvcvno",
        "CvcvnoCvccCvcv", "CvcvCvccnoCvcv", "CvcvCvccCvcvno", "CvcvnoCvcvCvcc", "CvcvCvcvnoCvcc", "CvcvCvcvCvccno",
        "CvccnoCvccCvcv", "CvccCvccnoCvcv", "CvccCvccCvcvno", "CvcvnoCvccCvcc", "CvcvCvccnoCvcc", "CvcvCvccCvccno",
        "CvccnoCvcvCvcc", "CvccCvcvnoCvcc", "CvccCvcvCvccno",
};
static const char *const maximum_templates[] = { "anoxxxxxxxxxxxxxxxxx", "axxxxxxxxxxxxxxxxxno" };
static const char *const medium_templates[] = { "CvcnoCvc", "CvcCvcno" };
static const char *const short_templates[] = { "Cvcn" };
static const char *const basic_templates[] = { "aaanaaan", "aannaaan", "aaannaaa" };
static const char *const pin_templates[] = { "nnnn" };

static const struct password_type {
        struct str name;
        const char *const *templates;
        size_t n;
} password_types[] = {
        { STR_INIT("basic"), basic_templates, ARRAY_SIZE(basic_templates) },
        { STR_INIT("long"), long_templates, ARRAY_SIZE(long_templates) },
        { STR_INIT("maximum"), maximum_templates, ARRAY_SIZE(maximum_templates) },
        { STR_INIT("medium"), medium_templates, ARRAY_SIZE(medium_templates) },
        { STR_INIT("pin"), pin_templates, ARRAY_SIZE(pin_templates) },
        { STR_INIT("short"), short_templates, ARRAY_SIZE(short_templates) },
};

static const struct password_type *find_password_type(struct str name)
{
        for (size_t i = 0; i < ARRAY_SIZE(password_types); i++)
                if (str_equal(password_types[i].name, name))
                        return &password_types[i];
        return NULL;
}

/* The characters that a letter of a password's template denotes. */
static struct str characters_of(char letter)
{
        static const struct {
                char letter;
                struct str characters;
        } classes[] = {
                { 'C', STR_INIT("BCDFGHJKLMNPQRSTVWXYZ") },
                { 'v', STR_INIT("aeiou") },
                { 'c', STR_INIT("bcdfghjklmnpqrstvwxyz") },
                { 'a', STR_INIT("AEIOUaeiouBCDFGHJKLMNPQRSTVWXYZbcdfghjklmnpqrstvwxyz") },
                { 'n', STR_INIT("0123456789") },
                { 'o', STR_INIT("@&%?,=[]_:-+*$#!'^~;()/.") },
                { 'x', STR_INIT("AEIOUaeiouBCDFGHJKLMNPQRSTVWXYZbcdfghjklmnpqrstvwxyz0123456789!@#$%^&*()") },
        };
        size_t i = 0;

        while (classes[i].letter != letter)
                assert(++i < ARRAY_SIZE(classes));
        return classes[i].characters;
}

static void append_big_endian(struct buf *b, uint32_t number)
{
        for (int shift = 24; shift >= 0; shift -= 8)
                buf_append_char(b, (char)(number >> shift));
}

static void append_seed_text(struct buf *b, struct str text)
{
        buf_append_literal(b, SEED_TEXT);
        append_big_endian(b, (uint32_t)text.n);
        buf_append_str(b, text);
}

/* The bytes that choose the template and its characters. */
static int make_seed(const struct gt_value *arguments, uint8_t seed[SHA256_BYTES], struct err *err)
{
        _cleanup_buf_ struct buf salt = BUF_INIT(0), message = BUF_INIT(0);
        uint8_t key[64];
        int r;

        append_seed_text(&salt, gt_str(arguments[3]));
        r = scrypt_derive(gt_str(arguments[2]), buf_str(&salt), 32768, 8, 2, key, sizeof(key), err);
        if (r < 0)
                return r;
        append_seed_text(&message, gt_str(arguments[4]));
        append_big_endian(&message, (uint32_t)arguments[0].natural);
        hmac_sha256(str_make((char *)key, sizeof(key)), buf_str(&message), seed);
        return 0;
}

SPRIG(derive_password)
{
        _cleanup_err_ struct err err = { 0 };
        const struct password_type *type = find_password_type(gt_str(arguments[1]));
        uint8_t seed[SHA256_BYTES];
        struct str chosen;
        char *text;
        int r = gt_spend(c, STEPS_SCRYPT);

        if (r < 0)
                return r;
        if (!type)
                return sprig_return_text(
                        ARENA_CONCAT(c->arena, STR("cannot find password template "), gt_str(arguments[1])), ret);
        if (make_seed(arguments, seed, &err) < 0)
                return gt_fail(c, "failed to derive password: %s", err_message(&err));
        chosen = str_from(type->templates[seed[0] % type->n]);
        text = arena_alloc(c->arena, chosen.n);
        for (size_t i = 0; i < chosen.n; i++) {
                struct str characters = characters_of(chosen.p[i]);

                text[i] = characters.p[seed[i + 1] % characters.n];
        }
        return sprig_return_text(str_make(text, chosen.n), ret);
}
