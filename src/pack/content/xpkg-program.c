/* The image of one static program: a layer with /function, and a configuration that starts it. */
#include "xpkg-image.h"

#include "buf.h"
#include "json.h"
#include "limits.h"
#include "oci-digest.h"
#include "oci-layer.h"

#include <elf.h>

#define NO_TIME "0001-01-01T00:00:00Z"

static const char *architecture_of(uint16_t machine)
{
        static const struct {
                uint16_t machine;
                const char *name; /* as Go has it */
        } names[] = { { EM_X86_64, "amd64" },  { EM_AARCH64, "arm64" }, { EM_RISCV, "riscv64" },
                      { EM_PPC64, "ppc64le" }, { EM_S390, "s390x" },    { EM_LOONGARCH, "loong64" } };

        for (size_t i = 0; i < ARRAY_SIZE(names); i++)
                if (names[i].machine == machine)
                        return names[i].name;
        return NULL;
}

/* Header i of the program, or false if the file does not have it. */
static bool program_header(struct str program, const Elf64_Ehdr *e, size_t i, Elf64_Phdr *ret)
{
        uint64_t at;

        if (__builtin_add_overflow(e->e_phoff, i * sizeof(*ret), &at) || at > program.n ||
            program.n - at < sizeof(*ret))
                return false;
        memcpy(ret, program.p + at, sizeof(*ret));
        return true;
}

/* A program that asks for a dynamic linker would not find one in the image. */
static bool is_static(struct str program, const Elf64_Ehdr *e)
{
        Elf64_Phdr h;

        for (size_t i = 0; i < e->e_phnum; i++)
                if (!program_header(program, e, i, &h) || h.p_type == PT_INTERP)
                        return false;
        return true;
}

static int check_program(struct str program, const char **ret_architecture, struct err *err)
{
        Elf64_Ehdr e;

        if (program.n < sizeof(e))
                return err_set(err, ERR_INVALID, "it is not a program for Linux");
        memcpy(&e, program.p, sizeof(e));
        if (memcmp(e.e_ident, ELFMAG, SELFMAG) != 0 || e.e_ident[EI_CLASS] != ELFCLASS64 ||
            e.e_ident[EI_DATA] != ELFDATA2LSB || e.e_phentsize != sizeof(Elf64_Phdr))
                return err_set(err, ERR_INVALID, "it is not a 64-bit program for Linux");
        *ret_architecture = architecture_of(e.e_machine);
        if (!*ret_architecture)
                return err_set(err, ERR_UNSUPPORTED, "its architecture (ELF machine %u) has no name in images",
                               e.e_machine);
        if (!is_static(program, &e))
                return err_set(err, ERR_INVALID,
                               "it needs shared libraries, and an image has none: link it with -static-pie or -static");
        return 0;
}

static void make_layer(struct arena *a, struct str program, struct xpkg_layer *ret)
{
        _cleanup_buf_ struct buf tar = BUF_INIT(LIMIT_BLOB_BYTES), gzip = BUF_INIT(LIMIT_BLOB_BYTES);

        oci_tar_append_file(&tar, STR("function"), 0755, program);
        oci_tar_append_end(&tar);
        oci_gzip(&gzip, buf_str(&tar));
        ret->diff_id = oci_digest_of(a, buf_str(&tar));
        ret->bytes = buf_to_arena(&gzip, a);
        ret->digest = oci_digest_of(a, ret->bytes);
}

int xpkg_image_of_program(struct arena *a, struct str program, struct xpkg_image *ret, struct err *err)
{
        struct xpkg_image image = { .n_layers = 1 };
        const char *architecture;
        int r = check_program(program, &architecture, err);

        if (r < 0)
                return r;
        image.layers = ARENA_NEW(a, struct xpkg_layer);
        make_layer(a, program, &image.layers[0]);
        image.config =
                arena_printf(a,
                             "{\"architecture\":\"%s\",\"created\":\"" NO_TIME "\",\"history\":[{\"created\":\"" NO_TIME
                             "\",\"created_by\":\"weft function build\"}],\"os\":\"linux\",\"rootfs\":{\"type\":"
                             "\"layers\",\"diff_ids\":[\"%.*s\"]},\"config\":{\"Entrypoint\":[\"/function\"],"
                             "\"User\":\"2000\",\"ExposedPorts\":{\"9443/tcp\":{}}}}",
                             architecture, STR_ARG(image.layers[0].diff_id));
        r = oci_config_parse(a, image.config, &image.parsed, err);
        if (r >= 0)
                *ret = image;
        return r;
}
