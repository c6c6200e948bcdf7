/* A layer in any compression is read as a tar, entry by entry. No entry has more content than it says, and names have no NUL. */
#include "fuzz.h"

#include "oci-layer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct str text = { (const char *)data, size };
        struct oci_layer_options options = { .read = oci_read_str, .context = &text, .max_bytes = 1 << 20 };
        _cleanup_(oci_layer_freep)
        struct oci_layer *layer = oci_layer_new(&options);
        _cleanup_err_ struct err err = { 0 };
        struct oci_tar_entry e;
        struct oci_tar t;
        int r;

        oci_tar_init(&t, oci_layer_read, layer);
        while ((r = oci_tar_next(&t, &e, &err)) > 0) {
                char block[333];
                int64_t n, total = 0;

                assert(strlen(e.name.p) == e.name.n && strlen(e.link.p) == e.link.n);
                assert(e.size_bytes >= 0 && (e.mode & ~07777u) == 0);
                while ((n = oci_tar_read(&t, block, sizeof(block), &err)) > 0)
                        total += n;
                assert(n < 0 || total == e.size_bytes);
                assert(total <= e.size_bytes);
        }
        assert(r == 0 || err.code == r);
        oci_tar_done(&t);
        return 0;
}
