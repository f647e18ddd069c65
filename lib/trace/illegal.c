/* SPDX-License-Identifier: MIT
 *
 * The instruction that ended a program because QEMU does not know it.  QEMU reads no more of it than
 * it needs to give up; the rest is in the file that the code comes from.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "isa/isa.h"
#include "trace/trace.h"

#include <tact-program/tracing.h>

/* Reads the bytes at an address of a module, if the file still has those that QEMU saw. */
static void read_file(struct tact_trace_illegal *out, uint64_t address,
		      const struct tact_trace_module *module)
{
	uint8_t code[TACT_MAX_INSN_BYTES];
	const int fd = open(module->path, O_RDONLY | O_CLOEXEC);
	const off_t at = (off_t)(address - module->begin + module->offset);
	const ssize_t n = fd < 0 ? 0 : pread(fd, code, sizeof(code), at);

	if (fd >= 0)
		close(fd);
	if (n < (ssize_t)out->code_size || memcmp(code, out->code, out->code_size))
		return;
	memcpy(out->code, code, (size_t)n);
	out->code_size = (unsigned)n;
}

int trace_illegal_fill(struct tact_trace_illegal *out, const struct tact_trace_block *b,
		       const struct tact_trace_module *module)
{
	struct isa_properties properties;
	struct tact_insn insn;
	int length;

	*out = (struct tact_trace_illegal){.block = b, .offset = b->last_offset};
	out->code_size = b->code_size - b->last_offset;
	if (out->code_size > sizeof(out->code))
		out->code_size = sizeof(out->code);
	memcpy(out->code, b->code + b->last_offset, out->code_size);
	if (module)
		read_file(out, b->address + b->last_offset, module);
	length = tact_isa_decode(b->isa, &insn, out->code, out->code_size);
	if (length <= 0 ||
	    tact_isa_format(b->isa, out->code, (size_t)length, b->address + b->last_offset,
			    out->text, sizeof(out->text)) <= 0)
		return 1;
	b->isa->describe(&properties, out->code, (size_t)length);
	out->code_size = (unsigned)length;
	out->is_whole = true;
	out->is_never_legal = insn.flow == TACT_FLOW_STOP;
	snprintf(out->extension, sizeof(out->extension), "%s", properties.extension);
	return 1;
}
