#include "oci-digest.h"

#include "arena.h"
#include "buf.h"

#define PREFIX STR("sha256:")

bool oci_digest_is_valid(struct str digest)
{
        if (digest.n != OCI_DIGEST_BYTES || !str_starts_with(digest, PREFIX))
                return false;
        for (size_t i = PREFIX.n; i < digest.n; i++) {
                char c = digest.p[i];

                if (!(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'f'))
                        return false;
        }
        return true;
}

int oci_digest_check(struct str digest, struct err *err)
{
        if (oci_digest_is_valid(digest))
                return 0;
        return err_set(err, ERR_INVALID,
                       "\"%.*s\" is not a digest that can be checked: it must be sha256: and 64 digits 0-9 a-f",
                       STR_ARG(str_first(digest, 128)));
}

struct str oci_digest_hex(struct str digest)
{
        assert(digest.n == OCI_DIGEST_BYTES);
        return str_skip(digest, PREFIX.n);
}

struct str oci_digest_of(struct arena *a, struct str bytes)
{
        struct sha256 hash;

        sha256_begin(&hash);
        sha256_add(&hash, bytes);
        return oci_digest_end(&hash, a);
}

struct str oci_digest_end(struct sha256 *hash, struct arena *a)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);

        buf_append_str(&b, PREFIX);
        sha256_end_hex(hash, &b);
        return buf_to_arena(&b, a);
}
