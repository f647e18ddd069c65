/* SPDX-License-Identifier: MIT
 *
 * Names of functions: demangled, and found by what people type.
 */
#include <stdlib.h>
#include <string.h>

#include "obj/obj.h"
#include "testing.h"

static void check_name(const char *symbol, bool is_whole, const char *expected)
{
	char *name = obj_demangle(symbol, is_whole);

	if (expected)
		assert_non_null(name);
	if (expected)
		assert_string_equal(name, expected);
	else
		assert_null(name);
	free(name);
}

TEST(test_demangle)
{
	check_name("_RC0@", true, NULL); /* nothing would be left of it */
	check_name("main", true, NULL);
	check_name("", true, NULL);
	check_name("_", true, NULL);
	check_name("_Znonsense", true, NULL);
	check_name("_ZN3foo3barEv", true, "foo::bar()");
	check_name("_ZN3foo3barEv", false, "foo::bar");
	check_name("_ZN3foo3barEi.constprop.0", false, "foo::bar [clone .constprop.0]");
	check_name("_ZNSaIcEC1Ev@@GLIBCXX_3.4", true, "std::allocator<char>::allocator()");
	/* Rust, both manglings: the hash is not part of the name. */
	check_name("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", true,
		   "core::fmt::Formatter::pad");
	check_name("_RNvCs1234_7mycrate3foo", true, "mycrate::foo");
	/* D */
	check_name("_D3std5stdio7writelnFiZv", true, "std.stdio.writeln(int)");
	check_name("_D3std5stdio7writelnFiZv", false, "std.stdio.writeln");
}

TEST(test_hostile_symbols)
{
	char symbol[40000];

	memset(symbol, 'P', sizeof(symbol));
	memcpy(symbol, "_Z1f", 4);
	symbol[sizeof(symbol) - 1] = '\0';
	check_name(symbol, true, NULL);
	symbol[10000] = '\0'; /* short enough to be tried: depth is limited */
	free(obj_demangle(symbol, true));
	memset(symbol + 2, 'I', 9000);
	free(obj_demangle(symbol, true));
	memcpy(symbol, "_R", 2);
	free(obj_demangle(symbol, true));
	memcpy(symbol, "_D", 2);
	free(obj_demangle(symbol, false));
}

static void check_base(const char *symbol, size_t length)
{
	assert_int_equal(obj_base_length(symbol), length);
}

TEST(test_clones_have_a_base)
{
	check_base("hash", 4);
	check_base("", 0);
	check_base("hash.constprop.0", 4);
	check_base("hash.isra.12", 4);
	check_base("hash.part.0", 4);
	check_base("hash.cold", 4);
	check_base("hash.part.0.cold", 4);
	check_base("hash.constprop.0.isra.0", 4);
	check_base("hash.llvm.1234567890", 4);
	check_base("hash.c.12", 9);
	check_base("hash.12", 7);
	check_base(".cold", 5);
	check_base("a.b.cold", 3);
	check_base("hash(int) [clone .cold]", 9);
	/* only builds of Rust's differ in it */
	check_base("_ZN3foo3bar17h0123456789abcdefE", 31);
}

TEST(test_variants_have_a_stem)
{
	static const char *const same[] = {
		"hash",
		"hash.constprop.0",
		"hash.isra.3",
		"hash.part.1",
		"hash.cold",
		"hash.llvm.1234567",
		"hash.part.0.cold",
		"hash.constprop.0.isra.0",
		"hash.lto_priv.0",
		"hash._omp_fn.0",
		"hash.__uniq.77",
		"hash.pcrel",
		"hash [clone .cold]",
		"hash (.llvm.99)",
		"hash [clone .part.0] [clone .cold]",
	};
	static const char *const kept[] = {
		"",	    ".cold",  "hash.c",	    "hash.0",	"cold",
		"a.partly", "f(int)", "operator()", "x.cold.y", "hash.cold2",
	};

	for (size_t i = 0; i < ARRAY_SIZE(same); i++) {
		assert_int_equal(obj_stem_length(same[i]), 4);
		assert_int_equal(obj_stem_hash(same[i]), obj_stem_hash("hash"));
	}
	for (size_t i = 0; i < ARRAY_SIZE(kept); i++)
		assert_int_equal(obj_stem_length(kept[i]), strlen(kept[i]));
	assert_int_equal(obj_stem_length("_ZN3foo3bar17h0123456789abcdefE"), strlen("_ZN3foo3bar"));
	assert_int_equal(obj_stem_length("foo::bar::h0123456789abcdef"), strlen("foo::bar"));
	assert_int_equal(obj_stem_length("foo::bar::h0123456789abcdeg"),
			 strlen("foo::bar::h0123456789abcdeg"));
}

/* ---- search ---- */

static struct obj_symbol symbols[] = {
	{.name = "main", .offset = 0, .is_function = true},
	{.name = "_Z4sortPi", .offset = 16, .is_function = true},
	{.name = "_Z4sortPd", .offset = 32, .is_function = true},
	{.name = "_ZN3foo3barEi", .offset = 48, .is_function = true},
	{.name = "hash.constprop.0", .offset = 64, .is_function = true},
	{.name = "hash.cold", .offset = 80, .is_function = true},
	{.name = "saxpy_kernel", .offset = 96, .is_function = true},
	{.name = "saxpy_alias", .offset = 96, .is_function = true},
	{.name = OBJ_PRIVATE_PREFIX "0", .offset = 100},
};
static struct obj_section section = {.name = ".text", .size = 112};
static const struct obj_file file = {.has_symbols = true,
				     .sections = &section,
				     .n_sections = 1,
				     .symbols = symbols,
				     .n_symbols = sizeof(symbols) / sizeof(symbols[0])};

static const char *search(const char *name, struct tact_diag *diag)
{
	const struct obj_symbol *found = NULL;
	const int status = obj_symbol_search(&file, name, &found, diag);

	assert_true(status == 0 || status == -TACT_E_INVAL || status == -TACT_E_NO_DATA);
	assert_int_equal(found != NULL, status == 0);
	return found ? found->name : NULL;
}

TEST(test_search)
{
	assert_string_equal(search("main", NULL), "main");
	assert_string_equal(search("_Z4sortPi", NULL), "_Z4sortPi");
	assert_string_equal(search("sort(int*)", NULL), "_Z4sortPi");
	assert_string_equal(search("sort( double * )", NULL), "_Z4sortPd");
	assert_string_equal(search("foo::bar", NULL), "_ZN3foo3barEi");
	assert_string_equal(search("foo::bar(int)", NULL), "_ZN3foo3barEi");
	assert_string_equal(search("foo::", NULL), "_ZN3foo3barEi");
	assert_string_equal(search("hash", NULL), "hash.constprop.0");
	assert_string_equal(search("hash.cold", NULL), "hash.cold");
	assert_string_equal(search("saxpy", NULL), "saxpy_kernel"); /* two names of one place */
}

TEST(test_search_fails_with_a_hint)
{
	struct tact_diag diag = {0};

	assert_null(search("sort", &diag));
	assert_string_equal(diag.text, "'sort' is the name of 2 functions (sort(int*), "
				       "sort(double*)); name one");
	assert_null(search("mian", &diag));
	assert_string_equal(diag.text, "there is no function 'mian'; did you mean main?");
	assert_null(search("foo::baz", &diag));
	assert_string_equal(diag.text, "there is no function 'foo::baz'; did you mean foo::bar?");
	assert_null(search("kernel", &diag));
	assert_string_equal(diag.text, "there is no function 'kernel'; there is saxpy_kernel");
	assert_null(search("nothing", &diag));
	assert_string_equal(diag.text, "there is no function 'nothing'");
	assert_null(search("", &diag));
	assert_null(search(OBJ_PRIVATE_PREFIX, &diag));
}

RUN_TESTS(NULL, NULL)
