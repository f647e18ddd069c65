/* SPDX-License-Identifier: MIT
 *
 * System calls by their numbers (Linux, arch/x86/entry/syscalls/syscall_64.tbl): how much of the
 * kernel they run.  bench/programs/kernel_trail.c measures one or two of each kind; the others are
 * sorted by what they have to do: names of files, maps of memory, the network and processes are
 * heavy; what only reads or sets a field of the process is light.
 */
#include "isa/x86/x86.h"

static const uint8_t kinds[] = {
	[2] = ISA_CALL_HEAVY,	/* open */
	[3] = ISA_CALL_HEAVY,	/* close */
	[4] = ISA_CALL_HEAVY,	/* stat */
	[5] = ISA_CALL_HEAVY,	/* fstat */
	[6] = ISA_CALL_HEAVY,	/* lstat */
	[7] = ISA_CALL_WAIT,	/* poll */
	[8] = ISA_CALL_LIGHT,	/* lseek */
	[9] = ISA_CALL_HEAVY,	/* mmap */
	[10] = ISA_CALL_HEAVY,	/* mprotect */
	[11] = ISA_CALL_HEAVY,	/* munmap */
	[12] = ISA_CALL_HEAVY,	/* brk */
	[13] = ISA_CALL_LIGHT,	/* rt_sigaction */
	[14] = ISA_CALL_LIGHT,	/* rt_sigprocmask */
	[21] = ISA_CALL_HEAVY,	/* access */
	[23] = ISA_CALL_WAIT,	/* select */
	[25] = ISA_CALL_HEAVY,	/* mremap */
	[28] = ISA_CALL_HEAVY,	/* madvise */
	[34] = ISA_CALL_WAIT,	/* pause */
	[35] = ISA_CALL_WAIT,	/* nanosleep */
	[39] = ISA_CALL_LIGHT,	/* getpid */
	[41] = ISA_CALL_HEAVY,	/* socket */
	[42] = ISA_CALL_HEAVY,	/* connect */
	[43] = ISA_CALL_HEAVY,	/* accept */
	[44] = ISA_CALL_HEAVY,	/* sendto */
	[45] = ISA_CALL_HEAVY,	/* recvfrom */
	[46] = ISA_CALL_HEAVY,	/* sendmsg */
	[47] = ISA_CALL_HEAVY,	/* recvmsg */
	[56] = ISA_CALL_HEAVY,	/* clone */
	[57] = ISA_CALL_HEAVY,	/* fork */
	[58] = ISA_CALL_HEAVY,	/* vfork */
	[59] = ISA_CALL_HEAVY,	/* execve */
	[61] = ISA_CALL_WAIT,	/* wait4 */
	[63] = ISA_CALL_LIGHT,	/* uname */
	[72] = ISA_CALL_LIGHT,	/* fcntl */
	[74] = ISA_CALL_HEAVY,	/* fsync */
	[75] = ISA_CALL_HEAVY,	/* fdatasync */
	[78] = ISA_CALL_HEAVY,	/* getdents */
	[80] = ISA_CALL_HEAVY,	/* chdir */
	[82] = ISA_CALL_HEAVY,	/* rename */
	[83] = ISA_CALL_HEAVY,	/* mkdir */
	[84] = ISA_CALL_HEAVY,	/* rmdir */
	[85] = ISA_CALL_HEAVY,	/* creat */
	[86] = ISA_CALL_HEAVY,	/* link */
	[87] = ISA_CALL_HEAVY,	/* unlink */
	[89] = ISA_CALL_HEAVY,	/* readlink */
	[95] = ISA_CALL_LIGHT,	/* umask */
	[96] = ISA_CALL_CLOCK,	/* gettimeofday */
	[97] = ISA_CALL_LIGHT,	/* getrlimit */
	[98] = ISA_CALL_LIGHT,	/* getrusage */
	[100] = ISA_CALL_LIGHT, /* times */
	[102] = ISA_CALL_LIGHT, /* getuid */
	[104] = ISA_CALL_LIGHT, /* getgid */
	[107] = ISA_CALL_LIGHT, /* geteuid */
	[108] = ISA_CALL_LIGHT, /* getegid */
	[110] = ISA_CALL_LIGHT, /* getppid */
	[111] = ISA_CALL_LIGHT, /* getpgrp */
	[115] = ISA_CALL_LIGHT, /* getgroups */
	[121] = ISA_CALL_LIGHT, /* getpgid */
	[124] = ISA_CALL_LIGHT, /* getsid */
	[130] = ISA_CALL_WAIT,	/* rt_sigsuspend */
	[158] = ISA_CALL_LIGHT, /* arch_prctl */
	[186] = ISA_CALL_LIGHT, /* gettid */
	[201] = ISA_CALL_CLOCK, /* time */
	[202] = ISA_CALL_WAIT,	/* futex */
	[217] = ISA_CALL_HEAVY, /* getdents64 */
	[218] = ISA_CALL_LIGHT, /* set_tid_address */
	[228] = ISA_CALL_CLOCK, /* clock_gettime */
	[229] = ISA_CALL_LIGHT, /* clock_getres */
	[230] = ISA_CALL_WAIT,	/* clock_nanosleep */
	[232] = ISA_CALL_WAIT,	/* epoll_wait */
	[247] = ISA_CALL_WAIT,	/* waitid */
	[257] = ISA_CALL_HEAVY, /* openat */
	[258] = ISA_CALL_HEAVY, /* mkdirat */
	[262] = ISA_CALL_HEAVY, /* newfstatat */
	[263] = ISA_CALL_HEAVY, /* unlinkat */
	[264] = ISA_CALL_HEAVY, /* renameat */
	[267] = ISA_CALL_HEAVY, /* readlinkat */
	[269] = ISA_CALL_HEAVY, /* faccessat */
	[270] = ISA_CALL_WAIT,	/* pselect6 */
	[271] = ISA_CALL_WAIT,	/* ppoll */
	[273] = ISA_CALL_LIGHT, /* set_robust_list */
	[281] = ISA_CALL_WAIT,	/* epoll_pwait */
	[288] = ISA_CALL_HEAVY, /* accept4 */
	[299] = ISA_CALL_HEAVY, /* recvmmsg */
	[302] = ISA_CALL_LIGHT, /* prlimit64 */
	[307] = ISA_CALL_HEAVY, /* sendmmsg */
	[309] = ISA_CALL_CLOCK, /* getcpu */
	[316] = ISA_CALL_HEAVY, /* renameat2 */
	[318] = ISA_CALL_LIGHT, /* getrandom */
	[322] = ISA_CALL_HEAVY, /* execveat */
	[332] = ISA_CALL_HEAVY, /* statx */
	[334] = ISA_CALL_LIGHT, /* rseq */
	[435] = ISA_CALL_HEAVY, /* clone3 */
	[439] = ISA_CALL_HEAVY, /* faccessat2 */
	[441] = ISA_CALL_WAIT,	/* epoll_pwait2 */
};

enum isa_call x86_call_kind(uint64_t number)
{
	return number < sizeof(kinds) ? (enum isa_call)kinds[number] : ISA_CALL_USUAL;
}
