/* The filter is a program of the kernel's classic BPF, made by hand: a short list of calls fails, all others pass. Programs here have no
 * capabilities, so the list holds what could help to get some, or what has had more bugs than uses for a function:
 *
 *   mounts, namespaces, modules, kexec, other processes' memory, keys of the kernel, BPF, userfaultfd, io_uring, file handles: EPERM
 *   clone with flags for namespaces: EPERM. clone3: ENOSYS, since its flags are in memory that a filter cannot read; libraries then
 *   use clone
 *   sockets of families other than Unix, IPv4, IPv6 and netlink: EAFNOSUPPORT. Some, such as vsock, know no namespaces
 *   ioctl TIOCSTI: EPERM
 *   calls by the numbers of another architecture: the program ends */
#include "seccomp.h"

#include "macro.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#if defined(__x86_64__)
#define ARCHITECTURE   AUDIT_ARCH_X86_64
#define FOREIGN_NUMBER 0x40000000u /* the first number of x32 */
#elif defined(__aarch64__)
#define ARCHITECTURE   AUDIT_ARCH_AARCH64
#define FOREIGN_NUMBER 0x40000000u
#endif

#ifdef ARCHITECTURE

static const unsigned denied[] = {
        SYS_acct,
        SYS_add_key,
        SYS_adjtimex,
        SYS_bpf,
        SYS_chroot,
        SYS_clock_adjtime,
        SYS_clock_settime,
        SYS_delete_module,
        SYS_finit_module,
        SYS_fsconfig,
        SYS_fsmount,
        SYS_fsopen,
        SYS_fspick,
        SYS_init_module,
        SYS_io_uring_enter,
        SYS_io_uring_register,
        SYS_io_uring_setup,
        SYS_kcmp,
        SYS_kexec_file_load,
        SYS_kexec_load,
        SYS_keyctl,
        SYS_lookup_dcookie,
        SYS_mount,
        442, /* mount_setattr */
        SYS_move_mount,
        SYS_move_pages,
        SYS_name_to_handle_at,
        SYS_open_by_handle_at,
        SYS_open_tree,
        SYS_perf_event_open,
        SYS_personality,
        SYS_pidfd_getfd,
        SYS_pivot_root,
        SYS_process_vm_readv,
        SYS_process_vm_writev,
        SYS_ptrace,
        SYS_quotactl,
        443, /* quotactl_fd */
        SYS_reboot,
        SYS_request_key,
        SYS_setdomainname,
        SYS_sethostname,
        SYS_setns,
        SYS_settimeofday,
        SYS_swapoff,
        SYS_swapon,
        SYS_syslog,
        SYS_umount2,
        SYS_unshare,
        SYS_userfaultfd,
        SYS_vhangup,
#ifdef __x86_64__
        SYS_ioperm,
        SYS_iopl,
        SYS_modify_ldt,
#endif
};

#define NAMESPACES                                                                                                   \
        (CLONE_NEWCGROUP | CLONE_NEWIPC | CLONE_NEWNET | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWUSER | CLONE_NEWUTS | \
         CLONE_NEWTIME)

#define LOAD(field)          BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define LOAD_ARGUMENT(i)     BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args) + 8 * (i))
#define IF_EQUAL(k, y, n)    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (k), (y), (n))
#define IF_AT_LEAST(k, y, n) BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, (k), (y), (n))
#define IF_ANY_BIT(k, y, n)  BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, (k), (y), (n))
#define RETURN(what)         BPF_STMT(BPF_RET | BPF_K, (what))
#define FAIL(code)           RETURN(SECCOMP_RET_ERRNO | (code))
#define ALLOW                RETURN(SECCOMP_RET_ALLOW)

static const struct sock_filter head[] = {
        LOAD(arch),
        IF_EQUAL(ARCHITECTURE, 1, 0),
        RETURN(SECCOMP_RET_KILL_PROCESS),
        LOAD(nr),
        IF_AT_LEAST(FOREIGN_NUMBER, 0, 1),
        FAIL(ENOSYS),
        IF_EQUAL(SYS_clone3, 0, 1),
        FAIL(ENOSYS),
        IF_EQUAL(SYS_clone, 0, 4),
        LOAD_ARGUMENT(0),
        IF_ANY_BIT(NAMESPACES, 0, 1),
        FAIL(EPERM),
        ALLOW,
        IF_EQUAL(SYS_socket, 0, 7),
        LOAD_ARGUMENT(0),
        IF_EQUAL(AF_UNIX, 4, 0),
        IF_EQUAL(AF_INET, 3, 0),
        IF_EQUAL(AF_INET6, 2, 0),
        IF_EQUAL(AF_NETLINK, 1, 0),
        FAIL(EAFNOSUPPORT),
        ALLOW,
        IF_EQUAL(SYS_ioctl, 0, 4),
        LOAD_ARGUMENT(1),
        IF_EQUAL(TIOCSTI, 0, 1),
        FAIL(EPERM),
        ALLOW,
};

int seccomp_apply(struct err *err)
{
        struct sock_filter code[ARRAY_SIZE(head) + 2 * ARRAY_SIZE(denied) + 1];
        struct sock_fprog program = { .filter = code };
        size_t n = ARRAY_SIZE(head);

        memcpy(code, head, sizeof(head));
        for (size_t i = 0; i < ARRAY_SIZE(denied); i++) {
                code[n++] = (struct sock_filter)IF_EQUAL(denied[i], 0, 1);
                code[n++] = (struct sock_filter)FAIL(EPERM);
        }
        code[n++] = (struct sock_filter)ALLOW;
        program.len = (unsigned short)n;
        if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) < 0)
                return err_set_errno(err, errno, "cannot filter system calls (the kernel needs CONFIG_SECCOMP_FILTER)");
        return 0;
}

#else

int seccomp_apply(struct err *err)
{
        return err_set(err, ERR_UNSUPPORTED, "there is no filter of system calls for this processor");
}

#endif
