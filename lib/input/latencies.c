/* SPDX-License-Identifier: MIT
 *
 * Latencies that comments of assembly text give: from labels to ranges of the code.
 */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "input/reader.h"

static int add(struct tact_input *in, struct input_latency latency)
{
	if (tact_grow(&in->latencies, &in->latencies_capacity, in->n_latencies + 1,
		      sizeof(*in->latencies)))
		return -TACT_E_NOMEM;
	in->latencies[in->n_latencies++] = latency;
	return 0;
}

/* Finds the symbols of the labels, by number; NULL where the assembler left one out. */
static void find_labels(const struct tact_input *in, const struct obj_symbol **labels)
{
	const size_t prefix = strlen(ASM_LATENCY_PREFIX);

	for (size_t i = 0; i < in->obj->n_symbols; i++) {
		const struct obj_symbol *symbol = &in->obj->symbols[i];
		unsigned long number;

		if (strncmp(symbol->name, ASM_LATENCY_PREFIX, prefix))
			continue;
		number = strtoul(symbol->name + prefix, NULL, 10);
		if (number < in->source.n_latencies)
			labels[number] = symbol;
	}
}

/* Where what comment number i says ends: at the next one of its section that stands alone. */
static size_t end_of(const struct tact_input *in, const struct obj_symbol **labels, size_t i)
{
	const size_t section = labels[i]->section;

	if (in->source.latencies[i].is_single)
		return labels[i]->offset + 1;
	for (size_t k = i + 1; k < in->source.n_latencies; k++)
		if (labels[k] && labels[k]->section == section &&
		    !in->source.latencies[k].is_single)
			return labels[k]->offset;
	return in->obj->sections[section].size;
}

/* Comments on the line of an instruction come last: they outweigh the others. */
int input_find_latencies(struct tact_input *in)
{
	const struct asm_source *source = &in->source;
	const struct obj_symbol **labels;
	int status = 0;

	if (!source->n_latencies)
		return 0;
	labels = calloc(source->n_latencies, sizeof(*labels));
	if (!labels)
		return -TACT_E_NOMEM;
	find_labels(in, labels);
	for (int single = 0; single < 2; single++)
		for (size_t i = 0; i < source->n_latencies && status >= 0; i++)
			if (labels[i] && source->latencies[i].cycles &&
			    source->latencies[i].is_single == single)
				status = add(in, (struct input_latency){
							 {labels[i]->section, labels[i]->offset,
							  end_of(in, labels, i)},
							 source->latencies[i].cycles});
	free(labels);
	return status;
}

int input_take_latencies(struct tact_input *in, struct obj_range piece, size_t place)
{
	for (size_t i = 0; i < in->n_latencies; i++) {
		const struct obj_range *range = &in->latencies[i].range;
		const size_t begin = range->begin > piece.begin ? range->begin : piece.begin;
		const size_t end = range->end < piece.end ? range->end : piece.end;

		if (range->section != piece.section || begin >= end)
			continue;
		if (tact_grow(&in->taken, &in->taken_capacity, in->n_taken + 1, sizeof(*in->taken)))
			return -TACT_E_NOMEM;
		in->taken[in->n_taken++] = (struct tact_given_latency){begin - piece.begin + place,
								       end - piece.begin + place,
								       in->latencies[i].cycles};
	}
	return 0;
}
