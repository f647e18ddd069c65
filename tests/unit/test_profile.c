/* SPDX-License-Identifier: MIT
 *
 * Stacks for other tools: what is added up, how names are written, what is left out.
 */
#include <stdio.h>
#include <string.h>

#include "testing.h"

#include "profile/profile.h"

static struct profile make(void)
{
	struct profile p = {.title = "a <b>", .units = {{"cycles", "count"}}, .n_units = 1};
	size_t main_frame, parse, again, other;

	assert_int_equal(profile_frame_at(&p, PROFILE_ROOT, "main", "prog", &main_frame), 0);
	assert_int_equal(profile_frame_at(&p, main_frame, "op;erator<\n", "", &parse), 0);
	assert_int_equal(profile_frame_at(&p, main_frame, "op;erator<\n", "", &again), 0);
	assert_int_equal(profile_frame_at(&p, main_frame, "op;erator<\n", "lib", &other), 0);
	assert_int_equal(parse, again);
	assert_int_not_equal(parse, other);
	p.frames[main_frame].value[0] = 1.5;
	p.frames[parse].value[0] = 90;
	p.frames[other].value[0] = 0.4;
	return p;
}

TEST(frames_are_found_and_added_up)
{
	struct profile p = make();
	double sums[3];

	profile_sum(&p, sums);
	assert_true(p.n == 3 && sums[0] == 1.5 + 90 + 0.4 && sums[1] == 90);
	profile_fini(&p);
}

TEST(folded_stacks)
{
	struct profile p = make();
	struct text out = {0};

	profile_folded(&p, &out);
	assert_string_equal(text_string(&out), "main 2\nmain;op:erator<? 90\n");
	text_free(&out);
	profile_fini(&p);
}

TEST(speedscope)
{
	struct profile p = make();
	struct text out = {0};

	profile_speedscope(&p, &out);
	assert_string_equal(
		text_string(&out),
		"{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
		"\"exporter\":\"tact\",\"name\":\"a <b>\",\"activeProfileIndex\":0,"
		"\"shared\":{\"frames\":[{\"name\":\"main\",\"file\":\"prog\"},"
		"{\"name\":\"op;erator<\\u000a\"},{\"name\":\"op;erator<\\u000a\",\"file\":\"lib\"}"
		"]},"
		"\"profiles\":[{\"type\":\"sampled\",\"name\":\"a <b>\",\"unit\":\"none\","
		"\"samples\":[[0],[0,1],[0,2]],\"weights\":[1.5,90,0.4],\"startValue\":0,"
		"\"endValue\":91.9}]}\n");
	text_free(&out);
	profile_fini(&p);
}

TEST(flame_graphs)
{
	struct profile p = make();
	struct text out = {0};

	profile_flame(&p, NULL, &out);
	assert_non_null(text_string(&out));
	assert_null(strstr(out.data, "<script"));
	assert_non_null(strstr(out.data, "<title>a &lt;b&gt;</title>"));
	assert_non_null(strstr(out.data, "op;erator&lt;"));
	text_reset(&out);
	profile_flame(&p, "go();", &out);
	assert_non_null(strstr(text_string(&out), "<script><![CDATA[\ngo();]]></script>"));
	text_free(&out);
	profile_fini(&p);
}

/* The wire format is looked at byte by byte; tests/cli decodes whole files. */
TEST(pprof_is_gzip_of_stored_blocks)
{
	struct profile p = make();
	struct text out = {0};
	const uint8_t *bytes;

	profile_pprof(&p, &out);
	assert_false(out.failed);
	bytes = (const uint8_t *)out.data;
	assert_memory_equal(bytes, "\x1f\x8b\x08\0\0\0\0\0\0\xff\x01", 11);
	assert_int_equal(bytes[11] + 256 * bytes[12], 255 * 257 - (bytes[13] + 256 * bytes[14]));
	assert_int_equal(out.size, 10 + 5 + bytes[11] + 256u * bytes[12] + 8);
	/* sample_type: field 1, four bytes: two strings */
	assert_memory_equal(bytes + 15, "\x0a\x04\x08\x02\x10\x03", 6);
	text_free(&out);
	profile_fini(&p);
}

TEST(nothing_and_much)
{
	struct profile p = {.title = "", .units = {{"cycles", "count"}}, .n_units = 1};
	struct text out = {0};
	size_t frame = PROFILE_ROOT;

	profile_folded(&p, &out);
	assert_int_equal(out.size, 0);
	profile_flame(&p, NULL, &out);
	profile_speedscope(&p, &out);
	profile_pprof(&p, &out);
	assert_false(out.failed);
	for (unsigned i = 0; i < 5000; i++)
		assert_int_equal(profile_frame_at(&p, frame, "deep", "", &frame), 0);
	assert_int_equal(p.n, 5000);
	p.frames[frame].value[0] = 1;
	text_reset(&out);
	profile_flame(&p, NULL, &out);
	assert_true(!out.failed && out.size < 400 * 400);
	text_reset(&out);
	profile_pprof(&p, &out); /* more than one block would need 64 KiB */
	assert_false(out.failed);
	for (unsigned i = 0; i < 20000; i++) {
		char name[32];

		snprintf(name, sizeof(name), "function%u", i);
		assert_int_equal(
			profile_frame_at(&p, PROFILE_ROOT, profile_keep(&p, name), "", &frame), 0);
		p.frames[frame].value[0] = 1;
	}
	text_reset(&out);
	profile_pprof(&p, &out);
	assert_true(!out.failed && out.size > 100000);
	text_free(&out);
	profile_fini(&p);
}

RUN_TESTS(NULL, NULL)
