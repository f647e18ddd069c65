/* SPDX-License-Identifier: MIT
 *
 * The file as libelf shows it, checked against the size of the image before anything is touched.
 */
#include <elf.h>
#include <gelf.h>
#include <inttypes.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "obj/obj.h"

/* What elf_errno returns if memory ran out: libelf's header keeps the name private. */
enum { LIBELF_NOMEM = 8 };

/* What is needed only while the file is read. */
struct loader {
	struct obj_file *obj;
	Elf *elf;
	Elf64_Ehdr header;
	size_t n_headers;	 /* entries of the section table */
	size_t *section_of;	 /* for each of them: number in obj->sections plus one, or 0 */
	size_t symbol_table;	 /* section of the symbol table in use; 0: none */
	const uint8_t *symbols;	 /* its bytes */
	const uint8_t *extended; /* SHT_SYMTAB_SHNDX: section numbers that do not fit in 16 bits */
	size_t n_symbols, n_extended;
	struct tact_diag *diag;
};

static const char *machine_name(unsigned machine)
{
	switch (machine) {
	case EM_386:
		return "i386";
	case EM_ARM:
		return "ARM";
	case EM_AARCH64:
		return "AArch64";
	case EM_RISCV:
		return "RISC-V";
	case EM_PPC64:
		return "PowerPC 64";
	case EM_PPC:
		return "PowerPC";
	case EM_S390:
		return "S/390";
	case EM_MIPS:
		return "MIPS";
	case EM_SPARCV9:
		return "SPARC V9";
	case EM_BPF:
		return "BPF";
	case EM_LOONGARCH:
		return "LoongArch";
	default:
		return NULL;
	}
}

static int check_machine(const struct loader *load)
{
	const unsigned char *ident = load->header.e_ident;
	unsigned machine = load->header.e_machine;
	const struct tact_isa *isa;
	const char *name;
	char titles[96];

	/* The fields before e_entry are at the same place in both classes. */
	if (ident[EI_DATA] == ELFDATA2MSB)
		machine = (machine & 0xff) << 8 | machine >> 8;
	name = machine_name(machine);
	isa = isa_of_machine(machine);
	if (!isa && name)
		return tact_fail(load->diag, TACT_E_FORMAT,
				 "ELF file for %s; only %s code can be read", name,
				 isa_titles(titles, sizeof(titles)));
	if (!isa)
		return tact_fail(load->diag, TACT_E_FORMAT,
				 "ELF file for machine number %u; only %s code can be read",
				 machine, isa_titles(titles, sizeof(titles)));
	if (ident[EI_CLASS] == isa->elf_class && ident[EI_DATA] != isa->elf_data)
		return tact_fail(load->diag, TACT_E_FORMAT,
				 "%s-endian ELF file for %s; only %s-endian ones can be read",
				 isa->elf_data == ELFDATA2LSB ? "big" : "little", isa->title,
				 isa->elf_data == ELFDATA2LSB ? "little" : "big");
	if (ident[EI_CLASS] != isa->elf_class)
		return tact_fail(load->diag, TACT_E_FORMAT,
				 "ELF file for %s, but not of %s-bit %s-endian form%s%s%s",
				 isa->title, isa->elf_class == ELFCLASS64 ? "64" : "32",
				 isa->elf_data == ELFDATA2LSB ? "little" : "big",
				 isa->elf_other ? " (" : "", isa->elf_other ? isa->elf_other : "",
				 isa->elf_other ? "?)" : "");
	load->obj->isa = isa;
	return isa_check(isa, load->diag);
}

/* Checks that a part of the file lies within it. */
static int check_part(const struct loader *load, uint64_t offset, uint64_t size, const char *what)
{
	const uint64_t image_size = load->obj->image_size;

	if (offset <= image_size && size <= image_size - offset)
		return 0;
	return tact_fail(load->diag, TACT_E_FORMAT,
			 "ELF file is cut short: %s should end at byte %" PRIu64
			 ", the file has %" PRIu64,
			 what, offset + size < offset ? UINT64_MAX : offset + size, image_size);
}

static int check_header(struct loader *load)
{
	const size_t size = load->obj->image_size;
	Elf64_Ehdr *header = &load->header;
	uint64_t count;
	int status;

	if (size < EI_NIDENT || memcmp(load->obj->image, ELFMAG, SELFMAG))
		return tact_fail(load->diag, TACT_E_FORMAT, "not an ELF file");
	memcpy(header, load->obj->image, size < sizeof(*header) ? size : sizeof(*header));
	if (size >= offsetof(Elf64_Ehdr, e_version)) {
		status = check_machine(load);
		if (status < 0)
			return status;
	}
	status = check_part(load, 0, sizeof(*header), "its header");
	if (status < 0)
		return status;
	if (header->e_type == ET_CORE)
		return tact_fail(load->diag, TACT_E_FORMAT, "ELF core dump, which holds no code");
	if (!header->e_shoff)
		return 0;
	if (header->e_shentsize != sizeof(Elf64_Shdr))
		return tact_fail(load->diag, TACT_E_FORMAT, "ELF section headers of %u bytes",
				 header->e_shentsize);
	count = header->e_shnum ? header->e_shnum : 1;
	return check_part(load, header->e_shoff, count * sizeof(Elf64_Shdr), "its section table");
}

static int find_type(const struct loader *load)
{
	size_t i, n = 0;
	GElf_Phdr segment;

	switch (load->header.e_type) {
	case ET_REL:
		return OBJ_RELOCATABLE;
	case ET_DYN:
		/* A position-independent executable differs from a shared object by asking for a
		 * loader.
		 */
		if (elf_getphdrnum(load->elf, &n))
			n = 0;
		for (i = 0; i < n; i++)
			if (gelf_getphdr(load->elf, (int)i, &segment) &&
			    segment.p_type == PT_INTERP)
				return OBJ_EXECUTABLE;
		return OBJ_SHARED;
	default:
		return OBJ_EXECUTABLE;
	}
}

static int add_section(struct loader *load, const char *name, uint64_t offset, uint64_t size,
		       uint64_t address, size_t index)
{
	struct obj_file *obj = load->obj;
	int status;

	status = check_part(load, offset, size, *name ? name : "its code");
	if (status < 0)
		return status;
	if (tact_grow(&obj->sections, &obj->sections_capacity, obj->n_sections + 1,
		      sizeof(*obj->sections)))
		return tact_fail(load->diag, TACT_E_NOMEM, "out of memory");
	obj->sections[obj->n_sections++] = (struct obj_section){
		.name = name,
		.data = obj->image + offset,
		.size = (size_t)size,
		.address = address,
		.index = index,
	};
	return 0;
}

static bool get_section(const struct loader *load, size_t index, GElf_Shdr *header)
{
	Elf_Scn *section = index < load->n_headers ? elf_getscn(load->elf, index) : NULL;

	return section && gelf_getshdr(section, header);
}

/* Finds the string at an offset in a string table; "" if there is none that ends in the file. */
static const char *get_string(const struct loader *load, const GElf_Shdr *strings, uint64_t offset)
{
	const uint64_t image_size = load->obj->image_size;
	const char *string;

	if (strings->sh_offset > image_size || strings->sh_size > image_size - strings->sh_offset ||
	    offset >= strings->sh_size)
		return "";
	string = (const char *)load->obj->image + strings->sh_offset + offset;
	return memchr(string, '\0', (size_t)(strings->sh_size - offset)) ? string : "";
}

static int load_sections(struct loader *load)
{
	GElf_Shdr header, names = {0};
	size_t i, names_index;
	int status;

	if (elf_getshdrnum(load->elf, &load->n_headers))
		load->n_headers = 0;
	if (!elf_getshdrstrndx(load->elf, &names_index) && !get_section(load, names_index, &names))
		names = (GElf_Shdr){0};
	if (load->n_headers && load->header.e_shoff) {
		status = check_part(load, load->header.e_shoff,
				    load->n_headers * (uint64_t)sizeof(Elf64_Shdr),
				    "its section table");
		if (status < 0)
			return status;
	}
	load->section_of = calloc(load->n_headers + 1, sizeof(*load->section_of));
	if (!load->section_of)
		return tact_fail(load->diag, TACT_E_NOMEM, "out of memory");
	for (i = 1; i < load->n_headers; i++) {
		if (!get_section(load, i, &header) || header.sh_type != SHT_PROGBITS ||
		    !(header.sh_flags & SHF_EXECINSTR) || !header.sh_size ||
		    (header.sh_flags & SHF_COMPRESSED))
			continue;
		status = add_section(load, get_string(load, &names, header.sh_name),
				     header.sh_offset, header.sh_size, header.sh_addr, i);
		if (status < 0)
			return status;
		load->section_of[i] = load->obj->n_sections;
		load->obj->sections[load->obj->n_sections - 1].alignment = header.sh_addralign;
	}
	return 0;
}

/* For files without a section table: finds what the kernel would map as code. */
static int load_segments(struct loader *load)
{
	GElf_Phdr segment;
	size_t i, n;
	int status;

	if (load->obj->n_sections || load->n_headers > 1 || elf_getphdrnum(load->elf, &n))
		return 0;
	for (i = 0; i < n; i++) {
		if (!gelf_getphdr(load->elf, (int)i, &segment) || segment.p_type != PT_LOAD ||
		    !(segment.p_flags & PF_X) || !segment.p_filesz)
			continue;
		status = add_section(load, "", segment.p_offset, segment.p_filesz, segment.p_vaddr,
				     0);
		if (status < 0)
			return status;
	}
	return 0;
}

static int find_symbol_table(struct loader *load, GElf_Shdr *table)
{
	GElf_Shdr header;
	size_t i;
	int status;

	/* Finds .symtab if it is there, otherwise .dynsym. */
	for (i = 1; i < load->n_headers; i++) {
		if (!get_section(load, i, &header))
			continue;
		if (header.sh_type == SHT_SYMTAB ||
		    (header.sh_type == SHT_DYNSYM && !load->symbol_table)) {
			load->symbol_table = i;
			*table = header;
			if (header.sh_type == SHT_SYMTAB)
				break;
		}
	}
	if (!load->symbol_table)
		return 0;
	status = check_part(load, table->sh_offset, table->sh_size, "its symbol table");
	if (status < 0)
		return status;
	load->symbols = load->obj->image + table->sh_offset;
	load->n_symbols = table->sh_size / sizeof(Elf64_Sym);
	for (i = 1; i < load->n_headers; i++) {
		if (!get_section(load, i, &header) || header.sh_type != SHT_SYMTAB_SHNDX ||
		    header.sh_link != load->symbol_table)
			continue;
		status = check_part(load, header.sh_offset, header.sh_size, "its symbol table");
		if (status < 0)
			return status;
		load->extended = load->obj->image + header.sh_offset;
		load->n_extended = header.sh_size / sizeof(uint32_t);
	}
	return 0;
}

/* Reads one symbol; *section is the index of its section in the file. */
static bool get_symbol(const struct loader *load, size_t i, Elf64_Sym *symbol, size_t *section)
{
	uint32_t wide;

	if (i >= load->n_symbols)
		return false;
	memcpy(symbol, load->symbols + i * sizeof(*symbol), sizeof(*symbol));
	*section = symbol->st_shndx;
	if (symbol->st_shndx == SHN_XINDEX) {
		if (i >= load->n_extended)
			return false;
		memcpy(&wide, load->extended + i * sizeof(wide), sizeof(wide));
		*section = wide;
	} else if (symbol->st_shndx >= SHN_LORESERVE) {
		return false;
	}
	return *section < load->n_headers;
}

/* Tells whether a symbol marks where code and data begin, as the ELF specifications of Arm and RISC-V
 * have it ($x, $d, $xrv64gc): it names nothing.
 */
static bool is_mark(const Elf64_Sym *symbol, const char *name)
{
	return ELF64_ST_TYPE(symbol->st_info) == STT_NOTYPE &&
	       ELF64_ST_BIND(symbol->st_info) == STB_LOCAL && name[0] == '$';
}

static int add_symbol(struct loader *load, const GElf_Shdr *strings, size_t i)
{
	struct obj_file *obj = load->obj;
	const struct obj_section *section;
	struct obj_symbol *out;
	const char *name;
	Elf64_Sym symbol;
	uint64_t offset;
	size_t index;
	int type;

	if (!get_symbol(load, i, &symbol, &index) || !load->section_of[index])
		return 0;
	type = ELF64_ST_TYPE(symbol.st_info);
	if (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE)
		return 0;
	section = &obj->sections[load->section_of[index] - 1];
	offset = symbol.st_value - (obj->type == OBJ_RELOCATABLE ? 0 : section->address);
	if (offset > section->size)
		return 0;
	if (tact_grow(&obj->symbols, &obj->symbols_capacity, obj->n_symbols + 1,
		      sizeof(*obj->symbols)))
		return tact_fail(load->diag, TACT_E_NOMEM, "out of memory");
	name = get_string(load, strings, symbol.st_name);
	if (!*name || is_mark(&symbol, name))
		return 0;
	out = &obj->symbols[obj->n_symbols++];
	*out = (struct obj_symbol){
		.name = name,
		.section = load->section_of[index] - 1,
		.offset = (size_t)offset,
		.size = (size_t)symbol.st_size,
		.order = i,
		.is_function = type != STT_NOTYPE,
		.is_global = ELF64_ST_BIND(symbol.st_info) != STB_LOCAL,
		.is_indirect = type == STT_GNU_IFUNC,
	};
	if (out->size > section->size - out->offset)
		out->size = section->size - out->offset;
	return 0;
}

/* Compares by place; of several symbols at one place, the one that names it best comes first. */
static int compare_symbols(const void *a, const void *b)
{
	const struct obj_symbol *x = a, *y = b;

	if (x->section != y->section)
		return x->section < y->section ? -1 : 1;
	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	if (x->is_function != y->is_function)
		return x->is_function ? -1 : 1;
	if (!x->size != !y->size)
		return x->size ? -1 : 1;
	if (x->is_global != y->is_global)
		return x->is_global ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

void obj_sort_symbols(struct obj_file *obj)
{
	if (obj->n_symbols)
		qsort(obj->symbols, obj->n_symbols, sizeof(*obj->symbols), compare_symbols);
}

static int load_symbols(struct loader *load)
{
	GElf_Shdr table = {0}, strings;
	size_t i;
	int status;

	status = find_symbol_table(load, &table);
	if (status < 0 || !load->symbol_table)
		return status;
	if (!get_section(load, table.sh_link, &strings))
		return 0;
	status = check_part(load, strings.sh_offset, strings.sh_size, "its string table");
	for (i = 0; i < load->n_symbols && status >= 0; i++)
		status = add_symbol(load, &strings, i);
	if (status < 0)
		return status;
	load->obj->has_symbols = table.sh_type == SHT_SYMTAB;
	obj_sort_symbols(load->obj);
	return 0;
}

/* Branches to global labels of the same section keep a relocation in an object, although their
 * displacement is known.  Fills it in, so that loops are found and code reads as it will run.
 */
static int relocate(struct loader *load, struct obj_section *section, const uint8_t *entry)
{
	Elf64_Rela rela;
	Elf64_Sym symbol;
	unsigned type, bytes;
	size_t target;

	memcpy(&rela, entry, sizeof(rela));
	type = (unsigned)ELF64_R_TYPE(rela.r_info);
	bytes = load->obj->isa->relocated_bytes(type);
	if (!bytes)
		return 0;
	if (!get_symbol(load, ELF64_R_SYM(rela.r_info), &symbol, &target) ||
	    target != section->index || rela.r_offset > section->size ||
	    section->size - rela.r_offset < bytes)
		return 0;
	if (!section->owned) {
		section->owned = malloc(section->size);
		if (!section->owned)
			return tact_fail(load->diag, TACT_E_NOMEM, "out of memory");
		memcpy(section->owned, section->data, section->size);
		section->data = section->owned;
	}
	load->obj->isa->relocate(
		section->owned + rela.r_offset, type,
		(int64_t)(symbol.st_value + (uint64_t)rela.r_addend - rela.r_offset));
	return 0;
}

static int relocate_all(struct loader *load)
{
	GElf_Shdr header;
	size_t i, j;
	int status;

	if (load->obj->type != OBJ_RELOCATABLE)
		return 0;
	for (i = 1; i < load->n_headers; i++) {
		if (!get_section(load, i, &header) || header.sh_type != SHT_RELA ||
		    header.sh_info >= load->n_headers || !load->section_of[header.sh_info] ||
		    header.sh_link != load->symbol_table)
			continue;
		status = check_part(load, header.sh_offset, header.sh_size, "its relocations");
		for (j = 0; j < header.sh_size / sizeof(Elf64_Rela) && status >= 0; j++)
			status = relocate(
				load, &load->obj->sections[load->section_of[header.sh_info] - 1],
				load->obj->image + header.sh_offset + j * sizeof(Elf64_Rela));
		if (status < 0)
			return status;
	}
	return 0;
}

static int load_file(struct loader *load)
{
	struct obj_file *obj = load->obj;
	int status;

	status = check_header(load);
	if (status < 0)
		return status;
	elf_version(EV_CURRENT);
	/* libelf reads through this pointer and does not write, because nothing here asks it to. */
	load->elf = elf_memory((char *)(uintptr_t)obj->image, obj->image_size);
	if (!load->elf) {
		const int error = elf_errno();

		return tact_fail(load->diag, error == LIBELF_NOMEM ? TACT_E_NOMEM : TACT_E_FORMAT,
				 "unreadable ELF file: %s", elf_errmsg(error));
	}
	obj->type = (enum obj_type)find_type(load);
	status = load_sections(load);
	if (status >= 0)
		status = load_segments(load);
	if (status < 0)
		return status;
	if (!obj->n_sections)
		return tact_fail(load->diag, TACT_E_FORMAT,
				 "no code: the ELF file has no executable "
				 "section");
	status = load_symbols(load);
	if (status >= 0)
		status = relocate_all(load);
	return status;
}

int obj_open_image(struct obj_file **out, const struct obj_image *image, struct tact_diag *diag)
{
	struct obj_file *obj = calloc(1, sizeof(*obj));
	struct loader load = {.obj = obj, .diag = diag};
	int status;

	if (!obj)
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	obj->image = image->data;
	obj->image_size = image->size;
	obj->fd = image->fd;
	obj->copy = image->copy;
	status = load_file(&load);
	if (status >= 0)
		status = obj_cut_functions(obj);
	if (status == -TACT_E_NOMEM)
		tact_fail(diag, TACT_E_NOMEM, "out of memory");
	elf_end(load.elf);
	free(load.section_of);
	return HAND_OVER(out, obj, status, obj_close);
}

int obj_open(struct obj_file **out, const void *image, size_t size, struct tact_diag *diag)
{
	const struct obj_image alone = {(void *)(uintptr_t)image, size, -1, -1};

	return obj_open_image(out, &alone, diag);
}

void obj_close(struct obj_file *obj)
{
	size_t i;

	if (!obj)
		return;
	for (i = 0; i < obj->n_sections; i++)
		free(obj->sections[i].owned);
	for (i = 0; obj->names && i < obj->n_functions; i++)
		free(obj->names[i]);
	free(obj->names);
	obj_lines_destroy(obj->lines);
	free(obj->sections);
	free(obj->symbols);
	free(obj->functions);
	free(obj);
}
