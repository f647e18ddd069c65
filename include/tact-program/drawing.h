/* SPDX-License-Identifier: MIT
 *
 * What the program's own tables share with the views of the library: instructions as text, notes on
 * them, letters for what a uop does.
 */
#ifndef TACT_PROGRAM_DRAWING_H
#define TACT_PROGRAM_DRAWING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tact/block.h>
#include <tact/pipeline.h>
#include <tact/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A block's instructions as text. */
struct tact_listing {
	size_t n;
	char (*line)[112]; /* owned */
	size_t widest;	   /* at most 48 columns count */
};

/* Fills a listing of a block whose first byte is at `address`.  The caller gives it to
 * tact_listing_fini.
 * Returns 0, or
 *   -TACT_E_INVAL  an argument is missing
 *   -TACT_E_NOMEM  out of memory; the listing is empty
 */
int tact_listing_init(struct tact_listing *listing, const struct tact_block *block,
		      uint64_t address);

/* Frees the lines of a listing.  NULL is allowed. */
void tact_listing_fini(struct tact_listing *listing);

/* Notes on instructions (TACT_NOTE_*), in the order of their letters; bit 0 ends the list. */
struct tact_view_note {
	unsigned bit;
	char letter; /* 0: not shown in tables */
	const char *name, *help;
};
extern const struct tact_view_note tact_view_notes[];

/* Returns what a uop does in a cycle, as a letter of the chart; ' ' before it is delivered, after
 * it has retired, and for NULL.
 */
char tact_view_letter(const struct tact_sim_uop *uop, int64_t cycle);

/* Returns what the letters that occur mean, in the words of a core's vendor (NULL: Intel's): some
 * lines, which the caller frees.  NULL: out of memory.
 */
char *tact_view_legend(const bool occurs[256], const struct tact_arch *arch);

#ifdef __cplusplus
}
#endif

#endif /* TACT_PROGRAM_DRAWING_H */
