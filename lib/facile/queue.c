/* SPDX-License-Identifier: MIT
 *
 * The instruction queue between predecoder and decoders.  Where it is small, predecoded
 * instructions enter only if few enough are in it, which is known late: the decoders find too few
 * of them at times.  Unrolled nops of one byte take 7 cycles for 40 on Golden Cove, not 7 for 42.
 * Only the numbers of instructions matter, so a cycle is cheap.
 */
#include <string.h>

#include "facile/facile.h"

enum { MAX_DELAY = 8 /* of iq_leave_delay */, UNKNOWN = UINT8_MAX };

/* Of an instruction, for the decoders. */
enum { FUSIBLE = 1, COMPLEX = 2, ENDS = 4, JOINED = 8, SPLIT = 16 };

struct queue {
	unsigned
		n_insns; /* of as many copies of the block as the decoders may look at in a cycle */
	unsigned size, delay, decoders, split_decoders;
	bool fusible_on_last, is_plain; /* nothing but FUSIBLE */
	const uint8_t *flags;		/* of these, and as many of the next as may be looked at */
	const uint8_t *beside;		/* simple decoders beside a complex one */
	/* How many are decoded together, by the first of them and by `ready` up to `reach`; UNKNOWN:
	 * not counted yet.  The same few cases come again and again.
	 */
	uint8_t *decoded;
	unsigned reach;		     /* more instructions that are ready make no difference */
	unsigned next;		     /* instruction to be decoded */
	unsigned ready;		     /* instructions that can be decoded */
	unsigned held;		     /* that are in the queue: ready, or on their way out */
	unsigned before;	     /* held at the end of the cycle before the last */
	unsigned leaving[MAX_DELAY]; /* decoded, by the cycle modulo `delay`: phase */
	unsigned phase;
};

static inline unsigned wrap(const struct queue *q, unsigned i)
{
	return i < q->n_insns ? i : i - q->n_insns;
}

/* How many of the first ones are decoded together: a fusible instruction must see the one behind
 * it, and may not be on the last decoder.
 */
static inline unsigned count_plain(const struct queue *q)
{
	unsigned n = q->ready < q->decoders ? q->ready : q->decoders;

	if (n && (n == q->ready || (n == q->decoders && !q->fusible_on_last)) &&
	    q->flags[q->next + n - 1] & FUSIBLE)
		n--;
	return n;
}

static unsigned count_decoded(const struct queue *q)
{
	unsigned left = q->decoders, n = 0, taken = 0;

	while (n < q->ready && left) {
		const unsigned i = q->next + n, flags = q->flags[i];

		if (flags & JOINED) {
			n++;
			continue;
		}
		if (taken && flags & COMPLEX)
			break;
		if (flags & SPLIT && (left < 2 || taken >= q->split_decoders))
			break;
		if (flags & FUSIBLE &&
		    (n + 1 == q->ready || (taken == q->decoders - 1 && !q->fusible_on_last)))
			break;
		n++;
		taken++;
		left -= 1 + (flags / SPLIT & 1);
		if (flags & COMPLEX && q->beside[i] < left)
			left = q->beside[i];
		if (flags & ENDS)
			break;
	}
	return n;
}

static inline unsigned look_up_decoded(const struct queue *q)
{
	const unsigned ready = q->ready < q->reach ? q->ready : q->reach;
	uint8_t *n = &q->decoded[q->next * (q->reach + 1) + ready];

	if (*n == UNKNOWN)
		*n = (uint8_t)count_decoded(q);
	return *n;
}

/* A cycle: a group enters if the queue had room at the end of the cycle before the last; returns
 * whether it did.
 */
static inline bool step(struct queue *q, unsigned group, bool is_plain)
{
	const bool enters = q->before <= q->size;
	unsigned *leaving = &q->leaving[q->phase], n;

	q->before = q->held;
	q->ready += enters ? group : 0;
	q->held += (enters ? group : 0) - *leaving;
	n = is_plain ? count_plain(q) : look_up_decoded(q);
	q->ready -= n;
	*leaving = n;
	q->next = wrap(q, q->next + n);
	q->phase = q->phase + 1 < q->delay ? q->phase + 1 : 0;
	return enters;
}

/* Instructions of the iteration before that end in the block in which this one begins. */
static unsigned ends_before(const struct tact_block *block, unsigned bytes)
{
	unsigned n = 0, i = (unsigned)block->n_insns;

	for (unsigned left = block->opt.alignment % bytes; left;) {
		const unsigned length = block->insns[--i].lowered->length;

		n++;
		left -= length < left ? length : left;
		if (!i)
			i = (unsigned)block->n_insns;
	}
	return n;
}

struct groups {
	uint8_t *size; /* how many instructions are predecoded in each cycle */
	unsigned n, largest;
	unsigned ends, width; /* instructions that end in the present block; predecode_width */
};

/* Ends a block; `partial` is 1 if the opcode of an instruction that crosses its end is in it. */
static void end_block(struct groups *g, unsigned partial)
{
	unsigned slots = g->ends + partial;

	do {
		const unsigned n = g->ends < g->width ? g->ends : g->width;

		g->size[g->n++] = (uint8_t)n;
		g->ends -= n;
		slots -= slots < g->width ? slots : g->width;
		if (n > g->largest)
			g->largest = n;
	} while (slots);
}

static void find_groups(const struct tact_block *block, unsigned iterations, struct groups *g)
{
	const unsigned bytes = (unsigned)block->arch->params.predecode_block;
	unsigned address = block->opt.alignment % bytes, end = bytes;

	g->ends = ends_before(block, bytes);
	for (unsigned it = 0; it < iterations; it++)
		for (size_t i = 0; i < block->n_insns; i++) {
			const struct block_lowered *l = block->insns[i].lowered;

			if (address + l->length > end) {
				end_block(g, address + l->opcode_offset < end);
				end += bytes;
			}
			g->ends++;
			address += l->length;
		}
	if (address == end)
		end_block(g, 0);
}

static void set_flags(const struct tact_block *block, struct queue *q, uint8_t *flags,
		      uint8_t *beside, size_t n)
{
	q->is_plain = true;
	for (size_t i = 0; i < block->n_insns; i++) {
		const struct block_insn *bi = &block->insns[i];
		const struct block_lowered *l = bi->lowered;
		unsigned f = l->fuse ? FUSIBLE : 0;

		if (bi->fused_prev && !l->is_nop)
			f = JOINED;
		else if (l->complex_decoder)
			f |= COMPLEX;
		else if (l->is_split)
			f |= SPLIT;
		if (l->attributes & TACT_INSN_BRANCH || bi->fused_next)
			f |= ENDS;
		flags[i] = (uint8_t)f;
		beside[i] = l->simple_beside;
		q->is_plain &= !(f & ~FUSIBLE);
	}
	/* Then the same again, so that no place is behind the end. */
	for (size_t i = block->n_insns; i < n; i++) {
		flags[i] = flags[i - block->n_insns];
		beside[i] = beside[i - block->n_insns];
	}
	q->flags = flags;
	q->beside = beside;
}

/* What the queue is like when the groups begin anew: if it was so before, it stays so. */
struct snapshot {
	unsigned next, ready, before, leaving[MAX_DELAY], cycle;
};

enum { ROUNDS = 12 };

static unsigned seen_before(const struct snapshot *s, unsigned n)
{
	for (unsigned i = n; i-- > 0;)
		if (s[i].next == s[n].next && s[i].ready == s[n].ready &&
		    s[i].before == s[n].before &&
		    !memcmp(s[i].leaving, s[n].leaving, sizeof(s->leaving)))
			return i;
	return n;
}

/* Lets all groups enter.  Works on a copy, so that the compiler keeps it in registers; returns the
 * cycles.
 */
static unsigned enter_all(struct queue *queue, const struct groups *g)
{
	struct queue q = *queue;
	unsigned cycles = 0;

	if (q.is_plain)
		for (unsigned k = 0; k < g->n; cycles++)
			k += step(&q, g->size[k], true);
	else
		for (unsigned k = 0; k < g->n; cycles++)
			k += step(&q, g->size[k], false);
	*queue = q;
	return cycles;
}

/* Goes round until the state recurs, or for ROUNDS rounds. */
static void go_round(struct queue *q, const struct groups *g, unsigned iterations, unsigned n_insns,
		     struct facile_queue *out)
{
	struct snapshot s[ROUNDS + 1];
	unsigned cycle = 0, n = 0, first = 0;

	for (;; n++) {
		s[n] = (struct snapshot){q->next % n_insns, q->ready, q->before, {0}, cycle};
		for (unsigned k = 0, at = q->phase; k < q->delay; k++) {
			s[n].leaving[k] = q->leaving[at];
			at = at + 1 < q->delay ? at + 1 : 0;
		}
		first = seen_before(s, n);
		if (first < n || n == ROUNDS)
			break;
		cycle += enter_all(q, g);
	}
	if (first == n)
		first = n / 2;
	out->cycles = s[n].cycle - s[first].cycle;
	out->iterations = (n - first) * iterations;
}

/* Iterations after which code of this length has the same place in a block, unless that is so far
 * that it makes no difference.
 */
static unsigned period_of(unsigned length, unsigned bytes)
{
	enum { FAR = 2048 };
	unsigned n = bytes;

	while (n > 1 && length % 2 == 0) {
		length /= 2;
		n /= 2;
	}
	bytes /= n; /* that is how much of `length` is a power of two */
	length *= bytes;
	while (n > 1 && n * length > FAR)
		n /= 2;
	return n;
}

int facile_queue_run(struct tact_block *block, struct facile_queue *out)
{
	const struct arch_params *p = &block->arch->params;
	const unsigned length = (unsigned)block->code_size, n = (unsigned)block->n_insns,
		       iterations = period_of(length, (unsigned)p->predecode_block);
	/* A cycle looks at one instruction for each decoder and what is joined to it. */
	const unsigned reach = 2 * (unsigned)p->decoders + 2,
		       copies = n < reach ? (reach + n - 1) / n : 1, places = copies * n + reach;
	struct queue q = {.n_insns = copies * n,
			  .size = (unsigned)p->iq_size,
			  .delay = (unsigned)p->iq_leave_delay,
			  .decoders = (unsigned)p->decoders,
			  .split_decoders = (unsigned)p->split_decoders,
			  .fusible_on_last = p->fusible_on_last_decoder};
	struct groups g = {.width = (unsigned)p->predecode_width};
	const size_t most =
		(size_t)iterations * n + 4 + iterations * length / (unsigned)p->predecode_block;
	const size_t cases = (size_t)copies * n * (reach + 1);
	uint8_t *memory = block_scratch(block, 2 * (size_t)places + most + cases);

	if (!memory)
		return -TACT_E_NOMEM;
	g.size = memory + 2 * (size_t)places;
	find_groups(block, iterations, &g);
	set_flags(block, &q, memory, memory + places, places);
	if (q.is_plain && g.largest < q.decoders) {
		*out = (struct facile_queue){g.n, iterations};
		return 0;
	}
	q.reach = reach;
	q.decoded = g.size + most;
	if (!q.is_plain)
		memset(q.decoded, UNKNOWN, cases);
	go_round(&q, &g, iterations, n, out);
	return 0;
}
