/* SPDX-License-Identifier: MIT
 *
 * What the page without a server does without: object files (elfutils), stores (SQLite), other
 * programs (the assembler, llvm-mca), and measuring.  Each function does what it does where there is
 * nothing of its kind.
 */
#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <stddef.h>
#include <sys/mman.h>

#include <tact/doctor.h>
#include <tact/measure.h>
#include <tact/store.h>

#include "base/base.h"
#include "base/beside.h"
#include "base/process.h"
#include "obj/obj.h"

/* ---- programs ---- */

int process_start(struct process *p, const struct process_spec *spec)
{
	(void)spec;
	*p = (struct process){.has_ended = true, .status = -1};
	return ENOENT;
}

void process_await(struct process *p)
{
	(void)p;
}

bool process_has_ended(struct process *p)
{
	(void)p;
	return true;
}

void process_end(struct process *p)
{
	(void)p;
}

int memfd_create(const char *name, unsigned flags)
{
	(void)name, (void)flags;
	errno = ENOSYS;
	return -1;
}

int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set)
{
	(void)pid, (void)size, (void)set;
	errno = ENOSYS;
	return -1;
}

int __sched_cpucount(size_t size, const cpu_set_t *set)
{
	(void)size, (void)set;
	return 1;
}

/* Modules: LLVM's.  The functions of the C library here end the program. */
void *dlopen(const char *path, int flags)
{
	(void)path, (void)flags;
	return NULL;
}

void *dlsym(void *restrict module, const char *restrict name)
{
	(void)module, (void)name;
	return NULL;
}

int dlclose(void *module)
{
	(void)module;
	return -1;
}

int dladdr(const void *address, Dl_info *info)
{
	(void)address, (void)info;
	return 0;
}

int beside_find(const char *name, char *path, size_t size)
{
	(void)name, (void)path, (void)size;
	return -TACT_E_NO_TOOL;
}

/* Names of files that are made: from the number of the process then. */
ssize_t getrandom(void *to, size_t size, unsigned flags)
{
	(void)to, (void)size, (void)flags;
	errno = ENOSYS;
	return -1;
}

/* ---- object files ---- */

int obj_image_map_fd(struct obj_image *out, int fd, struct tact_diag *diag)
{
	(void)out, (void)fd;
	return tact_fail(diag, TACT_E_NO_TOOL, "this page reads no files");
}

void obj_image_unmap(struct obj_image *image)
{
	(void)image;
}

int obj_open(struct obj_file **out, const void *image, size_t size, struct tact_diag *diag)
{
	(void)image, (void)size;
	*out = NULL;
	return tact_fail(diag, TACT_E_NO_TOOL,
			 "this page reads no object files: give hex digits, or a listing with "
			 "bytes as objdump -d prints it");
}

int obj_open_image(struct obj_file **out, const struct obj_image *image, struct tact_diag *diag)
{
	return obj_open(out, image->data, image->size, diag);
}

void obj_close(struct obj_file *obj)
{
	(void)obj;
}

int obj_find_symbols(struct obj_file *obj)
{
	(void)obj;
	return 0;
}

long obj_cut_at_unwind(const struct obj_file *obj, const struct obj_range *range, size_t **starts)
{
	(void)obj, (void)range;
	*starts = NULL;
	return 0;
}

const struct obj_function *obj_function_at(const struct obj_file *obj, size_t section,
					   size_t offset)
{
	(void)obj, (void)section, (void)offset;
	return NULL;
}

int obj_function_find(const struct obj_file *obj, const char *name, struct obj_range *range,
		      struct tact_diag *diag)
{
	(void)obj, (void)name, (void)range;
	return tact_fail(diag, TACT_E_NO_TOOL, "this page reads no object files");
}

const struct obj_symbol *obj_symbol_before(const struct obj_file *obj, size_t section,
					   size_t offset)
{
	(void)obj, (void)section, (void)offset;
	return NULL;
}

long obj_frames_at(struct obj_file *obj, size_t section, size_t offset, struct obj_frame *frames,
		   size_t most)
{
	(void)obj, (void)section, (void)offset, (void)frames, (void)most;
	return 0;
}

size_t obj_own_frame(const struct obj_frame *frames, size_t n)
{
	(void)frames, (void)n;
	return 0;
}

int obj_line_at(struct obj_file *obj, size_t section, size_t offset, const char **file, int *line)
{
	(void)obj, (void)section, (void)offset, (void)file, (void)line;
	return 0;
}

char *obj_demangle(const char *symbol, bool is_whole)
{
	(void)symbol, (void)is_whole;
	return NULL;
}

/* ---- stores ---- */

bool tact_store_is_store(const char *path)
{
	(void)path;
	return false;
}

int tact_store_open(struct tact_store **out, const char *path, unsigned flags,
		    struct tact_diag *diag)
{
	(void)path, (void)flags;
	*out = NULL;
	return tact_fail(diag, TACT_E_NO_TOOL, "this page reads no stores");
}

void tact_store_close(struct tact_store *store)
{
	(void)store;
}

int tact_store_blocks_create(struct tact_store_blocks **out, struct tact_store *store,
			     const struct tact_store_filter *filter, struct tact_diag *diag)
{
	(void)store, (void)filter;
	*out = NULL;
	return tact_fail(diag, TACT_E_NO_TOOL, "this page reads no stores");
}

int tact_store_blocks_next(struct tact_store_blocks *blocks, struct tact_store_block *block,
			   struct tact_diag *diag)
{
	(void)blocks, (void)block, (void)diag;
	return 0;
}

uint64_t tact_store_blocks_skipped(const struct tact_store_blocks *blocks)
{
	(void)blocks;
	return 0;
}

void tact_store_blocks_destroy(struct tact_store_blocks *blocks)
{
	(void)blocks;
}

int tact_store_predictions_create(struct tact_store_predictions **out, struct tact_store *store,
				  const struct tact_store_filter *filter, struct tact_diag *diag)
{
	(void)store, (void)filter;
	*out = NULL;
	return tact_fail(diag, TACT_E_NO_TOOL, "this page reads no stores");
}

int tact_store_predictions_next(struct tact_store_predictions *predictions, int64_t *block,
				const uint8_t **code, size_t *code_size,
				struct tact_store_prediction *prediction, struct tact_diag *diag)
{
	(void)predictions, (void)block, (void)code, (void)code_size, (void)prediction, (void)diag;
	return 0;
}

uint64_t tact_store_predictions_skipped(const struct tact_store_predictions *predictions)
{
	(void)predictions;
	return 0;
}

void tact_store_predictions_destroy(struct tact_store_predictions *predictions)
{
	(void)predictions;
}

/* ---- measuring ---- */

bool tact_host_emulator(char *text, size_t size)
{
	if (text && size)
		*text = '\0';
	return false;
}

int tact_harness_create(struct tact_harness **out, const struct tact_measure_options *opt,
			struct tact_diag *diag)
{
	(void)opt;
	*out = NULL;
	return tact_fail(diag, TACT_E_NOT_MODELLED, "this page measures nothing");
}

void tact_harness_destroy(struct tact_harness *harness)
{
	(void)harness;
}

int tact_measure(struct tact_harness *harness, const uint8_t *code, size_t size,
		 struct tact_measurement *out)
{
	(void)harness, (void)code, (void)size, (void)out;
	return -TACT_E_NOT_MODELLED;
}

const char *tact_measure_status_name(enum tact_measure_status status)
{
	(void)status;
	return "unknown";
}
