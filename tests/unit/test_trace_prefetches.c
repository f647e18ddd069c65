/* SPDX-License-Identifier: MIT
 *
 * Addresses of prefetch instructions under QEMU: random programs whose registers are known.
 */
#include <stdint.h>

#include "testing.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support.h"
#include "trace/wire.h"

enum {
	BASE = 0x400000,
	CODE = 0x1000,
	MOST_CODE = 1 << 16,
	MOST = 4096,	  /* prefetches */
	DATA = 0x1000000, /* all registers point there, as far as SPAN */
	SPAN = 0x400000,
	DATA_END = 0xc000000, /* for any base plus eight times any index */
	STACK = 4,
	REGISTERS = 16,
	NONE = 16
};

/* A program, and what it does. */
struct made {
	uint8_t code[MOST_CODE];
	size_t size;
	uint64_t registers[REGISTERS];
	struct rng rng;
	struct {
		uint64_t place, address; /* of the instruction; of what it prefetches */
		bool is_reported;
	} expected[MOST];
	size_t n;
};

static void put(struct made *m, unsigned byte)
{
	assert_true(m->size < MOST_CODE);
	m->code[m->size++] = (uint8_t)byte;
}

static void put_long(struct made *m, uint32_t value)
{
	for (unsigned i = 0; i < 4; i++)
		put(m, value >> 8 * i & 255);
}

static uint32_t any_place(struct made *m)
{
	return DATA + rng_below(&m->rng, SPAN / 2);
}

/* mov r32, imm32 */
static void set(struct made *m, unsigned reg, uint32_t value)
{
	if (reg >= 8)
		put(m, 0x41);
	put(m, 0xb8 | (reg & 7));
	put_long(m, value);
	m->registers[reg] = value;
}

/* An operand: the bytes from ModRM on, and what they mean. */
struct form {
	uint8_t bytes[6], size, rex;
	unsigned base, index, shift;
	int64_t displacement;
	bool is_relative; /* to the end of the instruction */
};

static void add_displacement(struct form *f, int32_t value, unsigned size)
{
	f->displacement = value;
	for (unsigned i = 0; i < size; i++)
		f->bytes[f->size++] = (uint8_t)((uint32_t)value >> 8 * i);
}

static struct form any_form(struct made *m, unsigned reg)
{
	const unsigned mod = rng_below(&m->rng, 3), base = rng_below(&m->rng, REGISTERS),
		       index = rng_below(&m->rng, REGISTERS), small = rng_below(&m->rng, 128);
	struct form f = {.base = base, .index = NONE, .rex = (uint8_t)(reg >> 3 << 2)};
	const bool has_sib = (base & 7) == 4 || rng_below(&m->rng, 2);

	f.bytes[f.size++] = (uint8_t)(mod << 6 | (reg & 7) << 3 | (has_sib ? 4 : base & 7));
	f.rex |= (uint8_t)(base >> 3);
	if (has_sib) {
		f.shift = rng_below(&m->rng, 4);
		f.bytes[f.size++] = (uint8_t)(f.shift << 6 | (index & 7) << 3 | (base & 7));
		f.rex |= (uint8_t)(index >> 3 << 1);
		f.index = index == STACK ? NONE : index;
	}
	if (mod == 1) {
		add_displacement(&f, (int32_t)small - 64, 1);
	} else if (mod == 2) {
		add_displacement(&f, (int32_t)rng_below(&m->rng, 1 << 16) - (1 << 15), 4);
	} else if ((base & 7) == 5) { /* no base */
		f.base = NONE;
		f.is_relative = !has_sib;
		add_displacement(&f, f.is_relative ? (int32_t)small - 256 : (int32_t)any_place(m),
				 4);
	}
	return f;
}

static uint64_t address_of(const struct made *m, const struct form *f)
{
	return (f->base == NONE ? 0 : m->registers[f->base]) +
	       (f->index == NONE ? 0 : m->registers[f->index] << f->shift) +
	       (uint64_t)f->displacement + (f->is_relative ? BASE + CODE + m->size : 0);
}

/* Writes prefixes, a REX prefix if it is needed, an opcode and an operand. */
static uint64_t put_form(struct made *m, const struct form *f, unsigned prefix, const char *opcode)
{
	if (prefix)
		put(m, prefix);
	if (f->rex)
		put(m, 0x40 | f->rex);
	for (; *opcode; opcode++)
		put(m, (uint8_t)*opcode);
	for (unsigned i = 0; i < f->size; i++)
		put(m, f->bytes[i]);
	return address_of(m, f);
}

static void put_prefetch(struct made *m)
{
	static const unsigned prefixes[] = {0, 0, 0, 0, 0x66, 0x67, 0x3e, 0xf3};
	const bool is_old = rng_below(&m->rng, 4) == 0;
	const struct form f = any_form(m, is_old ? rng_below(&m->rng, 2) : rng_below(&m->rng, 4));

	assert_true(m->n < MOST);
	m->expected[m->n].place = BASE + CODE + m->size;
	m->expected[m->n++].address =
		put_form(m, &f, prefixes[rng_below(&m->rng, ARRAY_SIZE(prefixes))],
			 is_old ? "\x0f\x0d" : "\x0f\x18");
}

/* An access that changes no general register: QEMU stores them all before it. */
static void put_access(struct made *m)
{
	struct form f = any_form(m, 0);

	f.rex &= 3;
	if (rng_below(&m->rng, 2))
		put_form(m, &f, 0, "\x3a"); /* cmp al, m8 */
	else
		put_form(m, &f, 0xf3, "\x0f\x7e"); /* movq xmm0, m64 */
}

/* What only names an address, and accesses nothing. */
static void put_nothing(struct made *m)
{
	const struct form f = any_form(m, rng_below(&m->rng, 2) ? 7 : 0);

	put_form(m, &f, 0, f.bytes[0] >> 3 & 7 ? "\x0f\xae" : "\x0f\x1f"); /* clflush, nop */
}

/* Writes a register; all of them stay in the data. */
static void put_write(struct made *m)
{
	const unsigned to = rng_below(&m->rng, REGISTERS), from = rng_below(&m->rng, REGISTERS);

	switch (rng_below(&m->rng, 4)) {
	case 0:
		set(m, to, any_place(m));
		return;
	case 1: /* mov to, from */
		put(m, 0x48 | to >> 3 | from >> 3 << 2);
		put(m, 0x89);
		put(m, 0xc0 | (from & 7) << 3 | (to & 7));
		m->registers[to] = m->registers[from];
		return;
	case 2: /* add to, 64 */
		put(m, 0x48 | to >> 3);
		put(m, 0x83);
		put(m, 0xc0 | (to & 7));
		put(m, 64);
		m->registers[to] += 64;
		return;
	default: /* lea to, [from + 8] */
		put(m, 0x48 | from >> 3 | to >> 3 << 2);
		put(m, 0x8d);
		put(m, 0x40 | (to & 7) << 3 | (from & 7));
		if ((from & 7) == 4)
			put(m, 0x24);
		put(m, 8);
		m->registers[to] = m->registers[from] + 8;
		return;
	}
}

/* Loads whose addresses QEMU reports: mov eax, [rbx]; [rsi+8]; [r9+rdi*2]. */
static void put_loads(struct made *m, unsigned rounds)
{
	static const uint8_t loads[] = {0x8b, 0x03, 0x8b, 0x46, 0x08, 0x41, 0x8b,
					0x04, 0x79, 0xff, 0xc9, 0x75, 0xf3};

	set(m, 1, rounds);
	for (size_t i = 0; i < sizeof(loads); i++)
		put(m, loads[i]);
	m->registers[0] = m->registers[1] = 0;
}

static void put_end(struct made *m)
{
	set(m, 0, 60);
	set(m, 7, 0);
	put(m, 0x0f);
	put(m, 0x05);
}

static void make(struct made *m, uint64_t seed, unsigned rounds)
{
	memset(m, 0, sizeof(*m));
	m->rng.state = seed;
	for (unsigned i = 0; i < REGISTERS; i++)
		set(m, i, any_place(m));
	put_loads(m, rounds);
	set(m, 0, any_place(m));
	set(m, 1, any_place(m));
	while (m->n < 1000) {
		const unsigned what = rng_below(&m->rng, 16);

		if (what < 5)
			put_prefetch(m);
		else if (what < 11)
			put_write(m);
		else if (what < 13)
			put_access(m);
		else if (what < 14)
			put_nothing(m);
		else if (what < 15) { /* jmp to the next instruction: ends a block */
			put(m, 0xeb);
			put(m, 0);
		}
	}
	put_end(m);
}

static void write_program(const struct made *m, const char *path)
{
	Elf64_Ehdr e = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
				    EV_CURRENT},
			.e_type = ET_EXEC,
			.e_machine = EM_X86_64,
			.e_version = EV_CURRENT,
			.e_entry = BASE + CODE,
			.e_phoff = sizeof(e),
			.e_ehsize = sizeof(e),
			.e_phentsize = sizeof(Elf64_Phdr),
			.e_phnum = 2};
	Elf64_Phdr p[2] = {{.p_type = PT_LOAD,
			    .p_flags = PF_R | PF_X,
			    .p_vaddr = BASE,
			    .p_filesz = CODE + m->size,
			    .p_memsz = CODE + m->size,
			    .p_align = 0x1000},
			   {.p_type = PT_LOAD,
			    .p_flags = PF_R | PF_W,
			    .p_vaddr = DATA - 0x10000,
			    .p_memsz = DATA_END - DATA + 0x10000,
			    .p_align = 0x1000}};
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0755);

	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, &e, sizeof(e), 0), sizeof(e));
	assert_int_equal(pwrite(fd, p, sizeof(p), sizeof(e)), sizeof(p));
	assert_int_equal(pwrite(fd, m->code, m->size, CODE), m->size);
	close(fd);
}

static uint64_t place_of(const struct tact_trace_block *b, unsigned insn)
{
	struct tact_insn decoded;
	size_t at = 0;

	while (insn-- > 0) {
		const int n = tact_isa_decode(b->isa, &decoded, b->code + at, b->code_size - at);

		assert_true(n > 0);
		at += (size_t)n;
	}
	return b->address + at;
}

/* Traces a program.  Returns the number of prefetches that were reported, all of them correctly. */
static size_t trace(struct made *m, const char *program)
{
	const char *build = getenv("TACT_BUILD");
	char plugin[256], *argv[] = {(char *)program, NULL};
	struct tact_trace_options opt = {
		.size = sizeof(opt), .plugin = plugin, .path = getenv("PATH")};
	struct tact_trace_event e = TACT_TRACE_EVENT_INIT;
	struct tact_trace_summary s = TACT_TRACE_SUMMARY_INIT;
	struct tact_trace *t;
	struct tact_diag diag;
	size_t at = 0, n = 0;
	int status;

	snprintf(plugin, sizeof(plugin), "%s/tact_trace.so", build ? build : "build");
	status = tact_trace_launch(&t, &opt, argv, &diag);
	if (status == -TACT_E_NO_TOOL) {
		printf("skip: %s\n", diag.text);
		skip();
	}
	if (status)
		fail_msg("%s", diag.text);
	while ((status = tact_trace_next(t, &e, &diag)) > 0) {
		for (size_t i = 0; e.kind == TACT_TRACE_EXEC && i < e.n_accesses; i++) {
			uint64_t place;

			if (e.accesses[i].size)
				continue;
			place = place_of(e.block, e.accesses[i].insn);
			while (at < m->n && m->expected[at].place != place)
				at++;
			assert_true(at < m->n);
			if (e.accesses[i].address != (m->expected[at].address & WIRE_ADDRESS))
				fail_msg("prefetch %zu at 0x%llx: 0x%llx, not 0x%llx", at,
					 (unsigned long long)place,
					 (unsigned long long)e.accesses[i].address,
					 (unsigned long long)m->expected[at].address);
			m->expected[at].is_reported = true;
			n++;
		}
	}
	assert_int_equal(status, 0);
	tact_trace_get_summary(t, &s);
	assert_true(s.has_ended && WIFEXITED(s.wait_status));
	assert_int_equal(WEXITSTATUS(s.wait_status), 0);
	tact_trace_close(t);
	return n;
}

static struct made made;

static int set_up(void **state)
{
	static char directory[64];

	strcpy(directory, "/tmp/tact-test-XXXXXX");
	*state = directory;
	return mkdtemp(directory) ? 0 : -1;
}

static int tear_down(void **state)
{
	return rmdir(*state);
}

static size_t run(const char *directory, uint64_t seed, unsigned rounds)
{
	char program[128];
	size_t n;

	snprintf(program, sizeof(program), "%s/program", directory);
	make(&made, seed, rounds);
	write_program(&made, program);
	n = trace(&made, program);
	unlink(program);
	return n;
}

TEST(addresses_are_those_of_the_program)
{
	for (uint64_t seed = 1; seed <= 8; seed++) {
		const size_t n = run(*state, seed, 40);

		/* Those are left out that QEMU may not have stored the registers of. */
		assert_in_range(n, made.n / 2, made.n - 1);
	}
}

TEST(nothing_is_believed_before_loads_have_agreed)
{
	assert_int_equal(run(*state, 1, 1), 0);
}

RUN_TESTS(set_up, tear_down)
