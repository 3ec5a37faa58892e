# SPDX-License-Identifier: MIT
# Spindle.  Targets: make help.  User variables are never overwritten; the project's
# own flags are in SP_* variables.  One file, no recursion into folders: a target
# calls make again only for another variant, or because scripts/setup may have
# installed the compiler in between.

# A pipe fails if any of its commands does.
SHELL := bash
.SHELLFLAGS := -o pipefail -c

ifeq ($(origin CC),default)
CC := gcc
endif
CXX ?= g++
# Reports of sanitizers name functions and lines: -g1 has these, and compiles faster.
CFLAGS ?= -O2 $(if $(SAN),-g1,-g)
PREFIX ?= /usr/local
BINDIR ?= $(PREFIX)/bin
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
MANDIR ?= $(PREFIX)/share/man
MODELDIR ?= $(PREFIX)/share/spindle/models
SCHEMADIR ?= $(PREFIX)/share/spindle/schemas
ADAPTERDIR ?= $(PREFIX)/share/spindle/dbmbench
BASHCOMPDIR ?= $(PREFIX)/share/bash-completion/completions
ZSHCOMPDIR ?= $(PREFIX)/share/zsh/site-functions
FISHCOMPDIR ?= $(PREFIX)/share/fish/vendor_completions.d
DESTDIR ?=
V ?= 0

VERSION := $(shell sed -n 's/^.define SP_VERSION "\(.*\)"/\1/p' lib/include/spindle/version.h)
SOVERSION := 0
comma := ,
# The path of a folder from another one.
relative = $(shell realpath -ms --relative-to='$(2)' '$(1)')

# The variant: build/ for the default, build/<variant>/ for the others.
ifeq ($(SAN),address)
VARIANT := asan
SP_SAN := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
else ifeq ($(SAN),thread)
VARIANT := tsan
SP_SAN := -fsanitize=thread -fno-omit-frame-pointer
else ifneq ($(SAN),)
$(error SAN is 'address' or 'thread')
endif
ifeq ($(LIBFUZZER),1)
VARIANT := libfuzzer
CC := clang
SP_SAN := -fsanitize=fuzzer-no-link,address,undefined -fno-omit-frame-pointer
endif
# Builds in which SP_TASK_DELAY=SEED delays threads at random (lib/base/delay.h).
ifeq ($(DELAY),1)
VARIANT := $(or $(VARIANT),delay)
endif
SP_DELAYS := $(if $(filter asan tsan delay,$(VARIANT)),-DSP_TASK_DELAYS)
B := build$(if $(VARIANT),/$(VARIANT))

# gzip and xz files are read, and gzip files written, if zlib and liblzma are installed; ZLIB= and
# LZMA= do without.
ZLIB := $(shell pkg-config --exists zlib 2>/dev/null && echo yes)
LZMA := $(shell pkg-config --exists liblzma 2>/dev/null && echo yes)

SP_WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wformat=2 \
	-Wwrite-strings -Wcast-qual -Wundef $(if $(WERROR),-Werror)
# The folder of the build leaves no trace in what is built: scripts/distcheck compares.
SP_CFLAGS := -std=gnu17 -pthread -ffile-prefix-map="$$PWD"=. $(SP_WARN) $(SP_SAN)
SP_CPPFLAGS := -D_GNU_SOURCE -Ilib/include $(SP_DELAYS) $(if $(ZLIB),-DSP_HAVE_ZLIB) \
	$(if $(LZMA),-DSP_HAVE_LZMA)
SP_LDFLAGS := -pthread $(SP_SAN)
SP_FIXED := $(if $(SP_SAN),-no-pie)
SP_LIBS := -luring -laio -ljansson -lxxhash -llz4 -lzstd $(if $(ZLIB),-lz) $(if $(LZMA),-llzma) -lmd -lm
# Tools find the library in the build tree and in the prefix alike, wherever that is.
RPATH ?= $$ORIGIN/../lib$(if $(filter-out $(PREFIX)/lib,$(LIBDIR)),:$$ORIGIN/$(call relative,$(LIBDIR),$(BINDIR)))
SP_RPATH := $(if $(RPATH),-Wl$(comma)-rpath$(comma)'$(RPATH)')

Q := $(if $(filter 1,$(V)),,@)
say = $(if $(filter 1,$(V)),,@echo '  $(1)' '$(2)')

# A room, and its inner rooms.
LIB_SRC := $(sort $(filter-out lib/stubs/%,$(wildcard lib/*/*.c lib/*/*/*.c)))
# In the shared library and the tools that contain the library: functions that call those of libraries
# that are loaded when needed.
STUB_SRC := $(sort $(wildcard lib/stubs/*.c))
STUB_OBJ := $(STUB_SRC:%.c=$(B)/obj/%.o)
# A library that is linked with all libraries: the stubs have the names of their files from it, and
# the Debian package its dependencies.
NEEDED := $(B)/obj/lib/stubs/needed.so
SONAMES := $(B)/gen/lib/stubs/sonames.h
# The shipped device models, the default first, are part of the library.
MODELS := $(sort $(wildcard lib/dev/models/*.json))
# JSON Schemas: written by hand, or from tables: those that documents.c lists, and vdisk's.
SCHEMA_SRC := $(sort $(wildcard lib/report/schemas/*.json))
SCHEMAS := $(sort $(notdir $(SCHEMA_SRC)) \
	$(shell sed -nE 's|.*"(spindle\.[a-z-]+)/([0-9]+)".*|\1-\2.json|p' lib/report/documents.c tools/vdisk/status.h))
# dbmbench finds its adapters beside its own folder.
ADAPTERS := $(sort $(wildcard tools/dbmbench/adapters/*))
SCHEMA_PROGRAM := $(B)/obj/scripts/report-schemas
MODEL_C := $(B)/gen/lib/dev/shipped.c
MODEL_OBJ := $(B)/obj/lib/dev/shipped.o
LIB_OBJ := $(LIB_SRC:%.c=$(B)/obj/%.o) $(MODEL_OBJ)
# vdisk is built if libfuse3 is installed; FUSE= disables it.
FUSE := $(shell pkg-config --exists 'fuse3 >= 3.9' 2>/dev/null && echo yes)
TOOLS := $(filter-out $(if $(FUSE),,vdisk),$(sort $(basename $(notdir $(wildcard tools/*.c)))))
TOOL_COMMON_OBJ := $(patsubst %.c,$(B)/obj/%.o,$(sort $(wildcard tools/common/*.c)))

SONAME := libspindle.so.$(SOVERSION)
SO := $(B)/lib/libspindle.so.$(VERSION)
STATIC := $(B)/lib/libspindle.a

# Tests: C programs that print TAP, fuzz targets, bats suites, TAP scripts.
UNIT_SRC := $(sort $(wildcard tests/unit/test_*.c tests/contract/test_*.c))
# ThreadSanitizer finds nothing in one thread (tests/tap.h).
ifeq ($(SAN),thread)
UNIT_SRC := $(shell grep -l '^.define TAP_THREADS$$' $(UNIT_SRC))
endif
# Models that take long, and little but arithmetic: a sanitizer runs them in `nightly`.
SLOW_SRC := $(shell grep -l '^.define TAP_SLOW$$' $(UNIT_SRC))
ifneq ($(SAN),)
UNIT_SRC := $(filter-out $(SLOW_SRC),$(UNIT_SRC))
endif
UNIT := $(UNIT_SRC:%.c=$(B)/%)
SLOW_UNIT := $(SLOW_SRC:%.c=$(B)/%)
FUZZ := $(patsubst %.c,$(B)/%,$(sort $(wildcard tests/fuzz/fuzz_*.c)))
CLI := $(sort $(wildcard tests/cli/*.bats tests/cli/*.t))
# Sanitizers find nothing in suites about scripts and documents, which have the line "# no sanitizer".
ifneq ($(SAN),)
CLI := $(filter-out $(shell grep -l '^. no sanitizer$$' $(CLI)),$(CLI))
endif
# ThreadSanitizer runs the suites that set a number of threads, unless they have the line "# no threads".
ifeq ($(SAN),thread)
CLI := $(filter-out $(shell grep -l '^. no threads$$' $(CLI)),$(shell grep -l -e '--parallel' $(CLI)))
endif
TEST_OTHER := $(patsubst %.c,$(B)/%,$(sort $(filter-out tests/unit/% tests/contract/% tests/fuzz/%, \
	$(wildcard tests/*/test_*.c))))
# A shim replaces a function of the shared library, so xjoin is also linked with that.
SHIM := $(if $(VARIANT),,$(patsubst %.c,$(B)/%.so,$(wildcard tests/shim/*.c)) $(B)/tests/shim/xjoin)
BENCHES := $(patsubst %.c,$(B)/%,$(sort $(wildcard tests/bench/*.c)))
SIMS := $(patsubst %.c,$(B)/%,$(sort $(filter-out tests/sim/test_%,$(wildcard tests/sim/*.c))))
EXAMPLES := $(patsubst %.c,$(B)/%,$(sort $(wildcard examples/*.c)))

.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: all lib tools schemas adapters completions
all: lib tools schemas adapters $(if $(VARIANT),,completions) ## library and tools, in build/lib and build/bin
lib: $(SO) $(STATIC)
tools: $(TOOLS:%=$(B)/bin/%)
	$(if $(FUSE),,@echo '  vdisk is not built: there is no libfuse3')
	$(if $(ZLIB),,@echo '  gzip files are not read or written: there is no zlib')
	$(if $(LZMA),,@echo '  xz files are not read: there is no liblzma')

# The requirements of the build are checked once, before anything is compiled.
$(B)/needs: scripts/setup
	@mkdir -p $(@D); CC='$(CC)' CPPFLAGS='$(CPPFLAGS)' CFLAGS='$(CFLAGS)' scripts/setup -n build && touch $@

# A change of flags rebuilds everything; a change of the library's file list relinks it.
FLAGS := $(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) $(SP_CPPFLAGS) $(SP_CFLAGS) $(SP_LDFLAGS)
stamp = @mkdir -p $(@D); printf '%s\n' '$(1)' | cmp -s - $@ || printf '%s\n' '$(1)' > $@
$(B)/flags: FORCE | $(B)/needs
	$(call stamp,$(FLAGS))
$(B)/objects: FORCE
	$(call stamp,$(LIB_OBJ) $(STUB_OBJ) $(MODELS) $(RPATH))
.PHONY: FORCE
FORCE:

lib_cc = $(Q)$(CC) $(SP_CPPFLAGS) -Ilib $(CPPFLAGS) $(SP_CFLAGS) -fvisibility=hidden -fPIC $(CFLAGS) \
	-MMD -MP -c -o $@ $<
$(LIB_SRC:%.c=$(B)/obj/%.o): $(B)/obj/%.o: %.c $(B)/flags
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(lib_cc)

$(NEEDED): $(LIB_OBJ) $(B)/objects
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(SP_LDFLAGS) $(LDFLAGS) -shared -Wl,--no-as-needed -o $@ $(LIB_OBJ) $(SP_LIBS)
$(SONAMES).new: scripts/sonames $(NEEDED)
	$(call say,SONAMES,$@)
	@mkdir -p $(@D)
	$(Q)scripts/sonames $(NEEDED) > $@
# The names rarely change, so the stubs are not compiled again with each change of the library.
$(SONAMES): $(SONAMES).new
	@cmp -s $< $@ || cp $< $@
$(STUB_OBJ): private SP_CPPFLAGS += -include $(SONAMES)
$(STUB_OBJ): $(B)/obj/%.o: %.c $(SONAMES) $(B)/flags
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(lib_cc)

$(MODEL_C): scripts/embed-models $(MODELS) $(B)/objects
	$(call say,MODELS,$@)
	@mkdir -p $(@D)
	$(Q)scripts/embed-models $(MODELS) > $@
$(MODEL_OBJ): $(MODEL_C) $(B)/flags
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(lib_cc)

# Tools see only the public headers.
$(B)/obj/tools/%.o: tools/%.c $(B)/flags
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(SP_CPPFLAGS) -Itools/common $(TOOL_CPPFLAGS) $(CPPFLAGS) $(SP_CFLAGS) $(CFLAGS) \
		-MMD -MP -c -o $@ $<
ifneq ($(FUSE),)
$(B)/obj/tools/vdisk.o $(B)/obj/tools/vdisk/%.o: TOOL_CPPFLAGS := $(shell pkg-config --cflags fuse3)
$(B)/bin/vdisk: TOOL_LIBS := $(shell pkg-config --libs fuse3)
endif

$(B)/obj/tools/common/version.o: TOOL_CPPFLAGS := $(if $(FUSE),-DWITH_FUSE)

$(STATIC): $(LIB_OBJ) $(B)/objects
	$(call say,AR,$@)
	@mkdir -p $(@D); rm -f $@
	$(Q)$(AR) rcsD $@ $(LIB_OBJ)

# A library is linked if a function of it has no stub; tests/cli/libraries.bats then fails.
shared = $(Q)$(CC) $(SP_LDFLAGS) $(LDFLAGS) -shared -Wl,-soname,$(SONAME) $(1) \
	-Wl,--version-script,lib/libspindle.map -o $@ $(LIB_OBJ) $(STUB_OBJ) -Wl,--as-needed $(SP_LIBS)
$(SO): $(LIB_OBJ) $(STUB_OBJ) $(B)/objects lib/libspindle.map
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(call shared,$(if $(SP_SAN),,-Wl$(comma)-z$(comma)defs))
	$(Q)ln -sf $(@F) $(@D)/$(SONAME) && ln -sf $(SONAME) $(@D)/libspindle.so

# A tool is tools/NAME.c and whatever is in tools/NAME/.  (A function hides the
# percent signs from the pattern rule, which would put the name there.)
tool_obj = $(patsubst %.c,$(B)/obj/%.o,$(sort $(wildcard tools/$(1)/*.c)))
.SECONDEXPANSION:
# Scripts call the replacements of sort and join on many small files: these contain the library.  So do
# all tools under a sanitizer, at fixed addresses: the dynamic linker would take half of each start's time
# to relocate the sanitizer's descriptions of code and data.
ALONE := $(if $(SP_SAN),$(TOOLS),xsort xjoin)
ALONE_LINKED = $(SP_FIXED) -Wl,--gc-sections $(STATIC) $(STUB_OBJ) -Wl,--as-needed $(SP_LIBS)
$(ALONE:%=$(B)/bin/%): private LINKED = $(ALONE_LINKED)
LINKED = -L$(B)/lib -lspindle $(SP_RPATH)
$(B)/bin/%: $(B)/obj/tools/%.o $$(call tool_obj,$$*) $(TOOL_COMMON_OBJ) $(SO) $(STATIC)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(SP_LDFLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) $(LINKED) $(TOOL_LIBS)

$(B)/tests/shim/xjoin: $(B)/obj/tools/xjoin.o $$(call tool_obj,xjoin) $(TOOL_COMMON_OBJ) $(SO)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(SP_LDFLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) $(LINKED)

adapters: $(ADAPTERS:tools/dbmbench/adapters/%=$(B)/share/spindle/dbmbench/%)
$(B)/share/spindle/dbmbench/%: tools/dbmbench/adapters/%
	$(Q)install -D -m 755 $< $@

# For shells, from what each tool says about itself.
COMPLETED := $(TOOLS:%=$(B)/completions/%.done)
completions: $(COMPLETED)
$(COMPLETED): $(B)/completions/%.done: $(B)/bin/% scripts/completions $(wildcard scripts/completions.d/*)
	$(call say,COMPLETE,$*)
	$(Q)LD_LIBRARY_PATH="$(abspath $(B))/lib$${LD_LIBRARY_PATH:+:$$LD_LIBRARY_PATH}" scripts/completions $< $(@D) && touch $@

schemas: $(B)/schemas/keys
$(SCHEMA_PROGRAM): private SP_CPPFLAGS += -Itools
$(SCHEMA_PROGRAM): scripts/report-schemas.c $(STATIC) $(B)/flags
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(test_cc) $< $(STATIC) $(SP_LIBS)
$(B)/schemas/keys: $(SCHEMA_PROGRAM) $(SCHEMA_SRC)
	$(call say,SCHEMAS,$(@D))
	@mkdir -p $(@D); rm -f $(@D)/*
	$(Q)cp $(SCHEMA_SRC) $(@D) && $(WRAP) $< $(@D)

# The Python package, with the library and the tools in it: a tree to be used in place, and a wheel of it.
PYTHON ?= python3
PY_SRC := pyproject.toml $(sort $(wildcard python/*.* python/spindle_io/*.py python/spindle_io/*/*.py))
PY_SO := $(B)/obj/python/$(SONAME)
PY_TREE := $(B)/python
# vdisk needs a program of the system that mounts it.
PY_TOOLS := $(patsubst %,$(B)/obj/python/bin/%,$(filter-out vdisk,$(TOOLS)))
# What the tests use of it, where there is a Python.
PY_READY := $(if $(VARIANT),,$(if $(shell command -v $(PYTHON)),$(PY_TREE)/.done))
.PHONY: python wheel sdist
$(PY_SO): $(SO)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(call shared,-Wl$(comma)-rpath$(comma)'$$ORIGIN')
# They load libraries from a folder next to theirs: python/build.py.
$(PY_TOOLS): private RPATH = $$ORIGIN/../lib/spindle-io
$(PY_TOOLS): private SP_RPATH = -Wl$(comma)-rpath$(comma)'$(RPATH)'
$(ALONE:%=$(B)/obj/python/bin/%): private LINKED = $(ALONE_LINKED) $(SP_RPATH)
$(B)/obj/python/bin/%: $(B)/bin/%
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(SP_LDFLAGS) $(LDFLAGS) -o $@ $(B)/obj/tools/$*.o $(call tool_obj,$*) $(TOOL_COMMON_OBJ) $(LINKED)
$(PY_TREE)/.done: $(PY_SO) $(PY_TOOLS) $(PY_SRC) $(ADAPTERS) $(wildcard man/*.1)
	$(call say,PYTHON,$(PY_TREE))
	$(Q)$(PYTHON) python/build.py stage $(PY_TREE) $(PY_SO) $(NEEDED) $(PY_TOOLS) && touch $@
python: $(PY_TREE)/.done
wheel: python ## the Python package spindle-io, with the tools, in build/dist
	$(Q)scripts/manylinux "$$($(PYTHON) python/build.py wheel $(PY_TREE) $(B)/obj/python)" build/dist
sdist: ## the Python package's sources, in build/dist: pip builds them where compilers are
	$(Q)$(PYTHON) python/build.py sdist build/dist

# Tests are linked with the static library, so that they reach internal functions.
test_cc = $(Q)$(CC) $(SP_CPPFLAGS) -Ilib -Itests $(CPPFLAGS) $(SP_CFLAGS) $(CFLAGS) -MMD -MP \
	$(SP_LDFLAGS) $(LDFLAGS) -o $@

$(B)/tests/%: tests/%.c $(STATIC) $(B)/flags
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(test_cc) $(SP_FIXED) $< $(TEST_OBJ) $(STATIC) $(SP_LIBS)

ifeq ($(LIBFUZZER),1)
$(B)/tests/fuzz/fuzz_%: tests/fuzz/fuzz_%.c $(STATIC) $(B)/flags
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(test_cc) -fsanitize=fuzzer $< $(TEST_OBJ) $(STATIC) $(SP_LIBS)
else
$(B)/obj/tests/fuzz/driver.o: tests/fuzz/driver.c $(B)/flags
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(test_cc) -c $<

$(B)/tests/fuzz/fuzz_%: tests/fuzz/fuzz_%.c $(B)/obj/tests/fuzz/driver.o $(STATIC) $(B)/flags
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(test_cc) $< $(B)/obj/tests/fuzz/driver.o $(TEST_OBJ) $(STATIC) $(SP_LIBS)
endif

$(B)/tests/shim/%.so: tests/shim/%.c $(B)/flags
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(test_cc) -shared -fPIC $< -ldl

# The command line of xjoin, without the functions that end a program.
JOIN_OPTIONS := $(B)/tests/fuzz/fuzz_joinoptions
JOIN_OPTIONS_OBJ := $(patsubst %,$(B)/obj/tools/%.o,common/args common/autopack common/common_options \
	common/number common/outputs common/packedwarn common/progress common/setting \
	$(patsubst %,xjoin/%,form options settings))
$(JOIN_OPTIONS): $(JOIN_OPTIONS_OBJ)
$(JOIN_OPTIONS): private SP_CPPFLAGS += -Itools/common
$(JOIN_OPTIONS): private TEST_OBJ := $(JOIN_OPTIONS_OBJ) -Wl$(comma)--wrap=free

# The tools' line of progress.
PROGRESS_LINE := $(B)/tests/unit/test_progressline
PROGRESS_LINE_OBJ := $(patsubst %,$(B)/obj/tools/common/%.o,progress choice msg quote)
$(PROGRESS_LINE): $(PROGRESS_LINE_OBJ)
$(PROGRESS_LINE): private SP_CPPFLAGS += -Itools/common
$(PROGRESS_LINE): private TEST_OBJ := $(PROGRESS_LINE_OBJ)

# Places where a record can be lost, for tests that the loss is detected.
SORT_WRAPS := sp__scan_next sp__runbuf_sort sp__merge_next
$(B)/tests/unit/test_sort_balance: private LDFLAGS += $(SORT_WRAPS:%=-Wl$(comma)--wrap=%)
JOIN_WRAPS := sp__scan_next sp__source_fill sp__source_ahead sp__table_add sp__table_walk \
	sp__stage_spill sp__sweep_put sp__runread_next sp__sort_get_next
$(B)/tests/unit/test_join_balance: private LDFLAGS += $(JOIN_WRAPS:%=-Wl$(comma)--wrap=%)

# Hashes that can be made equal, and comparisons of keys, which are counted.
HASH_WRAPS := sp__key_hash sp__key_hash_secret memcmp strcmp
$(B)/tests/unit/test_equal_hashes: private LDFLAGS += $(HASH_WRAPS:%=-Wl$(comma)--wrap=%)

# System calls that fail, one at a time.
CREATION_WRAPS := open fstat ftruncate close
$(B)/tests/unit/test_creation: private LDFLAGS += $(CREATION_WRAPS:%=-Wl$(comma)--wrap=%)

TABLE_WRAPS := open pwrite pwritev fdatasync ftruncate malloc calloc reallocarray strdup
$(B)/tests/unit/test_table_file $(B)/tests/unit/test_table_crash $(B)/tests/unit/test_table_change $(B)/tests/unit/test_table_load $(B)/tests/unit/test_table_aggregates: private LDFLAGS += $(TABLE_WRAPS:%=-Wl$(comma)--wrap=%)

SCAN_WRAPS := pread preadv malloc calloc realloc reallocarray mmap
$(B)/tests/unit/test_table_scanfail: private LDFLAGS += $(SCAN_WRAPS:%=-Wl$(comma)--wrap=%)

ARROW_WRAPS := pread preadv malloc calloc realloc reallocarray strdup mmap
$(B)/tests/unit/test_table_arrow_scan: private LDFLAGS += $(ARROW_WRAPS:%=-Wl$(comma)--wrap=%)

COMPARE_WRAPS := malloc calloc reallocarray strdup
$(B)/tests/unit/test_table_compare_memory: private LDFLAGS += $(COMPARE_WRAPS:%=-Wl$(comma)--wrap=%)

INDEX_WRAPS := pread preadv pwrite pwritev fsync fdatasync malloc calloc realloc reallocarray strdup
$(B)/tests/unit/test_table_index $(B)/tests/unit/test_table_index_faults: private LDFLAGS += $(INDEX_WRAPS:%=-Wl$(comma)--wrap=%)

# Examples are built as a user would: public headers, shared library.
$(B)/examples/%: examples/%.c $(SO) $(B)/flags
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(SP_CPPFLAGS) $(CPPFLAGS) $(SP_CFLAGS) $(CFLAGS) -MMD -MP $(SP_LDFLAGS) $(LDFLAGS) \
		-o $@ $< -L$(B)/lib -lspindle $(SP_RPATH)

-include $(LIB_OBJ:.o=.d) $(STUB_OBJ:.o=.d) $(TOOL_COMMON_OBJ:.o=.d) $(UNIT:=.d) $(TEST_OTHER:=.d) $(FUZZ:=.d) \
	$(BENCHES:=.d) $(SIMS:=.d) $(SCHEMA_PROGRAM).d $(EXAMPLES:=.d) $(patsubst %.so,%.d,$(filter %.so,$(SHIM))) $(B)/obj/tests/fuzz/driver.d \
	$(wildcard $(B)/obj/tools/*.d $(B)/obj/tools/*/*.d)

# Checks.  run-tests adds everything up in one last line.  A sanitizer's finding
# exits with a status that no tool uses, so that it is never mistaken for a result.
# SP_TEST_VARIANT names the sanitizer for tests; SP_TEST_STAGE is a label.
RUN_ENV = SP_BUILD='$(abspath $(B))' XSORT="$${XSORT:-$(abspath $(B))/bin/xsort}" \
	XGEN="$${XGEN:-$(abspath $(B))/bin/xgen}" XJOIN="$${XJOIN:-$(abspath $(B))/bin/xjoin}" \
	BLOCKSEQ="$${BLOCKSEQ:-$(abspath $(B))/bin/blockseq}" \
	DISKPROBE="$${DISKPROBE:-$(abspath $(B))/bin/diskprobe}" \
	VDISK="$${VDISK:-$(abspath $(B))/bin/vdisk}" \
	AIOBENCH="$${AIOBENCH:-$(abspath $(B))/bin/aiobench}" \
	MMAP_CUBE="$${MMAP_CUBE:-$(abspath $(B))/bin/mmap-cube}" \
	XGROUP="$${XGROUP:-$(abspath $(B))/bin/xgroup}" \
	XINDEX="$${XINDEX:-$(abspath $(B))/bin/xindex}" \
	XTABLE="$${XTABLE:-$(abspath $(B))/bin/xtable}" \
	DBMBENCH="$${DBMBENCH:-$(abspath $(B))/bin/dbmbench}" \
	SP_TEST_STAGE="$${SP_TEST_STAGE-$(VARIANT)}" \
	SP_TEST_VARIANT="$(VARIANT)" \
	ASAN_OPTIONS="exitcode=99:detect_stack_use_after_return=1:$$ASAN_OPTIONS" \
	UBSAN_OPTIONS="exitcode=99:print_stacktrace=1:$$UBSAN_OPTIONS" \
	TSAN_OPTIONS="exitcode=99:halt_on_error=1:second_deadlock_stack=1:$$TSAN_OPTIONS" \
	SP_TEST_WRAP="$${SP_TEST_WRAP-$(WRAP)}"
# The thread sanitizer of older compilers fails under much address randomising.
WRAP := $(if $(filter thread,$(SAN)),$(shell setarch -R true 2>/dev/null && echo setarch -R))
RUN = $(Q)$(RUN_ENV) scripts/run-tests

TEST_PROGRAMS := $(UNIT) $(TEST_OTHER) $(FUZZ) $(BENCHES) $(SIMS) $(EXAMPLES) $(SHIM)
DELAY_TESTS := $(sort $(wildcard tests/delay/*.t))
TEST_SCRIPTS := $(filter-out $(DELAY_TESTS),$(sort $(wildcard tests/*/*.bats tests/*/*.t)))

# Locales for comparisons; all variants share them.
LOCALES := build/locale/.done
$(LOCALES): scripts/build-locales
	$(call say,LOCALE,$(@D))
	$(Q)scripts/build-locales $(@D) && touch $@

.PHONY: check check-unit check-cli check-diff check-all check-fast run-unit run-cli run-diff asan tsan fuzz run-fuzz \
	test-programs
test-programs: $(TEST_PROGRAMS) $(LOCALES)
# Of the given tests those of the room, if one is given.
ROOM_TESTS = $(or $(patsubst %.c,$(B)/%,$(shell scripts/room-tests '$(ROOM)')),$(error ROOM: no tests))
in_room = $(if $(ROOM),$(filter $(ROOM_TESTS),$(1)),$(1))
# Most processor time of a test that is not slow, on any machine: the longest take a third of it.
check-all: export SP_TEST_CPU ?= 60
check-fast: export SP_TEST_CPU ?= 400
check: ## all tests; installs what they need; ROOM=NAME: those of lib/NAME
	$(Q)scripts/setup check
	$(Q)+$(MAKE) --no-print-directory check-all
check-all: all $(call in_room,$(UNIT) $(TEST_OTHER) $(FUZZ)) $(BENCHES) $(SIMS) $(EXAMPLES) $(SHIM) $(LOCALES) $(PY_READY)
	$(RUN) $(call in_room,$(UNIT) $(TEST_OTHER) $(FUZZ) $(TEST_SCRIPTS))
check-unit: ## only unit and contract tests
	$(Q)scripts/setup check
	$(Q)+$(MAKE) --no-print-directory run-unit
run-unit: $(UNIT) $(LOCALES)
	$(RUN) $(UNIT)
check-cli: ## only tests of the command line
	$(Q)scripts/setup check
	$(Q)+$(MAKE) --no-print-directory run-cli
run-cli: all $(TEST_PROGRAMS) $(LOCALES) $(filter $(B)/%,$(CLI))
	$(RUN) $(CLI)
# The programs whose cases are drawn in pairs (SP_DIFF_CASES; in "check" 40 sorts and 200 joins).
DIFF := $(addprefix $(B)/tests/diff/,test_sortpairs test_diffjoin)
check-diff: ## 2000 random sorts and joins against reference programs
	$(Q)scripts/setup check
	$(Q)+$(MAKE) --no-print-directory run-diff
run-diff: export SP_DIFF_CASES ?= 2000
run-diff: export SP_DIFF_WORKERS ?= 2
run-diff: export SP_TEST_TIMEOUT ?= 1800
run-diff: all $(DIFF) $(LOCALES)
	$(RUN) $(DIFF)
check-fast: export SP_TEST_TAGS := !slow$(if $(filter thread,$(SAN)),$(comma)!one-thread)
check-fast: all $(UNIT) $(EXAMPLES) $(LOCALES)
	$(RUN) $(UNIT) $(CLI)
asan: ## the fast tests under AddressSanitizer and UBSan
	$(Q)scripts/setup check
	$(Q)+$(MAKE) --no-print-directory SAN=address check-fast
tsan: ## the fast tests under ThreadSanitizer
	$(Q)scripts/setup check
	$(Q)+$(MAKE) --no-print-directory SAN=thread check-fast

SEEDS ?= 20
.PHONY: check-delay run-delay
check-delay: ## random delays of threads, SEEDS (20) seeds; SAN=thread
	$(Q)scripts/setup check
	$(Q)+$(MAKE) --no-print-directory DELAY=1 run-delay
run-delay: export SP_DELAY_SEEDS := $(SEEDS)
run-delay: export SP_TEST_TIMEOUT := 3600
# Delays are sleeps, which leave the processors idle.
run-delay: export SP_TEST_JOBS ?= 8
run-delay: lib $(addprefix $(B)/bin/,xsort xjoin xgroup xindex xgen xtable aiobench) $(LOCALES) $(B)/tests/unit/test_flow_hash
	$(RUN) $(DELAY_TESTS)

# Long runs of tests of tables: the numbers are those of sequences of changes, and of calls that are killed.
.PHONY: nightly run-nightly run-mutations
nightly: ## 1500 random sequences of changes of tables, all kills, 2000 random sorts and joins, mutations (MUTATIONS=1500), 200 seeds of delays, threads, faults put into the library
	$(Q)scripts/setup check
	$(Q)+$(MAKE) --no-print-directory run-nightly
	$(Q)+$(MAKE) --no-print-directory run-diff
	$(Q)+$(MAKE) --no-print-directory DELAY=1 run-delay SEEDS=200
	$(Q)+$(MAKE) --no-print-directory SAN=thread DELAY=1 run-delay
	$(Q)+$(MAKE) --no-print-directory SAN=address run-mutations run-slow
	$(Q)+$(MAKE) --no-print-directory SAN=thread run-beside
	$(Q)scripts/put-faults
run-nightly: export SP_TABLE_HISTORIES ?= 1500
run-nightly: export SP_TABLE_KILLS ?= 1000
run-nightly: export SP_TEST_FULL := 1
run-nightly: export SP_TEST_TIMEOUT ?= 14400
run-nightly: all $(TEST_PROGRAMS) $(LOCALES) $(PY_READY)
	$(Q)$(RUN_ENV) $(B)/tests/unit/test_table_predict all
	$(Q)$(RUN_ENV) $(B)/tests/unit/test_table_choose 20
	$(Q)$(RUN_ENV) $(B)/tests/unit/test_table_compare all
	$(RUN) $(B)/tests/unit/test_table_compare_memory $(B)/tests/fault/test_peak $(B)/tests/diff/test_diffsort
	$(RUN) tests/fault/xtable.t $(shell grep -l -e SP_TEST_FULL -e 'few [1-9]' $(TEST_SCRIPTS))
# Cells, indexes, schemas and superblocks of tables, with right checksums; texts of schemas, and streams of Arrow.
MUTATIONS ?= 1500
MUTATED := $(patsubst %.c,$(B)/%,$(sort $(wildcard tests/fuzz/fuzz_table_*.c tests/fuzz/fuzz_schema_*.c)))
run-mutations: $(MUTATED) $(addprefix $(B)/bin/,mmap-cube xindex)
	$(Q)set -e; for f in $(MUTATED); do $(RUN_ENV) $$f -n $(MUTATIONS) -s random; done
	$(Q)$(RUN_ENV) tests/cli/mutate_cube.py $(B) $(MUTATIONS)
.PHONY: run-slow
run-slow: $(SLOW_UNIT) $(LOCALES)
	$(RUN) $(SLOW_UNIT)
# Readers and writers of one table at the same time.
.PHONY: run-beside
run-beside: export SP_BESIDE_CHANGES ?= 300
run-beside: $(B)/tests/unit/test_table_beside
	$(RUN) $<

FUZZ_SECONDS ?= 20
fuzz: ## every fuzz target for FUZZ_SECONDS (20); LIBFUZZER=1 uses clang's
	$(Q)scripts/setup fuzz
	$(Q)+$(MAKE) --no-print-directory run-fuzz
run-fuzz: $(FUZZ)
	$(Q)set -e; for f in $(FUZZ); do name=$$(basename $$f); \
		mkdir -p $(B)/corpus/$$name; \
		if [ -n '$(LIBFUZZER)' ]; then \
			$$f -max_total_time=$(FUZZ_SECONDS) $(B)/corpus/$$name \
				$$(ls -d tests/fuzz/corpus/$$name 2>/dev/null); \
		else \
			$$f -t $(FUZZ_SECONDS) -s random $$(ls -d tests/fuzz/corpus/$$name 2>/dev/null); \
		fi; done

.PHONY: demo bench bench-aio bench-cube bench-dbm bench-disk bench-inl bench-json bench-peers bench-scale bench-startup bench-table bench-threads \
	experiments lint format
demo: ## sorts real data beside GNU sort, and draws a picture
	$(Q)scripts/setup demo
	$(Q)+$(MAKE) --no-print-directory all
	$(Q)scripts/demo
bench: ## the table of FIGURES.md for xsort; ROWS='...', RUNS=5, GROWTH=1
	$(Q)scripts/setup bench
	$(Q)+$(MAKE) --no-print-directory all $(BENCHES)
	$(Q)ROWS='$(ROWS)' RUNS='$(RUNS)' GROWTH='$(GROWTH)' scripts/bench/run
bench-startup: ## the start-up of tools beside GNU sort and join; RUNS=200
	$(Q)+$(MAKE) --no-print-directory all
	$(Q)scripts/bench/startup $(or $(RUNS),200)
bench-aio: ## aiobench beside fio; ROWS='depths cpu null knee', PAIRS=15
	$(Q)scripts/setup bench-aio
	$(Q)+$(MAKE) --no-print-directory all
	$(Q)ROWS='$(ROWS)' PAIRS='$(PAIRS)' scripts/bench/aio
bench-cube: ## mmap-cube beside HDF5, Zarr and TileDB; EDGE=512
	$(Q)+$(MAKE) --no-print-directory all
	$(Q)scripts/bench/cube
bench-dbm: ## xtable beside DuckDB, SQLite and PostgreSQL by DBmbench; SCALE=1, RUNS=5
	$(Q)+$(MAKE) --no-print-directory all
	$(Q)SCALE='$(SCALE)' RUNS='$(RUNS)' scripts/bench/dbm
bench-disk: ## xsort and xjoin beside another commit, on a disk, a slow disk and in memory; AGAINST=COMMIT, ROWS, RUNS=5
	$(Q)+$(MAKE) --no-print-directory all
	$(Q)python3 scripts/bench/disk.py $(if $(AGAINST),--against='$(AGAINST)') $(if $(RUNS),--runs='$(RUNS)') \
		$(if $(MEDIA),--media='$(MEDIA)') $(ROWS)
bench-inl: ## index nested loops beside the bare reads and SQLite; PROBES=20000
	$(Q)scripts/setup bench-inl
	$(Q)+$(MAKE) --no-print-directory all $(BENCHES)
	$(Q)python3 scripts/bench/inl.py
bench-json: ## JSON lines: beside lines by position, DuckDB, Miller and jq; ROWS='sort-string join', SIZE=1G, RUNS=3
	$(Q)+$(MAKE) --no-print-directory all
	$(Q)ROWS='$(ROWS)' SIZE='$(SIZE)' RUNS='$(RUNS)' python3 scripts/bench/jsonlines.py
bench-peers: ## xsort and xjoin beside databases and other sorts; ROWS='records join', RUNS=3
	$(Q)+$(MAKE) --no-print-directory all
	$(Q)ROWS='$(ROWS)' RUNS='$(RUNS)' scripts/bench/peers
bench-scale: ## predicted times on 1 to 64 processors; ROWS='sort-64M pipe'
	$(Q)+$(MAKE) --no-print-directory all $(LOCALES)
	$(Q)scripts/bench/scale $(ROWS)
bench-threads: ## how work divides over threads, beside GNU sort and DuckDB; ROWS='sort-64M pipe'
	$(Q)+$(MAKE) --no-print-directory all $(LOCALES)
	$(Q)scripts/bench/threads $(ROWS)
bench-table: ## xtable beside databases and formats of tables; ROWS='scan get', RUNS=5
	$(Q)+$(MAKE) --no-print-directory all $(B)/tests/bench/read_speed
	$(Q)ROWS='$(ROWS)' RUNS='$(RUNS)' scripts/bench/table
# Test programs that the experiments run.
EXPERIMENT_PROGRAMS := $(addprefix $(B)/tests/,unit/test_join_plan unit/test_sequence_papers unit/test_readplan \
	unit/test_flow_rivals unit/test_cube_mapping unit/test_cube_formula unit/test_adjacent \
	bench/completion_speed) $(SIMS) $(B)/examples/08-through-an-index $(B)/examples/12-join-two-tables
experiments: ## the figures of the papers on simulated drives; SCALE=1: at their sizes
	$(Q)scripts/setup experiments
	$(Q)+$(MAKE) --no-print-directory all \
		$(EXPERIMENT_PROGRAMS)
	$(Q)scripts/experiments/run

CHECKERS := $(sort $(wildcard scripts/check-*))
lint: ## the checkers of code, documents and symbols
	$(Q)scripts/setup lint
	$(Q)+$(MAKE) --no-print-directory lint-all
.PHONY: lint-all
lint-all: all
	$(RUN) $(CHECKERS)
C_FILES = $(shell git ls-files '*.c' '*.h' 2>/dev/null)
format: ## applies .clang-format to the C code
	$(Q)scripts/setup lint
	$(Q)clang-format -i $(C_FILES)

# Installing.  Both targets walk the same lists.
HEADERS := $(patsubst lib/include/%,%,$(sort $(wildcard lib/include/*.h lib/include/*/*.h)))
# That of spindle-ray comes with the wheel.
MANPAGES := $(filter-out man/spindle-ray.1 $(if $(FUSE),,man/vdisk.1),$(sort $(wildcard man/*.[1-9])))
INSTALLED = $(TOOLS:%=$(BINDIR)/%) $(HEADERS:%=$(INCLUDEDIR)/%) \
	$(LIBDIR)/$(notdir $(SO)) $(LIBDIR)/$(SONAME) $(LIBDIR)/libspindle.so $(LIBDIR)/libspindle.a \
	$(LIBDIR)/pkgconfig/libspindle.pc \
	$(foreach m,$(notdir $(MANPAGES)),$(MANDIR)/man$(patsubst .%,%,$(suffix $(m)))/$(m)) \
	$(MODELS:lib/dev/models/%=$(MODELDIR)/%) $(SCHEMAS:%=$(SCHEMADIR)/%) \
	$(ADAPTERS:tools/dbmbench/adapters/%=$(ADAPTERDIR)/%) \
	$(TOOLS:%=$(BASHCOMPDIR)/%) $(TOOLS:%=$(ZSHCOMPDIR)/_%) \
	$(TOOLS:%=$(FISHCOMPDIR)/%.fish)
# Other programs linked with the library find it by a runpath, or through the loader's cache, which only
# root can write and which covers only system folders.  (ldconfig is not in a user's PATH.)
loader_knows = PATH=$$PATH:/usr/sbin:/sbin; test "$$(id -u)" != 0 || ldconfig; \
	test -n "$$(ldconfig -p | sed -n '\|=>.*$(LIBDIR:/usr%=%)/$(SONAME)$$|p')" || \
	printf '%s\n' 'The tools find $(SONAME).  For programs of your own the loader does not search $(LIBDIR):' \
		'link them with -Wl,-rpath,$(LIBDIR), or as root run ldconfig if it is a folder of the system.'
# The prefix in libspindle.pc: found from where that is, so that a folder can be moved.  /usr is not moved, and
# compilers know its folders by their plain names.
pc_prefix = $(if $(filter-out /usr,$(PREFIX)),$(if $(filter $(PREFIX)/%,$(LIBDIR)),$${pcfiledir}/$(call \
	relative,$(PREFIX),$(LIBDIR)/pkgconfig),$(PREFIX)),$(PREFIX))
put = install -D -m $(1) $(2) "$(DESTDIR)$(3)"

# Programs that need no file of the machine.  The C library loads others for names of users and groups, if
# they are there: the linker's warnings of that are suppressed.
STATIC_TOOLS := $(filter-out vdisk,$(TOOLS))
.SECONDEXPANSION:
$(B)/static/bin/%: $(B)/obj/tools/%.o $$(call tool_obj,$$*) $(TOOL_COMMON_OBJ) $(STATIC)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -static -Wl,--no-warnings $(SP_LDFLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) -Wl,--gc-sections $(STATIC) \
		$(SP_LIBS) $(TOOL_LIBS)
.PHONY: static
static: all $(STATIC_TOOLS:%=$(B)/static/bin/%) ## the tools without shared libraries, for any Linux with this processor: an archive in build/dist
	$(Q)scripts/static $(B) spindle-$(VERSION)-linux-$(shell uname -m)

.PHONY: install uninstall
install: all ## into DESTDIR, PREFIX, BINDIR, LIBDIR, INCLUDEDIR, MANDIR, MODELDIR, SCHEMADIR, ADAPTERDIR, ...COMPDIR
	$(Q)set -e; for t in $(TOOLS); do $(call put,755,$(B)/bin/$$t,$(BINDIR)/$$t); done
	$(Q)set -e; for h in $(HEADERS); do $(call put,644,lib/include/$$h,$(INCLUDEDIR)/$$h); done
	$(Q)$(call put,755,$(SO),$(LIBDIR)/$(notdir $(SO)))
	$(Q)ln -sf $(notdir $(SO)) '$(DESTDIR)$(LIBDIR)/$(SONAME)'
	$(Q)ln -sf $(SONAME) '$(DESTDIR)$(LIBDIR)/libspindle.so'
	$(Q)$(call put,644,$(STATIC),$(LIBDIR)/libspindle.a)
	$(Q)sed -e 's|@PREFIX@|$(pc_prefix)|' -e 's|@LIBDIR@|$(LIBDIR:$(PREFIX)/%=$${prefix}/%)|' \
		-e 's|@VERSION@|$(VERSION)|' -e 's|@INCLUDEDIR@|$(INCLUDEDIR:$(PREFIX)/%=$${prefix}/%)|' \
		-e 's|@PACKED@|$(if $(ZLIB), zlib)$(if $(LZMA), liblzma)|' lib/libspindle.pc.in > $(B)/libspindle.pc
	$(Q)$(call put,644,$(B)/libspindle.pc,$(LIBDIR)/pkgconfig/libspindle.pc)
	$(Q)set -e; for m in $(notdir $(MANPAGES)); do \
		sed 's/^\.Os Spindle$$/.Os Spindle $(VERSION)/' man/$$m > $(B)/$$m; \
		$(call put,644,$(B)/$$m,$(MANDIR)/man$${m##*.}/$$m); rm $(B)/$$m; done
	$(Q)set -e; for m in $(notdir $(MODELS)); do \
		$(call put,644,lib/dev/models/$$m,$(MODELDIR)/$$m); done
	$(Q)set -e; for a in $(notdir $(ADAPTERS)); do \
		$(call put,755,tools/dbmbench/adapters/$$a,$(ADAPTERDIR)/$$a); done
	$(Q)set -e; for s in $(SCHEMAS); do $(call put,644,$(B)/schemas/$$s,$(SCHEMADIR)/$$s); done
	$(Q)set -e; for t in $(TOOLS); do \
		$(call put,644,$(B)/completions/bash/$$t,$(BASHCOMPDIR)/$$t); \
		$(call put,644,$(B)/completions/zsh/_$$t,$(ZSHCOMPDIR)/_$$t); \
		$(call put,644,$(B)/completions/fish/$$t.fish,$(FISHCOMPDIR)/$$t.fish); done
	$(if $(DESTDIR),,$(Q)$(loader_knows))
uninstall: ## removes what install installed
	$(Q)rm -f $(foreach f,$(INSTALLED),'$(DESTDIR)$(f)')
	$(Q)rmdir '$(DESTDIR)$(INCLUDEDIR)/spindle' '$(DESTDIR)$(MODELDIR)' '$(DESTDIR)$(SCHEMADIR)' \
		'$(DESTDIR)$(ADAPTERDIR)' \
		'$(DESTDIR)$(dir $(MODELDIR))' 2>/dev/null || true

DIST := spindle-$(VERSION)
.PHONY: dist distcheck clean help
dist: ## the tarball of the last commit, in build/dist
	$(Q)scripts/setup dist
	$(Q)mkdir -p build/dist
	$(Q)rm -f build/dist/$(DIST).tar*
	$(Q)git -c safe.directory='$(CURDIR)' archive --prefix=$(DIST)/ -o build/dist/$(DIST).tar HEAD || \
		{ rm -f build/dist/$(DIST).tar; echo "make dist: $(CURDIR) is not a git checkout with a commit: make the tarball in one" >&2; exit 1; }
	$(Q)gzip -9n build/dist/$(DIST).tar
	@echo build/dist/$(DIST).tar.gz
distcheck: dist ## builds, compares, installs, tests and uninstalls the tarball
	$(Q)+$(MAKE) --no-print-directory all
	$(Q)+scripts/distcheck build/dist/$(DIST).tar.gz $(B)

DEB := build/deb
.PHONY: deb check-deb check-abi
deb: dist ## Debian packages of the last commit, in build/deb
	$(Q)scripts/setup deb
	$(Q)scripts/deb build/dist/$(DIST).tar.gz $(DEB)
	@ls $(DEB)/*.deb
check-deb: deb ## lintian; installs, uses and removes them in a bare root
	$(Q)SP_TEST_STAGE=$${SP_TEST_STAGE-deb} scripts/run-tests scripts/debcheck

.PHONY: check-wheel
check-wheel: all wheel sdist ## pip installs, uses and removes wheel and sources; also in a bare root
	$(Q)scripts/setup wheel
	$(RUN) scripts/wheelcheck

check-abi: lib ## no function or type of the last release has gone or changed; abidiff
	$(Q)scripts/setup abi
	$(Q)SP_TEST_STAGE=$${SP_TEST_STAGE-abi} scripts/run-tests scripts/abi

.PHONY: check-ray
check-ray: all python $(LOCALES) ## spindle-ray on three nodes of this machine; Ray goes to build/ray
	$(Q)scripts/setup ray
	$(RUN) scripts/raycheck

.PHONY: bench-ray
bench-ray: all python ## spindle-ray beside xsort, ray.data and Spark; ROWS='sort skew join raydata spark sparkjoin', GB=4
	$(Q)scripts/setup ray
	$(Q)scripts/bench/ray '$(ROWS)'

clean: ## removes build/
	rm -rf build
help: ## this list
	@sed -n 's/^\([a-z-]*\):[^#]*## /\1\t/p' Makefile | sort | awk -F'\t' '{ printf "  %-12s %s\n", $$1, $$2 }'
