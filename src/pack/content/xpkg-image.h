/* Packages as images: put together from package.yaml and perhaps a runtime image, written to and read from `.xpkg` files (the form of
 * `docker save`), pushed to and pulled from registries.
 *
 * Each layer's role (`base` for package.yaml, `upbound` for examples) travels as a label of the configuration in files and as an
 * annotation of the layer in registries (docs/spec/packages 2.2). */
#pragma once

#include "oci-registry.h"
#include "xpkg.h"

struct xpkg_layer {
        struct str digest; /* of the compressed bytes */
        struct str diff_id;
        struct str bytes; /* compressed; without a pointer they are elsewhere, and only their number is known */
};

/* Everything lives in the arena, or in the file that xpkg_image_read has mapped. */
struct xpkg_image {
        struct str config; /* JSON */
        struct oci_config parsed;
        struct xpkg_layer *layers;
        size_t n_layers;
};

/* Reads a `.xpkg` file or the tarball of an image. The file stays mapped until the arena ends. */
int xpkg_image_read(struct arena *a, const char *path, struct xpkg_image *ret, struct err *err);

/* The runtime image of a static program, which becomes /function, run by user 2000. The error says what the program lacks. */
int xpkg_image_of_program(struct arena *a, struct str program, struct xpkg_image *ret, struct err *err);

/* The image of a package: the runtime's (NULL: none) with the layer of package.yaml and, if examples is not empty, that of the
 * examples. */
int xpkg_image_build(struct arena *a, struct str package_yaml, struct str examples, const struct xpkg_image *runtime,
                     struct xpkg_image *ret, struct err *err);

/* Writes the bytes of a layer that are elsewhere. */
typedef int xpkg_layer_fn(void *context, size_t i, int fd, struct err *err);

/* Writes the image in the form of a `.xpkg` file. The function (NULL: none is needed) is called for each layer that is elsewhere. */
int xpkg_image_write(const struct xpkg_image *image, int fd, xpkg_layer_fn *write_layer, void *context,
                     struct err *err);
int xpkg_write(int fd, struct str bytes, struct err *err);

/* The manifest. with_roles: layers carry their roles as annotations, as registries have it; otherwise it is what the digest in a file's
 * name is made from. annotations (an object, or NULL) are added to the manifest. */
int xpkg_image_manifest(struct arena *a, const struct xpkg_image *image, bool with_roles,
                        const struct value *annotations, struct str *ret, struct err *err);

/* Pushes one image under the reference's tag, or several as an index. *ret_digest is what the tag then means. */
int xpkg_push(struct oci_client *c, struct arena *a, const struct oci_reference *ref, const struct xpkg_image *images,
              size_t n, const struct value *annotations, struct oci_wait wait, struct str *ret_digest, struct err *err);

/* package.yaml of a package in a registry: of the layer whose annotation says `base` or, if none does, of the files of all layers together.
 * *ret_digest (may be NULL) is the digest of what the reference means. is_exact: only a file of that very name at the top counts, and two
 * base layers are an error, as for `xpkg extract`. */
int xpkg_pull_yaml(struct oci_client *c, struct arena *a, const struct oci_reference *ref, bool is_exact,
                   struct oci_wait wait, struct str *ret_yaml, struct str *ret_digest, struct err *err);

/* The same of a `.xpkg` file, by the labels of its configuration. */
int xpkg_image_yaml(struct arena *a, const struct xpkg_image *image, struct str *ret_yaml, struct err *err);

/* Writes the package's image for a platform to a file, as it comes. */
int xpkg_pull_file(struct oci_client *c, struct arena *a, const struct oci_reference *ref,
                   const struct oci_platform *platform, struct oci_wait wait, int fd, struct err *err);

/* The image of a package in a registry, for a platform, in memory. */
int xpkg_pull_image(struct oci_client *c, struct arena *a, const struct oci_reference *ref,
                    const struct oci_platform *platform, struct oci_wait wait, struct xpkg_image *ret, struct err *err);
