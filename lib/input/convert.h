/* SPDX-License-Identifier: MIT
 *
 * From text that people have, or paste, to an object file.
 */
#ifndef TACT_CONVERT_H
#define TACT_CONVERT_H

#include "input/reader.h"

/* Makes in->image of the text of in->reader, which has been read to its end: of a listing, or by
 * assembling it.  Sets kind, source and description.  Returns 0, -TACT_E_NOMEM, -TACT_E_FORMAT,
 * -TACT_E_NO_TOOL or -TACT_E_IO.
 */
int input_make_image(struct tact_input *in, const struct tact_input_options *opt,
		     struct tact_diag *diag);

#endif /* TACT_CONVERT_H */
