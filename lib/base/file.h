/* SPDX-License-Identifier: MIT
 *
 * Whole files.
 */
#ifndef TACT_BASE_FILE_H
#define TACT_BASE_FILE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <tact/status.h>

#include "base/text.h"

/* Checks the first line of our text files, without its end: the magic word, a blank, the version.
 * Returns 0, -TACT_E_VERSION for another version, or -TACT_E_FORMAT for another word, with line 1
 * and `what` the file is not (NULL: without that).
 */
int file_check_magic(const char *line, const char *magic, int version, const char *what,
		     struct tact_diag *diag);

/* Returns whether there is a file that begins with these bytes.  "-" never does, and is not
 * touched.
 */
bool file_begins_with(const char *path, const char *start);

/* Returns what follows the last slash, or the path itself if nothing does. */
const char *file_base_name(const char *path);

/* Append everything from a descriptor or a file to a text.  Return 0; -TACT_E_IO; -TACT_E_FORMAT if
 * it is more than `limit`; -TACT_E_NOMEM.
 */
int file_read_all(int fd, size_t limit, struct text *out, struct tact_diag *diag);
int file_read(const char *path, size_t limit, struct text *out, struct tact_diag *diag);

/* Copies a regular file: to a descriptor that can be mapped, whose bytes nobody changes or takes away.
 * A mapping of the file itself ends the process (SIGBUS) when somebody cuts the file short.  Files up
 * to FILE_MEMORY_COPY are copied into memory; larger ones, which are debug files of the largest
 * programs, to a file without a name in /var/tmp or /tmp.  Holes are not copied.  Sets *size to what was
 * there.  Returns the descriptor, or -1 with errno; ENOSPC: there is no room.
 */
#define FILE_MEMORY_COPY ((off_t)1 << 30)
int file_copy_sealed(int fd, size_t *size);
/* Reads `size` bytes, or fewer at the end of the file.  Returns how many, or -1 with errno. */
ssize_t file_read_up_to(int fd, void *to, size_t size);

/* Read exactly `size` bytes, from the current position or from an offset.  Return false, with errno, if
 * the file is shorter (ENODATA) or cannot be read.
 */
bool file_read_exactly(int fd, void *to, size_t size);
bool file_read_at(int fd, void *to, size_t size, uint64_t offset);

/* Around a call that writes: no SIGPIPE (a reader that went away: EPIPE) and no SIGXFSZ (larger than
 * RLIMIT_FSIZE allows, also in memory: EFBIG) reaches the program around us.
 */
struct file_quiet {
	sigset_t pending, before;
};
void file_quiet_begin(struct file_quiet *q);
void file_quiet_end(const struct file_quiet *q, bool has_failed); /* errno stays */

/* Sets the size of a file as ftruncate() does, whatever signals occur and without causing any. */
int file_set_size(int fd, off_t size);

/* Write as write() does, and write everything, whatever signals and short writes occur.  No
 * signal reaches the program around us.  The second returns 0, or -1 with
 * errno.
 */
ssize_t file_write_some(int fd, const void *data, size_t size);
int file_write_all(int fd, const void *data, size_t size);

/* A file that is being made.  Until file_finish, its name stands for what was there before; only then
 * for all that was written, which has reached the disk.  A process that ends before leaves nothing
 * behind (on file systems without O_TMPFILE: a file whose name ends in .tmp).
 *
 * What cannot be replaced is written in place: pipes, devices, whatever has a name in /dev or /proc,
 * files with several names and files of others.
 */
struct file_new {
	int fd;		 /* to write to, owned; -1: nothing is being made */
	bool is_regular; /* has a disk to reach */
	char *path;	 /* owned: what it is to replace; NULL: it is written in place */
	char *beside;	 /* owned: its name until then; NULL: it has none */
};

/* Begins a file; mode as in open(2), or that of the file which it replaces.  Returns 0, -TACT_E_IO,
 * or -TACT_E_NOMEM; f->fd is -1 then.
 */
int file_begin(struct file_new *f, const char *path, mode_t mode, struct tact_diag *diag);

/* End it.  file_finish returns 0, or -TACT_E_IO or -TACT_E_NOMEM: the file is as it was before, or
 * what the disk says about the new one is not known.
 */
int file_finish(struct file_new *f, struct tact_diag *diag);
void file_abandon(struct file_new *f);

/* Writes a file as a whole, as above.  Returns 0, -TACT_E_IO or -TACT_E_NOMEM. */
int file_write(const char *path, const void *data, size_t size, struct tact_diag *diag);

/* Does the same for a text, and frees it in any case.  A text that is not whole is -TACT_E_NOMEM. */
int file_write_text(const char *path, struct text *text, struct tact_diag *diag);

#endif /* TACT_BASE_FILE_H */
