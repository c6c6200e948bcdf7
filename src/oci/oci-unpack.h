/* Unpacks the layers of an image, one over the other, beneath a directory.
 *
 * Archives come from outside. No name leads out of the directory: names with `..` and absolute names are refused, and symbolic links on
 * the way to an entry are followed as a program inside the image would follow them, with the directory as its root. Nothing is written
 * through a link: an entry that exists is removed first. Devices and named pipes are refused. Whiteouts (`.wh.NAME`) remove what lower
 * layers put there, opaque markers (`.wh..wh..opq`) everything of lower layers in a directory.
 *
 * No other thread or process may change the directory at the same time. */
#pragma once

#include "oci-tar.h"

struct oci_unpack; /* home: one thread */

struct oci_unpack_options {
        int directory;        /* borrowed */
        bool keeps_owners;    /* sets owners and groups, setuid and setgid bits; takes privileges */
        uint32_t first_id;    /* added to owners and groups: the first id of a user namespace */
        uint64_t max_bytes;   /* of all files; 0: LIMIT_IMAGE_BYTES */
        uint64_t max_entries; /* of all layers; 0: LIMIT_IMAGE_ENTRIES */
};

struct oci_unpack *oci_unpack_new(const struct oci_unpack_options *options);
void oci_unpack_free(struct oci_unpack *u); /* NULL is fine */

static inline void oci_unpack_freep(struct oci_unpack **u)
{
        oci_unpack_free(*u);
}

/* Unpacks the next layer, from its tar (see oci_layer_read). Errors name the entry. After an error the directory holds a part of the
 * image and should be removed. */
int oci_unpack_layer(struct oci_unpack *u, oci_read_fn *read, void *context, struct err *err);

uint64_t oci_unpack_bytes(const struct oci_unpack *u); /* of all files so far */

/* Removes everything beneath a directory and the directory itself; never follows a link. No such directory is no error. */
int oci_remove_tree(int directory, const char *name, struct err *err);
