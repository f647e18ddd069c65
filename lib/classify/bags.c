/* SPDX-License-Identifier: MIT
 *
 * Blocks as bags of port combinations.  Most blocks of real programs share their bag with others:
 * the 260,000 blocks of BHive have 13,000 different bags.
 */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/hash.h"
#include "classify/classify.h"

void classify_ports(params_ports mask, char text[TACT_CLASSIFY_PORTS_SIZE])
{
	char *p = text;

	*p++ = 'p';
	for (unsigned port = 0; port < TACT_MAX_PORTS; port++)
		if (mask >> port & 1)
			*p++ = "0123456789abcdefghijklmnopqrstuv"[port];
	*p = 0;
}

/* Classifiers refer to an architecture by name, and may outlive a derived one. */
static bool is_built_in(const struct tact_arch *arch)
{
	return tact_arch_find(tact_arch_name(arch)) == arch;
}

int tact_bags_create(struct tact_bags **out, const struct tact_arch *arch, struct tact_diag *diag)
{
	struct tact_bags *bags;
	int status;

	if (out)
		*out = NULL;
	status = tact_new(&bags, sizeof(*bags), out && arch && is_built_in(arch),
			  "an argument is missing, or the architecture is a derived one", diag);
	if (status < 0)
		return status;
	bags->arch = arch;
	if (tact_grow(&bags->first, &bags->first_capacity, 1, sizeof(*bags->first))) {
		tact_bags_destroy(bags);
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	}
	bags->first[0] = 0;
	*out = bags;
	return 0;
}

void tact_bags_destroy(struct tact_bags *bags)
{
	if (!bags)
		return;
	FREE_ALL(bags->terms, bags->kinds, bags->first, bags->blocks);
	hash_free(&bags->index);
	free(bags);
}

size_t tact_bags_count(const struct tact_bags *bags)
{
	return bags ? bags->n_bags : 0;
}

/* The ports tell loads and stores; the address of a store may use the ports of loads. */
static enum uop_kind kind_of(const struct arch_params *params, const struct block_lowered *l,
			     params_ports mask)
{
	const params_ports store = params->store_address_ports | params->store_data_ports;

	if (l->n_loads && !(mask & ~params->load_ports))
		return UOP_LOAD;
	if (l->n_stores && !(mask & ~(store | params->load_ports)))
		return UOP_STORE;
	return l->attributes & TACT_INSN_VECTOR ? UOP_VECTOR : UOP_SCALAR;
}

int classify_word(const params_ports *words, unsigned n, params_ports mask)
{
	for (unsigned i = 0; i < n; i++)
		if (words[i] == mask)
			return (int)i;
	return -1;
}

static int word_of(struct tact_bags *bags, params_ports mask)
{
	int word = classify_word(bags->words, bags->n_words, mask);

	if (word >= 0 || bags->n_words == TACT_CLASSIFY_MAX_WORDS)
		return word;
	bags->words[bags->n_words] = mask;
	return (int)bags->n_words++;
}

/* Counts uops by word and kind; returns their number, or -TACT_E_LIMIT. */
static int64_t count_words(struct tact_bags *bags, const struct tact_block *block,
			   uint32_t (*count)[UOP_N_KINDS])
{
	struct arch_port_use uses[BLOCK_MAX_PORT_USES];
	int64_t total = 0;

	for (size_t i = 0; i < block->n_insns; i++) {
		const struct block_insn *bi = &block->insns[i];
		/* Without x87: it is rare, and its combinations would make the topics depend on
		 * where training starts.
		 */
		unsigned n = bi->fused_prev || bi->lowered->has_turning
				     ? 0
				     : block_port_uses(block, i, uses);

		for (unsigned k = 0; k < n; k++) {
			int word = word_of(bags, uses[k].mask);
			enum uop_kind kind =
				kind_of(&bags->arch->params, bi->lowered, uses[k].mask);

			if (word < 0)
				return -TACT_E_LIMIT;
			count[word][kind] += uses[k].count;
			total += uses[k].count;
		}
	}
	return total;
}

/* Makes room for one more bag of n terms. */
static int reserve(struct tact_bags *bags, size_t n, struct tact_diag *diag)
{
	if (bags->n_bags == TACT_CLASSIFY_MAX_BAGS)
		return tact_fail(diag, TACT_E_LIMIT, "more than %d different bags",
				 TACT_CLASSIFY_MAX_BAGS);
	if (tact_grow(&bags->terms, &bags->terms_capacity, bags->n_terms + n,
		      sizeof(*bags->terms)) ||
	    tact_grow(&bags->kinds, &bags->kinds_capacity, bags->n_terms + n,
		      sizeof(*bags->kinds)) ||
	    tact_grow(&bags->first, &bags->first_capacity, bags->n_bags + 2,
		      sizeof(*bags->first)) ||
	    tact_grow(&bags->blocks, &bags->blocks_capacity, bags->n_bags + 1,
		      sizeof(*bags->blocks)) ||
	    hash_reserve(&bags->index, bags->n_bags + 1))
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	return 0;
}

/* Finds the bag with these terms; adds a new one if there is none. */
static int find(struct tact_bags *bags, const struct lda_term *terms, size_t n, uint32_t *bag,
		struct tact_diag *diag)
{
	const uint64_t hash = hash_bytes(terms, n * sizeof(*terms));
	int status = reserve(bags, n, diag);
	size_t at = 0;
	uint32_t b;

	if (status < 0)
		return status;
	while ((b = hash_next(&bags->index, hash, &at)) != HASH_NONE) {
		if (bags->first[b + 1] - bags->first[b] == n &&
		    !memcmp(bags->terms + bags->first[b], terms, n * sizeof(*terms))) {
			*bag = b;
			return 1;
		}
	}
	memcpy(bags->terms + bags->n_terms, terms, n * sizeof(*terms));
	memset(bags->kinds + bags->n_terms, 0, n * sizeof(*bags->kinds));
	bags->n_terms += n;
	bags->first[bags->n_bags + 1] = bags->n_terms;
	bags->blocks[bags->n_bags] = 0;
	*bag = (uint32_t)bags->n_bags++;
	hash_add(&bags->index, hash, *bag); /* there is room */
	return 1;
}

/* Counts one more block with this bag. */
static void add_block(struct tact_bags *bags, uint32_t bag, uint32_t (*count)[UOP_N_KINDS])
{
	bags->blocks[bag]++;
	for (size_t i = bags->first[bag]; i < bags->first[bag + 1]; i++)
		for (unsigned k = 0; k < UOP_N_KINDS; k++)
			bags->kinds[i][k] += count[bags->terms[i].word][k];
}

int tact_bags_add(struct tact_bags *bags, const struct tact_block *block, uint32_t *bag,
		  struct tact_diag *diag)
{
	uint32_t count[TACT_CLASSIFY_MAX_WORDS][UOP_N_KINDS] = {{0}};
	struct lda_term terms[TACT_CLASSIFY_MAX_WORDS];
	int64_t total;
	size_t n = 0;
	int status;

	if (!bags || !block || !bag)
		return tact_fail(diag, TACT_E_INVAL, "an argument is missing");
	if (block->arch != bags->arch)
		return tact_fail(diag, TACT_E_INVAL, "the block is one of %s, not of %s",
				 tact_arch_name(block->arch), tact_arch_name(bags->arch));
	total = count_words(bags, block, count);
	if (total < 0)
		return tact_fail(diag, TACT_E_LIMIT, "more than %d port combinations",
				 TACT_CLASSIFY_MAX_WORDS);
	if (!total)
		return 0;
	for (unsigned w = 0; w < bags->n_words; w++) {
		uint32_t sum = 0;

		for (unsigned k = 0; k < UOP_N_KINDS; k++)
			sum += count[w][k];
		if (sum)
			terms[n++] = (struct lda_term){.word = w, .count = sum};
	}
	status = find(bags, terms, n, bag, diag);
	if (status > 0)
		add_block(bags, *bag, count);
	return status;
}
