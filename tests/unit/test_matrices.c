/* SPDX-License-Identifier: MIT
 *
 * Products of matrices against sums written out.
 */
#include <stddef.h>
#include <string.h>

#include "testing.h"

#include "support.h"

#include "tune/matrices.h"

static float at(const float *matrix, char transpose, size_t row, size_t column, size_t width)
{
	return transpose == 'T' ? matrix[column * width + row] : matrix[row * width + column];
}

TEST(products)
{
	static const char flags[] = {'N', 'T'};
	enum { M = 3, N = 4, K = 5 };
	struct matrices matrices;
	float a[M * K], b[K * N], c[M * N], before[M * N];

	assert_int_equal(matrices_load(&matrices, NULL), 0);
	matrices_one_thread(&matrices);
	for (size_t i = 0; i < ARRAY_SIZE(a); i++)
		a[i] = (float)i - 6;
	for (size_t i = 0; i < ARRAY_SIZE(b); i++)
		b[i] = 3 - (float)i / 2;
	for (size_t i = 0; i < ARRAY_SIZE(c); i++)
		before[i] = (float)(i * i);
	for (unsigned form = 0; form < 4; form++) {
		char ta = flags[form & 1], tb = flags[form >> 1];
		size_t lda = ta == 'T' ? M : K, ldb = tb == 'T' ? K : N;

		memcpy(c, before, sizeof(c));
		assert_int_equal(
			matrices_multiply(&matrices, ta, tb, M, N, K, a, lda, b, ldb, 1, c, N), 0);
		for (size_t i = 0; i < M; i++) {
			for (size_t j = 0; j < N; j++) {
				float sum = before[i * N + j];

				for (size_t k = 0; k < K; k++)
					sum += at(a, ta, i, k, lda) * at(b, tb, k, j, ldb);
				assert_true(c[i * N + j] == sum);
			}
		}
	}
}

/* oneDNN refuses some of these; there is nothing to do. */
TEST(nothing_to_multiply)
{
	struct matrices matrices;
	float c = 7;

	assert_int_equal(matrices_load(&matrices, NULL), 0);
	assert_int_equal(
		matrices_multiply(&matrices, 'N', 'N', 0, 1, 1, NULL, 1, NULL, 1, 1, &c, 1), 0);
	assert_int_equal(
		matrices_multiply(&matrices, 'N', 'N', 1, 1, 0, NULL, 1, NULL, 1, 1, &c, 1), 0);
	assert_true(c == 7);
}

RUN_TESTS(NULL, NULL)
