/* SPDX-License-Identifier: MIT
 *
 * The counters of the fake kernel.  They follow kernel/events/core.c and arch/x86/events/core.c of
 * Linux; fixtures/counters.txt says from where each behaviour is known.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <Zydis/Zydis.h>

#include "fake_kernel.h"

enum {
	UNIT = 16,
	MAX_EVENTS = 4096,
	OTHER_INDEX = 3,
	OPEN_COST = 1000,
	MAX_COUNTERS = 8,
	FIXED = 1 << 30
};

static struct event events[MAX_EVENTS];
static unsigned n_events;

uint64_t fake_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

struct event *fake_find_event(ino_t inode)
{
	for (unsigned i = n_events; i--;)
		if (events[i].inode == inode)
			return &events[i];
	return NULL;
}

struct event *fake_event_of(pid_t owner, uint32_t index)
{
	struct event *other = NULL;

	for (unsigned i = n_events; i--;) {
		if (events[i].owner != owner || !events[i].page)
			continue;
		if (events[i].page->index == index + 1)
			return &events[i];
		other = &events[i];
	}
	/* A counter that the event is not on can be read as well; it has something else. */
	return (index & ~FIXED) < MAX_COUNTERS ? other : NULL;
}

/* perf_event_open(2): paranoid.  From 3 on (a patch of Debian and others) nothing is allowed.  The
 * capability does not matter here: the fake is for users that have none.
 */
int fake_open_error(const struct fake *f, const struct perf_event_attr *attr)
{
	if (f->paranoid > 2 || (f->paranoid > 1 && !attr->exclude_kernel))
		return EACCES;
	if (attr->size < PERF_ATTR_SIZE_VER0)
		return E2BIG;
	if (f->exclude_error && (attr->exclude_kernel || attr->exclude_hv))
		return f->exclude_error;
	/* msr_event_init: that device cannot leave anything out. */
	if (attr->type > PERF_TYPE_MAX && (attr->exclude_kernel || attr->exclude_hv))
		return EINVAL;
	return f->open_error;
}

/* The kernel changes a page between two increments of lock (perf_event_update_userpage). */
static void update_page(struct event *e, uint32_t index)
{
	if (!e->page)
		return;
	e->page->lock++;
	__sync_synchronize();
	e->page->index = index;
	e->page->offset = (int64_t)e->offset;
	__sync_synchronize();
	e->page->lock++;
}

struct event *fake_open(const struct fake *f, const struct task *t, ino_t inode, void *page)
{
	struct event *e = fake_find_event(inode);

	if (!e && n_events == MAX_EVENTS)
		return NULL;
	if (!e)
		e = &events[n_events++];
	*e = (struct event){.fake = f,
			    .owner = t->tid,
			    .inode = inode,
			    .attr = t->attr,
			    .page = page,
			    .base = t->count,
			    .opened = fake_now()};
	/* x86_pmu_filter: an event of a kind of cores is on no counter of another one. */
	e->is_off = f->off || (f->core_type && t->attr.type == PERF_TYPE_HARDWARE &&
			       t->attr.config >> 32 != f->core_type);
	if (!page)
		return e;
	e->page->version = 0;
	e->page->compat_version = 0;
	e->page->cap_bit0_is_deprecated = 1;
	e->page->cap_user_rdpmc = !f->no_user_read;
	e->page->pmc_width = (uint16_t)f->width;
	e->page->lock = f->lock;
	e->page->index = e->is_off ? 0 : f->index;
	return e;
}

static uint64_t cycles_of(const struct event *e, const struct task *t)
{
	const struct fake *f = e->fake;
	uint64_t cycles = (t->count - e->base) / UNIT + e->counted + OPEN_COST;

	if (f->still)
		return 0;
	if (f->garbage)
		return (uint64_t)random() * 977;
	return (uint64_t)((double)cycles * f->rate);
}

/* Moves the event to another counter, as a switch of threads does. */
static void maybe_switch(struct event *e)
{
	const struct fake *f = e->fake;

	e->readings++;
	if (f->lost && e->readings > f->lost) {
		update_page(e, 0);
		return;
	}
	if (!f->switches || e->readings % f->switches || !e->page)
		return;
	e->offset += 0x123456;
	update_page(e, e->page->index == f->index ? OTHER_INDEX : f->index);
}

uint64_t fake_rdpmc(struct event *e, const struct task *t, uint32_t index)
{
	const struct fake *f = e->fake;
	uint64_t value = f->start + cycles_of(e, t) - e->offset;

	if (e->page->index != index + 1)
		value = (uint64_t)random();
	maybe_switch(e); /* so that the next reading is of another counter */
	return f->width < 64 ? value & ((1ull << f->width) - 1) : value;
}

long fake_read(struct event *e, const struct task *t, uint64_t words[3])
{
	const struct fake *f = e->fake;
	const uint64_t enabled = fake_now() - e->opened;
	unsigned n = 1;

	maybe_switch(e);
	/* perf_read_hw: an event in error state has nothing, and that is the end of the file. */
	if (e->is_off && f->core_type) {
		words[1] = enabled; /* and it was never running */
		return 24;
	}
	if (f->off || (f->lost && e->readings > f->lost))
		return e->attr.pinned ? 0 : 8;
	words[0] = cycles_of(e, t);
	if (e->attr.read_format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		words[n++] = enabled;
	if (e->attr.read_format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		words[n++] = enabled - enabled * f->shared / 100;
	return 8 * (long)n;
}

/* A program that stops its event does not want to be stepped: time stamps do for that. */
long fake_ioctl(struct event *e, const struct task *t, unsigned request)
{
	const uint64_t now = __builtin_ia32_rdtsc();

	switch (request) {
	case PERF_EVENT_IOC_RESET:
		e->base = t->count;
		e->counted = 0;
		return 0;
	case PERF_EVENT_IOC_ENABLE:
		e->enabled_at = now;
		return 0;
	case PERF_EVENT_IOC_DISABLE:
		e->counted += e->enabled_at ? now - e->enabled_at : 0;
		e->enabled_at = 0;
		return 0;
	default:
		return -ENOTTY;
	}
}

/* A CPU that makes one instruction after the other: 1 cycle each, 3 for a multiplication, 4 for a
 * load, a quarter for a nop.  Divisions and roots of floating point are slow, so that few of them
 * have to be stepped.
 */
unsigned fake_cost(const uint8_t code[8])
{
	unsigned i = 0;

	while (i < 5 && (code[i] == 0x66 || code[i] == 0xf2 || code[i] == 0xf3 || code[i] == 0x2e ||
			 (code[i] & 0xf0) == 0x40))
		i++;
	if (code[i] == 0x0f) {
		switch (code[i + 1]) {
		case 0xaf:
			return 3 * UNIT;
		case 0x51:
		case 0x5e:
			return 100 * UNIT;
		case 0x1f:
			return UNIT / 4;
		default:
			return UNIT;
		}
	}
	if (code[i] == 0xd9 && code[i + 1] == 0xfa) /* fsqrt */
		return 250 * UNIT;
	if (code[i] == 0x90)
		return UNIT / 4;
	if (code[i] == 0x8b && code[i + 1] < 0xc0)
		return 4 * UNIT;
	return UNIT;
}

static bool is_straight(const ZydisDecodedInstruction *i)
{
	switch (i->meta.category) {
	case ZYDIS_CATEGORY_COND_BR:
	case ZYDIS_CATEGORY_UNCOND_BR:
	case ZYDIS_CATEGORY_CALL:
	case ZYDIS_CATEGORY_RET:
	case ZYDIS_CATEGORY_SYSCALL:
	case ZYDIS_CATEGORY_SYSRET:
	case ZYDIS_CATEGORY_INTERRUPT:
		return false;
	default:
		/* iretq is among the returns; rep makes several steps of one instruction */
		return i->mnemonic != ZYDIS_MNEMONIC_RDPMC && i->mnemonic != ZYDIS_MNEMONIC_POPFQ &&
		       i->mnemonic != ZYDIS_MNEMONIC_POPF &&
		       !(i->attributes &
			 (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE));
	}
}

size_t fake_straight(const uint8_t *code, size_t size, unsigned *n, uint64_t *cost)
{
	ZydisDecoder decoder;
	ZydisDecodedInstruction insn;
	size_t at = 0;

	*n = 0;
	*cost = 0;
	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	while (size - at >= 16 &&
	       ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, NULL, code + at, size - at,
							  &insn)) &&
	       is_straight(&insn)) {
		*cost += fake_cost(code + at);
		at += insn.length;
		++*n;
	}
	return at;
}
