/* SPDX-License-Identifier: MIT
 *
 * Three walls, each for what the others cannot hold: bounds (setrlimit), files (Landlock,
 * Documentation/userspace-api/landlock.rst), and system calls (a seccomp filter).  Only system calls
 * are used here, and no memory: it runs between fork and exec.
 */
#include "base/box.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/base.h"

/* ---- bounds ---- */

static int set_bound(int resource, uint64_t value)
{
	struct rlimit limit;

	if (getrlimit((__rlimit_resource_t)resource, &limit))
		return errno;
	if (limit.rlim_max != RLIM_INFINITY && limit.rlim_max < value)
		value = limit.rlim_max;
	limit.rlim_cur = limit.rlim_max = value;
	return setrlimit((__rlimit_resource_t)resource, &limit) ? errno : 0;
}

static int set_bounds(const struct box *box)
{
	const struct {
		int resource;
		uint64_t value;
	} bounds[] = {
		{RLIMIT_AS, box->memory},
		{RLIMIT_FSIZE, box->file_size},
		{RLIMIT_CPU, box->cpu_seconds},
		{RLIMIT_NOFILE, box->descriptors},
	};
	int error = set_bound(RLIMIT_CORE, 0);

	for (size_t i = 0; i < ARRAY_SIZE(bounds) && !error; i++)
		if (bounds[i].value)
			error = set_bound(bounds[i].resource, bounds[i].value);
	return error;
}

/* ---- files ---- */

/* Of linux/landlock.h, which old systems do not have; these values are the kernel's interface. */
struct ruleset {
	uint64_t files, ports, scopes;
};

struct folder_rule {
	uint64_t allowed;
	int32_t fd;
} __attribute__((packed));

enum {
	SYS_CREATE_RULESET = 444,
	SYS_ADD_RULE = 445,
	SYS_RESTRICT_SELF = 446,
	ASK_VERSION = 1,
	RULE_FOLDER = 1,
	MAY_EXECUTE = 1 << 0,
	MAY_WRITE = 1 << 1,
	MAY_READ = 1 << 2,
	MAY_LIST = 1 << 3,
	ALL_OF_FIRST = (1 << 13) - 1,
	REFER = 1 << 13,     /* version 2 */
	TRUNCATE = 1 << 14,  /* version 3 */
	DEVICE_IO = 1 << 15, /* version 5 */
	BIND_CONNECT = 3,    /* version 4 */
	SOCKETS_SIGNALS = 3, /* version 6 */
};

static uint64_t all_of(long version)
{
	return ALL_OF_FIRST | (version >= 2 ? REFER : 0u) | (version >= 3 ? TRUNCATE : 0u) |
	       (version >= 5 ? DEVICE_IO : 0u);
}

/* A folder that is not there needs no rule. */
static int allow(int ruleset, const char *path, uint64_t what)
{
	struct folder_rule rule = {.allowed = what, .fd = open(path, O_PATH | O_CLOEXEC)};
	int error = 0;

	if (rule.fd < 0)
		return errno == EMFILE || errno == ENFILE ? errno : 0;
	/* EINVAL: it is a file, which takes fewer rights. */
	if (syscall(SYS_ADD_RULE, ruleset, RULE_FOLDER, &rule, 0))
		error = errno == EINVAL ? 0 : errno;
	close(rule.fd);
	return error;
}

static int allow_programs(int ruleset, const char *path)
{
	static const char *const folders[] = {
		"/bin",		  "/sbin",	"/lib",		"/lib32",
		"/lib64",	  "/usr/bin",	"/usr/sbin",	"/usr/lib",
		"/usr/lib32",	  "/usr/lib64", "/usr/libexec", "/usr/local/bin",
		"/usr/local/lib", "/nix/store", "/gnu/store",	"/etc/alternatives",
	};
	const uint64_t what = MAY_EXECUTE | MAY_READ | MAY_LIST;
	char folder[1024];
	int error = 0;

	for (size_t i = 0; i < ARRAY_SIZE(folders) && !error; i++)
		error = allow(ruleset, folders[i], what);
	if (!error)
		error = allow(ruleset, "/etc/ld.so.cache", MAY_READ);
	while (path && *path && !error) {
		const size_t length = strcspn(path, ":");

		if (*path == '/' && length > 1 && length < sizeof(folder)) {
			memcpy(folder, path, length);
			folder[length] = '\0';
			error = allow(ruleset, folder, what);
		}
		path += length + (path[length] == ':');
	}
	return error;
}

static int close_files(const struct box *box, const char *path)
{
	const long version = syscall(SYS_CREATE_RULESET, NULL, 0, ASK_VERSION);
	struct ruleset rules = {.files = all_of(version),
				.ports = version >= 4 ? BIND_CONNECT : 0,
				.scopes = version >= 6 ? SOCKETS_SIGNALS : 0};
	const size_t size = version >= 6   ? sizeof(rules)
			    : version >= 4 ? offsetof(struct ruleset, scopes)
					   : offsetof(struct ruleset, ports);
	int ruleset, error;

	if (version < 0)
		return box->needs_files_closed ? errno : 0;
	ruleset = (int)syscall(SYS_CREATE_RULESET, &rules, size, 0);
	if (ruleset < 0)
		return errno;
	error = allow_programs(ruleset, path);
	if (!error && box->may_write_null)
		error = allow(ruleset, "/dev/null", MAY_READ | MAY_WRITE);
	if (!error && syscall(SYS_RESTRICT_SELF, ruleset, 0))
		error = errno;
	close(ruleset);
	return error;
}

/* ---- system calls ---- */

/* What an assembler never does: the network, other processes, namespaces, and what opens files past
 * Landlock's view.  clone and execve stay: compilers start their passes.
 */
static const int refused[] = {
	SYS_socket,
	SYS_connect,
	SYS_bind,
	SYS_listen,
	SYS_accept,
	SYS_accept4,
	SYS_ptrace,
	SYS_process_vm_readv,
	SYS_process_vm_writev,
	SYS_mount,
	SYS_umount2,
	SYS_pivot_root,
	SYS_chroot,
	SYS_unshare,
	SYS_setns,
	SYS_bpf,
	SYS_perf_event_open,
	SYS_userfaultfd,
	SYS_open_by_handle_at,
	SYS_name_to_handle_at,
	SYS_keyctl,
	SYS_add_key,
	SYS_request_key,
	SYS_init_module,
	SYS_finit_module,
	SYS_delete_module,
	SYS_kexec_load,
	SYS_reboot,
	SYS_swapon,
	SYS_swapoff,
	SYS_mq_open,
	SYS_shmget,
	SYS_msgget,
	SYS_semget,
	SYS_personality,
#ifdef SYS_io_uring_setup
	SYS_io_uring_setup,
#endif
#ifdef SYS_pidfd_getfd
	SYS_pidfd_getfd,
#endif
#ifdef SYS_open_tree
	SYS_open_tree,
	SYS_move_mount,
	SYS_fsopen,
	SYS_fsmount,
#endif
};

/* This program's own machine: calls of another one have other numbers. */
static uint32_t own_machine(void)
{
	extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));

	return (uint32_t)__ehdr_start.e_machine |
	       (sizeof(void *) == 8 ? (uint32_t)__AUDIT_ARCH_64BIT : 0) |
	       (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? (uint32_t)__AUDIT_ARCH_LE : 0);
}

static int filter_calls(void)
{
	enum { HEAD = 6, FOREIGN_FROM = 0x40000000, N = ARRAY_SIZE(refused) };
	struct sock_filter code[HEAD + 2 * N + 1];
	const struct sock_fprog program = {.len = ARRAY_SIZE(code), .filter = code};
	struct sock_filter *c = code;

	*c++ = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
					    offsetof(struct seccomp_data, arch));
	*c++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, own_machine(), 1, 0);
	*c++ = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	*c++ = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
					    offsetof(struct seccomp_data, nr));
	*c++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, FOREIGN_FROM, 0, 1);
	*c++ = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	for (size_t i = 0; i < N; i++) {
		*c++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)refused[i],
						    0, 1);
		*c++ = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
	}
	*c = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) ? errno : 0;
}

int box_enter(const struct box *box, const char *path)
{
	int error = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ? errno : 0;

	/* Descriptors last: the rules need one. */
	if (!error)
		error = close_files(box, path);
	if (!error)
		error = filter_calls();
	if (error == EINVAL && box->is_emulated)
		error = 0;
	return error ? error : set_bounds(box);
}
