/* SPDX-License-Identifier: MIT
 *
 * The module tact_mpi.so: sums over the processes that mpirun has started.
 */
#include <limits.h>
#include <mpi.h>
#include <stdio.h>

#include "tune/ranks_wire.h"

static int fail(int code, char *why, size_t why_size)
{
	char text[MPI_MAX_ERROR_STRING] = "no reason given";
	int size;

	MPI_Error_string(code, text, &size);
	snprintf(why, why_size, "%s", text);
	return -1;
}

static int open_ranks(unsigned *rank, unsigned *n, char *why, size_t why_size)
{
	int provided, number = 0, count = 1;
	int code = MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided);

	if (code == MPI_SUCCESS)
		code = MPI_Comm_rank(MPI_COMM_WORLD, &number);
	if (code == MPI_SUCCESS)
		code = MPI_Comm_size(MPI_COMM_WORLD, &count);
	if (code != MPI_SUCCESS)
		return fail(code, why, why_size);
	*rank = (unsigned)number;
	*n = (unsigned)count;
	return 0;
}

static int sum(uint64_t *values, size_t n)
{
	const size_t most = INT_MAX / 2; /* MPI counts with int */

	for (size_t at = 0; at < n;) {
		const size_t some = n - at < most ? n - at : most;

		if (MPI_Allreduce(MPI_IN_PLACE, values + at, (int)some, MPI_UINT64_T, MPI_SUM,
				  MPI_COMM_WORLD) != MPI_SUCCESS)
			return -1;
		at += some;
	}
	return 0;
}

static void close_ranks(void)
{
	MPI_Finalize();
}

__attribute__((visibility("default"))) const struct ranks_api *tact_mpi_api(void);

const struct ranks_api *tact_mpi_api(void)
{
	static const struct ranks_api api = {RANKS_WIRE_VERSION, sizeof(api), open_ranks, sum,
					     close_ranks};

	return &api;
}
