/* SPDX-License-Identifier: MIT
 *
 * Whether another program executes this one.
 */
#ifndef TACT_EMULATOR_H
#define TACT_EMULATOR_H

#include <stdbool.h>
#include <stddef.h>

/* Finds the program that the kernel runs in the place of this one: it is of another machine, such as
 * qemu-aarch64 on x86-64.  Returns false, and writes "", if the kernel runs this program itself; an emulator of the
 * same machine counts as that.
 */
bool emulator_find(char *path, size_t size);

/* The same for two files, of which the first is this program's. */
bool emulator_is_other(const char *program, const char *running);

#endif /* TACT_EMULATOR_H */
