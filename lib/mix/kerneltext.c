/* SPDX-License-Identifier: MIT
 *
 * The kernel's live text.  It patches itself (trace points, alternatives, static calls), so that
 * the file on disk is not what ran (HBBP paper, section III.C): /proc/kcore has what is in memory,
 * /proc/kallsyms the names.
 */
#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mix/mix.h"

enum { MAX_TEXT = 256 << 20, MAX_SYMBOLS = 1 << 20 };

struct symbol {
	uint64_t address;
	char *name;
};

struct mix_kernel {
	uint8_t *text;
	uint64_t address;
	size_t size;
	struct symbol *symbols; /* by address */
	size_t n, capacity;
};

static int compare_symbols(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

/* Accepts code of the kernel itself; for modules, a name in brackets follows. */
static int read_symbols(struct mix_kernel *k, const char *path, uint64_t *begin, uint64_t *end)
{
	FILE *file = fopen(path, "re");
	char line[512], type, name[256];
	uint64_t address;
	int status = 0;

	if (!file)
		return -TACT_E_IO;
	while (!status && k->n < MAX_SYMBOLS && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%" SCNx64 " %c %255s", &address, &type, name) != 3 ||
		    strchr(line, '['))
			continue;
		if (!strcmp(name, "_stext"))
			*begin = address;
		if (!strcmp(name, "_etext"))
			*end = address;
		if (!address || (type | 32) != 't')
			continue;
		if (tact_grow(&k->symbols, &k->capacity, k->n + 1, sizeof(*k->symbols)))
			status = -TACT_E_NOMEM;
		else if (!(k->symbols[k->n].name = strdup(name)))
			status = -TACT_E_NOMEM;
		else
			k->symbols[k->n++].address = address;
	}
	if (!status && ferror(file)) /* some of them would take the others' places */
		status = -TACT_E_IO;
	fclose(file);
	if (k->n)
		qsort(k->symbols, k->n, sizeof(*k->symbols), compare_symbols);
	return status;
}

static bool read_at(int fd, void *to, size_t size, uint64_t offset)
{
	size_t done = 0;

	while (done < size) {
		ssize_t n = pread(fd, (char *)to + done, size - done, (off_t)(offset + done));

		if (n <= 0)
			return false;
		done += (size_t)n;
	}
	return true;
}

static int read_text(struct mix_kernel *k, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), status = -TACT_E_IO;
	Elf64_Ehdr header;

	if (fd < 0)
		return -TACT_E_IO;
	if (!read_at(fd, &header, sizeof(header), 0) || memcmp(header.e_ident, ELFMAG, SELFMAG))
		header.e_phnum = 0;
	for (unsigned i = 0; i < header.e_phnum && status < 0; i++) {
		Elf64_Phdr p;

		if (!read_at(fd, &p, sizeof(p), header.e_phoff + i * sizeof(p)))
			break;
		if (p.p_type != PT_LOAD || k->address < p.p_vaddr ||
		    k->address + k->size > p.p_vaddr + p.p_memsz)
			continue;
		if (read_at(fd, k->text, k->size, p.p_offset + (k->address - p.p_vaddr)))
			status = 0;
	}
	close(fd);
	return status;
}

struct mix_kernel *mix_kernel_create(void)
{
	return mix_kernel_read("/proc/kallsyms", "/proc/kcore");
}

struct mix_kernel *mix_kernel_read(const char *symbols, const char *memory)
{
	struct mix_kernel *k = calloc(1, sizeof(*k));
	uint64_t begin = 0, end = 0;

	if (!k)
		return NULL;
	if (read_symbols(k, symbols, &begin, &end) || !begin || end <= begin ||
	    end - begin > MAX_TEXT)
		goto bad;
	k->address = begin;
	k->size = (size_t)(end - begin);
	k->text = malloc(k->size);
	if (!k->text || read_text(k, memory))
		goto bad;
	return k;
bad:
	mix_kernel_destroy(k);
	return NULL;
}

void mix_kernel_destroy(struct mix_kernel *k)
{
	if (!k)
		return;
	for (size_t i = 0; i < k->n; i++)
		free(k->symbols[i].name);
	FREE_ALL(k->symbols, k->text, k);
}

const uint8_t *mix_kernel_text(const struct mix_kernel *k, uint64_t *address, size_t *size)
{
	*address = k->address;
	*size = k->size;
	return k->text;
}

const char *mix_kernel_symbol(const struct mix_kernel *k, uint64_t address, uint64_t *begin)
{
	size_t low = 0, high = k->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (k->symbols[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return "";
	*begin = k->symbols[low - 1].address;
	return k->symbols[low - 1].name;
}

size_t mix_kernel_symbols(const struct mix_kernel *k)
{
	return k->n;
}

uint64_t mix_kernel_symbol_at(const struct mix_kernel *k, size_t i)
{
	return k->symbols[i].address;
}
