// SPDX-License-Identifier: MIT
//
// The module as a program: LLVM's assembler in a process of its own, which the library puts into a box
// (base/box.h).  Text may repeat itself without end, and LLVM has no bound for that: in the caller's
// process, it would take all memory there.
//
//	ld.so tact_llvm.so TRIPLE FEATURES OBJECT < text
#include "llvm/shim.hpp"

#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <unistd.h>

extern "C" const llvm_api *tact_llvm_api(void);

namespace
{

bool read_all(std::string &text)
{
	char piece[1 << 16];
	ssize_t n;

	while ((n = read(STDIN_FILENO, piece, sizeof(piece))) > 0)
		text.append(piece, (size_t)n);
	return !n;
}

bool write_all(const char *path, const uint8_t *data, size_t size)
{
	const int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	ssize_t n = 0;

	for (; fd >= 0 && size && n >= 0; size -= n > 0 ? (size_t)n : 0, data += n > 0 ? n : 0)
		n = write(fd, data, size);
	return fd >= 0 && !size && !close(fd);
}

// As GNU as writes it, so that one reader understands both.
int complain(uint64_t line, const char *text)
{
	fprintf(stderr, "{standard input}:%llu: Error: %s\n", (unsigned long long)line, text);
	return 1;
}

} // namespace

// The C library's start file, which is linked in, calls it.  Nothing is undone at the end.
int main(int argc, char **argv)
{
	llvm_set_spec spec = {};
	llvm_message why = {};
	llvm_set *set;
	std::string text;
	uint8_t *image;
	size_t size;

	if (argc != 4)
		return complain(0, "this is a part of tact, not a program");
	spec.triple = argv[1];
	spec.features = argv[2];
	if (!read_all(text))
		return complain(0, "the text cannot be read");
	int status = tact_llvm_api()->open_set(&set, &spec, &why);

	if (status >= 0)
		status = tact_llvm_api()->assemble(set, text.data(), text.size(), &image, &size,
						   &why);
	if (status == -TACT_E_NOMEM) {
		fputs("out of memory\n", stderr);
		_exit(1);
	}
	if (status < 0)
		_exit(complain(why.line, why.text));
	_exit(write_all(argv[3], image, size) ? 0 : complain(0, "the object cannot be written"));
}
