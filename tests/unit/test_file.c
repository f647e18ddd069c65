/* SPDX-License-Identifier: MIT
 *
 * Files as a whole.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "testing.h"

#include "support.h"

#include "base/file.h"

static char folder[64];
static char path[128];

static int make_folder(void **state)
{
	(void)state;
	snprintf(folder, sizeof(folder), "/tmp/tact-file-XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/file", folder);
	return 0;
}

static int remove_folder(void **state)
{
	(void)state;
	unlink(path);
	return rmdir(folder); /* fails if anything else was left there */
}

static void expect(const char *content, size_t size)
{
	struct text text = {0};

	assert_int_equal(file_read(path, size, &text, NULL), 0);
	assert_int_equal(text.size, size);
	if (size)
		assert_memory_equal(text.data, content, size);
	text_free(&text);
}

TEST(names_have_no_folder)
{
	assert_string_equal(file_base_name("/a/b.c"), "b.c");
	assert_string_equal(file_base_name("b.c"), "b.c");
	assert_string_equal(file_base_name(""), "");
	assert_string_equal(file_base_name("a/"), "a/");
	assert_string_equal(file_base_name("/"), "/");
}

TEST(what_was_written_is_read)
{
	enum { LARGE = 300000 };
	char *large = malloc(LARGE);
	struct tact_diag diag = {0};
	struct text text = {0};

	for (size_t i = 0; i < LARGE; i++)
		large[i] = (char)(i * 7 >> 3);
	assert_int_equal(file_write(path, large, LARGE, NULL), 0);
	expect(large, LARGE);
	assert_int_equal(file_read(path, LARGE - 1, &text, &diag), -TACT_E_FORMAT);
	assert_string_equal(diag.text, "larger than 299999 bytes");
	text_reset(&text);
	text_add(&text, "new"); /* shorter: nothing of the old one stays */
	assert_int_equal(file_write_text(path, &text, NULL), 0);
	assert_null(text.data);
	expect("new", 3);
	assert_int_equal(file_write(path, NULL, 0, NULL), 0);
	expect("", 0);
	free(large);
}

TEST(replacing_leaves_one_file)
{
	struct text text = {0};

	assert_int_equal(file_write(path, "first", 5, NULL), 0);
	expect("first", 5);
	text_add(&text, "2nd");
	assert_int_equal(file_write_text(path, &text, NULL), 0);
	expect("2nd", 3);
	assert_int_equal(file_write("/dev/null", "x", 1, NULL), 0);
}

static void assert_mode(mode_t mode)
{
	struct stat info;

	assert_int_equal(stat(path, &info), 0);
	assert_int_equal(info.st_mode & 07777, mode);
}

TEST(a_file_is_the_old_one_until_the_end)
{
	struct file_new f;

	assert_int_equal(file_write(path, "old", 3, NULL), 0);
	assert_int_equal(chmod(path, 0640), 0);
	assert_int_equal(file_begin(&f, path, 0666, NULL), 0);
	assert_int_equal(file_write_all(f.fd, "new", 3), 0);
	expect("old", 3);
	file_abandon(&f);
	assert_int_equal(f.fd, -1);
	expect("old", 3);
	assert_int_equal(file_begin(&f, path, 0666, NULL), 0);
	assert_int_equal(file_write_all(f.fd, "newer", 5), 0);
	assert_int_equal(file_finish(&f, NULL), 0);
	expect("newer", 5);
	assert_mode(0640);
	file_abandon(&f); /* nothing is being made any more */
	expect("newer", 5);
}

TEST(a_new_file_has_no_name_until_the_end)
{
	const mode_t mask = umask(022);
	struct file_new f;

	unlink(path);
	assert_int_equal(file_begin(&f, path, 0600, NULL), 0);
	assert_int_equal(file_write_all(f.fd, "x", 1), 0);
	assert_int_equal(access(path, F_OK), -1);
	file_abandon(&f);
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(file_begin(&f, path, 0666, NULL), 0);
	assert_int_equal(file_finish(&f, NULL), 0);
	expect("", 0);
	assert_mode(0644);
	umask(mask);
}

/* Somebody else makes the file meanwhile: the last one to finish wins. */
TEST(two_writers_leave_one_whole_file)
{
	struct file_new a, b;

	assert_int_equal(file_begin(&a, path, 0666, NULL), 0);
	assert_int_equal(file_begin(&b, path, 0666, NULL), 0);
	assert_int_equal(file_write_all(a.fd, "first", 5), 0);
	assert_int_equal(file_write_all(b.fd, "2nd", 3), 0);
	assert_int_equal(file_finish(&a, NULL), 0);
	assert_int_equal(file_finish(&b, NULL), 0);
	expect("2nd", 3);
}

TEST(links_stay)
{
	char link_path[160], other[160];
	struct stat info;

	snprintf(link_path, sizeof(link_path), "%s/link", folder);
	snprintf(other, sizeof(other), "%s/other", folder);
	assert_int_equal(symlink("file", link_path), 0);
	assert_int_equal(file_write(link_path, "to nothing yet", 14, NULL), 0);
	assert_int_equal(file_write(link_path, "through", 7, NULL), 0);
	assert_int_equal(lstat(link_path, &info), 0);
	assert_true(S_ISLNK(info.st_mode));
	expect("through", 7);
	/* A file with two names stays one file. */
	assert_int_equal(link(path, other), 0);
	assert_int_equal(file_write(other, "both", 4, NULL), 0);
	expect("both", 4);
	assert_int_equal(unlink(other), 0);
	assert_int_equal(unlink(link_path), 0);
}

TEST(pipes_are_written_to)
{
	char got[3] = "", name[32];
	struct file_new f;
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	snprintf(name, sizeof(name), "/dev/fd/%d", fds[1]);
	assert_int_equal(file_begin(&f, name, 0666, NULL), 0);
	assert_int_equal(file_write_all(f.fd, "abc", 3), 0);
	assert_int_equal(file_finish(&f, NULL), 0);
	assert_int_equal(read(fds[0], got, sizeof(got)), 3);
	assert_memory_equal(got, "abc", 3);
	close(fds[0]);
	close(fds[1]);
}

/* Somebody put links under the names that a file had while it was written, as if all of them were
 * known: nothing goes through them, and they are in nobody's way.
 */
TEST(replacing_follows_no_link)
{
	char victim[160], link[160];
	struct stat info;

	snprintf(victim, sizeof(victim), "%s/victim", folder);
	snprintf(link, sizeof(link), "%s.%ld.tmp", path, (long)getpid());
	assert_int_equal(file_write(victim, "mine", 4, NULL), 0);
	assert_int_equal(symlink(victim, link), 0);
	assert_int_equal(file_write(path, "first", 5, NULL), 0);
	expect("first", 5);
	unlink(link);
	assert_int_equal(stat(victim, &info), 0);
	assert_int_equal(info.st_size, 4);
	unlink(victim);
}

TEST(texts_that_are_not_whole_are_refused)
{
	struct text text = {0};

	assert_int_equal(file_write(path, "old", 3, NULL), 0);
	text_add(&text, "half");
	assert_null(text_reserve(&text, SIZE_MAX));
	assert_int_equal(file_write_text(path, &text, NULL), -TACT_E_NOMEM);
	expect("old", 3);
}

TEST(failures_have_a_reason)
{
	struct tact_diag diag = {0};
	struct text text = {0};
	char missing[160];

	snprintf(missing, sizeof(missing), "%s/none/file", folder);
	assert_int_equal(file_read(missing, 10, &text, &diag), -TACT_E_IO);
	assert_string_equal(diag.text, "No such file or directory");
	assert_int_equal(file_write(missing, "", 0, &diag), -TACT_E_IO);
	assert_string_equal(diag.text, "No such file or directory");
	assert_int_equal(file_write("", "", 0, &diag), -TACT_E_IO);
	assert_int_equal(file_write(folder, "", 0, &diag), -TACT_E_IO);
	assert_string_equal(diag.text, "Is a directory");
	assert_int_equal(file_read(folder, 10, &text, &diag), -TACT_E_IO);
	assert_string_equal(diag.text, "Is a directory");
	assert_int_equal(file_write_all(-1, "x", 1), -1);
	text_free(&text);
}

TEST(the_first_line_says_what_it_is)
{
	struct tact_diag diag = {0};

	assert_int_equal(file_check_magic("#tact-x 2", "#tact-x", 2, "an x", &diag), 0);
	assert_int_equal(file_check_magic("#tact-x 3", "#tact-x", 2, "an x", &diag),
			 -TACT_E_VERSION);
	assert_string_equal(diag.text, "version 3; this library reads version 2");
	assert_int_equal(file_check_magic("#tact-xy 2", "#tact-x", 2, "an x", &diag),
			 -TACT_E_FORMAT);
	assert_string_equal(diag.text, "'#tact-x 2' expected: this is not an x");
	assert_int_equal(diag.line, 1);
	assert_int_equal(file_check_magic("", "#tact-x", 2, NULL, &diag), -TACT_E_FORMAT);
	assert_string_equal(diag.text, "'#tact-x 2' expected");
}

/* The library is in somebody else's program, which SIGXFSZ ends. */
TEST(a_limit_on_files_is_an_error)
{
	const struct rlimit limit = {4096, RLIM_INFINITY};
	struct rlimit before;
	char block[8192] = {0};
	size_t size = 0;
	int fd, copy;

	assert_int_equal(file_write(path, block, sizeof(block), NULL), 0);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	signal(SIGXFSZ, SIG_DFL);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_int_equal(file_write(path, block, sizeof(block), NULL), -TACT_E_IO);
	fd = open(path, O_RDWR);
	assert_int_equal(file_set_size(fd, 4096), 0);
	assert_int_equal(file_set_size(fd, 8192), -1);
	assert_int_equal(errno, EFBIG);
	setrlimit(RLIMIT_FSIZE, &before);
	assert_int_equal(file_set_size(fd, 8192), 0);
	setrlimit(RLIMIT_FSIZE, &limit);
	copy = file_copy_sealed(fd, &size);
	assert_int_equal(copy, -1);
	assert_int_equal(errno, EFBIG);
	setrlimit(RLIMIT_FSIZE, &before);
	close(fd);
}

TEST(places_are_read_exactly)
{
	FILE *file;
	char part[4];

	assert_int_equal(file_write(path, "0123456789", 10, NULL), 0);
	file = fopen(path, "r");
	assert_non_null(file);
	assert_true(file_read_at(fileno(file), part, 4, 6));
	assert_memory_equal(part, "6789", 4);
	assert_false(file_read_at(fileno(file), part, 4, 7));
	assert_true(file_read_at(fileno(file), part, 0, 100));
	assert_false(file_read_at(-1, part, 1, 0));
	assert_false(file_read_at(fileno(file), part, 1, UINT64_MAX));
	assert_true(file_read_exactly(fileno(file), part, 4));
	assert_memory_equal(part, "0123", 4);
	assert_true(file_read_exactly(fileno(file), part, 4));
	assert_int_equal(file_read_up_to(fileno(file), part, 4), 2);
	assert_memory_equal(part, "89", 2);
	assert_int_equal(file_read_up_to(fileno(file), part, 4), 0);
	assert_int_equal(file_read_up_to(-1, part, 4), -1);
	assert_false(file_read_exactly(fileno(file), part, 4));
	fclose(file);
}

TEST(a_file_begins_with_its_magic)
{
	char name[] = "/tmp/tact-begins-XXXXXX";
	int fd = mkstemp(name);

	assert_true(fd >= 0);
	assert_false(file_begins_with(name, "#tact"));
	assert_int_equal(write(fd, "#tact", 5), 5);
	close(fd);
	assert_true(file_begins_with(name, ""));
	assert_true(file_begins_with(name, "#tact"));
	assert_false(file_begins_with(name, "#tax"));
	assert_false(file_begins_with(name, "#tact "));
	unlink(name);
	assert_false(file_begins_with(name, "#tact"));
	assert_false(file_begins_with("-", "#tact"));
	assert_false(file_begins_with(NULL, "#tact"));
}

RUN_TESTS(make_folder, remove_folder)
