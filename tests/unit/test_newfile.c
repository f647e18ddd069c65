/* SPDX-License-Identifier: MIT
 *
 * Files that are made where a file needs a name from the beginning: the kernel's answers to
 * O_TMPFILE and its random numbers are ours here (the linker wraps open and getrandom).
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "testing.h"

#include "support.h"

#include "base/file.h"

static char folder[64], path[128];
static int answer;	 /* to O_TMPFILE: an error, or 0: the kernel's */
static uint64_t numbers; /* the next random one; 0: the kernel's */
static bool is_scarce;	 /* it has no random numbers */

int __real_open(const char *name, int flags, ...);
int __wrap_open(const char *name, int flags, ...);
ssize_t __real_getrandom(void *to, size_t size, unsigned flags);
ssize_t __wrap_getrandom(void *to, size_t size, unsigned flags);

int __wrap_open(const char *name, int flags, ...)
{
	mode_t mode = 0;
	va_list args;

	va_start(args, flags);
	if (flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE)
		mode = va_arg(args, mode_t);
	va_end(args);
	if ((flags & O_TMPFILE) == O_TMPFILE && answer) {
		errno = answer;
		return -1;
	}
	return __real_open(name, flags, mode);
}

ssize_t __wrap_getrandom(void *to, size_t size, unsigned flags)
{
	if (is_scarce) {
		errno = EAGAIN;
		return -1;
	}
	if (!numbers || size != sizeof(numbers))
		return __real_getrandom(to, size, flags);
	memcpy(to, &numbers, size);
	numbers++;
	return (ssize_t)size;
}

static int make_folder(void **state)
{
	(void)state;
	snprintf(folder, sizeof(folder), "/tmp/tact-newfile-XXXXXX");
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

/* Begins a test: without files that have no name. */
static void begin_test(void)
{
	unlink(path);
	answer = EOPNOTSUPP;
	numbers = 0;
	is_scarce = false;
}

/* The name that a random number gives. */
static const char *name_of(uint64_t number)
{
	static char name[160];

	snprintf(name, sizeof(name), "%s.%016llx.tmp", path, (unsigned long long)number);
	return name;
}

static unsigned count_names(void)
{
	DIR *dir = opendir(folder);
	unsigned n = 0;

	assert_non_null(dir);
	for (struct dirent *e; (e = readdir(dir));)
		n += e->d_name[0] != '.';
	closedir(dir);
	return n;
}

static void expect(const char *content)
{
	struct text text = {0};

	assert_int_equal(file_read(path, 1000, &text, NULL), 0);
	assert_string_equal(text_string(&text), content);
	text_free(&text);
}

static void begin(struct file_new *f, const char *content)
{
	assert_int_equal(file_begin(f, path, 0640, NULL), 0);
	assert_int_equal(file_write_all(f->fd, content, strlen(content)), 0);
}

/* What the kernels and file systems say that have no files without a name: open(2). */
TEST(it_has_another_name_until_the_end)
{
	static const int answers[] = {EOPNOTSUPP, EISDIR, EINVAL};
	struct file_new f;
	struct stat info;

	begin_test();
	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		begin_test();
		answer = answers[i];
		begin(&f, "one\n");
		assert_non_null(f.beside);
		assert_int_equal(access(path, F_OK), -1);
		assert_int_equal(count_names(), 1);
		assert_int_equal(file_finish(&f, NULL), 0);
		assert_int_equal(count_names(), 1);
		expect("one\n");
	}
	/* Replaced: it keeps its mode. */
	assert_int_equal(chmod(path, 0604), 0);
	begin(&f, "two\n");
	expect("one\n");
	assert_int_equal(count_names(), 2);
	assert_int_equal(file_finish(&f, NULL), 0);
	expect("two\n");
	assert_int_equal(count_names(), 1);
	assert_int_equal(stat(path, &info), 0);
	assert_int_equal(info.st_mode & 07777, 0604);
}

TEST(giving_up_leaves_nothing)
{
	struct file_new f;

	begin_test();
	begin(&f, "no\n");
	file_abandon(&f);
	assert_int_equal(count_names(), 0);
	begin(&f, "one\n");
	assert_int_equal(file_finish(&f, NULL), 0);
	begin(&f, "no\n");
	file_abandon(&f);
	assert_int_equal(count_names(), 1);
	expect("one\n");
}

/* Somebody else's file, or link to one, stays what it is. */
TEST(a_name_that_is_taken_is_left_alone)
{
	struct file_new f;
	char victim[80];
	int fd;

	begin_test();
	snprintf(victim, sizeof(victim), "%s/victim", folder);
	fd = creat(victim, 0600);
	assert_true(fd >= 0);
	close(fd);
	numbers = 7;
	assert_int_equal(symlink("victim", name_of(7)), 0);
	begin(&f, "one\n");
	assert_string_equal(f.beside, name_of(8));
	assert_int_equal(file_finish(&f, NULL), 0);
	expect("one\n");
	assert_int_equal(unlink(name_of(7)), 0);
	assert_int_equal(truncate(victim, 0), 0); /* it is there */
	assert_int_equal(unlink(victim), 0);
}

TEST(all_names_are_taken)
{
	struct tact_diag diag = {0};
	struct file_new f;

	begin_test();
	for (uint64_t i = 1; i <= 8; i++)
		assert_int_equal(symlink("/nowhere", name_of(i)), 0);
	numbers = 1;
	assert_int_equal(file_begin(&f, path, 0600, &diag), -TACT_E_IO);
	assert_int_equal(f.fd, -1);
	assert_string_equal(diag.text, strerror(EEXIST));
	assert_int_equal(count_names(), 8);
	for (uint64_t i = 1; i <= 8; i++)
		assert_int_equal(unlink(name_of(i)), 0);
}

/* A file without a name finds that its own came to be meanwhile. */
TEST(a_file_appears_meanwhile)
{
	struct file_new f;
	int fd;

	begin_test();
	answer = 0;
	begin(&f, "ours\n");
	if (f.beside) { /* a file system that has no files without a name */
		file_abandon(&f);
		skip();
	}
	fd = creat(path, 0600);
	assert_true(fd >= 0);
	close(fd);
	numbers = 1;
	assert_int_equal(symlink("/nowhere", name_of(1)), 0);
	assert_int_equal(file_finish(&f, NULL), 0);
	expect("ours\n");
	assert_int_equal(unlink(name_of(1)), 0);
	/* No name at all is left for it. */
	begin(&f, "not\n");
	for (uint64_t i = 20; i < 28; i++)
		assert_int_equal(symlink("/nowhere", name_of(i)), 0);
	numbers = 20;
	assert_int_equal(file_finish(&f, NULL), -TACT_E_IO);
	for (uint64_t i = 20; i < 28; i++)
		assert_int_equal(unlink(name_of(i)), 0);
	expect("ours\n");
	assert_int_equal(count_names(), 1);
}

TEST(without_random_numbers_there_is_a_name)
{
	struct file_new f;

	begin_test();
	is_scarce = true;
	begin(&f, "one\n");
	assert_non_null(f.beside);
	assert_int_equal(file_finish(&f, NULL), 0);
	expect("one\n");
}

/* Other reasons are not answered by another way. */
TEST(a_failure_is_one)
{
	struct tact_diag diag = {0};
	struct file_new f;

	begin_test();
	answer = EMFILE;
	assert_int_equal(file_begin(&f, path, 0600, &diag), -TACT_E_IO);
	assert_string_equal(diag.text, strerror(EMFILE));
	assert_int_equal(count_names(), 0);
}

RUN_TESTS(make_folder, remove_folder)
