/* SPDX-License-Identifier: MIT
 *
 * Remarks: what was assumed, chosen or left out on the way to a result.  Each has a name, which
 * programs can rely on, and a sentence for people.  The manual page tact(1) lists the names.
 *
 * A handle belongs to one thread at a time; different handles may be used by different threads at
 * once.
 */
#ifndef TACT_REMARK_H
#define TACT_REMARK_H

#include <stddef.h>

#include <tact/status.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tact_remarks; /* a list of remarks */

/* Creates an empty list.  Returns 0 with a handle for tact_remarks_destroy, -TACT_E_INVAL without
 * `out`, -TACT_E_NOMEM.
 */
int tact_remarks_create(struct tact_remarks **out);

/* Frees a list.  NULL is allowed. */
void tact_remarks_destroy(struct tact_remarks *remarks);

/* Empties a list.  NULL is allowed. */
void tact_remarks_clear(struct tact_remarks *remarks);

/* Adds a remark: its name, which is made of a-z, 0-9 and '-', and a sentence without a full stop as
 * printf makes it.  A remark that is there already, word for word, is not added again.
 * Returns 0, or
 *   -TACT_E_INVAL  an argument is missing, or the name is not one
 *   -TACT_E_NOMEM  out of memory; the list is as it was
 */
int tact_remarks_add(struct tact_remarks *remarks, const char *name, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Adds all remarks of another list; from == NULL adds nothing.
 * Returns 0, or
 *   -TACT_E_INVAL  there is no list to add to
 *   -TACT_E_NOMEM  out of memory; some may have been added
 */
int tact_remarks_append(struct tact_remarks *remarks, const struct tact_remarks *from);

/* Returns how many remarks there are; 0 for NULL. */
size_t tact_remarks_count(const struct tact_remarks *remarks);

/* Return the name and the sentence of the i-th remark, from 0; "" if there is none.  They are valid
 * until the list is cleared or destroyed.
 */
const char *tact_remarks_name(const struct tact_remarks *remarks, size_t i);
const char *tact_remarks_text(const struct tact_remarks *remarks, size_t i);

#ifdef __cplusplus
}
#endif

#endif /* TACT_REMARK_H */
