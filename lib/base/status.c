/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tact/version.h>

#include "base/base.h"

uint32_t tact_version(void)
{
	return TACT_VERSION_MAJOR << 16 | TACT_VERSION_MINOR << 8 | TACT_VERSION_PATCH;
}

const char *tact_strerror(int status)
{
	/* No default: the compiler finds a value without a text. */
	switch ((enum tact_error)(status < 0 ? 0u - (unsigned)status : (unsigned)status)) {
	case TACT_OK:
		return "success";
	case TACT_E_INTERNAL:
		return "internal error";
	case TACT_E_INVAL:
		return "invalid argument";
	case TACT_E_NOMEM:
		return "out of memory";
	case TACT_E_IO:
		return "input/output error";
	case TACT_E_FORMAT:
		return "malformed input";
	case TACT_E_VERSION:
		return "incompatible version";
	case TACT_E_DECODE:
		return "not an instruction";
	case TACT_E_NO_ARCH:
		return "unknown microarchitecture";
	case TACT_E_NO_DATA:
		return "no data for an instruction";
	case TACT_E_NOT_MODELLED:
		return "outside the model";
	case TACT_E_NO_TOOL:
		return "a required program is not installed";
	case TACT_E_LIMIT:
		return "limit exceeded";
	}
	return "unknown error";
}

static void fill(struct tact_diag *diag, uint64_t line, uint64_t offset, const char *format,
		 va_list args)
{
	if (!diag)
		return;
	diag->line = line;
	diag->offset = offset;
	vsnprintf(diag->text, sizeof(diag->text), format, args);
}

int tact_fail(struct tact_diag *diag, enum tact_error error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fill(diag, 0, 0, format, args);
	va_end(args);
	return -(int)error;
}

int tact_fail_at(struct tact_diag *diag, enum tact_error error, uint64_t line, uint64_t offset,
		 const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fill(diag, line, offset, format, args);
	va_end(args);
	return -(int)error;
}

int tact_fail_errno(struct tact_diag *diag, const char *what)
{
	const int error = errno;

	return tact_fail(diag, error == ENOMEM ? TACT_E_NOMEM : TACT_E_IO, "%s%s%s",
			 what ? what : "", what ? ": " : "", strerror(error));
}
