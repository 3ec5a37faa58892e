# Spindle.  Targets: make help.  User variables are never overwritten; what the
# project itself needs is in SP_* variables.

CC ?= gcc
CFLAGS ?= -O2 -g
PREFIX ?= /usr/local
BINDIR ?= $(PREFIX)/bin
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
MANDIR ?= $(PREFIX)/share/man
DESTDIR ?=
V ?= 0

VERSION := $(shell sed -n 's/^.define SP_VERSION "\(.*\)"/\1/p' lib/include/spindle/version.h)
SOVERSION := 0

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
B := build$(if $(VARIANT),/$(VARIANT))

SP_WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wformat=2 \
	-Wwrite-strings -Wcast-qual -Wundef $(if $(WERROR),-Werror)
SP_CFLAGS := -std=gnu17 -pthread $(SP_WARN) $(SP_SAN)
SP_CPPFLAGS := -D_GNU_SOURCE -Ilib/include
SP_LDFLAGS := -pthread $(SP_SAN)
SP_LIBS := -luring -laio -ljansson -lxxhash -llz4 -lzstd -lmd -lm
# Tools find the library in the build tree and in the prefix alike.
RPATH ?= $$ORIGIN/../lib
SP_RPATH := $(if $(RPATH),-Wl$(comma)-rpath$(comma)'$(RPATH)')
comma := ,

Q := $(if $(filter 1,$(V)),,@)
say = $(if $(filter 1,$(V)),,@echo '  $(1)' '$(2)')

LIB_SRC := $(sort $(wildcard lib/*/*.c))
LIB_OBJ := $(LIB_SRC:%.c=$(B)/obj/%.o)
TOOLS := $(sort $(basename $(notdir $(wildcard tools/*.c))))
TOOL_COMMON_OBJ := $(patsubst %.c,$(B)/obj/%.o,$(sort $(wildcard tools/common/*.c)))
UNIT := $(patsubst tests/%.c,$(B)/tests/%,$(sort $(wildcard tests/unit/test_*.c tests/contract/test_*.c)))

SONAME := libspindle.so.$(SOVERSION)
SO := $(B)/lib/libspindle.so.$(VERSION)
STATIC := $(B)/lib/libspindle.a

.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: all lib tools
all: lib tools
lib: $(SO) $(STATIC)
tools: $(TOOLS:%=$(B)/bin/%)

# Everything is rebuilt when the flags change.
FLAGS := $(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) $(SP_CPPFLAGS) $(SP_CFLAGS) $(SP_LDFLAGS)
$(B)/flags: FORCE
	@mkdir -p $(@D); printf '%s\n' '$(FLAGS)' | cmp -s - $@ || printf '%s\n' '$(FLAGS)' > $@
.PHONY: FORCE
FORCE:

$(LIB_OBJ): $(B)/obj/%.o: %.c $(B)/flags
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(SP_CPPFLAGS) -Ilib $(CPPFLAGS) $(SP_CFLAGS) -fvisibility=hidden -fPIC $(CFLAGS) \
		-MMD -MP -c -o $@ $<

# Tools see the public headers alone.
$(B)/obj/tools/%.o: tools/%.c $(B)/flags
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(SP_CPPFLAGS) -Itools/common $(CPPFLAGS) $(SP_CFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

$(STATIC): $(LIB_OBJ)
	$(call say,AR,$@)
	@mkdir -p $(@D); rm -f $@
	$(Q)$(AR) rcs $@ $^

$(SO): $(LIB_OBJ) lib/libspindle.map
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(SP_LDFLAGS) $(LDFLAGS) -shared -Wl,-soname,$(SONAME) \
		-Wl,--version-script,lib/libspindle.map $(if $(SP_SAN),,-Wl$(comma)-z$(comma)defs) \
		-o $@ $(LIB_OBJ) $(SP_LIBS)
	$(Q)ln -sf $(@F) $(@D)/$(SONAME) && ln -sf $(SONAME) $(@D)/libspindle.so

.SECONDEXPANSION:
$(B)/bin/%: $(B)/obj/tools/%.o $$(patsubst %.c,$(B)/obj/%.o,$$(sort $$(wildcard tools/$$*/*.c))) \
		$(TOOL_COMMON_OBJ) $(SO)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(SP_LDFLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) -L$(B)/lib -lspindle $(SP_RPATH)

$(B)/tests/%: tests/%.c $(STATIC) $(B)/flags
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(SP_CPPFLAGS) -Ilib -Itests $(CPPFLAGS) $(SP_CFLAGS) $(CFLAGS) -MMD -MP \
		$(SP_LDFLAGS) $(LDFLAGS) -o $@ $< $(STATIC) $(SP_LIBS)

-include $(LIB_OBJ:.o=.d) $(TOOL_COMMON_OBJ:.o=.d) $(UNIT:=.d) \
	$(wildcard $(B)/obj/tools/*.d $(B)/obj/tools/*/*.d)

.PHONY: check check-unit clean
check: check-unit
check-unit: $(UNIT)
	$(Q)for t in $(UNIT); do echo "# $$t"; $$t || exit 1; done
clean:
	rm -rf build
