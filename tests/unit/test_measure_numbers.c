/* SPDX-License-Identifier: MIT
 *
 * From made-up samples to a number, and from a made-up trace to flags.
 */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "testing.h"

#include "base/file.h"
#include "measure/x86/measure_x86.h"
#include "support.h"

/* ---- a made-up machine ---- */

enum { N = 32, STEP = 26, ISSUE = 0, LOOP, WINDOW, N_CANARIES };

/* A machine on which time passes as the tests want. */
struct machine {
	struct measure_floor floor;
	struct rng rng;
	double time;			/* ticks */
	double ticks_per_cycle;		/* changes with the frequency */
	double overhead;		/* cycles of reading the counter */
	double ideal[N_CANARIES];	/* cycles of an iteration of each part */
	double slow[N_CANARIES], block; /* how many times longer things take with the neighbour */
	double switches;		/* when the neighbour comes or goes */
	double on, off; /* ticks that he stays, and stays away, on average; 0: never */
	bool is_on;
	uint32_t cpu;
};

static const struct measure_core fine_core = {.width = 6, .window = 512};
static const struct measure_core coarse_core = {.width = 6, .window = 512, .coarse = true};
static const struct measure_core strange_core = {.width = 0};

static double uniform(struct machine *m)
{
	return rng_below(&m->rng, 1000001) / 1000000.0;
}

/* Ticks until something happens that happens every `mean` ticks. */
static double until_next(struct machine *m, double mean)
{
	return -mean * log(fmax(uniform(m), 1e-6));
}

static struct machine machine_of(const struct measure_core *core, unsigned quantum)
{
	struct machine m = {.rng = {4711},
			    .time = 1e6,
			    .ticks_per_cycle = 0.7,
			    .overhead = 60,
			    .slow = {1, 1, 1},
			    .block = 1,
			    .switches = INFINITY};

	measure_floor_init(&m.floor, &measure_x86, core, quantum);
	assert_int_equal(m.floor.n_parts, N_CANARIES);
	for (unsigned i = 0; i < N_CANARIES; i++)
		m.ideal[i] = fmax(m.floor.part[i].cycles, m.floor.part[i].uops / 6.0) *
			     (i == ISSUE ? 1.01 : 1.002);
	return m;
}

/* Lets something run that takes so many cycles alone, and `slow` times as many with the neighbour.
 */
static void pass_time(struct machine *m, double cycles, double slow)
{
	double ticks = cycles * m->ticks_per_cycle;

	while (ticks > 0) {
		double rate = m->is_on ? slow : 1, left = m->switches - m->time;

		if (ticks * rate <= left) {
			m->time += ticks * rate;
			return;
		}
		ticks -= left / rate;
		m->time = m->switches;
		m->is_on = !m->is_on;
		m->switches += until_next(m, m->is_on ? m->on : m->off);
	}
}

static uint64_t stamp(const struct machine *m)
{
	return (uint64_t)(m->time / m->floor.quantum) * m->floor.quantum;
}

static uint64_t timed(struct machine *m, double cycles, double slow)
{
	uint64_t begin = stamp(m);

	pass_time(m, cycles, slow);
	return stamp(m) - begin;
}

static struct measure_reading read_core(struct machine *m)
{
	struct measure_reading r = {.begin = stamp(m), .cpu = m->cpu};

	for (unsigned i = 0; i < N_CANARIES; i++) {
		const double cycles = m->ideal[i] * m->floor.part[i].iterations;

		pass_time(m, cycles / 10, m->slow[i]); /* warm-up */
		r.canary[i] = (uint32_t)timed(m, cycles + m->overhead, m->slow[i]);
	}
	r.chain_short = (uint32_t)timed(m, m->floor.short_chain + m->overhead, 1);
	r.chain_long = (uint32_t)timed(m, m->floor.short_chain + m->floor.chain + m->overhead, 1);
	return r;
}

/* Lets the machine listen, and learn what it is able to do. */
static void learn(struct machine *m)
{
	struct measure_reading r[MEASURE_LISTEN];

	for (unsigned i = 0; i < MEASURE_LISTEN; i++)
		r[i] = read_core(m);
	measure_floor_learn(&m->floor, r, MEASURE_LISTEN);
}

/* A machine that knows what it is able to do. */
static struct machine quiet_machine(const struct measure_core *core, unsigned quantum)
{
	struct machine m = machine_of(core, quantum);

	learn(&m);
	return m;
}

struct samples {
	struct measure_reading first;
	struct measure_sample sample[N];
};

static void take_samples(struct machine *m, struct samples *s, double low, double high)
{
	memset(s, 0, sizeof(*s));
	s->first = read_core(m);
	for (unsigned i = 0; i < N; i++) {
		pass_time(m, 900, 1);
		s->sample[i].low = timed(m, low + m->overhead, m->block);
		pass_time(m, 900, 1);
		s->sample[i].high = timed(m, high + m->overhead, m->block);
		s->sample[i].after = read_core(m);
	}
}

static struct measure_pass evaluate(const struct machine *m, const struct samples *s)
{
	struct measure_pass pass;

	measure_evaluate_pass(&pass, &s->first, s->sample, N, true, &m->floor);
	return pass;
}

/* A neighbour who is always there. */
static void move_in(struct machine *m, double issue, double loop, double window, double block)
{
	m->slow[ISSUE] = issue;
	m->slow[LOOP] = loop;
	m->slow[WINDOW] = window;
	m->block = block;
	m->is_on = true;
}

static void assert_close(double value, double expected, double tolerance)
{
	if (value < expected * (1 - tolerance) || value > expected * (1 + tolerance))
		fail_msg("%.4f instead of %.4f", value, expected);
}

/* ---- from samples to a number ---- */

TEST(estimates_clean_samples)
{
	static const unsigned steps[] = {1, 2, STEP};

	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		struct machine m =
			machine_of(steps[i] < MEASURE_COARSE ? &fine_core : &coarse_core, steps[i]);
		struct measure_pass pass;
		struct samples s;

		learn(&m);
		take_samples(&m, &s, 2000, 10000);
		pass = evaluate(&m, &s);
		assert_true(pass.valid);
		assert_int_equal(pass.kept, N);
		assert_int_equal(pass.dropped, 0);
		assert_int_equal(pass.busy, 0);
		assert_true(pass.disturbance >= 0 && pass.disturbance < 0.02);
		assert_close(pass.high - pass.low, 8000, 0.004);
	}
}

/* With a counter of cycles there is no frequency to find, but neighbours count. */
TEST(estimates_counters)
{
	struct machine m = quiet_machine(&fine_core, 2);
	struct measure_pass pass;
	struct samples s;

	take_samples(&m, &s, 2000, 10000);
	for (unsigned i = 0; i < N; i++) {
		s.sample[i].low = 300 + i % 2;
		s.sample[i].high = 600 + (i % 8 ? 0 : 10000); /* interrupts */
	}
	measure_evaluate_pass(&pass, &s.first, s.sample, N, false, &m.floor);
	assert_true(pass.valid);
	assert_close(pass.low, 300.5, 0.001);
	assert_close(pass.high, 600, 0.001);
	move_in(&m, 1.3, 1.2, 1.6, 1.2);
	take_samples(&m, &s, 2000, 10000);
	measure_evaluate_pass(&pass, &s.first, s.sample, N, false, &m.floor);
	assert_false(pass.valid);
	assert_int_equal(pass.busy, N);
}

TEST(outliers_do_not_count)
{
	struct machine m = quiet_machine(&coarse_core, STEP);
	struct measure_pass pass;
	struct samples s;

	take_samples(&m, &s, 2000, 10000);
	for (unsigned i = 0; i < N; i += 4) { /* interrupts: in a quarter of them */
		s.sample[i].high += 5000;
		for (unsigned k = i; k < N; k++)
			s.sample[k].after.begin += 5000;
	}
	s.sample[5].low /= 2; /* ones that cannot be */
	s.sample[7].high /= 2;
	pass = evaluate(&m, &s);
	assert_true(pass.valid);
	assert_close(pass.high - pass.low, 8000, 0.006);
}

TEST(drifting_clock)
{
	struct machine m = quiet_machine(&fine_core, 2);
	struct measure_pass pass;
	struct samples s;

	take_samples(&m, &s, 2000, 10000);
	for (unsigned i = 0; i < N; i += 4) /* a change hits the samples on both sides */
		s.sample[i].after.chain_long += s.sample[i].after.chain_long / 50;
	pass = evaluate(&m, &s);
	assert_true(pass.valid);
	assert_int_equal(pass.dropped, N / 2);
	assert_close(pass.high - pass.low, 8000, 0.004);

	/* Another frequency in every second: it cancels out. */
	for (double rate = 0.3; rate < 2; rate *= 1.3) {
		m.ticks_per_cycle = rate;
		take_samples(&m, &s, 2000, 10000);
		pass = evaluate(&m, &s);
		assert_true(pass.valid);
		assert_close(pass.high - pass.low, 8000, 0.004);
	}
	for (unsigned i = 0; i < N; i++)
		s.sample[i].after.chain_long += i % 2 ? s.sample[i].after.chain_long / 10 : 0;
	pass = evaluate(&m, &s);
	assert_false(pass.valid);
}

/* The neighbour is there before we are: what was seen so far tells nothing. */
TEST(sibling_from_the_start)
{
	static const struct {
		double issue, loop, window, block;
	} kinds[] = {
		{1.9, 1.8, 2.0, 1.9},  /* busy */
		{1.2, 1.2, 1.6, 1.25}, /* halves the window, does little */
		{1.0, 1.12, 1.0, 1.2}, /* hardly runs; only memory notices */
		{1.06, 1.0, 1.3, 1.1},
	};
	static const struct measure_core *const cores[] = {&fine_core, &coarse_core};

	for (size_t k = 0; k < ARRAY_SIZE(kinds); k++)
		for (size_t c = 0; c < ARRAY_SIZE(cores); c++) {
			struct machine m = machine_of(cores[c], c ? STEP : 2);
			struct measure_pass pass;
			struct samples s;

			move_in(&m, kinds[k].issue, kinds[k].loop, kinds[k].window, kinds[k].block);
			learn(&m);
			take_samples(&m, &s, 2000, 10000);
			pass = evaluate(&m, &s);
			assert_false(pass.valid);
			assert_int_equal(pass.kept, 0);
			assert_int_equal(pass.busy, N);
			assert_true(pass.disturbance > 0.05);
			/* He leaves, and at once everything is well. */
			m.is_on = false;
			take_samples(&m, &s, 2000, 10000);
			pass = evaluate(&m, &s);
			assert_true(pass.valid);
			assert_int_equal(pass.dropped, 0);
		}
}

/* Of a core that nobody knows, only what was reached before tells. */
TEST(sibling_of_a_strange_core)
{
	struct machine m = machine_of(&strange_core, 2);
	struct measure_pass pass;
	struct samples s;

	take_samples(&m, &s, 2000, 10000);
	pass = evaluate(&m, &s);
	assert_false(pass.valid); /* nothing was learned yet */
	learn(&m);
	move_in(&m, 1.5, 1.5, 1.5, 1.5);
	learn(&m);
	take_samples(&m, &s, 2000, 10000);
	pass = evaluate(&m, &s);
	assert_false(pass.valid);
	assert_int_equal(pass.busy, N);
	assert_close(pass.disturbance, 0.5, 0.1);
}

TEST(bursts)
{
	struct machine m = quiet_machine(&fine_core, 2);
	struct measure_pass pass;
	struct samples s;

	/* He comes every few samples, and stays for one. */
	move_in(&m, 1.6, 1.5, 1.7, 1.6);
	m.is_on = false;
	m.on = 20000;
	m.off = 200000;
	m.switches = m.time + 50000;
	take_samples(&m, &s, 2000, 10000);
	pass = evaluate(&m, &s);
	assert_true(pass.valid);
	assert_true(pass.dropped > 2 && pass.dropped < 20);
	assert_close(pass.high - pass.low, 8000, 0.004);
}

/* Fine before, bad after; and the other way round. */
TEST(one_side)
{
	struct machine m = quiet_machine(&fine_core, 2);
	struct measure_pass pass;
	struct samples s;

	take_samples(&m, &s, 2000, 10000);
	for (unsigned i = 0; i < N; i += 2)
		s.sample[i].after.canary[WINDOW] = s.sample[i].after.canary[WINDOW] * 13 / 10;
	pass = evaluate(&m, &s);
	assert_false(pass.valid); /* each sample has one on one side */
	assert_int_equal(pass.busy, N);
	take_samples(&m, &s, 2000, 10000);
	s.first.canary[ISSUE] *= 2;
	s.sample[20].after.canary[LOOP] = s.sample[20].after.canary[LOOP] * 11 / 10;
	s.sample[20].high *= 2;
	pass = evaluate(&m, &s);
	assert_true(pass.valid);
	assert_int_equal(pass.busy, 3);
	assert_int_equal(pass.kept, N - 3);
}

/* Nothing that is timed is longer, but time is missing in between. */
TEST(gaps_in_time)
{
	struct machine m = quiet_machine(&fine_core, 2);
	struct measure_pass pass;
	struct samples s;

	take_samples(&m, &s, 2000, 10000);
	for (unsigned i = 10; i < N; i++)
		s.sample[i].after.begin += 50000;
	pass = evaluate(&m, &s);
	assert_true(pass.valid);
	assert_int_equal(pass.dropped, 1);
	/* Stamps of another CPU, which may be ahead or behind. */
	for (unsigned i = 20; i < N; i++)
		s.sample[i].after.cpu = 3;
	pass = evaluate(&m, &s);
	assert_int_equal(pass.dropped, 2);
	for (unsigned i = 20; i < N; i++)
		s.sample[i].after.begin -= 1000000;
	pass = evaluate(&m, &s);
	assert_true(pass.valid);
	assert_int_equal(pass.dropped, 2);
}

TEST(all_disturbed)
{
	struct machine m = quiet_machine(&fine_core, 2);
	struct measure_pass pass;
	struct samples s;

	for (int ticks = 0; ticks < 2; ticks++) {
		take_samples(&m, &s, 2000, 10000);
		for (unsigned i = 0; i < N; i++)
			s.sample[i].disturbed = 1;
		measure_evaluate_pass(&pass, &s.first, s.sample, N, ticks, &m.floor);
		assert_false(pass.valid);
		assert_int_equal(pass.dropped, N);
		for (unsigned i = 0; i < 8; i++)
			s.sample[i].disturbed = 0;
		measure_evaluate_pass(&pass, &s.first, s.sample, N, ticks, &m.floor);
		assert_true(pass.valid);
		s.sample[0].disturbed = 1;
		measure_evaluate_pass(&pass, &s.first, s.sample, N, ticks, &m.floor);
		assert_false(pass.valid); /* less than a quarter */
	}
	measure_evaluate_pass(&pass, &s.first, s.sample, 0, true, &m.floor);
	assert_false(pass.valid);
	/* Times of zero, or of eternities, as a block that overwrites them would have it. */
	memset(&s, 0, sizeof(s));
	assert_false(evaluate(&m, &s).valid);
	memset(&s, 0xff, sizeof(s));
	assert_false(evaluate(&m, &s).valid);
	/* A canary that is faster than any core. */
	take_samples(&m, &s, 2000, 10000);
	for (unsigned i = 0; i < N; i++)
		s.sample[i].after.canary[LOOP] /= 2;
	assert_false(evaluate(&m, &s).valid);
}

/* ---- passes ---- */

static enum tact_measure_status conclude(double *value, unsigned n, double *number)
{
	struct tact_measurement out = {
		.size = sizeof(out), .status = TACT_MEASURE_DISTURBED, .low = 10, .high = 20};

	measure_conclude(&out, value, n, 0.1, 0.5);
	*number = out.cycles_per_iteration;
	assert_int_equal(out.status == TACT_MEASURE_OK, !out.reason[0]);
	return out.status;
}

TEST(concludes)
{
	double one[] = {2}, same[] = {2, 2.01}, differ[] = {2, 3}, five[] = {3, 2.02, 2, 2.01, 4},
	       fast[] = {0.4, 0.4, 0.4}, negative[] = {-1, -1, -1}, none[] = {NAN, NAN, NAN}, value;

	assert_int_equal(conclude(one, 0, &value), TACT_MEASURE_UNSTABLE);
	assert_int_equal(conclude(one, 1, &value), TACT_MEASURE_UNSTABLE);
	assert_int_equal(conclude(same, 2, &value), TACT_MEASURE_OK);
	assert_close(value, 2.01, 1e-9);
	assert_int_equal(conclude(differ, 2, &value), TACT_MEASURE_UNSTABLE);
	assert_int_equal(conclude(five, 5, &value), TACT_MEASURE_OK);
	assert_close(value, 2.01, 1e-9);
	assert_int_equal(conclude(fast, 3, &value), TACT_MEASURE_UNSTABLE);
	assert_int_equal(conclude(negative, 3, &value), TACT_MEASURE_UNSTABLE);
	assert_int_equal(conclude(none, 3, &value), TACT_MEASURE_UNSTABLE);
}

/* Measures a block on the machine, as a harness does: until there are enough passes, or for so many
 * tries.
 */
static enum tact_measure_status measure(struct machine *m, double cycles, unsigned tries,
					double *number)
{
	double value[5];
	unsigned n = 0;

	for (unsigned i = 0; i < tries && n < 5; i++) {
		struct measure_pass pass;
		struct samples s;

		take_samples(m, &s, 200 * cycles, 1200 * cycles);
		pass = evaluate(m, &s);
		if (pass.valid)
			value[n++] = (pass.high - pass.low) / 1000;
		else
			pass_time(m, 20000, 1);
	}
	if (n < 2)
		return TACT_MEASURE_DISTURBED;
	return conclude(value, n, number);
}

/* One clean pass among fifty busy ones is not enough, two are. */
TEST(few_clean_passes)
{
	for (unsigned clean = 1; clean <= 2; clean++) {
		struct machine m = machine_of(&fine_core, 2);
		double value[5];
		unsigned n = 0;

		move_in(&m, 1.7, 1.7, 1.7, 1.7);
		for (unsigned i = 0; i < 50; i++) {
			struct measure_pass pass;
			struct samples s;

			m.is_on = i < 20 || i >= 20 + clean;
			learn(&m);
			take_samples(&m, &s, 2000, 10000);
			pass = evaluate(&m, &s);
			assert_int_equal(pass.valid, !m.is_on);
			if (pass.valid)
				value[n++] = (pass.high - pass.low) / 8000;
		}
		assert_int_equal(n, clean);
		assert_int_equal(conclude(value, n, value),
				 clean < 2 ? TACT_MEASURE_UNSTABLE : TACT_MEASURE_OK);
		assert_true(clean < 2 || fabs(value[0] - 1) < 0.004);
	}
}

/* Neighbours of all kinds, next to blocks of all kinds. */
TEST(simulated_neighbours)
{
	enum { BLOCKS = 6000 };
	unsigned ok = 0, wrong = 0;
	struct machine m = machine_of(&fine_core, 2);

	learn(&m);
	for (unsigned i = 0; i < BLOCKS; i++) {
		const double cycles = 0.5 + 5 * uniform(&m), much = uniform(&m);
		double number = 0;

		/* As soon as he runs, he has half of the window; what else he takes varies. */
		move_in(&m, 1 + 0.9 * much * uniform(&m), 1 + 0.9 * much, 1.25 + 0.7 * uniform(&m),
			1 + much);
		m.on = 3000 * pow(10, 4 * uniform(&m)); /* microseconds to milliseconds */
		m.off = 3000 * pow(10, 4 * uniform(&m));
		m.is_on = i % 2;
		m.switches = m.time + until_next(&m, m.is_on ? m.on : m.off);
		if (i % 10 == 0)
			m.ticks_per_cycle = 0.4 + uniform(&m);
		if (measure(&m, cycles, 12, &number) != TACT_MEASURE_OK)
			continue;
		ok++;
		wrong += fabs(number - cycles) > 0.05 * cycles;
	}
	print_message("%u of %u blocks have a number, %u a wrong one\n", ok, BLOCKS, wrong);
	assert_true(ok > BLOCKS / 4);
	assert_true(1000 * wrong < ok);
}

/* ---- the floor ---- */

TEST(floor_is_learned)
{
	struct machine m = machine_of(&strange_core, 2);

	learn(&m);
	assert_close(m.floor.overhead, m.overhead, 0.1);
	for (unsigned i = 0; i < N_CANARIES; i++)
		assert_close(m.floor.best[i], m.ideal[i], 0.01);
}

/* Whatever a neighbour, interrupts or changes of the frequency do to readings: the floor stays above
 * what the core can do.
 */
TEST(disturbance_never_lowers_the_floor)
{
	static const struct measure_core *const cores[] = {&fine_core, &coarse_core, &strange_core};

	for (size_t c = 0; c < ARRAY_SIZE(cores); c++) {
		struct machine m = machine_of(cores[c], cores[c]->coarse ? STEP : 2);

		for (unsigned round = 0; round < 3000; round++) {
			struct measure_reading r[MEASURE_LISTEN];

			move_in(&m, 1 + uniform(&m), 1 + uniform(&m), 1 + uniform(&m), 1);
			m.on = m.off = 1000 * pow(10, 3 * uniform(&m));
			m.switches = m.time + until_next(&m, m.on);
			for (unsigned i = 0; i < MEASURE_LISTEN; i++) {
				if (rng_below(&m.rng, 8) == 0)
					m.ticks_per_cycle = 0.4 + uniform(&m);
				r[i] = read_core(&m);
				if (rng_below(&m.rng, 8) == 0) /* an interrupt, anywhere */
					(&r[i].chain_short)[rng_below(&m.rng, 5)] +=
						(uint32_t)rng_below(&m.rng, 20000);
			}
			measure_floor_learn(&m.floor, r, MEASURE_LISTEN);
		}
		for (unsigned i = 0; i < N_CANARIES; i++)
			assert_true(m.floor.best[i] == 0 || m.floor.best[i] > 0.985 * m.ideal[i]);
	}
}

/* ---- the file that keeps the floor ---- */

static void write_state(const char *path, const char *text)
{
	assert_int_equal(file_write(path, text, strlen(text), NULL), 0);
}

TEST(state_file)
{
	char path[] = "/tmp/tact-canary-XXXXXX", text[256];
	struct machine m = machine_of(&strange_core, 2), other = machine_of(&strange_core, 2);
	struct text file = {0};
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	unlink(path);
	measure_floor_load(&m.floor, path, "V-1-2-3"); /* absent */
	assert_true(m.floor.best[0] == 0);
	learn(&m);
	measure_floor_save(&m.floor, path, "V-1-2-3");
	measure_floor_save(&m.floor, path, "V-1-2-30");
	measure_floor_load(&other.floor, path, "V-1-2");
	assert_true(other.floor.best[0] == 0); /* another CPU */
	measure_floor_load(&other.floor, path, "V-1-2-3");
	for (unsigned i = 0; i < N_CANARIES; i++)
		assert_close(other.floor.best[i], m.floor.best[i], 0.001);
	/* Only what is better is written. */
	other = machine_of(&strange_core, 2);
	for (unsigned i = 0; i < N_CANARIES; i++)
		measure_floor_offer(&other.floor, i, 1.5 * m.floor.best[i]);
	measure_floor_save(&other.floor, path, "V-1-2-3");
	other = machine_of(&strange_core, 2);
	measure_floor_load(&other.floor, path, "V-1-2-3");
	assert_close(other.floor.best[0], m.floor.best[0], 0.001);
	assert_int_equal(file_read(path, 4096, &file, NULL), 0);
	snprintf(text, sizeof(text), "%s", text_string(&file));
	assert_non_null(strstr(text, "tact-canary 1\n"));
	assert_non_null(strstr(text, "V-1-2-30 issue"));
	text_free(&file);
	unlink(path);
	/* A place where nothing can be written. */
	measure_floor_save(&m.floor, "/proc/none/canary", "V-1-2-3");
}

/* Whoever can write the file can make results rare, but not wrong: a floor that is too low only
 * drops samples, one that is too high is lowered at once.
 */
TEST(poisoned_state_file)
{
	static const char *const files[] = {
		"",
		"\n\n\n",
		"tact-canary 2\nV-1-2-3 issue 10 loop 1 window 70\n",
		"something else\nV-1-2-3 issue 10 loop 1 window 70\n",
		"tact-canary 1\nV-1-2-3 issue 0.1 loop 0 window -5\n",
		"tact-canary 1\nV-1-2-3 issue nan loop inf window 1e-300\n",
		"tact-canary 1\nV-1-2-3 issue\nV-1-2-3\nV-1-2-3 \nissue 1",
		"tact-canary 1\nV-1-2-3 loop x issue y window\n",
	};
	char path[] = "/tmp/tact-canary-XXXXXX";
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		struct machine m = machine_of(&fine_core, 2);

		write_state(path, files[i]);
		measure_floor_load(&m.floor, path, "V-1-2-3");
		for (unsigned k = 0; k < N_CANARIES; k++)
			assert_true(m.floor.best[k] == 0);
	}
	for (int high = 0; high < 2; high++) {
		struct machine m = machine_of(&fine_core, 2);
		struct samples s;

		write_state(path, high ? "tact-canary 1\nV-1-2-3 issue 90 loop 9 window 900\n"
				       : "tact-canary 1\nV-1-2-3 issue 10 loop 1 window 78\n");
		measure_floor_load(&m.floor, path, "V-1-2-3");
		learn(&m);
		take_samples(&m, &s, 2000, 10000);
		assert_true(evaluate(&m, &s).valid);
		move_in(&m, 1.2, 1.2, 1.3, 1.2);
		take_samples(&m, &s, 2000, 10000);
		assert_false(evaluate(&m, &s).valid);
	}
	unlink(path);
}

/* ---- the step of the counter ---- */

TEST(step_of_the_counter)
{
	unsigned count[256];

	memset(count, 0, sizeof(count));
	count[24] = 3900; /* 24.45: 100 MHz, in ticks of 2,445 MHz */
	count[25] = 3900;
	count[49] = 22000;
	count[200] = 20;
	assert_int_equal(measure_quantum(count, 256), 25);
	memset(count, 0, sizeof(count));
	for (unsigned d = 38; d < 56; d += 2)
		count[d] = 1000 + d;
	assert_int_equal(measure_quantum(count, 256), 2);
	memset(count, 0, sizeof(count));
	for (unsigned d = 15; d < 25; d++)
		count[d] = 1000;
	assert_int_equal(measure_quantum(count, 256), 2);
	memset(count, 0, sizeof(count));
	count[36] = 20000;
	count[72] = 100;
	assert_int_equal(measure_quantum(count, 256), 36);
	memset(count, 0, sizeof(count));
	assert_int_equal(measure_quantum(count, 256), 2);
}

/* ---- flags of a trace ---- */

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI };
#define BODY (MEASURE_CODE_BASE + 0x1140)

static struct measure_host *new_host(void)
{
	struct measure_host *host = calloc(1, sizeof(*host));

	assert_non_null(host);
	return host;
}

static struct measure_step *add_step(struct measure_host *host, uint64_t rip)
{
	struct measure_step *s = &host->step[host->n_steps++];

	s->pc = rip;
	for (unsigned r = 0; r < 16; r++)
		s->reg[r] = 0x10000;
	return s;
}

/* Flags of store and load, mov [rsi], .. and mov .., [rdi], at these addresses, whose pages share
 * so many physical ones.
 */
static uint32_t flags_with(const char *hex, size_t first_size, uint64_t store, uint64_t load,
			   unsigned n_physical)
{
	struct measure_host *host = new_host();
	uint8_t code[64];
	size_t size = bytes_of(code, sizeof(code), hex);
	uint32_t flags;

	host->page[0] = store & ~0xfffull;
	host->page[1] = load & ~0xfffull;
	host->n_pages = 2;
	host->n_physical = n_physical;
	add_step(host, BODY)->reg[RSI] = store;
	add_step(host, BODY + first_size)->reg[RDI] = load;
	flags = measure_trace_flags(&measure_x86, host, code, size, BODY, false);
	free(host);
	return flags;
}

static uint32_t flags_of(const char *hex, size_t first_size, uint64_t store, uint64_t load)
{
	return flags_with(hex, first_size, store, load, 1);
}

TEST(flags_of_stores_and_loads)
{
	static const char same[] = "488906 488b07"; /* mov [rsi], rax; mov rax, [rdi] */
	static const char wider[] = "8906 488b07";  /* mov [rsi], eax; mov rax, [rdi] */
	static const char part[] = "488906 0fb607"; /* mov [rsi], rax; movzx eax, byte [rdi] */

	assert_int_equal(flags_of(same, 3, 0x10000, 0x10008), 0);
	assert_int_equal(flags_of(same, 3, 0x10000, 0x20008), 0);
	assert_int_equal(flags_of(same, 3, 0x10000, 0x10000), TACT_MFLAG_FORWARDS);
	assert_int_equal(flags_of(same, 3, 0x10000, 0x20000), TACT_MFLAG_ALIAS_PAGE);
	assert_int_equal(flags_of(same, 3, 0x10000, 0x20004), TACT_MFLAG_ALIAS_PAGE);
	assert_int_equal(flags_with(same, 3, 0x10000, 0x20000, 2), 0); /* not the same page */
	assert_int_equal(flags_of(same, 3, 0x10000, 0x10004),
			 TACT_MFLAG_FORWARDS | TACT_MFLAG_PARTIAL);
	assert_int_equal(flags_of(wider, 2, 0x10000, 0x10000),
			 TACT_MFLAG_FORWARDS | TACT_MFLAG_PARTIAL);
	assert_int_equal(flags_of(wider, 2, 0x10000, 0x0fffc),
			 TACT_MFLAG_FORWARDS | TACT_MFLAG_PARTIAL | TACT_MFLAG_CROSSES_LINE);
	assert_int_equal(flags_of(part, 3, 0x10000, 0x10007), TACT_MFLAG_FORWARDS);
	assert_int_equal(flags_of(part, 3, 0x10000, 0x10008), 0);
	assert_int_equal(flags_of(same, 3, 0x1003c, 0x10000), TACT_MFLAG_CROSSES_LINE);
	assert_int_equal(flags_of(same, 3, 0x10000, 0x1003a), TACT_MFLAG_CROSSES_LINE);
	assert_int_equal(flags_of(same, 3, 0x10038, 0x10030), 0);
	assert_int_equal(flags_of(same, 3, 0x10fff, 0x1003f), TACT_MFLAG_CROSSES_LINE);
	assert_int_equal(flags_of(same, 3, 0x1003c, 0x1003c),
			 TACT_MFLAG_CROSSES_LINE | TACT_MFLAG_FORWARDS);
}

/* push stores below rsp, pop loads at it. */
TEST(flags_of_the_stack)
{
	struct measure_host *host = new_host();
	uint8_t code[] = {0x50, 0x5b}; /* push rax; pop rbx */

	add_step(host, BODY)->reg[RSP] = 0x10040;
	add_step(host, BODY + 1)->reg[RSP] = 0x10038;
	assert_int_equal(measure_trace_flags(&measure_x86, host, code, 2, BODY, false),
			 TACT_MFLAG_FORWARDS);
	host->step[1].reg[RSP] = 0x10040;
	assert_int_equal(measure_trace_flags(&measure_x86, host, code, 2, BODY, false), 0);
	host->step[0].reg[RSP] = 0x10044;
	assert_int_equal(measure_trace_flags(&measure_x86, host, code, 2, BODY, false),
			 TACT_MFLAG_CROSSES_LINE | TACT_MFLAG_FORWARDS | TACT_MFLAG_PARTIAL);
	free(host);
}

/* Later copies, the loop's counter, what is outside, too many steps. */
TEST(places_of_steps)
{
	struct measure_host *host = new_host();
	uint8_t code[] = {0x48, 0x8b, 0x00}; /* mov rax, [rax] */

	add_step(host, BODY + 3 * 50)->reg[RAX] = 0x1003c;
	assert_int_equal(measure_trace_flags(&measure_x86, host, code, 3, BODY, false),
			 TACT_MFLAG_CROSSES_LINE);
	assert_int_equal(measure_trace_flags(&measure_x86, host, code, 3, BODY, true),
			 0); /* after the loop */
	host->step[0].pc = BODY;
	assert_int_equal(measure_trace_flags(&measure_x86, host, code, 3, BODY, true),
			 TACT_MFLAG_CROSSES_LINE);
	host->step[0].pc = BODY - 1;
	assert_int_equal(measure_trace_flags(&measure_x86, host, code, 3, BODY, false), 0);
	host->step[0].pc = 0;
	assert_int_equal(measure_trace_flags(&measure_x86, host, code, 3, BODY, false), 0);
	host->n_steps = 0;
	assert_int_equal(measure_trace_flags(&measure_x86, host, code, 3, BODY, false), 0);
	host->n_steps = ~0u; /* a child whose memory was overwritten */
	assert_int_equal(measure_trace_flags(&measure_x86, host, code, 3, BODY, false), 0);
	free(host);
}

TEST(other_addresses)
{
	static const struct {
		const char *hex;
		uint32_t flags;
	} cases[] = {
		{"488d403c", 0},				 /* lea: no access */
		{"488b403c", TACT_MFLAG_CROSSES_LINE},		 /* mov rax, [rax+0x3c] */
		{"488b8038f0ffff", 0},				 /* displacement below zero */
		{"488b443001", 0},				 /* base and index */
		{"488b44703c", TACT_MFLAG_CROSSES_LINE},	 /* base, index and scale */
		{"678b403e", TACT_MFLAG_CROSSES_LINE},		 /* 32-bit address */
		{"64488b04253c000000", TACT_MFLAG_CROSSES_LINE}, /* fs:[0x3c] */
		{"0f28403c", TACT_MFLAG_CROSSES_LINE},		 /* movaps */
		{"62f17c48284001", 0},				 /* vmovaps zmm, [rax+0x40] */
		{"48014038", 0},				 /* read, then write */
		{"0f1f403f", 0},				 /* nop: no access either */
		{"0f18483f", 0},				 /* prefetch of one byte */
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct measure_host *host = new_host();
		uint8_t code[64];
		size_t size = bytes_of(code, sizeof(code), cases[i].hex);
		uint32_t flags;

		add_step(host, BODY);
		flags = measure_trace_flags(&measure_x86, host, code, size, BODY, false);
		if (flags != cases[i].flags)
			fail_msg("%s: flags %x", cases[i].hex, flags);
		free(host);
	}
}

RUN_TESTS(NULL, NULL)
