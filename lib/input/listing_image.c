/* SPDX-License-Identifier: MIT
 *
 * Listings as object files: the code with its addresses and symbols, in the form that everything
 * else reads.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "input/listing.h"

/* Code below this address is that of an object file: programs have none there. */
enum { FIRST_PAGE = 0x1000 };

enum { FIRST_RUN = 4, SYMBOLS = 1, STRINGS = 2, SECTION_NAMES = 3 }; /* sections */

static const char section_names[] = "\0.text\0.symtab\0.strtab\0.shstrtab";
enum { NAME_TEXT = 1, NAME_SYMTAB = 7, NAME_STRTAB = 15, NAME_SHSTRTAB = 23 };

static bool is_object(const struct listing *listing)
{
	size_t i;

	for (i = 0; i < listing->n_runs; i++)
		if (listing->runs[i].address < FIRST_PAGE)
			return true;
	return false;
}

static uint64_t listing_alignment(const struct listing *listing)
{
	return listing->is_aligned ? 16 : 1;
}

static void add_header(struct text *out, const struct listing *listing, const struct tact_isa *isa,
		       uint64_t sections)
{
	Elf64_Ehdr header = {
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, isa->elf_class, isa->elf_data,
			    EV_CURRENT},
		.e_type = is_object(listing) ? ET_REL : ET_EXEC,
		.e_machine = isa->elf_machine,
		.e_version = EV_CURRENT,
		.e_shoff = sections,
		.e_ehsize = sizeof(header),
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = (uint16_t)(FIRST_RUN + listing->n_runs),
		.e_shstrndx = SECTION_NAMES,
	};

	text_add_bytes(out, &header, sizeof(header));
}

static void align(struct text *out)
{
	while (out->size % 8 && !out->failed)
		text_add_bytes(out, "", 1);
}

/* A function ends where the next one begins, or with the run. */
static uint64_t symbol_size(const struct listing *listing, size_t i)
{
	const struct listing_symbol *symbol = &listing->symbols[i];
	const struct listing_run *run = &listing->runs[symbol->run];

	if (i + 1 < listing->n_symbols && listing->symbols[i + 1].run == symbol->run)
		return listing->symbols[i + 1].offset - symbol->offset;
	return run->end - run->begin - symbol->offset;
}

static void add_symbols(struct text *out, const struct listing *listing)
{
	const bool has_offsets = is_object(listing);
	const Elf64_Sym none = {0};
	size_t i;

	text_add_bytes(out, &none, sizeof(none));
	for (i = 0; i < listing->n_symbols; i++) {
		const struct listing_symbol *s = &listing->symbols[i];
		const Elf64_Sym symbol = {
			.st_name = (uint32_t)(1 + s->name),
			.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
			.st_shndx = (uint16_t)(FIRST_RUN + s->run),
			.st_value = s->offset + (has_offsets ? 0 : listing->runs[s->run].address),
			.st_size = symbol_size(listing, i),
		};

		text_add_bytes(out, &symbol, sizeof(symbol));
	}
}

static void add_section(struct text *out, const Elf64_Shdr *section)
{
	text_add_bytes(out, section, sizeof(*section));
}

static void add_sections(struct text *out, const struct listing *listing, uint64_t code,
			 uint64_t symbols, uint64_t strings)
{
	const uint64_t names = strings + 1 + listing->names.size;
	size_t i;

	add_section(out, &(Elf64_Shdr){0});
	add_section(out, &(Elf64_Shdr){.sh_name = NAME_SYMTAB,
				       .sh_type = SHT_SYMTAB,
				       .sh_offset = symbols,
				       .sh_size = (1 + listing->n_symbols) * sizeof(Elf64_Sym),
				       .sh_link = STRINGS,
				       .sh_info = 1,
				       .sh_addralign = 8,
				       .sh_entsize = sizeof(Elf64_Sym)});
	add_section(out, &(Elf64_Shdr){.sh_name = NAME_STRTAB,
				       .sh_type = SHT_STRTAB,
				       .sh_offset = strings,
				       .sh_size = 1 + listing->names.size,
				       .sh_addralign = 1});
	add_section(out, &(Elf64_Shdr){.sh_name = NAME_SHSTRTAB,
				       .sh_type = SHT_STRTAB,
				       .sh_offset = names,
				       .sh_size = sizeof(section_names),
				       .sh_addralign = 1});
	for (i = 0; i < listing->n_runs; i++)
		add_section(out,
			    &(Elf64_Shdr){.sh_name = NAME_TEXT,
					  .sh_type = SHT_PROGBITS,
					  .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
					  .sh_addr = listing->runs[i].address,
					  .sh_offset = code + listing->runs[i].begin,
					  .sh_size = listing->runs[i].end - listing->runs[i].begin,
					  .sh_addralign = listing_alignment(listing)});
}

int listing_make_image(const struct listing *listing, const struct tact_isa *isa, uint8_t **image,
		       size_t *size, struct tact_diag *diag)
{
	struct text out = {0};
	uint64_t code, symbols, strings, sections;

	text_add_bytes(&out, &(Elf64_Ehdr){0}, sizeof(Elf64_Ehdr));
	code = out.size;
	text_append(&out, &listing->code);
	align(&out);
	symbols = out.size;
	add_symbols(&out, listing);
	strings = out.size;
	text_add_bytes(&out, "", 1);
	text_append(&out, &listing->names);
	text_add_bytes(&out, section_names, sizeof(section_names));
	align(&out);
	sections = out.size;
	add_sections(&out, listing, code, symbols, strings);
	if (!out.failed) {
		struct text header = {0};

		add_header(&header, listing, isa, sections);
		out.failed = header.failed;
		if (!header.failed)
			memcpy(out.data, header.data, header.size);
		text_free(&header);
	}
	if (out.failed) {
		text_free(&out);
		return tact_fail(diag, TACT_E_NOMEM, "out of memory");
	}
	*image = (uint8_t *)out.data;
	*size = out.size;
	return 0;
}

/* Reads the number of a run from the name of its section; false if it is another section. */
static bool read_run(const uint8_t *image, size_t size, const Elf64_Shdr *names,
		     const Elf64_Shdr *section, size_t *run)
{
	const size_t prefix = strlen(LISTING_SECTION_PREFIX);
	uint64_t at = names->sh_offset + section->sh_name;

	if (at < names->sh_offset || at >= size || size - at <= prefix ||
	    memcmp(image + at, LISTING_SECTION_PREFIX, prefix) ||
	    !memchr(image + at, '\0', (size_t)(size - at)))
		return false;
	*run = strtoul((const char *)image + at + prefix, NULL, 10);
	return true;
}

void listing_set_addresses(const struct listing *listing, uint8_t *image, size_t size)
{
	Elf64_Ehdr header;
	Elf64_Shdr names, section;
	size_t i, run;

	if (size < sizeof(header))
		return;
	memcpy(&header, image, sizeof(header));
	if (header.e_shoff > size || header.e_shstrndx >= header.e_shnum ||
	    (size - header.e_shoff) / sizeof(section) < header.e_shnum)
		return;
	memcpy(&names, image + header.e_shoff + header.e_shstrndx * sizeof(names), sizeof(names));
	for (i = 1; i < header.e_shnum; i++) {
		uint8_t *place = image + header.e_shoff + i * sizeof(section);

		memcpy(&section, place, sizeof(section));
		if (!(section.sh_flags & SHF_EXECINSTR) ||
		    !read_run(image, size, &names, &section, &run) || run >= listing->n_runs)
			continue;
		section.sh_addr = listing->runs[run].address;
		section.sh_addralign = listing_alignment(listing);
		memcpy(place, &section, sizeof(section));
	}
}
