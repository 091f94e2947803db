# SPDX-License-Identifier: Apache-2.0
# The native programs. `make` builds build/release; see the variables for the other variants.
#   make [STATIC=1] [SAN=address,undefined | SAN=thread | FUZZ=1] [VERBS=auto|yes|no] [V=1] [WERROR=1]
#        [CPU=aarch64|x86_64] [CC, CPPFLAGS, CFLAGS, LDFLAGS]
#   CPU: default: the compiler's. For a CPU other than this machine's, Debian's cross compiler and libraries of that
#   architecture are used (`node scripts/setup.mjs --cross`), and the results are in build/CPU/
#   VERBS: RDMA. Its libraries are opened when needed; only their headers must be installed. auto: if they are
#   make test       builds and runs the C suites        make headers   every header compiles on its own
#   make fuzz-programs   the fuzz targets: with FUZZ=1 for libFuzzer (needs clang), otherwise to replay their corpora
#   make analyze    clang's warnings, gcc's -fanalyzer, clang-tidy: no findings        make valgrind   the C suites
#   make install    PREFIX (/usr/local), DESTDIR; after `npm run build`
#                   for packages: PACKAGE, the directory of their native programs; CPUS
#   make uninstall  the same variables
#   make clean      removes build/
PREFIX ?= /usr/local
# Programs with a sanitizer are built with -O1: the compiler takes half the time, and sanitizers detect more.
CFLAGS ?= $(if $(filter asan tsan,$(VARIANT)),-O1 -g1,-O2 -g)
cpu_of = $(firstword $(subst -, ,$(shell $(1) -dumpmachine 2>/dev/null || uname -m)))
HERE := $(call cpu_of,cc)
CPU ?= $(call cpu_of,$(CC))
ifneq ($(CPU),$(HERE))
CROSS := $(CPU)-linux-gnu-
CC := $(if $(filter default,$(origin CC)),$(CROSS)gcc,$(CC))
AR := $(if $(filter default,$(origin AR)),$(CROSS)ar,$(AR))
STRIP ?= $(CROSS)strip
# The C library of the architecture's own packages, which get security updates; the compiler's copy does not.
CROSS_LDFLAGS := -B/usr/lib/$(CPU)-linux-gnu -L/usr/lib/$(CPU)-linux-gnu
PKG_CONFIG ?= PKG_CONFIG_LIBDIR=/usr/lib/$(CPU)-linux-gnu/pkgconfig:/usr/share/pkgconfig pkg-config
endif
PKG_CONFIG ?= pkg-config
STRIP ?= strip
VERSION := $(shell sed -n 's/^  "version": "\(.*\)",/\1/p' packages/rdpipe/package.json)

ifdef FUZZ
CC := clang
SAN := address,undefined
endif
VARIANT := $(if $(FUZZ),fuzz,$(if $(filter thread,$(SAN)),tsan,$(if $(SAN),asan,$(if $(STATIC),static,release))))
PLACE := build/$(if $(CROSS),$(CPU)/)
OUT := $(PLACE)$(VARIANT)
NATIVE := build/rdpipe/native
DEPLOY := $(if $(filter $(PLACE)static $(PLACE)release,$(OUT)),$(NATIVE)/linux-$(CPU)/$(if $(STATIC),static,dynamic),$(OUT)/deploy)
# rdhop has two other names.
PROGRAMS := rdstage rdhop rdtree
HOP_NAMES := rdsend rdrecv
COMMANDS := rdpipe rdcp rdssh rdstage rdtree $(HOP_NAMES)

# Missing tools and libraries are reported in one line, instead of the compiler's hundreds of lines. Goals that compile
# nothing, and questions (`make -q`), do not need them.
LIBRARIES := libssl libcrypto libzstd libxxhash jansson
LINKED := $(filter-out libxxhash,$(LIBRARIES))
pkg_config = $(shell $(PKG_CONFIG) $(1) 2>/dev/null)
MISSING = $(shell $(PKG_CONFIG) --exists $(LIBRARIES) 2>/dev/null || for library in $(LIBRARIES); do \
  $(PKG_CONFIG) --exists $$library 2>/dev/null || echo lib$${library#lib}; done | sed s/libcrypto/libssl/ | sort -u)
# A static link also needs the archives of libraries that these use, such as zlib; pkg-config lists them.
is_archive = $(findstring /,$(shell $(CC) $(CROSS_LDFLAGS) -print-file-name=$(1) 2>/dev/null))
ARCHIVES = $(patsubst -l%,lib%.a,$(sort $(filter -l%,$(call pkg_config,--static --libs $(LINKED)))))
MISSING_ARCHIVES = $(if $(STATIC),$(foreach archive,$(ARCHIVES),$(if $(call is_archive,$(archive)),,$(archive))))
MISSING_TOOLS = $(foreach tool,$(firstword $(CC)) $(lastword $(PKG_CONFIG)),$(if $(shell command -v $(tool)),,$(tool)))
IS_QUESTION := $(findstring q,$(filter-out --%,$(firstword $(MAKEFLAGS))))
ifneq ($(if $(IS_QUESTION),,$(filter-out install uninstall clean,$(or $(MAKECMDGOALS),all))),)
ifneq ($(strip $(MISSING_TOOLS)),)
$(error not found: $(strip $(MISSING_TOOLS)); 'npm run build' installs what it needs; on Debian: apt-get install build-essential pkg-config; on RHEL, SUSE: dnf or zypper install gcc /usr/bin/pkg-config)
endif
ifneq ($(MISSING),)
$(error not found: $(MISSING); 'npm run build' installs what it needs; on Debian: apt-get install $(MISSING:%=%-dev); on RHEL, SUSE: dnf or zypper install $(foreach library,$(MISSING),'pkgconfig($(library:libjansson=jansson))'))
endif
ifneq ($(strip $(MISSING_ARCHIVES)),)
$(error not found: $(strip $(MISSING_ARCHIVES)), for the static link; on Debian: apt-get install $(patsubst libz-dev,zlib1g-dev,$(patsubst lib%.a,lib%-dev,$(MISSING_ARCHIVES))))
endif
endif

WARNINGS := -Wall -Wextra -Wshadow -Wvla -Wformat=2 -Wmissing-prototypes -Wconversion $(if $(WERROR),-Werror)
# With these flags an error ends the program, before an attacker can use it. Only flags that the compiler supports for
# its target are used. _FORTIFY_SOURCE needs an optimizer, and hides errors from a sanitizer; a setting of the user's
# is kept.
PROTECTIONS := -fstack-protector-strong -fstack-clash-protection -fcf-protection -mbranch-protection=standard
is_optimized := $(filter-out -O0,$(lastword $(filter -O%,$(CFLAGS))))
FORTIFY := $(if $(is_optimized),$(if $(SAN)$(findstring _FORTIFY_SOURCE,$(CPPFLAGS) $(CFLAGS)),,-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3))
HARDENING := $(foreach flag,$(PROTECTIONS),$(shell $(CC) -Werror $(flag) -fsyntax-only -x c /dev/null 2>/dev/null && echo $(flag))) \
  $(FORTIFY) -fPIE
# The same sources give the same bytes in every directory: programs and build ids do not contain the checkout's path,
# and the order of objects does not depend on the locale.
ALL_CFLAGS := -std=c17 -D_GNU_SOURCE -DRD_VERSION='"$(VERSION)"' -ffile-prefix-map=$(CURDIR)=. -pthread $(WARNINGS) \
  $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer) $(if $(FUZZ),-fsanitize=fuzzer-no-link -fno-sanitize-recover=all) \
  $(if $(STATIC),-DRD_STATIC) \
  $(call pkg_config,--cflags $(LIBRARIES)) \
  $(HARDENING) $(CPPFLAGS) $(CFLAGS)
# A static program is at a new address in each process, for which OpenSSL's tables need a list of their pointers: this
# form of it takes a hundredth of the space. (A dynamic program with it would need glibc 2.36.)
PACKED := -Wl,-z,pack-relative-relocs
PACK := $(if $(STATIC),$(shell echo 'int main(void) { return 0; }' | \
  $(CC) -static-pie $(CROSS_LDFLAGS) -Wl,--fatal-warnings $(PACKED) -o /dev/null -x c - 2>/dev/null && echo $(PACKED)))
ALL_LDFLAGS := -pthread $(if $(STATIC),-static-pie $(PACK),-pie) -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack $(if $(SAN),-fsanitize=$(SAN)) \
  $(CROSS_LDFLAGS) $(LDFLAGS)
# Hosts to which the programs are copied may lack zstd and jansson: they are linked statically, if their archives are
# installed. (Of xxhash only the header is used.)
archive_or = $(if $(call is_archive,$(1).a),-l:$(1).a,$(call pkg_config,--libs $(2)))
LIBS := $(if $(STATIC),$(call pkg_config,--static --libs $(LINKED)),\
  $(call pkg_config,--libs libssl libcrypto) $(call archive_or,libzstd,libzstd) $(call archive_or,libjansson,jansson))
# The agent uses only SHA-256 of libcrypto, from its archive: it stays small, and starts without that library.
AGENT_LIBS := $(call archive_or,libjansson,jansson) $(call archive_or,libcrypto,libcrypto)

# A static program cannot open libraries.
VERBS ?= auto
HAS_VERBS := $(if $(STATIC)$(filter no,$(VERBS)),,$(shell printf '\043include <rdma/rdma_cma.h>\n' | $(CC) $(CPPFLAGS) -E - >/dev/null 2>&1 && echo yes))
ifeq ($(VERBS)$(HAS_VERBS),yes)
$(error VERBS=yes, but there is no rdma/rdma_cma.h: install librdmacm-dev and libibverbs-dev, or rdma-core-devel)
endif

# libcrypto contains functions that would open libraries of the C library; no program calls them. The linker's warnings
# about these functions, two lines each, are dropped; a warning about a call from rdpipe's own code is shown.
NOT_APPLYING := /libcrypto\.a(.*): in function/{N;/in statically linked applications requires at runtime/d;}
# The map lists the parts that come from archives of the system, for the notices in the packages.
link = $(CC) $(ALL_LDFLAGS) -Wl,-Map=$@.map -o $@ $^ $(1)$(if $(STATIC), 2>$@.log; status=$$?; sed '$(NOT_APPLYING)' $@.log >&2; rm $@.log; exit $$status)

Q := $(if $(V),,@)
say = $(if $(V),,@printf '  %-4s %s\n' '$(1)' '$(2)')

# Each package, with the packages that it may use: it finds only their headers, and is linked with them in this order.
# scripts/check-imports.ts reads these rows.
USES_rdbase :=
USES_rdendpoint := rdbase
USES_rdsend := rdendpoint rdbase
USES_rdrecv := rdendpoint rdbase
USES_rdserve := rdendpoint rdbase
USES_rdforward := rdbase
USES_rdgather := rdbase
USES_rdssh := rdforward rdbase
USES_rdhop := rdsend rdrecv rdserve rdssh rdforward rdgather rdendpoint rdbase
USES_rdstage := rdbase
USES_rdtree := rdbase
PACKAGES := $(patsubst USES_%,%,$(sort $(filter USES_%,$(.VARIABLES))))
LIBS_rdhop = $(LIBS)
LIBS_rdstage = $(AGENT_LIBS)
LIBS_rdtree = $(AGENT_LIBS)

VERBS_ROOM := packages/rdendpoint-native/src/transport/verbs
WITHOUT_VERBS := $(VERBS_ROOM)/none.c
WITH_VERBS := $(filter-out $(WITHOUT_VERBS) %/flow.c %/spin.c,$(wildcard $(VERBS_ROOM)/*.c))
NOT_BUILT := $(if $(HAS_VERBS),$(WITHOUT_VERBS),$(WITH_VERBS) $(filter-out %/connector.h,$(WITH_VERBS:.c=.h)))
# The sources of a package are in src and in directories up to two levels below it.
files = $(filter-out $(NOT_BUILT),$(sort $(wildcard $(foreach room,src/ src/*/ src/*/*/,packages/$(1)-native/$(room)*.$(2)))))
objects = $(patsubst packages/%.c,$(OUT)/%.o,$(1))
roots = $(foreach package,$(1) $(USES_$(1)),-Ipackages/$(package)-native/$(2))
archives = $(patsubst %,$(OUT)/lib%.a,$(filter-out rdhop,$(1)) $(USES_$(1)))

TEST_SOURCES := $(wildcard packages/*-native/test/*_test.c)
TESTS := $(TEST_SOURCES:packages/%.c=$(OUT)/%)
FUZZ_TARGETS := $(patsubst packages/%.c,$(OUT)/%,$(wildcard packages/*-native/fuzz/*_fuzz.c))
# Fakes are linked before the archives with the functions that they replace, so that none of those is called.
FAKES := $(call objects,$(wildcard packages/*-native/fuzz/fake_*.c packages/*-native/fuzz/loop_harness.c))
REPLAY := $(OUT)/rdbase-native/fuzz/replay.o
HELPERS := $(filter-out %_test.o %_fuzz.o $(REPLAY) $(FAKES),$(call objects,$(wildcard packages/*-native/test/*.c packages/*-native/fuzz/*.c)))

.PHONY: all test-programs fuzz-programs test headers analyze valgrind install uninstall clean
.SECONDARY:
all: $(PROGRAMS:%=$(OUT)/%) $(HOP_NAMES:%=$(OUT)/%) $(if $(SAN),,$(DEPLOY)/sha256sums)

# The copies that are installed and deployed to hosts: without symbols, so that hosts have less to check at each start,
# and with their digests.
$(DEPLOY)/%: $(OUT)/%
	$(Q)mkdir -p $(@D)
	$(Q)$(STRIP) -o $@ $<

$(DEPLOY)/sha256sums: $(PROGRAMS:%=$(DEPLOY)/%)
	$(Q)cd $(@D) && sha256sum $(PROGRAMS) >sha256sums

define package_rules
$(OUT)/$(1)-native/%.o: packages/$(1)-native/%.c Makefile
	$$(call say,CC,$$<)
	$$(Q)mkdir -p $$(@D)
	$$(Q)$$(CC) $$(ALL_CFLAGS) $(call roots,$(1),src) $$(EXTRA_CFLAGS) -MMD -MP -c -o $$@ $$<
$(OUT)/$(1)-native/test/%.o $(OUT)/$(1)-native/fuzz/%.o: EXTRA_CFLAGS = $(call roots,$(1),test) $(call roots,$(1),fuzz)
$(OUT)/lib$(1).a: $(filter-out %/main.o,$(call objects,$(call files,$(1),c)))
$(OUT)/$(1)-native/test/%_test: $(OUT)/$(1)-native/test/%_test.o $(OUT)/libhelpers.a $(call archives,$(1))
	$$(call say,LD,$$@)
	$$(Q)$$(CC) $$(ALL_LDFLAGS) -o $$@ $$(filter %.o,$$^) $$(filter %.a,$$^) $$(LIBS)
$(OUT)/$(1)-native/fuzz/%_fuzz: $(OUT)/$(1)-native/fuzz/%_fuzz.o $(if $(FUZZ),,$(REPLAY)) $(OUT)/libhelpers.a \
  $(call archives,$(1))
	$$(call say,LD,$$@)
	$$(Q)$$(CC) $$(ALL_LDFLAGS) $(if $(FUZZ),-fsanitize=fuzzer) -o $$@ $$(filter %.o,$$^) $$(filter %.a,$$^) $$(LIBS)
endef
$(foreach package,$(PACKAGES),$(eval $(call package_rules,$(package))))

define program_rule
$(OUT)/$(1): $(OUT)/$(1)-native/src/main.o $(call archives,$(1))
	$$(call say,LD,$$@)
	$$(Q)$$(call link,$$(LIBS_$(1)))
endef
$(foreach program,$(PROGRAMS),$(eval $(call program_rule,$(program))))

# Files in two directories may have the same name: q appends each.
$(OUT)/libhelpers.a: $(HELPERS)
$(OUT)/lib%.a:
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) qcsD $@ $^

$(HOP_NAMES:%=$(OUT)/%): $(OUT)/rdhop
	$(Q)ln -sf $(<F) $@

# Objects that contain the version.
$(foreach file,$(PROGRAMS:%=%-native/src/main) rdendpoint-native/src/cli/program rdstage-native/src/protocol/hello,\
  $(OUT)/$(file).o): packages/rdpipe/package.json

AVX2 := $(if $(filter x86_64,$(CPU)),-mavx2)
$(OUT)/rdbase-native/src/base/digest_avx2.o: EXTRA_CFLAGS := $(AVX2)
$(OUT)/rdrecv-native/fuzz/to_receiver_fuzz $(OUT)/rdsend-native/fuzz/to_sender_fuzz: $(FAKES)
$(OUT)/rdstage-native/fuzz/agent_fuzz: $(filter %/fake_clock.o,$(FAKES))

test-programs: $(TESTS)

fuzz-programs: $(FUZZ_TARGETS)

test: all test-programs
	$(Q)for suite in $(TESTS); do RD_BIN=$(abspath $(OUT)) $$suite || exit 1; done

headers:
	$(Q)$(foreach package,$(PACKAGES),for header in $(call files,$(package),h); do \
	  $(CC) $(ALL_CFLAGS) $(call roots,$(package),src) -Werror -fsyntax-only -x c $$header || exit 1; done;)

# Each build has its own directory. gcc 12 reports a leak if the address of an object's first member is returned;
# LeakSanitizer and valgrind find leaks instead.
SOURCES := $(foreach package,$(PACKAGES),$(call files,$(package),c))
analyze:
	@command -v clang clang-tidy >/dev/null || { echo "clang and clang-tidy are needed" >&2; exit 1; }
	$(MAKE) --no-print-directory CC=clang OUT=build/clang WERROR=1 all test-programs fuzz-programs
	$(MAKE) --no-print-directory OUT=build/analyzer CFLAGS='-O1 -fanalyzer -Wno-analyzer-malloc-leak' WERROR=1 all
	clang-tidy --quiet $(SOURCES) -- $(ALL_CFLAGS) $(PACKAGES:%=-Ipackages/%-native/src) $(AVX2) 2>/dev/null

# Suites with their own time limits or much data, which valgrind makes about 50 times slower, and the sandbox's, in
# which valgrind cannot run.
IN_TIME := $(patsubst %,build/valgrind/rdhop-native/test/%_test,loops program_violations reconnect sandbox \
  taken_over) build/valgrind/rdtree-native/test/taken_over_tree_test \
  build/valgrind/rdendpoint-native/test/connection_choice_test
VALGRIND := valgrind --quiet --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite,possible
valgrind:
	@command -v valgrind >/dev/null || { echo "valgrind is needed" >&2; exit 1; }
	$(MAKE) --no-print-directory OUT=build/valgrind CFLAGS='-O1 -g' all test-programs
	@for suite in $(filter-out $(IN_TIME),$(TEST_SOURCES:packages/%.c=build/valgrind/%)); do \
	  RD_BIN=$(abspath build/valgrind) $(VALGRIND) $$suite || exit 1; done

# An installed copy has the layout of a checkout, below lib/rdpipe; the links in bin/ point into it. Its file
# `installed` lists all files installed below PREFIX, so that any checkout can remove exactly these. Installation
# builds nothing, because it may run as root.
TARGET := $(DESTDIR)$(PREFIX)
COPY := lib/rdpipe
BUNDLE := build/rdpipe
# CPUS: default: all CPUs that are built. Each kind is such as linux-x86_64/static.
NATIVE_FROM := $(or $(PACKAGE),$(NATIVE))
NATIVE_KINDS = $(patsubst $(NATIVE_FROM)/%/rdstage,%,$(foreach cpu,$(or $(CPUS),*),$(wildcard $(NATIVE_FROM)/linux-$(cpu)/*/rdstage)))
NATIVE_DIRECTORIES = $(NATIVE_KINDS:%=$(NATIVE)/%)
COMPLETE := contrib/completion/complete.sh
# A directory for PATH, with rdssh under the name of ssh.
AS_SSH := ssh
COPY_DIRECTORIES = bin $(AS_SSH) $(BUNDLE) $(NATIVE_DIRECTORIES) $(dir $(COMPLETE))
# `npm run build` writes the documents there.
DOC := build/doc
DOC_COPY := share/doc/rdpipe
DOCUMENTS = $(patsubst $(DOC)/%,%,$(shell find $(DOC) -type f 2>/dev/null))
BASH_COMPLETION := share/bash-completion/completions
ZSH_COMPLETION ?= share/zsh/site-functions
FISH_COMPLETION := share/fish/vendor_completions.d
# The path of node is valid only on the machine that built: packages do not contain it.
SHIPPED = $(filter-out %/native $(if $(PACKAGE),%/node-path),$(wildcard $(BUNDLE)/*))
IN_COPY = $(wildcard bin/* $(SHIPPED)) $(foreach file,$(PROGRAMS) sha256sums,$(NATIVE_DIRECTORIES:%=%/$(file))) $(COMPLETE)
INSTALLED = $(IN_COPY:%=$(COPY)/%) $(COPY)/$(AS_SSH)/ssh $(addprefix bin/,$(COMMANDS)) \
  $(addprefix share/man/man1/,$(notdir $(wildcard packages/*/man/*.1))) \
  $(addprefix $(BASH_COMPLETION)/,rdpipe rdcp rdssh) $(addprefix $(ZSH_COMPLETION)/,_rdpipe _rdssh) \
  $(addprefix $(FISH_COMPLETION)/,rdpipe.fish rdcp.fish rdssh.fish) $(addprefix $(DOC_COPY)/,$(DOCUMENTS))

install:
	@test -e $(BUNDLE)/rdpipe.cjs && test -e $(DOC)/README.md && { test -n '$(PACKAGE)' || { $(MAKE) -qs all && $(MAKE) -qs STATIC=1 all; }; } || { echo "run 'npm run build' first" >&2; exit 1; }
	@if test -e $(TARGET)/$(COPY)/installed; then $(MAKE) --no-print-directory uninstall; fi
	$(Q)install -d $(TARGET)/bin $(TARGET)/share/man/man1 $(TARGET)/$(BASH_COMPLETION) $(TARGET)/$(ZSH_COMPLETION) \
	  $(TARGET)/$(FISH_COMPLETION) $(COPY_DIRECTORIES:%=$(TARGET)/$(COPY)/%)
	$(Q)cp -d $(wildcard bin/*) $(TARGET)/$(COPY)/bin && chmod 755 $(addprefix $(TARGET)/$(COPY)/,$(wildcard bin/*))
	$(Q)ln -sf ../bin/program $(TARGET)/$(COPY)/$(AS_SSH)/ssh
	$(Q)install -m 644 $(SHIPPED) $(TARGET)/$(COPY)/$(BUNDLE)
	$(Q)for kind in $(NATIVE_KINDS); do \
	  install -m 755 $(PROGRAMS:%=$(NATIVE_FROM)/$$kind/%) $(TARGET)/$(COPY)/$(NATIVE)/$$kind && \
	  install -m 644 $(NATIVE_FROM)/$$kind/sha256sums $(TARGET)/$(COPY)/$(NATIVE)/$$kind || exit 1; done
	$(Q)for program in $(COMMANDS); do ln -sf ../$(COPY)/bin/$$program $(TARGET)/bin/$$program || exit 1; done
	$(Q)install -m 644 $(wildcard packages/*/man/*.1) $(TARGET)/share/man/man1
	$(Q)for program in rdpipe rdssh; do \
	  install -m 644 contrib/completion/$$program.bash $(TARGET)/$(BASH_COMPLETION)/$$program || exit 1; done
	$(Q)ln -sf rdpipe $(TARGET)/$(BASH_COMPLETION)/rdcp
	$(Q)install -m 644 contrib/completion/_rd* $(TARGET)/$(ZSH_COMPLETION)
	$(Q)install -m 644 contrib/completion/*.fish $(TARGET)/$(FISH_COMPLETION)
	$(Q)ln -sf rdpipe.fish $(TARGET)/$(FISH_COMPLETION)/rdcp.fish
	$(Q)install -m 755 $(COMPLETE) $(TARGET)/$(COPY)/$(COMPLETE)
	$(Q)install -d $(addprefix $(TARGET)/$(DOC_COPY)/,$(sort $(dir $(DOCUMENTS))))
	$(Q)for file in $(DOCUMENTS); do install -m 644 $(DOC)/$$file $(TARGET)/$(DOC_COPY)/$$file || exit 1; done
	$(Q)printf '%s\n' $(INSTALLED) $(COPY)/installed >$(TARGET)/$(COPY)/installed
	@echo 'rdpipe $(VERSION) is installed below $(TARGET)'

uninstall:
	@test -e $(TARGET)/$(COPY)/installed || { echo "no rdpipe is installed below $(TARGET)" >&2; exit 1; }
	$(Q)cd $(TARGET) && xargs rm -f <$(COPY)/installed
	$(Q)cd $(TARGET)/lib && rmdir --ignore-fail-on-non-empty --parents $(COPY_DIRECTORIES:%=rdpipe/%)
	$(Q)cd $(TARGET) && { [ ! -d $(DOC_COPY) ] || find $(DOC_COPY) -depth -type d -empty -delete; }
	$(Q)cd $(TARGET) && for directory in $(BASH_COMPLETION) $(ZSH_COMPLETION) $(FISH_COMPLETION) $(dir $(DOC_COPY)); do \
	  [ ! -d $$directory ] || rmdir --ignore-fail-on-non-empty --parents $$directory || exit 1; done

clean:
	rm -rf build

-include $(shell find $(OUT) -name '*.d' 2>/dev/null)
