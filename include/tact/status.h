/* SPDX-License-Identifier: MIT */
#ifndef TACT_STATUS_H
#define TACT_STATUS_H

#include <stddef.h>
#include <stdint.h>

/* Structs that begin with `size` may grow in later versions.  The caller sets `size` to the sizeof
 * of the struct, which TACT_SIZED and the TACT_*_INIT macros do:
 *
 *	struct tact_block_options options = TACT_BLOCK_OPTIONS_INIT;
 *	struct tact_prediction prediction = TACT_PREDICTION_INIT;
 *
 * Options: fields that the caller's struct lacks are zero.  Fields that this library does not know
 * must be zero, or the call fails with -TACT_E_INVAL.  NULL means the same as all zeros but `size`;
 * a size of 0 is refused with -TACT_E_INVAL.
 *
 * Results: no more than `size` bytes are written, fields that this library does not know become
 * zero, and `size` stays as it is.  A size of 0 is refused with -TACT_E_INVAL.
 *
 * Structs without `size` never change.
 */
#ifdef __cplusplus
template <typename T> inline T tact_sized()
{
	T t = T();
	t.size = sizeof(T);
	return t;
}
#define TACT_SIZED(type) tact_sized<type>()
#else
#define TACT_SIZED(type)                                                                           \
	{                                                                                          \
		.size = sizeof(type)                                                               \
	}
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Every fallible function returns int: >= 0 on success, -TACT_E_* on failure.
 * Values are stable: new ones are added at the end.
 */
enum tact_error {
	TACT_OK = 0,
	TACT_E_INTERNAL,     /* a bug in this library */
	TACT_E_INVAL,	     /* the caller broke the contract */
	TACT_E_NOMEM,	     /* out of memory */
	TACT_E_IO,	     /* a file could not be opened, read or written */
	TACT_E_FORMAT,	     /* malformed file or text */
	TACT_E_VERSION,	     /* a file of an incompatible version */
	TACT_E_DECODE,	     /* bytes are not an instruction */
	TACT_E_NO_ARCH,	     /* unknown microarchitecture */
	TACT_E_NO_DATA,	     /* tables or a recording lack what was asked for */
	TACT_E_NOT_MODELLED, /* outside the model, or not possible on this machine */
	TACT_E_NO_TOOL,	     /* a program needed at run time is not installed */
	TACT_E_LIMIT	     /* a size or budget is exceeded */
};

/* Returns a text for a status, with or without the minus sign; "unknown error" for other numbers.
 * May be called from any thread.
 */
const char *tact_strerror(int status);

/* Where and why a call failed.  Owned by the caller, who may pass NULL; filled only on failure.
 * This struct never changes.
 */
struct tact_diag {
	uint64_t line;	 /* of a text input, from 1; 0: none */
	uint64_t offset; /* of a byte in the input or in the block's code */
	char text[240];
};

#ifdef __cplusplus
}
#endif

#endif /* TACT_STATUS_H */
