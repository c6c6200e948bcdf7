/* Tar archives: ustar, GNU and pax, read from a source of bytes, entry by entry, in bounded memory.
 *
 * The reader says what an archive has, not whether it may be unpacked: names are as they stand in the archive (oci-unpack.h judges
 * them). Sparse files, volumes and types that no image has are refused. */
#pragma once

#include "buf.h"
#include "err.h"
#include "timetext.h"

/* Reads up to n bytes: their number, 0 at the end, or a negative code. */
typedef int64_t oci_read_fn(void *context, void *p, size_t n, struct err *err);

enum oci_tar_type {
        OCI_TAR_FILE,
        OCI_TAR_DIRECTORY,
        OCI_TAR_SYMLINK,
        OCI_TAR_HARD_LINK,
        OCI_TAR_CHARACTER_DEVICE,
        OCI_TAR_BLOCK_DEVICE,
        OCI_TAR_FIFO,
};

/* `a file`, `a symbolic link`, ... for messages. */
const char *oci_tar_type_name(enum oci_tar_type type);

struct oci_tar_entry {
        enum oci_tar_type type;
        struct str
                name; /* as in the archive, without trailing slashes; borrowed until the next entry; NUL-terminated */
        struct str link; /* target of links */
        uint32_t mode;   /* permission bits, setuid, setgid and sticky */
        uint32_t uid, gid;
        int64_t size_bytes; /* of a file; 0 for everything else */
        struct instant modified;
};

/* Home: one thread. Embedded in its owner. */
struct oci_tar {
        oci_read_fn *read;
        void *context;
        uint64_t left_bytes; /* of the entry's content */
        uint64_t padding_bytes;
        uint64_t offset;       /* in the archive, for messages */
        struct buf name, link; /* of the entry */
        struct buf global;     /* pax records for all entries that follow */
        struct buf records;    /* pax records of the entry */
        bool has_ended;
};

void oci_tar_init(struct oci_tar *t, oci_read_fn *read, void *context);
void oci_tar_done(struct oci_tar *t);

/* The next entry: 1 with an entry, 0 at the end of the archive, or a negative code. Content that was not read is skipped. */
int oci_tar_next(struct oci_tar *t, struct oci_tar_entry *ret, struct err *err);

/* The content of the entry: as oci_read_fn, whose context is the tar. An archive that ends inside an entry is an error. */
int64_t oci_tar_read(void *tar, void *p, size_t n, struct err *err);

/* --- Writing --- */

/* Appends an entry for a regular file as Go's archive/tar writes it: ustar if everything fits, otherwise with pax records. Owner and
 * group are 0 and the time is 1970, so that equal content gives equal archives. */
void oci_tar_append_file(struct buf *b, struct str name, uint32_t mode, struct str content);

/* Appends the header alone; the caller appends size_bytes of content and the padding up to a multiple of 512. */
void oci_tar_append_header(struct buf *b, struct str name, uint32_t mode, uint64_t size_bytes);

/* The same for other types. A directory's name ends in a slash. link is the target of links. */
void oci_tar_append_entry(struct buf *b, enum oci_tar_type type, struct str name, struct str link, uint32_t mode,
                          uint64_t size_bytes);

/* Appends zeros up to a multiple of 512 bytes. */
void oci_tar_append_padding(struct buf *b, uint64_t size_bytes);

/* Appends the end of the archive: two empty blocks. */
void oci_tar_append_end(struct buf *b);
