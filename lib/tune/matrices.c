/* SPDX-License-Identifier: MIT
 *
 * oneDNN, found at run time.  We call one function of it, whose signature is the same in versions 2
 * and 3, so that building needs no header of it.
 */
#include "tune/matrices.h"

#include <dlfcn.h>
#include <string.h>

#include "base/base.h"

/* ISO C has no conversion from an object pointer to a function pointer; POSIX's dlsym has. */
static void copy_symbol(void *to, void *library, const char *name)
{
	void *symbol = dlsym(library, name);

	memcpy(to, &symbol, sizeof(symbol));
}

int matrices_load(struct matrices *out, struct tact_diag *diag)
{
	static const char *const names[] = {"libdnnl.so.2", "libdnnl.so.3", "libdnnl.so"};
	struct matrices found = {0};
	void *library = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(names) && !library; i++)
		library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	if (!library)
		return tact_fail(diag, TACT_E_NO_TOOL,
				 "oneDNN (libdnnl.so.2 or .3) is not installed, and the surrogate "
				 "is trained with it; Debian's package is libdnnl2");
	copy_symbol(&found.sgemm, library, "dnnl_sgemm");
	/* Of the OpenMP that oneDNN was linked with. */
	copy_symbol(&found.set_threads, library, "omp_set_num_threads");
	if (!found.sgemm) {
		dlclose(library);
		return tact_fail(diag, TACT_E_NO_TOOL, "libdnnl.so has no dnnl_sgemm");
	}
	*out = found;
	return 0;
}

void matrices_one_thread(const struct matrices *matrices)
{
	if (matrices->set_threads)
		matrices->set_threads(1);
}

int matrices_multiply(const struct matrices *matrices, char transpose_a, char transpose_b, size_t m,
		      size_t n, size_t k, const float *a, size_t lda, const float *b, size_t ldb,
		      float beta, float *c, size_t ldc)
{
	enum { SUCCESS = 0 }; /* dnnl_success */

	if (!m || !n || !k)
		return 0;
	return matrices->sgemm(transpose_a, transpose_b, (int64_t)m, (int64_t)n, (int64_t)k, 1, a,
			       (int64_t)lda, b, (int64_t)ldb, beta, c, (int64_t)ldc) == SUCCESS
		       ? 0
		       : -TACT_E_INTERNAL;
}
