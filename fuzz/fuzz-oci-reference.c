/* A reference is read; what was read, written and read again is the same. The same text is read as a URL. */
#include "fuzz.h"

#include "arena.h"
#include "oci-digest.h"
#include "oci-reference.h"
#include "oci-url.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct str text = { (const char *)data, size };
        _cleanup_err_ struct err err = { 0 };
        struct oci_reference ref, again;
        struct oci_url url, base;
        _cleanup_arena_ struct arena a;
        int r;

        arena_init(&a, "fuzz", 0);
        r = oci_reference_parse(&a, text, 0, &ref, &err);
        assert(r == 0 || (r == ERR_INVALID && err.code == r));
        if (r == 0) {
                assert(ref.registry.n > 0 && ref.repository.n > 0 && ref.tag.n + ref.digest.n > 0);
                assert(ref.digest.n == 0 || oci_digest_is_valid(ref.digest));
                assert(str_find(ref.repository, STR("..//")) < 0 && str_find_char(ref.repository, ':') < 0);
                r = oci_reference_parse(&a, oci_reference_text(&a, &ref), OCI_NEEDS_REGISTRY | OCI_NEEDS_TAG, &again,
                                        NULL);
                assert(r == 0 && str_equal(ref.registry, again.registry) &&
                       str_equal(ref.repository, again.repository));
                assert(str_equal(ref.tag, again.tag) && str_equal(ref.digest, again.digest));
        }
        r = oci_url_parse(&a, STR("https://example.org/a/b?c"), NULL, &base, NULL);
        assert(r == 0);
        if (oci_url_parse(&a, text, &base, &url, NULL) == 0) {
                assert(url.path.n > 0 && url.path.p[0] == '/' && url.host.n > 0);
                for (size_t i = 0; i < url.path.n; i++)
                        assert((unsigned char)url.path.p[i] > ' ');
                assert(str_find_char(url.host, '@') < 0 && str_find_char(url.host, '/') < 0);
        }
        return 0;
}
