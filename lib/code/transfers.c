/* SPDX-License-Identifier: MIT */
#include "code/transfers.h"

enum { LAYOUTS = 16 };

/* Finds where the last instruction begins; `size` if the code does not end with one. */
static size_t find_last(const struct tact_isa *isa, const uint8_t *code, size_t size)
{
	struct isa_layout layouts[LAYOUTS];
	size_t at = 0;

	while (at < size) {
		const size_t n = isa->lay_out(layouts, LAYOUTS, code + at, size - at);

		for (size_t i = 0; i < n && at < size; i++) {
			size_t length = layouts[i].length;
			struct isa_step step;

			if (!length) { /* left to the decoder */
				isa->scan(&step, 1, code + at, size - at);
				if (!step.is_valid)
					return size;
				length = step.length;
			}
			if (at + length == size)
				return at;
			at += length;
		}
	}
	return size;
}

bool code_is_loop(const struct tact_isa *isa, const uint8_t *code, size_t size)
{
	struct isa_step step;
	size_t last;

	if (!code || !size || (isa->may_lead_back && !isa->may_lead_back(code, size)))
		return false;
	last = find_last(isa, code, size);
	if (last == size)
		return false;
	isa->scan(&step, 1, code + last, size - last);
	return step.is_valid &&
	       code_leads_back((enum tact_flow)step.flow, step.is_direct, step.target, last);
}
