/* SPDX-License-Identifier: MIT
 *
 * Products of matrices by oneDNN, which is loaded only when the surrogate is trained.  It is 40 MB
 * large and brings OpenCL, OpenMP and the C++ library with it; no other command should have to load
 * those.
 */
#ifndef TACT_TUNE_MATRICES_H
#define TACT_TUNE_MATRICES_H

#include <stddef.h>
#include <stdint.h>

#include <tact/status.h>

/* dnnl_sgemm of oneDNN's C interface, versions 2 and 3: C = alpha A B + beta C, by rows. */
typedef int matrices_sgemm_fn(char transpose_a, char transpose_b, int64_t m, int64_t n, int64_t k,
			      float alpha, const float *a, int64_t lda, const float *b, int64_t ldb,
			      float beta, float *c, int64_t ldc);

struct matrices {
	matrices_sgemm_fn *sgemm;
	void (*set_threads)(int n); /* of its OpenMP; NULL: it has none */
};

/* Loads oneDNN.  It stays loaded until the process ends, because threads of OpenMP may still be in
 * it.  Returns -TACT_E_NO_TOOL with what to install.
 */
int matrices_load(struct matrices *out, struct tact_diag *diag);

/* Called once by each of our threads: they share the work, and each product stays on its own
 * thread.
 */
void matrices_one_thread(const struct matrices *matrices);

/* C = A B + beta C, by rows; 'T' transposes.  Returns 0 or -TACT_E_INTERNAL. */
int matrices_multiply(const struct matrices *matrices, char transpose_a, char transpose_b, size_t m,
		      size_t n, size_t k, const float *a, size_t lda, const float *b, size_t ldb,
		      float beta, float *c, size_t ldc);

#endif /* TACT_TUNE_MATRICES_H */
