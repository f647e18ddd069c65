/* SPDX-License-Identifier: MIT
 *
 * Shares of categories by application.
 */
#ifndef TACT_PROGRAM_SHARES_H
#define TACT_PROGRAM_SHARES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tact/classify.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Applications after the first 4096 are counted as one, "(others)". */
struct tact_shares;

int tact_shares_create(struct tact_shares **out);
void tact_shares_destroy(struct tact_shares *shares); /* NULL is allowed */

/* Count a block of an application ("": none) with its label, or with its bag, which
 * tact_shares_label labels when there is a classifier.  weight NAN: not known.
 * Return -TACT_E_INVAL, -TACT_E_NOMEM.
 */
int tact_shares_add(struct tact_shares *shares, const char *app, double weight,
		    const struct tact_label *label);
int tact_shares_add_bag(struct tact_shares *shares, const char *app, double weight, uint32_t bag);
int tact_shares_label(struct tact_shares *shares, const struct tact_classifier *classifier,
		      const struct tact_bags *bags);

/* Ends counting and sorts the applications by name. */
void tact_shares_finish(struct tact_shares *shares);

struct tact_share {
	size_t size;
	const char *app; /* owned by the shares, as are the next two */
	uint64_t blocks;
	double weight;		 /* of the blocks whose weight is known */
	const uint64_t *count;	 /* of blocks by topic */
	const double *by_weight; /* their weights */
};
size_t tact_shares_count(const struct tact_shares *shares); /* applications */
int tact_shares_get(const struct tact_shares *shares, size_t i, struct tact_share *out);

struct tact_shares_totals {
	size_t size;
	uint64_t blocks, unlabelled;
	uint64_t uops, unknown; /* of labelled blocks */
	double perplexity;	/* on these blocks; NAN: there are none */
	bool has_weights;
};
void tact_shares_get_totals(const struct tact_shares *shares, struct tact_shares_totals *out);

#ifdef __cplusplus
}
#endif

#endif /* TACT_PROGRAM_SHARES_H */
