/* SPDX-License-Identifier: MIT
 *
 * Maps and dumps of code that was generated at run time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "testing.h"

#include "obj/jit_map.h"

static const char *name_at(struct jit_map *map, uint64_t address)
{
	const struct jit_function *f = jit_map_find(map, address, NULL, 0);

	return f ? jit_map_name(map, f) : "";
}

TEST(test_text)
{
	static const char text[] = "1000 20 JS:foo file.js:1\n"
				   "0x1020 10 ~bar with blanks\n"
				   "nonsense\n1040\n1040 8\n1040 8 \n12345678901234567 8 long\n"
				   "ffffffffffffffff 2 over\n2000 0 empty\n"
				   "1008 4 later\n"
				   "3000 8 tab\tin it";
	struct jit_map map = {0};

	assert_int_equal(jit_map_read_text(&map, text, strlen(text)), 0);
	assert_int_equal(map.n, 4);
	assert_string_equal(name_at(&map, 0x1000), "JS:foo file.js:1");
	assert_string_equal(name_at(&map, 0x1007), "JS:foo file.js:1");
	assert_string_equal(name_at(&map, 0x1008), "later"); /* lies over foo */
	assert_string_equal(name_at(&map, 0x100c), "JS:foo file.js:1");
	assert_string_equal(name_at(&map, 0x101f), "JS:foo file.js:1");
	assert_string_equal(name_at(&map, 0x1020), "~bar with blanks");
	assert_string_equal(name_at(&map, 0x1030), "");
	assert_string_equal(name_at(&map, 0xfff), "");
	assert_string_equal(name_at(&map, 0x3007), "tab in it");
	jit_map_fini(&map);
	assert_int_equal(jit_map_read_text(&map, "", 0), 0);
	assert_string_equal(name_at(&map, 0), "");
	jit_map_fini(&map);
}

/* ---- dumps ---- */

struct writer {
	uint8_t data[1024];
	size_t n;
	bool is_big;
};

static void put(struct writer *w, uint64_t value, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		w->data[w->n++] = (uint8_t)(value >> 8 * (w->is_big ? bytes - 1 - i : i));
}

static void begin(struct writer *w, uint32_t version)
{
	put(w, 0x4a695444, 4);
	put(w, version, 4);
	put(w, 40, 4);
	put(w, 62, 4);
	put(w, 0, 4);
	put(w, 7, 4);
	put(w, 1, 8);
	put(w, 0, 8);
}

static void load(struct writer *w, uint64_t address, const char *name, const char *code)
{
	put(w, 0, 4);
	put(w, 56 + strlen(name) + 1 + strlen(code), 4);
	put(w, 99, 8);
	put(w, 7, 4);
	put(w, 7, 4);
	put(w, address, 8);
	put(w, address, 8);
	put(w, strlen(code), 8);
	put(w, 0, 8);
	memcpy(w->data + w->n, name, strlen(name) + 1);
	w->n += strlen(name) + 1;
	memcpy(w->data + w->n, code, strlen(code));
	w->n += strlen(code);
}

static void move(struct writer *w, uint64_t from, uint64_t to, uint64_t size)
{
	put(w, 1, 4);
	put(w, 64, 4);
	put(w, 100, 8);
	put(w, 7, 4);
	put(w, 7, 4);
	put(w, to, 8);
	put(w, from, 8);
	put(w, to, 8);
	put(w, size, 8);
	put(w, 0, 8);
}

static void check_dump(bool is_big)
{
	struct writer w = {.is_big = is_big};
	struct jit_map map = {0};
	const struct jit_function *f;

	begin(&w, 1);
	load(&w, 0x1000, "JS:foo", "\x90\xc3");
	put(&w, 4, 4); /* unwinding information */
	put(&w, 24, 4);
	put(&w, 99, 8);
	put(&w, 0, 8);
	move(&w, 0x1000, 0x2000, 2);
	load(&w, 0x1000, "JS:bar", "\x48\x01\xc3\xc3");
	assert_int_equal(jit_map_read_dump(&map, w.data, w.n), 0);
	assert_int_equal(map.n, 3);
	assert_int_equal(map.machine, 62);
	/* The address was used twice: the code tells, and without it the last one counts. */
	assert_string_equal(name_at(&map, 0x1000), "JS:bar");
	f = jit_map_find(&map, 0x1000, (const uint8_t *)"\x90\xc3", 2);
	assert_non_null(f);
	assert_string_equal(jit_map_name(&map, f), "JS:foo");
	assert_true(f->time == 99);
	f = jit_map_find(&map, 0x2001, (const uint8_t *)"\xc3", 1);
	assert_non_null(f);
	assert_string_equal(jit_map_name(&map, f), "JS:foo");
	assert_null(jit_map_find(&map, 0x2001, (const uint8_t *)"\x90", 1));
	jit_map_fini(&map);

	/* Cut anywhere: what is whole is there. */
	for (size_t n = 0; n < w.n; n++) {
		const int status = jit_map_read_dump(&map, w.data, n);

		assert_int_equal(status, n < 40 ? -TACT_E_FORMAT : 0);
		assert_true(map.n <= 2);
		jit_map_fini(&map);
	}
}

TEST(test_dump)
{
	struct writer w = {0};
	struct jit_map map = {0};

	check_dump(false);
	check_dump(true);
	begin(&w, 2);
	assert_int_equal(jit_map_read_dump(&map, w.data, w.n), -TACT_E_VERSION);
	w.data[0] = 0;
	assert_int_equal(jit_map_read_dump(&map, w.data, w.n), -TACT_E_FORMAT);
}

/* ---- files ---- */

TEST(test_files)
{
	char path[] = "/tmp/tact-jit-XXXXXX", link[64];
	const int fd = mkstemp(path);
	struct jit_map map = {0};
	uint64_t size = 0;
	struct stat st;

	assert_true(fd >= 0);
	assert_int_equal(jit_map_read_file(&map, path, 0, NULL), 0); /* empty */
	assert_int_equal(write(fd, "1000 4 f\n", 9), 9);
	assert_int_equal(jit_map_read_file(&map, path, 0, &size), 1);
	assert_int_equal(size, 9);
	assert_string_equal(name_at(&map, 0x1003), "f");
	jit_map_fini(&map);
	/* Of another process that had the same number, long ago. */
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(jit_map_read_file(&map, path, st.st_mtime + 1, NULL), 0);
	snprintf(link, sizeof(link), "%s.link", path);
	assert_int_equal(symlink(path, link), 0);
	assert_int_equal(jit_map_read_file(&map, link, 0, NULL), 0);
	unlink(link);
	if (!geteuid()) { /* of another user; ours, but not to root */
		assert_int_equal(fchown(fd, 65534, 65534), 0);
		assert_int_equal(jit_map_read_file(&map, path, 0, NULL), 0);
	}
	close(fd);
	unlink(path);
	assert_int_equal(jit_map_read_file(&map, path, 0, NULL), 0);
	assert_int_equal(jit_map_read_file(&map, "/tmp", 0, NULL), 0);
	jit_map_fini(&map);
}

RUN_TESTS(NULL, NULL)
