/* SPDX-License-Identifier: MIT
 *
 * The token that others must know.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/cli.h"
#include "serve.h"

static int fail(const char *path, const char *why)
{
	cli_message("--token-file %s: %s", path, why);
	return CLI_USAGE;
}

/* 32 random bytes as hex digits, in a file that only its owner reads. */
static int make_token(const char *path)
{
	static const char digits[] = "0123456789abcdef";
	unsigned char bytes[32];
	char text[2 * sizeof(bytes) + 1];
	bool is_written;
	int fd;

	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		return fail(path, "there are no random bytes");
	for (size_t i = 0; i < sizeof(bytes); i++) {
		text[2 * i] = digits[bytes[i] >> 4];
		text[2 * i + 1] = digits[bytes[i] & 15];
	}
	text[sizeof(text) - 1] = '\n';
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return fail(path, strerror(errno));
	is_written = write(fd, text, sizeof(text)) == sizeof(text);
	if (!is_written || fsync(fd) || close(fd)) {
		unlink(path);
		return fail(path, "it cannot be written");
	}
	cli_message("%s: a new token", path);
	return CLI_GOOD;
}

static int read_token(int fd, const char *path, char token[SERVE_TOKEN_MOST + 1])
{
	char text[SERVE_TOKEN_MOST + 3];
	struct stat info;
	ssize_t size;
	size_t n = 0;

	if (fstat(fd, &info) || !S_ISREG(info.st_mode))
		return fail(path, "it is no regular file");
	if (info.st_mode & (S_IRWXG | S_IRWXO))
		return fail(path, "others may read or change it; 'chmod 600' prevents that");
	size = read(fd, text, sizeof(text));
	for (; (ssize_t)n < size && text[n] > ' ' && text[n] <= '~'; n++)
		;
	if (size < 0 || n < SERVE_TOKEN_LEAST || n > SERVE_TOKEN_MOST ||
	    strspn(text + n, "\r\n \t") < (size_t)size - n)
		return fail(path, "its first line has to be the token, 16 to 200 visible "
				  "characters, and nothing may follow");
	memcpy(token, text, n);
	token[n] = '\0';
	return CLI_GOOD;
}

int serve_token_load(const char *path, char token[SERVE_TOKEN_MOST + 1])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK), status = CLI_GOOD;

	if (fd < 0 && errno == ENOENT) {
		status = make_token(path);
		fd = status ? -1 : open(path, O_RDONLY | O_CLOEXEC);
	}
	if (status)
		return status;
	if (fd < 0)
		return fail(path, strerror(errno));
	status = read_token(fd, path, token);
	close(fd);
	return status;
}

bool serve_token_is(const char *token, const char *given)
{
	const size_t n = strlen(token), m = strlen(given);
	unsigned char difference = n != m;

	/* As many steps for every answer. */
	for (size_t i = 0; i < n; i++)
		difference |= (unsigned char)(token[i] ^ (m ? given[i % m] : '\0'));
	return !difference;
}
