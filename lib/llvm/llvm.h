/* SPDX-License-Identifier: MIT
 *
 * LLVM's decoders and machine models, through a module that is loaded when somebody asks for it.
 *
 * The dynamic linker remembers the module, and the module what was opened: there is nothing to be
 * kept here.  llvm_wire.h says what it can do.
 */
#ifndef TACT_LLVM_H
#define TACT_LLVM_H

#include <tact/status.h>

#include "llvm/llvm_wire.h"

/* Returns the module's functions, loading it if need be.  NULL, with the reason and what would help:
 * it was not built, or not with this library.
 */
const struct llvm_api *llvm_module(struct tact_diag *diag);

/* Returns the functions and sets *set, or NULL with the reason. */
const struct llvm_api *llvm_open(struct llvm_set **set, const struct llvm_set_spec *spec,
				 struct tact_diag *diag);

/* Finds a program that is built and installed beside the module.  Returns 0, -TACT_E_NO_TOOL if the
 * module or the program is not there, or -TACT_E_LIMIT.
 */
int llvm_program(const char *name, char *path, size_t size, struct tact_diag *diag);

#endif /* TACT_LLVM_H */
