/* SPDX-License-Identifier: MIT
 *
 * libmicrohttpd, found at run time: only this command pays for loading it.
 */
#ifndef TACT_MICROHTTPD_API_H
#define TACT_MICROHTTPD_API_H

#ifdef TACT_HAS_MICROHTTPD
#include <microhttpd.h>
#include <stdbool.h>

/* Its functions that we call, under their names without MHD_. */
#define MICROHTTPD_FUNCTIONS(X)                                                                    \
	X(start_daemon)                                                                            \
	X(stop_daemon)                                                                             \
	X(add_connection)                                                                          \
	X(add_response_header)                                                                     \
	X(create_response_from_buffer)                                                             \
	X(destroy_response)                                                                        \
	X(queue_response)                                                                          \
	X(lookup_connection_value)                                                                 \
	X(get_connection_values)                                                                   \
	X(get_connection_info)

struct microhttpd {
#define MICROHTTPD_FIELD(name) __typeof__(MHD_##name) *name;
	MICROHTTPD_FUNCTIONS(MICROHTTPD_FIELD)
#undef MICROHTTPD_FIELD
};

/* Returns false, with the message given, if it is not there. */
bool microhttpd_load(struct microhttpd *out);
#endif

#endif /* TACT_MICROHTTPD_API_H */
