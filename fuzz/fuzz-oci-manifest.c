/* A manifest, an index or a configuration: what is accepted holds what its header promises. */
#include "fuzz.h"

#include "limits.h"
#include "oci-digest.h"
#include "oci-manifest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct str text = { (const char *)data, size };
        struct oci_platform here = oci_platform_here();
        _cleanup_err_ struct err err = { 0 };
        const struct oci_descriptor *chosen;
        struct oci_manifest m;
        struct oci_config c;
        _cleanup_arena_ struct arena a;
        int r;

        arena_init(&a, "fuzz", 0);
        r = oci_manifest_parse(&a, text, STR(""), &m, &err);
        assert(r == 0 || (err.code == r && (r == ERR_INVALID || r == ERR_LIMIT || r == ERR_UNSUPPORTED)));
        if (r == 0) {
                assert(m.n_layers <= LIMIT_IMAGE_LAYERS && m.n_manifests <= LIMIT_INDEX_MANIFESTS);
                assert(m.is_index ? m.n_layers == 0 : m.n_manifests == 0 && oci_digest_is_valid(m.config.digest));
                for (size_t i = 0; i < m.n_layers; i++)
                        assert(oci_digest_is_valid(m.layers[i].digest) && m.layers[i].size_bytes >= 0);
                if (oci_index_choose(&m, &here, &chosen, NULL) == 0)
                        assert(chosen >= m.manifests && chosen < m.manifests + m.n_manifests);
        }
        if (oci_config_parse(&a, text, &c, NULL) == 0)
                for (size_t i = 0; i < c.diff_ids.n; i++)
                        assert(oci_digest_is_valid(c.diff_ids.p[i]));
        return 0;
}
