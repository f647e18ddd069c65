# SPDX-License-Identifier: MIT
#
# make            library and program under build/
# make demo       installs what is missing, builds, predicts the README's example for every CPU
# make check      the same, and all tests; the last line says "N passed, M failed, K skipped"
# make asan       all tests again under AddressSanitizer and UBSan
# make bench      blocks a second, next to Zydis alone and to llvm-mca
# make install PREFIX=/usr/local

CC ?= gcc
PREFIX ?= /usr/local
DESTDIR ?=
BUILD ?= build
ARCHS := SNB IVB HSW BDW SKL SKX KBL CFL CLX ICL ICX TGL RKL

VERSION := $(shell sed -n 's/^.define TACT_VERSION_[A-Z]* \([0-9]*\)/\1/p' include/tact/version.h | paste -sd.)
SOVERSION := $(firstword $(subst ., ,$(VERSION)))

WARN := -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wwrite-strings -Wno-overlength-strings
OPT ?= -O2
CFLAGS ?= -g
WERROR ?= -Werror
ALL_CFLAGS = -std=gnu11 -D_GNU_SOURCE $(WARN) $(WERROR) $(OPT) -fPIC -fvisibility=default -pthread \
	-Iinclude -Ilib -I$(BUILD)/gen $(CFLAGS)
LIBS := -lZydis -lZycore -ldw -lelf -lm -pthread

LIB_SRC := $(sort $(wildcard lib/*/*.c))
LIB_OBJ := $(LIB_SRC:%.c=$(BUILD)/%.o)
CLI_SRC := $(sort $(wildcard cli/*.c))
CLI_OBJ := $(CLI_SRC:%.c=$(BUILD)/%.o)
GEN_SRC := gen/gen_tables.c lib/arch/params.c lib/base/status.c lib/base/memory.c
TABLES := $(BUILD)/gen/forms.inc $(BUILD)/gen/archs.inc
DATA := $(wildcard data/arch/*.arch data/insn/*.tsv)

.PHONY: all
all: deps
	@$(MAKE) --no-print-directory build

.PHONY: build
build: $(BUILD)/tact $(BUILD)/libtact.a $(BUILD)/libtact.so

# Every target that compiles runs this first: it is silent when nothing is missing.
.PHONY: deps
deps:
	@sh gen/setup.sh build

$(BUILD)/gen/gen_tables: $(GEN_SRC) lib/arch/table.h lib/arch/params.h lib/arch/params.def
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -D_GNU_SOURCE $(WARN) $(WERROR) -O1 -Iinclude -Ilib -o $@ $(GEN_SRC)

$(TABLES) &: $(BUILD)/gen/gen_tables $(DATA)
	$(BUILD)/gen/gen_tables data $(BUILD)/gen $(ARCHS)

$(BUILD)/%.o: %.c | $(TABLES)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/lib/isa/form.o $(BUILD)/lib/arch/arch.o: $(TABLES)

$(BUILD)/libtact.a: $(LIB_OBJ)
	rm -f $@
	ar rcs $@ $^

$(BUILD)/libtact.so: $(LIB_OBJ)
	$(CC) $(ALL_CFLAGS) -shared -Wl,-soname,libtact.so.$(SOVERSION) -o $@ $^ $(LIBS) $(LDFLAGS)

$(BUILD)/tact: $(CLI_OBJ) $(BUILD)/libtact.a
	$(CC) $(ALL_CFLAGS) -o $@ $^ $(LIBS) $(LDFLAGS)

-include $(LIB_OBJ:.o=.d) $(CLI_OBJ:.o=.d)

.PHONY: clean
clean:
	rm -rf $(BUILD)
