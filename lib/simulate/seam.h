/* SPDX-License-Identifier: MIT
 *
 * Streams behind the seam of include/tact/model.h.
 */
#ifndef TACT_SIMULATE_SEAM_H
#define TACT_SIMULATE_SEAM_H

#include <stdint.h>

struct tact_block;

int simulate_stream_open(const void *self, void **stream);
int simulate_stream_feed(void *stream, struct tact_block *block);
int simulate_stream_close(void *stream, uint64_t *cycles);

#endif /* TACT_SIMULATE_SEAM_H */
