#include "oci-layer.h"

#include "arena.h"
#include "limits.h"
#include "oci-digest.h"

#include <errno.h>
#include <zlib.h>
#include <zstd.h>

#define INPUT_BYTES (64u << 10)

enum codec { CODEC_UNKNOWN, CODEC_PLAIN, CODEC_GZIP, CODEC_ZSTD };

struct oci_layer {
        struct oci_layer_options options;
        enum codec codec;
        uint8_t input[INPUT_BYTES];
        size_t input_start, input_end;
        bool has_source_ended;
        bool is_in_member; /* a gzip member or a zstd frame is not complete */
        bool has_ended;
        z_stream gzip;
        ZSTD_DStream *zstd;
        uint64_t n_in, n_out;
        struct sha256 hash;
        char diff_id[OCI_DIGEST_BYTES + 1];
};

struct oci_layer *oci_layer_new(const struct oci_layer_options *options)
{
        struct oci_layer *l = xcalloc(1, sizeof(*l));

        l->options = *options;
        if (l->options.max_bytes == 0)
                l->options.max_bytes = LIMIT_IMAGE_BYTES;
        sha256_begin(&l->hash);
        return l;
}

void oci_layer_free(struct oci_layer *l)
{
        if (!l)
                return;
        if (l->codec == CODEC_GZIP)
                inflateEnd(&l->gzip);
        ZSTD_freeDStream(l->zstd);
        free(l);
}

/* Input */

static size_t input_bytes(const struct oci_layer *l)
{
        return l->input_end - l->input_start;
}

/* Reads more input behind what there is. */
static int fill(struct oci_layer *l, struct err *err)
{
        int64_t n;

        if (l->has_source_ended)
                return 0;
        if (l->input_start > 0) {
                memmove(l->input, l->input + l->input_start, input_bytes(l));
                l->input_end -= l->input_start;
                l->input_start = 0;
        }
        n = l->options.read(l->options.context, l->input + l->input_end, INPUT_BYTES - l->input_end, err);
        if (n < 0)
                return (int)n;
        l->has_source_ended = n == 0;
        l->input_end += (size_t)n;
        l->n_in += (uint64_t)n;
        return 0;
}

static int choose_codec(struct oci_layer *l, struct err *err)
{
        static const uint8_t gzip[] = { 0x1f, 0x8b }, zstd[] = { 0x28, 0xb5, 0x2f, 0xfd };

        while (input_bytes(l) < sizeof(zstd) && !l->has_source_ended) {
                int r = fill(l, err);

                if (r < 0)
                        return r;
        }
        l->codec = CODEC_PLAIN;
        if (input_bytes(l) >= sizeof(gzip) && memcmp(l->input, gzip, sizeof(gzip)) == 0) {
                if (inflateInit2(&l->gzip, 15 + 16) != Z_OK)
                        return err_set(err, ERR_FAILED, "cannot start to decompress a layer");
                l->codec = CODEC_GZIP;
        } else if (input_bytes(l) >= sizeof(zstd) && memcmp(l->input, zstd, sizeof(zstd)) == 0) {
                l->codec = CODEC_ZSTD;
                l->zstd = ZSTD_createDStream();
                if (!l->zstd ||
                    ZSTD_isError(ZSTD_DCtx_setParameter(l->zstd, ZSTD_d_windowLogMax, LIMIT_ZSTD_WINDOW_LOG)))
                        return err_set(err, ERR_FAILED, "cannot start to decompress a layer");
        }
        return 0;
}

/* Output: each makes up to n bytes of what input there is, and may make none. */

static int64_t read_plain(struct oci_layer *l, void *p, size_t n)
{
        n = MIN(n, input_bytes(l));
        memcpy(p, l->input + l->input_start, n);
        l->input_start += n;
        return (int64_t)n;
}

/* gzip allows several members, one behind the other. */
static int64_t read_gzip(struct oci_layer *l, void *p, size_t n, struct err *err)
{
        int r;

        l->gzip.next_in = l->input + l->input_start;
        l->gzip.avail_in = (uInt)input_bytes(l);
        l->gzip.next_out = p;
        l->gzip.avail_out = (uInt)MIN(n, (size_t)1 << 30);
        n = l->gzip.avail_out;
        l->is_in_member = true;
        r = inflate(&l->gzip, Z_NO_FLUSH);
        l->input_start = l->input_end - l->gzip.avail_in;
        if (r == Z_STREAM_END) {
                l->is_in_member = false;
                inflateReset(&l->gzip);
        } else if (r != Z_OK && r != Z_BUF_ERROR) {
                return err_set(err, ERR_INVALID, "the layer's gzip is damaged: %s",
                               l->gzip.msg ? l->gzip.msg : "bad data");
        }
        return (int64_t)(n - l->gzip.avail_out);
}

static int64_t read_zstd(struct oci_layer *l, void *p, size_t n, struct err *err)
{
        ZSTD_inBuffer in = { l->input + l->input_start, input_bytes(l), 0 };
        ZSTD_outBuffer out = { p, n, 0 };
        size_t r = ZSTD_decompressStream(l->zstd, &out, &in);

        if (ZSTD_isError(r))
                return err_set(err, ERR_INVALID, "the layer's zstd is damaged: %s", ZSTD_getErrorName(r));
        l->input_start += in.pos;
        l->is_in_member = r > 0;
        return (int64_t)out.pos;
}

static int check_size(const struct oci_layer *l, struct err *err)
{
        if (l->n_out > l->options.max_bytes)
                return err_set(err, ERR_LIMIT, "the layer's content has more than %llu bytes",
                               (unsigned long long)l->options.max_bytes);
        if (l->codec != CODEC_PLAIN && l->n_out > LIMIT_LAYER_FREE_BYTES && l->n_out / LIMIT_LAYER_RATIO > l->n_in)
                return err_set(
                        err, ERR_LIMIT,
                        "the layer's %llu compressed bytes become more than %llu, over %d times as many: this is "
                        "not an honest archive",
                        (unsigned long long)l->n_in, (unsigned long long)l->n_out, LIMIT_LAYER_RATIO);
        return 0;
}

static int64_t read_some(struct oci_layer *l, void *p, size_t n, struct err *err)
{
        switch (l->codec) {
        case CODEC_UNKNOWN:
        case CODEC_PLAIN:
                return read_plain(l, p, n);
        case CODEC_GZIP:
                return read_gzip(l, p, n, err);
        case CODEC_ZSTD:
                return read_zstd(l, p, n, err);
        }
        return 0;
}

static int64_t at_end(struct oci_layer *l, struct err *err)
{
        if (l->is_in_member)
                return err_set(err, ERR_INVALID, "the layer ends before its compressed content does");
        l->has_ended = true;
        return 0;
}

int64_t oci_layer_read(void *layer, void *p, size_t n, struct err *err)
{
        struct oci_layer *l = layer;
        int64_t got;
        int r;

        if (l->codec == CODEC_UNKNOWN && (r = choose_codec(l, err)) < 0)
                return r;
        while (n > 0 && !l->has_ended) {
                if (input_bytes(l) > 0 || l->is_in_member) {
                        size_t before = input_bytes(l);

                        got = read_some(l, p, n, err);
                        if (got < 0)
                                return got;
                        if (got > 0) {
                                sha256_add(&l->hash, str_make(p, (size_t)got));
                                l->n_out += (uint64_t)got;
                                r = check_size(l, err);
                                return r < 0 ? r : got;
                        }
                        if (input_bytes(l) < before && input_bytes(l) > 0)
                                continue;
                }
                if (l->has_source_ended)
                        return at_end(l, err);
                r = fill(l, err);
                if (r < 0)
                        return r;
        }
        return 0;
}

int oci_layer_finish(struct oci_layer *l, struct str diff_id, struct err *err)
{
        _cleanup_buf_ struct buf b = BUF_INIT(0);
        char block[16 << 10];
        int64_t n;

        while ((n = oci_layer_read(l, block, sizeof(block), err)) > 0)
                ;
        if (n < 0)
                return (int)n;
        buf_append_literal(&b, "sha256:");
        sha256_end_hex(&l->hash, &b);
        assert(b.n == OCI_DIGEST_BYTES);
        memcpy(l->diff_id, buf_cstring(&b), sizeof(l->diff_id));
        if (diff_id.n > 0 && !str_equal(diff_id, buf_str(&b)))
                return err_set(err, ERR_INVALID,
                               "the layer's content has the digest %s, but the image's configuration says %.*s",
                               l->diff_id, STR_ARG(diff_id));
        return 0;
}

struct str oci_layer_diff_id(struct oci_layer *l, struct arena *a)
{
        return arena_copy(a, str_from(l->diff_id));
}

uint64_t oci_layer_bytes(const struct oci_layer *l)
{
        return l->n_out;
}

int64_t oci_read_fd(void *fd, void *p, size_t n, struct err *err)
{
        ssize_t r;

        do
                r = read(*(int *)fd, p, n);
        while (r < 0 && errno == EINTR);
        return r < 0 ? err_set_errno(err, errno, "cannot read") : r;
}

int64_t oci_read_str(void *str, void *p, size_t n, struct err *err)
{
        struct str *s = str;

        n = MIN(n, s->n);
        if (n > 0)
                memcpy(p, s->p, n);
        *s = str_skip(*s, n);
        return (int64_t)n;
}

void oci_gzip(struct buf *b, struct str bytes)
{
        z_stream z = { 0 };
        int r = deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);

        assert(r == Z_OK); /* fails only without memory */
        z.next_in = (Bytef *)(uintptr_t)bytes.p;
        do {
                uint8_t block[16 << 10];

                if (z.avail_in == 0 && bytes.n > 0) {
                        z.avail_in = (uInt)MIN(bytes.n, (size_t)1 << 30);
                        bytes.n -= z.avail_in;
                }
                z.next_out = block;
                z.avail_out = sizeof(block);
                r = deflate(&z, bytes.n > 0 ? Z_NO_FLUSH : Z_FINISH);
                assert(r == Z_OK || r == Z_STREAM_END || r == Z_BUF_ERROR);
                buf_append(b, block, sizeof(block) - z.avail_out);
        } while (r != Z_STREAM_END);
        deflateEnd(&z);
}
