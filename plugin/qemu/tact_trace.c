/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A plugin for QEMU user mode: says which blocks a program executes and which memory they access.
 *
 *	qemu-TARGET -plugin tact_trace.so,shm=PATH,calls=MMAP/MUNMAP/MREMAP/EXECVE/EXECVEAT
 *		[,target=TARGET][,machine=N][,region=A-B[@FILE]][,exclude=A-B[@FILE]]
 *		[,from=A[@FILE]][,until=A[@FILE]][,keep=N] -0 NAME PROGRAM ARGUMENT...
 *
 * shm is a file in the layout of lib/trace/wire.h, which also says whether to count or to trace.
 * calls are the numbers of these system calls.  Addresses are those of the program; with @FILE they
 * are offsets in that file, wherever it is mapped.  keep is the number of words of the command line
 * that are passed on to programs started by execve; without it, such programs run natively.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "qemu_plugin_api.h"
#include "tact_plugin.h"

int qemu_plugin_version = QEMU_PLUGIN_INTERFACE;

enum { HASH_BITS = 16, HASH_SIZE = 1 << HASH_BITS, MAX_INSN = 15, PAGE = 4096 };

/* Numbers of system calls; set once, before the program runs. */
static struct {
	unsigned mmap, munmap, mremap, execve, execveat;
} calls;

struct range {
	uint64_t begin, end; /* not included */
	const char *path;    /* NULL: addresses; else offsets in this file */
};

struct state plugin = {.lock = PTHREAD_MUTEX_INITIALIZER, .is_on = true};

static struct range regions[MAX_REGIONS], excluded[MAX_REGIONS];
static unsigned n_regions, n_excluded;
static struct range from, until;
static bool has_from, has_until;
static struct block **table; /* HASH_SIZE << table_bits lists */
static unsigned table_bits;
static uint32_t n_blocks;
static __thread unsigned current; /* virtual CPU of the last system call: the one that forks */

/* ---- callbacks of translated code ---- */

/* The number is passed as the pointer itself: that saves a load where most of the time is spent. */
static struct block *block_of(void *userdata)
{
	return plugin.blocks[(uintptr_t)userdata];
}

static void on_exec(unsigned index, void *userdata)
{
	const uint64_t number = (uintptr_t)userdata;
	struct vcpu *v = &plugin.vcpus[index];

	if (UNLIKELY(!v->defined))
		return;
	if (UNLIKELY(!(v->defined[number / 64] >> number % 64 & 1)))
		stream_define(v, block_of(userdata));
	stream_put(v, wire_word(WIRE_EXEC, 0, (uint32_t)number));
}

/* Size and direction of an access as bits of its word.  Programs have few kinds of accesses, and
 * two calls into QEMU for each would cost more than everything else: known ones are cached, each
 * entry in one word, so that threads do not disturb each other.
 */
static uint64_t access_bits(qemu_plugin_meminfo_t info)
{
	static uint64_t seen[256];
	uint64_t *entry = &seen[(info ^ info >> 8 ^ info >> 16) % 256];
	uint64_t known = __atomic_load_n(entry, __ATOMIC_RELAXED), bits;

	if (known >> 8 == (1ull << 32 | info))
		return (known & 0xff) << (WIRE_SIZE_SHIFT - 1);
	bits = qemu_plugin_mem_size_shift(info) << 1 | qemu_plugin_mem_is_store(info);
	__atomic_store_n(entry, (1ull << 32 | info) << 8 | bits, __ATOMIC_RELAXED);
	return bits << (WIRE_SIZE_SHIFT - 1);
}

_Static_assert(WIRE_STORE == 1ull << (WIRE_SIZE_SHIFT - 1), "store bit and size are neighbours");

static void on_access(unsigned index, qemu_plugin_meminfo_t info, uint64_t address, void *userdata)
{
	struct vcpu *v = &plugin.vcpus[index];
	uint64_t word =
		(uint64_t)(uintptr_t)userdata | (address & WIRE_ADDRESS) | access_bits(info);

	if (v->defined)
		stream_put(v, word);
}

/* See plugin_guard.c. */
static void on_guarded(unsigned index, qemu_plugin_meminfo_t info, uint64_t address, void *userdata)
{
	(void)index, (void)info, (void)address, (void)userdata;
}

static void on_count(unsigned index, void *userdata)
{
	const uint64_t number = (uintptr_t)userdata;
	struct vcpu *v = &plugin.vcpus[index];

	v->last = (uint32_t)number;
	if (UNLIKELY(++v->counts[number] == 1))
		stream_define(v, block_of(userdata));
}

/* QEMU executes a repeated instruction once for each repetition, and once more to find that none is
 * left: all but the first come straight from a block that ends in the same instruction.
 */
static void on_count_rep(unsigned index, void *userdata)
{
	const struct block *b = block_of(userdata);
	struct vcpu *v = &plugin.vcpus[index];
	const struct block *last = v->last != NO_BLOCK ? plugin.blocks[v->last] : NULL;

	if (last && last->address + last->last_offset == b->address)
		v->last = b->number;
	else
		on_count(index, userdata);
}

/* With `from` or `until`. */
static void on_window(unsigned index, void *userdata)
{
	const struct block *b = block_of(userdata);
	struct vcpu *v = &plugin.vcpus[index];

	if (b->is_from && !plugin.is_on) {
		plugin.is_on = true;
		stream_note(v, WIRE_NOTE_ON, NULL);
	}
	if (b->is_until && plugin.is_on) {
		plugin.is_on = false;
		stream_note(v, WIRE_NOTE_OFF, NULL);
	}
	if (v->is_on != plugin.is_on)
		stream_switch(v, plugin.is_on);
	if (!v->is_on || !b->is_inside)
		return;
	if (!plugin.is_counting)
		on_exec(index, userdata);
	else if (b->flags & WIRE_BLOCK_REP)
		on_count_rep(index, userdata);
	else
		on_count(index, userdata);
}

/* ---- translation ---- */

static bool is_within(const struct range *r, const struct block *b, bool is_start)
{
	uint64_t begin = b->address, end = is_start ? begin + 1 : begin + b->size;

	if (r->path) {
		if (!b->module || strcmp(b->module->path, r->path))
			return false;
		begin += b->module->offset - b->module->begin;
		end += b->module->offset - b->module->begin;
	}
	return begin < r->end && end > r->begin;
}

static bool is_any(const struct range *ranges, unsigned n, const struct block *b)
{
	for (unsigned i = 0; i < n; i++)
		if (is_within(&ranges[i], b, true))
			return true;
	return false;
}

/* Parses legacy prefixes and REX, then the opcode of a string instruction (Intel SDM, volume 2,
 * "REP").  Returns the length, or 0 if it is something else.
 */
static size_t repeated_length(const uint8_t *code, size_t size)
{
	bool has_rep = false;
	size_t i = 0;

	for (; i < size; i++) {
		uint8_t c = code[i];

		if (c == 0xf2 || c == 0xf3)
			has_rep = true;
		else if (c != 0x66 && c != 0x67 && c != 0x2e && c != 0x36 && c != 0x3e &&
			 c != 0x26 && c != 0x64 && c != 0x65 && (c & 0xf0) != 0x40)
			break;
	}
	if (!has_rep || i >= size)
		return 0;
	return (code[i] >= 0x6c && code[i] <= 0x6f) || (code[i] >= 0xa4 && code[i] <= 0xa7) ||
			       (code[i] >= 0xaa && code[i] <= 0xaf)
		       ? i + 1
		       : 0;
}

static uint32_t hash_of(uint64_t address, const uint8_t *bytes, size_t size)
{
	uint64_t h = address * 0x9e3779b97f4a7c15ull;

	for (size_t i = 0; i < size; i++)
		h = (h ^ bytes[i]) * 0x100000001b3ull;
	return (uint32_t)(h >> 32 ^ h);
}

/* Doubles the lists when there are two blocks in each. */
static void grow_table(void)
{
	size_t size = (size_t)HASH_SIZE << table_bits;
	struct block **larger;

	if (table && n_blocks < 2 * size)
		return;
	larger = calloc(table ? 2 * size : size, sizeof(*larger));
	if (!larger)
		return;
	for (size_t i = 0; table && i < size; i++) {
		for (struct block *b = table[i], *next; b; b = next) {
			next = b->next;
			b->next = larger[b->hash & (2 * size - 1)];
			larger[b->hash & (2 * size - 1)] = b;
		}
	}
	table_bits += table ? 1 : 0;
	free(table);
	table = larger;
}

static void classify(struct block *b)
{
	b->is_inside =
		(!n_regions || is_any(regions, n_regions, b)) && !is_any(excluded, n_excluded, b);
	b->is_from = has_from && is_within(&from, b, false);
	b->is_until = has_until && is_within(&until, b, false);
	if (plugin.has_repeats && repeated_length(b->bytes, b->size))
		b->flags |= WIRE_BLOCK_REP;
}

static struct block *add_block(const struct block *like, const uint8_t *bytes)
{
	struct block *b, **list;

	grow_table();
	if (!table || n_blocks >= plugin.max_blocks)
		return NULL;
	b = malloc(sizeof(*b) + like->size);
	if (!b)
		return NULL;
	*b = *like;
	memcpy(b->bytes, bytes, b->size);
	b->number = n_blocks++;
	plugin.blocks[b->number] = b;
	classify(b);
	list = &table[b->hash & (((size_t)HASH_SIZE << table_bits) - 1)];
	b->next = *list;
	*list = b;
	return b;
}

/* Reads memory of the program, as far as possible. */
static size_t read_memory(uint64_t address, uint8_t *to, size_t size)
{
	uint64_t host = address + plugin.guest_base;
	size_t first = PAGE - host % PAGE < size ? PAGE - host % PAGE : size;
	struct iovec local = {to, size},
		     remote[2] = {{(void *)(uintptr_t)host, first},
				  {(void *)(uintptr_t)(host + first), size - first}};
	ssize_t n = process_vm_readv(getpid(), &local, 1, remote, 2, 0);

	return n > 0 ? (size_t)n : 0;
}

/* Copies the bytes of instruction i; returns their number.
 *
 * When an instruction that is not the first of its block crosses the end of a page, QEMU 7.2 takes
 * it back and gives it a block of its own; but in the plugin interface it is still the last one of
 * the first block, with some of its bytes.  Its length says whether it crosses: for string
 * instructions that is determined here, because their repetitions must be told apart; for others,
 * by the reader.
 */
static size_t take_insn(struct qemu_plugin_tb *tb, size_t i, size_t n, uint8_t *to, uint16_t *flags)
{
	struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
	uint64_t address = qemu_plugin_insn_vaddr(insn);
	size_t size = qemu_plugin_insn_size(insn), have, length;

	memcpy(to, qemu_plugin_insn_data(insn), size);
	if (!plugin.has_repeats || !i || i + 1 < n || address % PAGE + MAX_INSN <= PAGE)
		return size;
	have = read_memory(address, to, MAX_INSN);
	if (have <= size)
		return size;
	length = repeated_length(to, have);
	if (length)
		return address % PAGE + length > PAGE ? 0 : length;
	*flags |= WIRE_BLOCK_OPEN_END;
	return have;
}

static struct block *find_block(struct qemu_plugin_tb *tb)
{
	static uint8_t bytes[WIRE_MAX_BLOCK_BYTES];
	struct block like = {.address = qemu_plugin_tb_vaddr(tb)}, *b = NULL;
	size_t n = qemu_plugin_tb_n_insns(tb), size = 0, taken;
	struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, 0);
	uint64_t host = (uint64_t)(uintptr_t)qemu_plugin_insn_haddr(insn);

	if (host)
		plugin.guest_base = host - qemu_plugin_insn_vaddr(insn);
	for (size_t i = 0; i < n; i++) {
		if (size + 2 * MAX_INSN > sizeof(bytes))
			return NULL;
		taken = take_insn(tb, i, n, bytes + size, &like.flags);
		if (!taken) {
			n--;
			break;
		}
		like.last_offset = (uint16_t)size;
		size += taken;
	}
	like.n_insns = (uint16_t)n;
	like.size = (uint16_t)size;
	like.hash = hash_of(like.address, bytes, size);
	like.module = modules_find(like.address + plugin.guest_base);
	if (table)
		b = table[like.hash & (((size_t)HASH_SIZE << table_bits) - 1)];
	for (; b; b = b->next)
		if (b->address == like.address && b->size == size && b->module == like.module &&
		    !memcmp(b->bytes, bytes, size))
			return b;
	return add_block(&like, bytes);
}

/* Code that is not traced, while other code is. */
static void guard(struct qemu_plugin_tb *tb)
{
	const size_t n = qemu_plugin_tb_n_insns(tb);

	for (size_t i = 0; i < n && !plugin.is_counting; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);

		if (plugin.has_repeats &&
		    is_helped(qemu_plugin_insn_data(insn), qemu_plugin_insn_size(insn)))
			qemu_plugin_register_vcpu_mem_cb(insn, on_guarded, QEMU_PLUGIN_CB_NO_REGS,
							 QEMU_PLUGIN_MEM_RW, NULL);
	}
}

static void on_translate(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	qemu_plugin_vcpu_udata_cb_t callback = on_window;
	struct block *b = NULL;

	(void)id;
	pthread_mutex_lock(&plugin.lock);
	if (qemu_plugin_tb_n_insns(tb))
		b = find_block(tb);
	if (b)
		prefetch_watch(tb, b);
	pthread_mutex_unlock(&plugin.lock);
	if (!b) {
		__atomic_add_fetch(&plugin.header->lost_blocks, 1, __ATOMIC_RELAXED);
		guard(tb);
		return;
	}
	if (!b->is_inside)
		guard(tb);
	if (!b->is_inside && !b->is_from && !b->is_until)
		return;
	if (!plugin.has_window && plugin.is_counting)
		callback = b->flags & WIRE_BLOCK_REP ? on_count_rep : on_count;
	else if (!plugin.has_window)
		callback = on_exec;
	qemu_plugin_register_vcpu_tb_exec_cb(tb, callback, QEMU_PLUGIN_CB_NO_REGS,
					     (void *)(uintptr_t)b->number);
	if (plugin.is_counting || !b->is_inside)
		return;
	/* The filter for loads or stores is broken in QEMU 7.2: ask for both. */
	for (size_t i = 0; i < b->n_insns; i++)
		qemu_plugin_register_vcpu_mem_cb(
			qemu_plugin_tb_get_insn(tb, i), on_access, QEMU_PLUGIN_CB_NO_REGS,
			QEMU_PLUGIN_MEM_RW, (void *)(uintptr_t)((uint64_t)i << WIRE_INSN_SHIFT));
}

/* ---- threads, processes, system calls ---- */

static void on_vcpu_init(qemu_plugin_id_t id, unsigned index)
{
	(void)id;
	if (index >= MAX_VCPUS)
		return;
	pthread_mutex_lock(&plugin.lock);
	stream_attach(&plugin.vcpus[index], index, !plugin.n_vcpus);
	pthread_mutex_unlock(&plugin.lock);
}

static void on_vcpu_exit(qemu_plugin_id_t id, unsigned index)
{
	(void)id;
	if (index >= MAX_VCPUS)
		return;
	pthread_mutex_lock(&plugin.lock);
	stream_detach(&plugin.vcpus[index]);
	pthread_mutex_unlock(&plugin.lock);
}

static void before_fork(void)
{
	pthread_mutex_lock(&plugin.lock);
}

static void after_fork_parent(void)
{
	pthread_mutex_unlock(&plugin.lock);
}

static void after_fork_child(void)
{
	plugin.pid = getpid();
	stream_after_fork(current);
	pthread_mutex_unlock(&plugin.lock);
}

static void on_syscall(qemu_plugin_id_t id, unsigned index, int64_t number, uint64_t a1,
		       uint64_t a2, uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7,
		       uint64_t a8)
{
	(void)id, (void)a4, (void)a5, (void)a6, (void)a7, (void)a8;
	if (index >= MAX_VCPUS)
		return;
	current = index;
	stream_call(&plugin.vcpus[index], (uint64_t)number);
	if (number == calls.mmap || number == calls.munmap || number == calls.mremap)
		modules_forget();
	else if (number == calls.execve)
		exec_follow(&plugin.vcpus[index], a1, a2, a3);
	else if (number == calls.execveat)
		stream_note(&plugin.vcpus[index], WIRE_NOTE_NATIVE, "(execveat)");
}

/* ---- arguments ---- */

/* Parses A-B or A, then perhaps @FILE. */
static int parse_range(struct range *r, char *text, bool is_single)
{
	char *end;

	r->begin = strtoull(text, &end, 16);
	if (end == text)
		return -1;
	r->end = r->begin + 1;
	if (!is_single) {
		if (*end != '-')
			return -1;
		text = end + 1;
		r->end = strtoull(text, &end, 16);
		if (end == text || r->end <= r->begin)
			return -1;
	}
	r->path = *end == '@' ? strdup(end + 1) : NULL;
	return *end == '@' || !*end ? 0 : -1;
}

static int parse_calls(const char *text)
{
	return sscanf(text, "%u/%u/%u/%u/%u", &calls.mmap, &calls.munmap, &calls.mremap,
		      &calls.execve, &calls.execveat) == 5
		       ? 0
		       : -1;
}

static int take_argument(char *argument, const char **shm, const char **target, unsigned *keep)
{
	char *value = strchr(argument, '=');

	if (!value)
		return -1;
	*value++ = '\0';
	if (!strcmp(argument, "shm"))
		*shm = value;
	else if (!strcmp(argument, "target"))
		*target = value;
	else if (!strcmp(argument, "machine"))
		plugin.machine = (unsigned)atoi(value);
	else if (!strcmp(argument, "calls"))
		return parse_calls(value);
	else if (!strcmp(argument, "keep"))
		*keep = (unsigned)atoi(value);
	else if (!strcmp(argument, "region"))
		return n_regions < MAX_REGIONS ? parse_range(&regions[n_regions++], value, false)
					       : -1;
	else if (!strcmp(argument, "exclude"))
		return n_excluded < MAX_REGIONS ? parse_range(&excluded[n_excluded++], value, false)
						: -1;
	else if (!strcmp(argument, "from"))
		return has_from = true, parse_range(&from, value, true);
	else if (!strcmp(argument, "until"))
		return has_until = true, parse_range(&until, value, true);
	else
		return -1;
	return 0;
}

static int complain(const char *what, const char *which)
{
	char text[512];

	snprintf(text, sizeof(text), "tact_trace: %s%s\n", what, which);
	/* QEMU's own channel, not a stream of the program. */
	qemu_plugin_outs(text);
	return -1;
}

QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc,
					   char **argv)
{
	const char *shm = NULL, *target = NULL;
	unsigned keep = 0;

	if (info->version.min > QEMU_PLUGIN_INTERFACE)
		return complain("this QEMU has another plugin interface", "");
	if (info->system_emulation)
		return complain("for user mode, not for a system of ", info->target_name);
	for (int i = 0; i < argc; i++)
		if (take_argument(argv[i], &shm, &target, &keep))
			return complain("cannot read the argument ", argv[i]);
	if (!shm)
		return complain("no shm=PATH", "");
	if (!calls.mmap)
		return complain("no calls=MMAP/MUNMAP/MREMAP/EXECVE/EXECVEAT", "");
	if (target && strcmp(target, info->target_name))
		return complain("for another machine than ", info->target_name);
	plugin.has_repeats = is_repeating(info->target_name);
	plugin.pid = getpid();
	plugin.has_window = has_from || has_until;
	plugin.is_on = !has_from;
	/* Without its reader there is nothing to do, and the program runs as usual; the reader sees
	 * that nobody came.
	 */
	if (stream_map(shm))
		return 0;
	exec_prepare(keep);
	prefetch_begin(info->target_name);
	pthread_atfork(before_fork, after_fork_parent, after_fork_child);
	qemu_plugin_register_vcpu_init_cb(id, on_vcpu_init);
	qemu_plugin_register_vcpu_exit_cb(id, on_vcpu_exit);
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
	qemu_plugin_register_vcpu_syscall_cb(id, on_syscall);
	return 0;
}
