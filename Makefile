# SPDX-License-Identifier: MIT
#
# make            library and program under build/; says what is missing, installs nothing
# make demo       installs what is missing, builds, predicts the README's example for every CPU
# make check      the same, and all tests; the last line says "N passed, M failed, K skipped"
# make check-cross  builds for AArch64 and tests that under QEMU, with what it needs in build-aarch64/
# make check-web  opens the pages that tact makes in headless Chromium; ends with such a line, too
# make check-faults  lets every command run out of memory and disk, kills it, cuts its power: a quarter of an hour
# make check-cluster  a Slurm of several virtual nodes here, tasks killed at random; tact tune over MPI
# make check-valgrind  runs every command, with threads and on real inputs, under valgrind
# make check-sanitizers  the same under AddressSanitizer and UBSan, and ThreadSanitizer, of gcc and of clang
# make check-clang  tests again, built by clang, in build-clang/
# make asan       tests again under AddressSanitizer and UBSan, in build-asan/
# make tsan       what has threads again under ThreadSanitizer, in build-tsan/
# make fuzz MINUTES=n  all fuzz targets, with a report on coverage, in build/fuzz; make fuzz-pack for another machine
# make soak HOURS=n  fuzzing, hunts, property tests and llvm-mca on fresh blocks: build/soak/soak.md
# make lint       clang-format, shellcheck, eslint and tidy: what they say of sources, scripts and pages
# make check-fresh  make check in a bare Debian, made for it by debootstrap (root)
# make ci         all of these but the last
# make bench      blocks a second, next to Zydis alone and to llvm-mca; AGAINST=OLD/libtact.so: and to that version
# make bench-embed  mutations of a block per second: what a superoptimizer gets
# make bench-accuracy  writes doc/accuracy.md: errors on measured blocks, next to published figures
# make dataset    measures BHive's blocks on this CPU; dataset-zen4 on that one only: doc/dataset.md
# make bench-memory  trace against measured sweeps over memory, branches and code; fails if it is off
# make bench-mix  its section on instruction mixes: ten programs under the virtual PMU
# make figures    measures speeds and sizes (doc/figures.json) and puts them into the documents
# make pictures   draws the pictures of the README from what the program prints
# make rebase     rewrites what the tests expect; look at the difference before you keep it
# make wasm       the library for the page without a server (tact serve --static), by emscripten
# make symbols    rewrites gen/symbols.txt, the list of what the libraries export, and its Rust declarations
# make check-package  Debian packages: built twice, compared, installed in a bare Debian (root)
# make python-wheel  the Python package, with the library in it: build/python/tact-*.whl
# make install PREFIX=/usr/local LIBDIR=$(PREFIX)/lib DESTDIR=        and make uninstall
# make format     clang-format over all sources; make format-check only looks
# make clean
#
# CC=clang works as well as gcc.  WERROR= builds with compilers that warn of more than ours do.
# HOST=aarch64 builds for that machine, in build-aarch64/, with a cross compiler and the libraries
# that make sysroot HOST=aarch64 unpacks there.

PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
DESTDIR ?=
MACHINE := $(shell uname -m)
HOST ?= $(MACHINE)
ifeq ($(HOST),$(MACHINE))
BUILD ?= build
OBJCOPY ?= objcopy
# Generators run here, whatever the program is compiled for.
GEN_CC = $(CC)
else
BUILD ?= build-$(HOST)
SYSROOT ?= $(BUILD)/sysroot
CC := $(HOST)-linux-gnu-gcc
CXX := $(HOST)-linux-gnu-g++
LD := $(HOST)-linux-gnu-ld
AR := $(HOST)-linux-gnu-ar
OBJCOPY := $(HOST)-linux-gnu-objcopy
GEN_CC ?= gcc
TARGET_FLAGS := --sysroot=$(abspath $(SYSROOT))
ifneq ($(filter-out sysroot clean,$(or $(MAKECMDGOALS),all)),)
ifeq ($(wildcard $(SYSROOT)/complete),)
$(error there is nothing to link with for $(HOST): make sysroot HOST=$(HOST))
endif
endif
endif

VERSION := $(shell sed -n 's/^.define TACT_VERSION_[A-Z]* \([0-9]*\)/\1/p' include/tact/version.h | paste -sd.)
SOVERSION := $(firstword $(subst ., ,$(VERSION)))
SYMBOL_VERSION := TACT_$(basename $(VERSION))

WARN := -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wwrite-strings -Wno-overlength-strings
OPT ?= -O3
CFLAGS ?= -g
WERROR ?= -Werror
# Files of strangers come in, so that what goes wrong with them is to end the program, not to take it
# over: canaries on the stack, checked copies, jumps to where jumps may go, tables that are read only
# before main begins.  tests/check_hardening.py looks at what was built.  HARDEN= HARDEN_LD= leave it
# out; sanitizers check more, and go without.
ifeq ($(HOST),aarch64)
HARDEN ?= -fstack-protector-strong -fstack-clash-protection -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 -mbranch-protection=standard
else
HARDEN ?= -fstack-protector-strong -fstack-clash-protection -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 -fcf-protection
endif
HARDEN_LD ?= -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack
# Each function has a section of its own: with -Wl,--gc-sections a program gets only what it uses.
ALL_CFLAGS = -std=gnu11 -D_GNU_SOURCE $(WARN) $(WERROR) $(OPT) -fPIC -fvisibility=default -pthread \
	-ffunction-sections -fdata-sections -Iinclude -Ilib -Icli -I$(BUILD)/gen $(TARGET_FLAGS) $(HARDEN) $(CFLAGS)
# Libraries that have a pkg-config file, and those that have none.
PC_REQUIRES := libdw libelf sqlite3 libzstd jansson
PC_LIBS := -lZydis -lZycore -liberty -lm -ldl -pthread
LIBS := -lZydis -lZycore -ldw -lelf -liberty -lsqlite3 -lzstd -ljansson -lm -ldl -pthread
# Those that build everything use all cores, whether -j was given or not.
JOBS ?= $(shell nproc 2>/dev/null || echo 1)
ALL_CORES = $(MAKE) --no-print-directory -j$(JOBS)
SANITIZE := -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined
SANITIZE_THREADS := -g -fno-omit-frame-pointer -fsanitize=thread

# A module for processes that share the work of tune, built where Open MPI's compiler is (of this
# machine); MPICC= leaves it out.
MPI_SRC := lib/tune/ranks_mpi.c
MPICC ?= $(if $(filter $(HOST),$(MACHINE)),$(shell command -v mpicc))
MPI_MODULE := $(if $(MPICC),$(BUILD)/tact_mpi.so)
LIB_SRC := $(filter-out $(MPI_SRC),$(sort $(wildcard lib/*/*.c lib/*/*/*.c)))
LIB_OBJ := $(LIB_SRC:%.c=$(BUILD)/%.o)
CLI_SRC := $(sort $(wildcard cli/*.c cli/*/*.c))
CLI_OBJ := $(CLI_SRC:%.c=$(BUILD)/%.o)
INTERFACE_SRC := gen/gen_interface.c gen/headers.c gen/manual.c
GEN_SRC := $(filter-out gen/gen_pages.c $(INTERFACE_SRC),$(sort $(wildcard gen/*.c lib/base/*.c))) lib/arch/params.c lib/arch/notation.c
TABLES := $(BUILD)/gen/forms.inc $(BUILD)/gen/archs.inc $(BUILD)/gen/confidence.inc
# Sets that have tables of their own come first.
ALL_ISAS := $(sort $(notdir $(patsubst %/,%,$(wildcard lib/isa/*/))))
ISAS := $(filter $(shell sed -n 's/^isa = \([a-z0-9]*\).*/\1/p' data/arch/*.arch),$(ALL_ISAS))
ISAS += $(filter-out $(ISAS),$(ALL_ISAS))
MEASURES := $(sort $(notdir $(patsubst %/,%,$(wildcard lib/measure/*/))))
# LLVM's models and instruction sets are a module, built where its headers and a C++ compiler are;
# tact says what it lacks without it.  LLVM_CONFIG= leaves it out.
CXX ?= g++
LLVM_CONFIG ?= $(firstword $(foreach v,22 19,$(shell command -v llvm-config-$(v))))
LLVM_HEADERS := $(if $(LLVM_CONFIG),$(shell $(LLVM_CONFIG) --includedir))
MODULE := $(if $(and $(wildcard $(LLVM_HEADERS)/llvm/MCA/InstrBuilder.h),$(shell command -v $(CXX))),$(BUILD)/tact_llvm.so $(BUILD)/tact_llvm_as)
DATA := $(wildcard data/arch/*.arch data/insn/*.tsv data/confidence/*.tsv)

UNIT_SRC := $(sort $(wildcard tests/unit/test_*.c))
UNIT := $(UNIT_SRC:%.c=$(BUILD)/%)
HW_SRC := $(sort $(wildcard tests/hw/test_*.c))
HW := $(HW_SRC:%.c=$(BUILD)/%)
# Loaded before all other libraries: it lets calls of the C library fail.
INJECT := $(BUILD)/tests/faults/inject.so
INJECT_SRC := $(sort $(wildcard tests/faults/inject*.c))
ATTACK_SRC := $(sort $(wildcard tests/hw/attack_*.c))
ATTACK_OBJ := $(ATTACK_SRC:%.c=$(BUILD)/%.o)
FAKE_KERNEL := $(BUILD)/tests/hw/fake_kernel
FAKE_KERNEL_SRC := $(sort $(wildcard tests/hw/fake_*.c))
FUZZ_SRC := $(sort $(wildcard tests/fuzz/fuzz_*.c))
FUZZ := $(FUZZ_SRC:%.c=$(BUILD)/%)
TEST_DEPS := $(BUILD)/tests/cross/test_harness_a64.d $(UNIT:=.d) $(HW:=.d) $(ATTACK_OBJ:.o=.d) $(BUILD)/tests/hw/deny.d $(FUZZ:=.d) $(FUZZ_SRC:tests/fuzz/%.c=$(BUILD)/tests/fuzz/all.d/%.d) $(BUILD)/tests/fuzz/driver.d $(BUILD)/bench/bench.d $(BUILD)/bench/embed.d $(BUILD)/bench/against.d

.PHONY: all
all: deps
	@$(MAKE) --no-print-directory build
	@$(MAKE) --no-print-directory left-out

# What is not there, and how to get it.
.PHONY: left-out
left-out:
	@$(if $(MODULE),true,echo "left out: $(BUILD)/tact_llvm.so, with which tact knows AArch64, RISC-V and LLVM's models; \
	install llvm-22-dev (or llvm-19-dev) and g++, then run make again")
	@$(if $(MPI_MODULE),true,echo "left out: $(BUILD)/tact_mpi.so, with which tact tune --mpi works; \
	install libopenmpi-dev and openmpi-bin, then run make again")

.PHONY: build
build: $(BUILD)/tact $(BUILD)/libtact.a $(BUILD)/libtact.so $(BUILD)/tact_trace.so $(MODULE) $(MPI_MODULE) $(BUILD)/man/done

# Every target that compiles runs one of these first: they are silent when nothing is missing.  Only
# those that promise to do everything install what is.
.PHONY: deps deps-installed
deps:
	@sh gen/setup.sh build
deps-installed:
	@sh gen/setup.sh --install build

# ---- library and program ----

$(BUILD)/gen/gen_tables: $(GEN_SRC) gen/gen.h $(wildcard lib/base/*.h) $(addprefix lib/arch/,table.h notation.h params.h params.def) lib/confidence/classes.def
	@mkdir -p $(@D)
	$(GEN_CC) -std=gnu11 -D_GNU_SOURCE $(WARN) $(WERROR) -O1 -Iinclude -Ilib -Igen -o $@ $(GEN_SRC) -lm -pthread

# The folders are the list of CPUs: one that goes away counts, too.
$(TABLES) &: $(BUILD)/gen/gen_tables data/arch data/insn data/confidence $(DATA)
	$(BUILD)/gen/gen_tables data $(BUILD)/gen

# An instruction set is a folder of lib/isa; one that can be measured is a folder of lib/measure, too.
$(BUILD)/gen/isas.inc: lib/isa $(wildcard lib/isa/*/)
	@mkdir -p $(@D)
	@{ printf 'extern const struct tact_isa isa_%s;\n' $(ISAS); \
	   echo "#define ISA_LIST $(ISAS:%=&isa_%,)"; } > $@

$(BUILD)/gen/measures.inc: lib/measure $(wildcard lib/measure/*/)
	@mkdir -p $(@D)
	@{ printf 'extern const struct measure_set measure_%s;\n' $(MEASURES); \
	   echo "#define MEASURE_LIST $(MEASURES:%=&measure_%,)"; } > $@

# Pages for a browser: web/*.html with what they take in, as C strings.
PAGES := $(patsubst web/%.html,%,$(sort $(wildcard web/*.html)))
$(BUILD)/gen/gen_pages: gen/gen_pages.c
	@mkdir -p $(@D)
	$(GEN_CC) -std=gnu11 $(WARN) $(WERROR) -O1 -o $@ $<

$(BUILD)/gen/pages.inc: $(BUILD)/gen/gen_pages $(wildcard web/*)
	$(BUILD)/gen/gen_pages web $@ $(PAGES) flame.js

$(BUILD)/cli/common/page.o: $(BUILD)/gen/pages.inc

# What tact serve says of its interface.  Its HTTP comes from libmicrohttpd, which is loaded when
# somebody serves; without its header, tact builds, and serve says what it lacks.  MICROHTTPD= leaves
# it out.
$(BUILD)/cli/serve/serve_gate.o: doc/openapi.json
$(BUILD)/cli/serve/serve_gate.o: ALL_CFLAGS += -DOPENAPI_FILE='"doc/openapi.json"'
MICROHTTPD ?= $(shell printf '\043include <microhttpd.h>\n' | $(CC) $(TARGET_FLAGS) -E -x c - >/dev/null 2>&1 && echo yes)
ifneq ($(MICROHTTPD),)
$(BUILD)/cli/serve/%.o: ALL_CFLAGS += -DTACT_HAS_MICROHTTPD
endif

# What only computes, and reads no text: libFuzzer needs not learn what it compares with.
$(patsubst %.c,$(BUILD)/%.o,$(wildcard lib/block/*.c lib/facile/*.c lib/sim/*.c lib/arch/*.c lib/mca/mca_[clomw]*.c lib/isa/x86/[dflu]*.c)): \
	ALL_CFLAGS += $(COMPUTE_CFLAGS)

$(BUILD)/%.o: %.c | $(TABLES) $(BUILD)/gen/isas.inc $(BUILD)/gen/measures.inc
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/lib/isa/forms.o $(BUILD)/lib/arch/arch.o: $(TABLES)

# The program that runs blocks is freestanding, and becomes part of the library.  Neither sanitizers
# nor anything else that needs a C library goes in there.
RUNNER_ISA := $(patsubst runner/%/,%,$(filter runner/$(subst x86_64,x86,$(HOST))/,$(wildcard runner/*/)))
# No marks for indirect jumps: blocks come from anywhere.
RUNNER_FLAGS := -Wl,-z,max-page-size=4096 $(if $(filter aarch64,$(HOST)),-mbranch-protection=none -mno-outline-atomics,-fcf-protection=none)
# For emulators of other machines there is one without what they do not offer.
RUNNER_SRC := $(sort $(wildcard runner/*.c runner/$(RUNNER_ISA)/*.c))
EMULATED_SRC := $(filter-out runner/confine.c,$(RUNNER_SRC)) $(sort $(wildcard runner/emulated/*.c))
RUNNERS := $(BUILD)/tact-runner $(BUILD)/tact-runner-emulated
# A compiler that adds code of its own, as those of fuzzers do, is none for it.
RUNNER_CC ?= $(CC)
$(BUILD)/tact-runner: $(RUNNER_SRC)
$(BUILD)/tact-runner-emulated: $(EMULATED_SRC)
$(RUNNERS): $(wildcard runner/*.h runner/*.lds) lib/measure/runner_wire.h lib/measure/counter.h include/tact/measure.h
	@mkdir -p $(@D)
	$(RUNNER_CC) -std=gnu11 -D_GNU_SOURCE $(WARN) $(WERROR) $(TARGET_FLAGS) -O2 -ffreestanding -fno-pic -mcmodel=large -mgeneral-regs-only \
		-fno-stack-protector $(RUNNER_FLAGS) -fno-asynchronous-unwind-tables -fno-builtin \
		-nostdlib -static -Wl,-T,runner/runner.lds -Wl,--build-id=none -Wl,-z,noexecstack -Irunner -Ilib -Iinclude -o $@ $(filter %.c,$^)

$(BUILD)/lib/measure/runner_image.o: $(RUNNERS)
$(BUILD)/lib/measure/runner_image.o: ALL_CFLAGS += -DRUNNER_IMAGE='"$(BUILD)/tact-runner"' \
	-DEMULATED_IMAGE='"$(BUILD)/tact-runner-emulated"'

# What is needed of Debian for another machine.
.PHONY: sysroot
sysroot:
	@sh tests/cross/make_sysroot.sh $(HOST) $(SYSROOT)

# Where the library looks for modules and plugins that are not nearby.
$(BUILD)/lib/base/beside.o: ALL_CFLAGS += -DTACT_PLUGIN_DIR='"$(LIBDIR)/tact"'

# What the program and the tests link: all of the library, nothing hidden.
$(BUILD)/libtact-all.a: $(LIB_OBJ)
	rm -f $@
	$(AR) rcs $@ $^

# What other programs link: the same objects, showing only the names that public headers declare.
HEADERS := $(sort $(wildcard include/tact/*.h))
$(BUILD)/gen/gen_interface: $(INTERFACE_SRC) gen/headers.h gen/manual.h
	@mkdir -p $(@D)
	$(GEN_CC) -std=gnu11 -D_GNU_SOURCE $(WARN) $(WERROR) -O1 -Igen -o $@ $(INTERFACE_SRC)

$(BUILD)/gen/public_names $(BUILD)/gen/public_roots: $(BUILD)/gen/public_%: $(BUILD)/gen/gen_interface include/tact $(HEADERS)
	$(BUILD)/gen/gen_interface $* $(HEADERS) > $@.new
	mv $@.new $@

$(BUILD)/gen/libtact.map: $(BUILD)/gen/gen_interface gen/symbols.txt include/tact $(HEADERS) include/tact/version.h
	$(BUILD)/gen/gen_interface map $(SYMBOL_VERSION) gen/symbols.txt $(HEADERS) > $@.new
	mv $@.new $@

# The checked-in list of exported names.  Look at the difference: a name that goes away breaks programs.
.PHONY: symbols
symbols: $(BUILD)/gen/gen_interface
	$(BUILD)/gen/gen_interface list $(SYMBOL_VERSION) gen/symbols.txt $(HEADERS) > $(BUILD)/gen/symbols.new
	mv $(BUILD)/gen/symbols.new gen/symbols.txt
	python3 contrib/rust/generate.py --cc '$(GEN_CC)'

# Manual pages of section 3: one for each header, and a link to it for each of its functions.
$(BUILD)/man/done: $(BUILD)/gen/gen_interface man/tact.3 include/tact $(HEADERS)
	@rm -rf $(@D)
	@mkdir -p $(@D)/man3
	$(BUILD)/gen/gen_interface manual "$$(sed -n 's/^\.Dd //p' man/tact.3)" $(@D)/man3 $(HEADERS)
	@cp man/tact.3 $(@D)/man3
	@touch $@

# One object with all other names made local, without the code that only the program uses.  Sections
# stay separate, so that a linker can leave out what is not needed.
$(BUILD)/libtact.o: $(LIB_OBJ) $(BUILD)/gen/public_names $(BUILD)/gen/public_roots
	$(LD) -r --gc-sections --unique=.text.* --unique=.rodata.* --unique=.data.rel.ro.* \
		@$(BUILD)/gen/public_roots -o $@.all $(LIB_OBJ)
	$(OBJCOPY) --keep-global-symbols=$(BUILD)/gen/public_names $@.all $@
	rm -f $@.all

$(BUILD)/libtact.a: $(BUILD)/libtact.o
	rm -f $@
	$(AR) rcs $@ $^

$(BUILD)/libtact.so: $(LIB_OBJ) $(BUILD)/gen/libtact.map
	$(CC) $(ALL_CFLAGS) $(HARDEN_LD) -shared -Wl,-soname,libtact.so.$(SOVERSION) -Wl,--gc-sections -Wl,-Bsymbolic-functions \
		-Wl,--version-script=$(BUILD)/gen/libtact.map -o $@ $(LIB_OBJ) $(LIBS) $(LDFLAGS)
	ln -sf libtact.so $@.$(SOVERSION)

$(BUILD)/tact: $(CLI_OBJ) $(BUILD)/libtact-all.a
	$(CC) $(ALL_CFLAGS) $(HARDEN_LD) -pie -o $@ $^ $(LIBS) $(LDFLAGS)

# Loaded into QEMU: shares one header with the rest, and no code.  Sanitizers do not go in there, so
# CFLAGS do not: MODULE_FLAGS are for modules and for what is written in C++.
PLUGIN_SRC := $(sort $(wildcard plugin/qemu/*.c plugin/qemu/*/*.c))
$(BUILD)/tact_trace.so: Makefile $(PLUGIN_SRC) $(wildcard plugin/qemu/*.h) lib/trace/wire.h
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -D_GNU_SOURCE $(WARN) $(WERROR) $(TARGET_FLAGS) $(HARDEN) $(HARDEN_LD) -O2 -g -fPIC -fvisibility=hidden -shared -pthread \
		-Ilib -Iplugin/qemu $(MODULE_FLAGS) -o $@ $(PLUGIN_SRC)

# Loaded when somebody asks for it: it shares two headers with the rest, and no code.  Its assembler is a
# program, so that a text can harm nothing else.
SHIM_SRC := $(sort $(wildcard lib/llvm/shim*.cpp))
SHIM_H := Makefile lib/llvm/shim.hpp lib/llvm/llvm_wire.h include/tact/status.h
SHIM_FLAGS = -std=c++17 -Wall -Wextra -Wno-unused-parameter $(WERROR) $(TARGET_FLAGS) $(HARDEN) $(HARDEN_LD) -O2 -g1 -fvisibility=hidden -fno-rtti \
	-Ilib -Iinclude -isystem $(LLVM_HEADERS)
$(BUILD)/tact_llvm.so: $(SHIM_SRC) $(SHIM_H)
	@mkdir -p $(@D)
	$(CXX) $(SHIM_FLAGS) -fPIC -shared -Wl,-soname,tact_llvm.so $(MODULE_FLAGS) -o $@ $(SHIM_SRC) \
		$$($(LLVM_CONFIG) --ldflags --libs)

$(BUILD)/tact_llvm_as: lib/llvm/llvm_as.cpp $(SHIM_H)
	@mkdir -p $(@D)
	$(CXX) $(SHIM_FLAGS) -fPIE -pie $(MODULE_FLAGS) -o $@ $< $$($(LLVM_CONFIG) --ldflags --libs)

$(BUILD)/tact_mpi.so: $(MPI_SRC) lib/tune/ranks_wire.h Makefile
	@mkdir -p $(@D)
	OMPI_CC=$(CC) $(MPICC) -std=gnu11 -D_GNU_SOURCE $(WARN) $(WERROR) $(HARDEN) $(HARDEN_LD) -O2 -g -fPIC -fvisibility=hidden \
		-shared -Ilib $(MODULE_FLAGS) -o $@ $(MPI_SRC)

-include $(LIB_OBJ:.o=.d) $(CLI_OBJ:.o=.d) $(TEST_DEPS)

# ---- the page without a server ----

# The library as WebAssembly, for tact serve --static: what predicts, without what reads files, starts
# programs or measures (wasm/absent.c).  Zydis and jansson are compiled, too: of their sources.
EMCC ?= $(shell command -v emcc)
PAGE_BUILD := $(BUILD)/wasm
PAGE_MODULES := base isa isa/x86 isa/aarch64 isa/riscv64 llvm code input arch block facile sim mca simulate advice \
	confidence model view
PAGE_SRC := $(filter-out $(addprefix lib/base/,box.c beside.c process.c sealed.c),$(foreach m,$(PAGE_MODULES),$(sort $(wildcard lib/$(m)/*.c)))) \
	$(sort $(wildcard $(patsubst %,cli/%/*.c,predict simulate insn archs common))) \
	$(addprefix cli/serve/serve_,answer.c routes.c request.c timeline.c code.c models.c) $(sort $(wildcard wasm/*.c))
PAGE_OBJ := $(PAGE_SRC:%.c=$(PAGE_BUILD)/%.o)
PAGE_HEADERS := libelf.h gelf.h dwarf.h elfutils libiberty sqlite3.h jansson.h jansson_config.h Zydis Zycore
PAGE_FLAGS := -std=gnu11 -D_GNU_SOURCE $(WARN) -Wno-unknown-warning-option -Wno-gnu -Wno-missing-field-initializers $(WERROR) \
	-O2 -ffunction-sections -fdata-sections -isystem $(PAGE_BUILD)/include
PAGE_FUNCTIONS := _malloc,_free,_page_respond,_page_listing

.PHONY: wasm
ifneq ($(EMCC),)
wasm: $(BUILD)/tact_page.html
else
wasm:
	@echo "left out: $(BUILD)/tact_page.html, with which tact serve --static writes a page; install emscripten, then run make wasm again"
endif

$(PAGE_BUILD)/sources/complete: wasm/get_sources.sh
	sh wasm/get_sources.sh $(@D)

# The headers of the system that are not the C library's.
$(PAGE_BUILD)/include/complete:
	@mkdir -p $(@D)
	ln -sfn $(wildcard $(addprefix /usr/include/,$(PAGE_HEADERS))) $(@D)
	@touch $(@D)/jansson_private_config.h $@

$(PAGE_OBJ): $(PAGE_BUILD)/%.o: %.c $(PAGE_BUILD)/include/complete | $(TABLES) $(BUILD)/gen/isas.inc $(BUILD)/gen/pages.inc
	@mkdir -p $(@D)
	$(EMCC) $(PAGE_FLAGS) -Iinclude -Ilib -Icli -I$(BUILD)/gen -MMD -MP -c -o $@ $<

# Both in one object each: they are others' sources, with others' names of files.
$(PAGE_BUILD)/others.o: $(PAGE_BUILD)/sources/complete $(PAGE_BUILD)/include/complete
	$(EMCC) -O2 -ffunction-sections -fdata-sections -DZYDIS_STATIC_BUILD -DHAVE_STDINT_H=1 -isystem $(PAGE_BUILD)/include \
		-I$(<D)/zydis/include -I$(<D)/zydis/src -I$(<D)/jansson/src -r -o $@ $(<D)/zydis/src/*.c $(<D)/jansson/src/*.c

# What optimizes the script is a package of Debian's node, and not found by others.
$(PAGE_BUILD)/tact_page.js: $(PAGE_OBJ) $(PAGE_BUILD)/others.o
	NODE_PATH=/usr/share/nodejs $(EMCC) -O2 -Wl,--gc-sections --no-entry -sMODULARIZE -sEXPORT_NAME=Tact -sENVIRONMENT=web,node \
		-sEXPORTED_FUNCTIONS=$(PAGE_FUNCTIONS) -sEXPORTED_RUNTIME_METHODS=ccall,UTF8ToString -sALLOW_MEMORY_GROWTH \
		-sFORCE_FILESYSTEM -sTOTAL_STACK=4194304 -o $@ $^

$(BUILD)/tact_page.html: $(PAGE_BUILD)/tact_page.js wasm/pack.sh
	sh wasm/pack.sh $< $(<:.js=.wasm) > $@.new
	mv $@.new $@

-include $(PAGE_OBJ:.o=.d)

.PHONY: demo
demo: deps-installed
	@$(MAKE) --no-print-directory build
	$(BUILD)/tact predict -a all examples/demo.s
	$(BUILD)/tact predict -a SKL examples/demo.s
	@$(MAKE) --no-print-directory left-out

# ---- tests ----

.PHONY: tests
tests: $(UNIT) $(HW) $(BUILD)/tests/hw/deny $(FAKE_KERNEL) $(INJECT) $(FUZZ) $(BUILD)/bench/bench $(BUILD)/bench/embed $(BUILD)/bench/against

# These count allocations, and let them fail; copies of strings and lines are allocations, too.
ALLOC_WRAPS := malloc calloc aligned_alloc realloc strdup strndup getline
$(filter $(BUILD)/tests/unit/test_alloc%,$(UNIT)): TEST_LDFLAGS = $(ALLOC_WRAPS:%=-Wl,--wrap=%)

# Here the kernel has no files without a name, and knows no random numbers but ours.
$(BUILD)/tests/unit/test_newfile: TEST_LDFLAGS = -Wl,--wrap=open -Wl,--wrap=getrandom

$(UNIT) $(HW): $(BUILD)/%: %.c $(BUILD)/libtact-all.a
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -MMD -MP -o $@ $< $(BUILD)/libtact-all.a -lcmocka $(LIBS) $(TEST_LDFLAGS) $(LDFLAGS)

# Tests of the harness for another machine: where it is, or under an emulator of it.
CROSS_TEST := $(BUILD)/tests/cross/test_harness_a64
.PHONY: cross-tests
cross-tests: $(CROSS_TEST)
$(CROSS_TEST): tests/cross/test_harness_a64.c $(BUILD)/libtact-all.a
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -MMD -MP -o $@ $< $(BUILD)/libtact-all.a -lcmocka $(LIBS) $(LDFLAGS)

# Hostile blocks and their judge.
$(ATTACK_OBJ): $(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

ATTACK_TESTS := $(addprefix $(BUILD)/tests/hw/test_,attack forge leaks runner)
$(ATTACK_TESTS): TEST_LDFLAGS = $(ATTACK_OBJ)
$(ATTACK_TESTS): $(ATTACK_OBJ)

$(BUILD)/tests/hw/deny: tests/hw/deny.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -MMD -MP -o $@ $< $(LDFLAGS)

# A program of its own, without the library: it stands for the kernel.
$(FAKE_KERNEL): $(FAKE_KERNEL_SRC) $(wildcard tests/hw/fake_*.h)
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -D_GNU_SOURCE $(WARN) $(WERROR) -O1 -g -o $@ $(FAKE_KERNEL_SRC) -lZydis -lZycore $(LDFLAGS)

# Sanitizers and checks of the C library do not go in there: it stands between it and the program.
$(INJECT): $(INJECT_SRC) tests/faults/inject.h
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -D_GNU_SOURCE $(WARN) $(WERROR) -O1 -g -fPIC -fno-builtin -U_FORTIFY_SOURCE -shared -o $@ $(INJECT_SRC) -ldl

# The target of commands needs those of the program, without its main.
FUZZ_CLI := $(filter-out $(BUILD)/cli/main.o,$(CLI_OBJ))
$(BUILD)/tests/fuzz/fuzz_command: FUZZ_MORE := $(FUZZ_CLI)
$(BUILD)/tests/fuzz/fuzz_command: $(FUZZ_CLI)
# It has the plugin's sources in it, and is what QEMU is to them.
$(BUILD)/tests/fuzz/fuzz_plugin $(BUILD)/tests/fuzz/all.d/fuzz_plugin.o: ALL_CFLAGS += -Iplugin/qemu
$(BUILD)/tests/fuzz/%: tests/fuzz/%.c $(BUILD)/tests/fuzz/driver.o $(BUILD)/libtact-all.a
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -MMD -MP -o $@ $< $(BUILD)/tests/fuzz/driver.o $(FUZZ_MORE) $(BUILD)/libtact-all.a $(LIBS) $(LDFLAGS)

# All targets in one program, chosen by TACT_FUZZ=NAME: with our driver, or with another engine, which
# FUZZ_ENGINE links (-fsanitize=fuzzer).
FUZZ_ENGINE ?= $(BUILD)/tests/fuzz/driver.o
FUZZ_OBJ := $(FUZZ_SRC:tests/fuzz/%.c=$(BUILD)/tests/fuzz/all.d/%.o)
$(BUILD)/gen/fuzz_targets.inc: $(FUZZ_SRC)
	@mkdir -p $(@D)
	@printf 'FUZZ_TARGET(%s)\n' $(FUZZ_SRC:tests/fuzz/fuzz_%.c=%) > $@

$(BUILD)/tests/fuzz/all.d/fuzz_%.o: tests/fuzz/fuzz_%.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -DLLVMFuzzerTestOneInput=fuzz_run_$* -DLLVMFuzzerCustomMutator=fuzz_mutate_$* -MMD -MP -c -o $@ $<

$(BUILD)/tests/fuzz/all: tests/fuzz/select.c $(BUILD)/gen/fuzz_targets.inc $(FUZZ_OBJ) $(FUZZ_CLI) $(BUILD)/libtact-all.a $(filter %.o,$(FUZZ_ENGINE))
	$(CC) $(ALL_CFLAGS) -o $@ $< $(FUZZ_OBJ) $(FUZZ_ENGINE) $(FUZZ_CLI) $(BUILD)/libtact-all.a $(LIBS) $(LDFLAGS)

.PHONY: check
check:
	@sh gen/setup.sh --install check
	@$(ALL_CORES) build
	@$(ALL_CORES) -k tests || echo 'what does not compile counts as failed'
	@python3 tests/run.py --build $(BUILD) --cc '$(CC)'

# Fuzzing by libFuzzer, with AddressSanitizer and UBSan, and by our driver, without, in turns: all
# targets for MINUTES, of which each gets the same share.  build/fuzz has log, summary, findings and the
# inputs that reach new code, with which the next time begins; and coverage.txt, of lib.
MINUTES ?= 10
FUZZ_CFLAGS := -gline-tables-only -fno-omit-frame-pointer -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined
FUZZ_COVERAGE := -fprofile-instr-generate -fcoverage-mapping
FUZZ_PROGRAMS := build-fuzz/tests/fuzz/all $(BUILD)/tests/fuzz/all
.PHONY: fuzz fuzz-programs fuzz-pack soak
fuzz-programs: $(BUILD)/tests/fuzz/all
	@sh gen/setup.sh --install ci
	@$(ALL_CORES) BUILD=build-fuzz CC=clang HARDEN= OPT=-O1 WERROR= CFLAGS='$(FUZZ_CFLAGS)' COMPUTE_CFLAGS=-fno-sanitize-coverage=trace-cmp FUZZ_ENGINE=-fsanitize=fuzzer \
		build-fuzz/tests/fuzz/all
	@test ! -e $(BUILD)/tact_llvm.so || cp -u $(BUILD)/tact_llvm.so build-fuzz/

fuzz: deps-installed
	@$(ALL_CORES) build $(BUILD)/tests/fuzz/all
	@$(MAKE) --no-print-directory fuzz-programs
	@$(ALL_CORES) BUILD=build-fuzz-cov CC=clang HARDEN= OPT=-O1 WERROR= CFLAGS='$(FUZZ_COVERAGE)' build-fuzz-cov/tests/fuzz/all
	@test ! -e $(BUILD)/tact_llvm.so || cp -u $(BUILD)/tact_llvm.so build-fuzz-cov/
	@rm -rf $(BUILD)/fuzz/seeds && mkdir -p $(BUILD)/fuzz && cp -r tests/fuzz/corpus $(BUILD)/fuzz/seeds
	@python3 tests/fuzz/seeds.py $(BUILD)/fuzz/seeds/command
	@sh tests/fuzz/run_all.sh $(abspath $(BUILD)/fuzz/seeds) $(abspath $(BUILD)/fuzz) $(JOBS) $(MINUTES) $(abspath $(FUZZ_PROGRAMS)); status=$$?; \
		sh tests/fuzz/coverage.sh build-fuzz-cov/tests/fuzz/all $(abspath $(BUILD)/fuzz) 2 \
			$(abspath $(BUILD)/fuzz/seeds) $(abspath $(BUILD)/fuzz/corpus); exit $$status

# The same for a machine without compilers and libraries: build-fuzz-pack/run CORES MINUTES
fuzz-pack: deps-installed
	@$(ALL_CORES) $(BUILD)/tests/fuzz/all
	@$(MAKE) --no-print-directory fuzz-programs
	@sh tests/fuzz/pack.sh build-fuzz-pack $(FUZZ_PROGRAMS)

# Fuzzing, hunts, properties of fresh random blocks and llvm-mca beside ours, for HOURS; one page:
# build/soak/soak.md.
HOURS ?= 8
soak: deps-installed
	@$(ALL_CORES) build $(BUILD)/tests/fuzz/all
	@$(MAKE) --no-print-directory fuzz-programs
	@python3 tests/soak.py --build $(BUILD) $(FUZZ_PROGRAMS:%=--fuzz %) --out $(BUILD)/soak --jobs $(JOBS) $(HOURS)

# tact for AArch64, under QEMU.  It takes 250 MB and some minutes; make check runs these tests where
# that was done before.
.PHONY: check-cross
check-cross:
	@sh gen/setup.sh --install cross
	@test -e build-aarch64/sysroot/complete || $(MAKE) --no-print-directory HOST=aarch64 sysroot
	@$(ALL_CORES) build
	@$(ALL_CORES) HOST=aarch64 build cross-tests
	@python3 tests/run.py cross

# A Slurm of its own, for as long as the test takes (root), and Open MPI.  CLUSTER="--blocks 20000" and
# the other options of check_cluster.py.
.PHONY: check-cluster
check-cluster:
	@sh gen/setup.sh --install cluster
	@$(ALL_CORES) build
	@python3 tests/cluster/check_cluster.py --build $(BUILD) $(CLUSTER)

# The same as a part of make check, but all of it.  FAULTS='--seed 7 --kills 2000' and the like: see
# tests/faults/check_faults.py.
FAULTS ?=
.PHONY: check-faults check-valgrind check-sanitizers
check-faults:
	@sh gen/setup.sh --install check
	@$(ALL_CORES) build $(INJECT)
	@python3 tests/faults/check_faults.py --build $(BUILD) $(FAULTS)

check-valgrind:
	@sh gen/setup.sh --install valgrind
	@$(ALL_CORES) build
	@python3 tests/faults/check_clean.py --build $(BUILD) --valgrind

# Every command by four builds: unit tests and others of the suite are for asan and tsan.
check-sanitizers:
	@sh gen/setup.sh --install ci
	@failed=; for c in gcc clang; do \
		for s in asan tsan; do \
			build=build-$$s; test $$c = gcc || build=build-clang-$$s; \
			flags='$(SANITIZE)'; test $$s = asan || flags='$(SANITIZE_THREADS)'; \
			echo "$$build:"; \
			$(ALL_CORES) BUILD=$$build CC=$$c RUNNER_CC=$$c HARDEN= OPT=-O1 WERROR= CFLAGS="$$flags" build && \
				python3 tests/faults/check_clean.py --build $$build || failed="$$failed $$build"; \
		done; \
	done; test -z "$$failed" || { echo "check-sanitizers: failed for$$failed"; exit 1; }

# Without a browser, and without a way to install one, it is skipped with the reason.
.PHONY: check-web
check-web: deps-installed
	@$(ALL_CORES) build
	@sh gen/setup.sh --install web || why='Chromium could not be installed'; \
		axe=$$(sh tests/web/get_axe.sh $(BUILD)/npm) || axe=; \
		python3 tests/web/check_page.py --tact $(BUILD)/tact $${why:+--skip "$$why"} && \
		python3 tests/web/check_serve_page.py --tact $(BUILD)/tact $${axe:+--axe "$$axe"} $${why:+--skip "$$why"}

# Other builds of the same tests.  Sanitizers make everything slower, so that nothing is timed.
.PHONY: check-clang asan tsan
check-clang:
	@sh gen/setup.sh --install ci
	@$(ALL_CORES) BUILD=build-clang CC=clang build tests
	@python3 tests/run.py --build build-clang --cc clang layers unit cases cli example embed

asan:
	@sh gen/setup.sh --install check
	@$(ALL_CORES) BUILD=build-asan HARDEN= OPT=-O1 WERROR= CFLAGS='$(SANITIZE)' build tests
	@python3 tests/run.py --build build-asan --slow unit fuzz cases cli serve

# Its shadow memory does not go with random addresses of every kernel.
tsan:
	@sh gen/setup.sh --install ci
	@$(ALL_CORES) BUILD=build-tsan HARDEN= OPT=-O1 WERROR= CFLAGS='$(SANITIZE_THREADS)' build tests
	@setarch -R python3 tests/run.py --build build-tsan --slow unit threads

# A bare Debian with git and make: what is installed by hand here cannot hide a missing step there.
.PHONY: check-fresh
check-fresh:
	@sh tests/check_fresh.sh

.PHONY: lint
lint: format-check
	@sh gen/setup.sh --install ci
	@shellcheck -x $(SHELL_SRC)
	@sh tests/lint_pages.sh

.PHONY: ci
ci:
	@sh gen/setup.sh --install ci
	@$(MAKE) --no-print-directory lint check check-clang asan tsan check-cross check-web

.PHONY: rebase
rebase: build
	python3 gen/manual_options.py $(BUILD)/tact man
	python3 tests/cases/run.py --tact $(BUILD)/tact --rebase
	python3 tests/cli/run.py --tact $(BUILD)/tact --rebase

# ---- speed ----

$(BUILD)/bench/bench $(BUILD)/bench/embed $(BUILD)/bench/against: $(BUILD)/bench/%: bench/%.c $(BUILD)/libtact-all.a
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -MMD -MP -o $@ $< $(BUILD)/libtact-all.a $(LIBS) $(LDFLAGS)

FIGURE_PROGRAMS = $(BUILD)/bench/bench $(if $(wildcard bench/embed.c),$(BUILD)/bench/embed)

.PHONY: bench
bench: deps
	@$(MAKE) --no-print-directory build $(BUILD)/bench/bench
	@$(BUILD)/bench/bench --tact $(BUILD)/tact --library $(BUILD)/libtact.so
	@$(if $(AGAINST),$(MAKE) --no-print-directory $(BUILD)/bench/against && \
		$(BUILD)/bench/against $(AGAINST) $(BUILD)/libtact.so)

# Mutations of a block per second, as a superoptimizer makes them; EMBED_BLOCKS is a CSV of real blocks.
EMBED_BLOCKS ?= $(firstword $(wildcard ../shared/data/bhive/clang.csv ../shared/data/bhive/other.csv))
.PHONY: bench-embed
bench-embed: deps
	@$(MAKE) --no-print-directory $(BUILD)/bench/embed
	@$(BUILD)/bench/embed $(if $(EMBED_BLOCKS),--blocks $(EMBED_BLOCKS))

# Measures all blocks of BHive here, in both notions and confirmed: hours; the same again goes on where it
# ended.  dataset-zen4 refuses to do so on another core.  DATASET_OPTIONS="--sample 2000": fewer.
DATASET_BLOCKS ?= ../shared/data/bhive
DATASET ?= $(BUILD)/dataset
MAKE_DATASET = python3 bench/make_dataset.py --tact $(BUILD)/tact --blocks $(DATASET_BLOCKS) --out $(DATASET) $(DATASET_OPTIONS)
.PHONY: dataset
dataset: deps
	@$(MAKE) --no-print-directory build
	@$(MAKE_DATASET)

dataset-%: deps
	@$(MAKE) --no-print-directory build
	@$(MAKE_DATASET) --core $(shell echo $* | tr a-z A-Z)

.PHONY: bench-accuracy
bench-accuracy: deps
	@$(MAKE) --no-print-directory build
	python3 bench/write_accuracy.py --tact $(BUILD)/tact measure

# Sweeps over memory, branches and code: a quarter of an hour for each CPU of SWEEP_ARCHS, against the
# recorded points of bench/sweeps.  SWEEP_ARCHS=native: against this CPU.  SWEEP_OPTIONS=--quick: fewer.
SWEEP_ARCHS = $(basename $(notdir $(wildcard bench/sweeps/*.csv)))
.PHONY: bench-memory
bench-memory: deps
	@$(MAKE) --no-print-directory build
	@failed=; for a in $(SWEEP_ARCHS); do points=bench/sweeps/$$a.csv; \
		python3 bench/memory_sweep.py --tact $(BUILD)/tact -a $$a $(SWEEP_OPTIONS) \
			$$(test -e $$points && echo --measured $$points) || failed="$$failed $$a"; \
	done; test -z "$$failed" || { echo "bench-memory: failed for$$failed"; exit 1; }

# Ten programs under the virtual PMU: some minutes.
.PHONY: bench-mix
bench-mix: deps
	@$(MAKE) --no-print-directory build
	python3 bench/mix_accuracy.py --tact $(BUILD)/tact --write

# Speeds and sizes for doc/figures.json, and all figures into the documents.
.PHONY: figures
figures: deps
	@$(MAKE) --no-print-directory build $(FIGURE_PROGRAMS)
	python3 bench/figures.py --build $(BUILD) measure

.PHONY: pictures
pictures: build
	python3 gen/draw_pictures.py --tact $(BUILD)/tact

# How good measurements are on this machine; against those of others where there are any of this CPU.
.PHONY: bench-measure
bench-measure: deps
	@$(MAKE) --no-print-directory build
	python3 bench/measure_quality.py --tact $(BUILD)/tact
	python3 bench/measure_quality.py --tact $(BUILD)/tact --confirmed

# ---- installation ----

MAN := $(wildcard man/*.1)
DEST = $(DESTDIR)$(PREFIX)
DEST_LIB = $(DESTDIR)$(LIBDIR)
COMPLETION = $(DEST)/share/bash-completion/completions/tact $(DEST)/share/zsh/site-functions/_tact \
	$(DEST)/share/fish/vendor_completions.d/tact.fish

.PHONY: install
install: deps
	@$(MAKE) --no-print-directory build
	install -d $(DEST)/bin $(DEST_LIB)/pkgconfig $(DEST)/include/tact $(DEST)/share/man/man1 $(DEST)/share/man/man3
	install -m 755 $(BUILD)/tact $(DEST)/bin
	install -m 644 $(BUILD)/libtact.a $(DEST_LIB)
	install -m 755 $(BUILD)/libtact.so $(DEST_LIB)/libtact.so.$(VERSION)
	ln -sf libtact.so.$(VERSION) $(DEST_LIB)/libtact.so.$(SOVERSION)
	ln -sf libtact.so.$(SOVERSION) $(DEST_LIB)/libtact.so
	install -d $(DEST_LIB)/tact
	install -m 755 $(BUILD)/tact_trace.so $(MODULE) $(MPI_MODULE) $(DEST_LIB)/tact
	$(if $(wildcard $(BUILD)/tact_page.html),install -m 644 $(BUILD)/tact_page.html $(DEST_LIB)/tact)
	install -m 644 $(HEADERS) include/tact/tact.hpp $(DEST)/include/tact
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR:$(PREFIX)/%=$${exec_prefix}/%)|' -e 's|@VERSION@|$(VERSION)|' -e 's|@LIBS@|$(PC_LIBS)|' \
		-e 's|@REQUIRES@|$(PC_REQUIRES)|' gen/tact.pc.in > $(DEST_LIB)/pkgconfig/tact.pc
	$(if $(MAN),install -m 644 $(MAN) $(DEST)/share/man/man1)
	install -m 644 $(BUILD)/man/man3/*.3 $(DEST)/share/man/man3
	install -d $(dir $(COMPLETION))
	install -m 644 contrib/completion/tact.bash $(DEST)/share/bash-completion/completions/tact
	install -m 644 contrib/completion/_tact $(DEST)/share/zsh/site-functions/_tact
	install -m 644 contrib/completion/tact.fish $(DEST)/share/fish/vendor_completions.d/tact.fish

.PHONY: uninstall
uninstall:
	rm -f $(DEST)/bin/tact $(DEST_LIB)/libtact.a $(DEST_LIB)/pkgconfig/tact.pc
	rm -f $(DEST_LIB)/libtact.so $(DEST_LIB)/libtact.so.$(SOVERSION) $(DEST_LIB)/libtact.so.$(VERSION)
	rm -f $(addprefix $(DEST)/include/tact/,$(notdir $(HEADERS)) tact.hpp)
	rm -f $(addprefix $(DEST)/share/man/man1/,$(notdir $(MAN)))
	rm -f $(DEST)/share/man/man3/tact.3 $(DEST)/share/man/man3/tact_*.3
	rm -f $(addprefix $(DEST_LIB)/tact/,tact_trace.so tact_llvm.so tact_llvm_as tact_mpi.so tact_page.html)
	rm -f $(COMPLETION)
	-rmdir $(DEST)/include/tact $(DEST_LIB)/tact

# Debian packages, built twice in a bare Debian, and installed in another one.
.PHONY: check-package
check-package:
	@sh tests/check_package.sh

# The Python package, as an archive of its sources and as one to install.
.PHONY: python-wheel
python-wheel: deps
	@$(MAKE) --no-print-directory build
	@TACT_BUILD=$(abspath $(BUILD)) python3 python/tact_build.py $(BUILD)/python

# ---- the rest ----

FORMATTED = $(LIB_SRC) $(MPI_SRC) $(wildcard wasm/*.c) include/tact/tact.hpp $(wildcard lib/llvm/*.[ch]pp) $(wildcard runner/*.[ch] runner/*/*.c) $(CLI_SRC) $(UNIT_SRC) $(HW_SRC) $(ATTACK_SRC) tests/hw/deny.c $(wildcard tests/cross/*.c) $(FAKE_KERNEL_SRC) $(FUZZ_SRC) $(wildcard lib/*/*.h lib/*/*/*.h cli/*/*.h include/*/*.h \
	gen/*.[ch] tests/*/*.h $(INJECT_SRC) tests/fuzz/driver.c tests/fuzz/select.c tests/embed/*.c bench/*.c bench/programs/*.c examples/*.c plugin/qemu/*.[ch] plugin/qemu/*/*.c)

.PHONY: format format-check
format:
	clang-format -i $(FORMATTED)

format-check:
	@clang-format --dry-run --Werror $(FORMATTED)

SHELL_SRC = .ci/run contrib/completion/tact.bash $(wildcard contrib/*/*.sbatch gen/*.sh wasm/*.sh tests/*.sh tests/*/*.sh contrib/*/*.sh)

.PHONY: clean
clean:
	rm -rf $(BUILD) build-clang build-asan build-tsan build-clang-asan build-clang-tsan build-aarch64 build-fuzz build-fuzz-cov build-fuzz-pack
