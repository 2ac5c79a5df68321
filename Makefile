# SPDX-License-Identifier: GPL-2.0
#
# Builds hwheel outside of the kernel's tree. Kbuild lists what is built. "make help" says
# what the targets for users do.

KDIR ?= /lib/modules/$(shell uname -r)/build
SUITE ?=
FULL ?=
ALL ?=
SINCE ?=
# Debian's tc looks for plugins in a folder of the machine's architecture
TC_LIB_DIR ?= $(firstword $(wildcard /usr/lib/$(shell $(CC) -print-multiarch)/tc) /usr/lib/tc)
RELEASE = $(shell cat $(KDIR)/include/config/kernel.release 2>/dev/null)
INSTALLED = $(INSTALL_MOD_PATH)/lib/modules/$(RELEASE)/$(or $(INSTALL_MOD_DIR),updates)
DEPMOD = depmod $(if $(INSTALL_MOD_PATH),-b $(INSTALL_MOD_PATH))

# dkms.conf defines both
NAME := $(shell sed -n 's/^PACKAGE_NAME="\(.*\)"/\1/p' dkms.conf)
VERSION := $(shell sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' dkms.conf)

modules:
	@scripts/preflight.sh build $(KDIR)
	@$(MAKE) --no-print-directory other-kernel
	$(MAKE) -C $(KDIR) M=$(CURDIR) modules
	@scripts/preflight.sh load

# kbuild does not see that its last build here was for another kernel
other-kernel:
	@[ "$$(cat .kdir 2>/dev/null)" = "$(realpath $(KDIR)) $(RELEASE)" ] || \
		$(MAKE) --no-print-directory clean-kbuild
	@echo "$(realpath $(KDIR)) $(RELEASE)" >.kdir

install: modules
	$(MAKE) -C $(KDIR) M=$(CURDIR) modules_install
	$(DEPMOD) $(RELEASE)
	@if command -v tc >/dev/null; then $(MAKE) --no-print-directory install-tc; \
		else echo "hwheel: no tc here, so no plugin for it"; fi

# Removes what "make install" has installed, and the folders that are empty then
uninstall:
	@[ -n "$(RELEASE)" ] || { echo "hwheel: no kernel headers in $(KDIR): give KDIR=" >&2; exit 1; }
	rm -fv $(addprefix $(INSTALLED)/,hwheel.ko* hwheel_kunit.ko* hwheel_torture.ko* \
		hwheel_bench.ko* bpf/hwheel_bpf.ko* samples/hwheel_*.ko*)
	@rmdir $(INSTALLED)/bpf $(INSTALLED)/samples $(INSTALLED) 2>/dev/null || :
	$(DEPMOD) $(RELEASE)
	rm -fv $(DESTDIR)$(TC_LIB_DIR)/q_hwpace.so
	@! grep -qs '^hwheel ' /proc/modules || echo "hwheel: still loaded: modprobe -r hwheel"

# This plugin teaches tc the options of the sample qdisc hwpace
install-tc: samples/q_hwpace.so
	install -D -m 644 $< $(DESTDIR)$(TC_LIB_DIR)/q_hwpace.so

samples/q_hwpace.so: samples/q_hwpace.c samples/hwheel_pace.h samples/tc_plugin.h
	$(CC) -O2 -Wall -shared -fPIC -o $@ $<

dkms: dkms-may
	@scripts/preflight.sh build $(KDIR)
	$(MAKE) --no-print-directory dkms-remove dkms-sources
	dkms install --force $(NAME)/$(VERSION) -k $(RELEASE)
	@scripts/preflight.sh load

# Removes all versions
dkms-remove: dkms-may
	@for version in $$(dkms status $(NAME) | sed -n 's,^$(NAME)/\([^,: ]*\).*,\1,p' | sort -u); do \
		dkms remove $(NAME)/$$version --all || exit; \
		rm -rf /usr/src/$(NAME)-$$version; \
	done

dkms-may:
	@command -v dkms >/dev/null || { echo "hwheel: no dkms: apt-get install dkms" >&2; exit 1; }
	@! dpkg -s $(NAME)-dkms 2>/dev/null | grep -q '^Status: .* installed' || { \
		echo "hwheel: the package $(NAME)-dkms is installed:" \
		"apt-get purge $(NAME)-dkms" >&2; exit 1; }

# What DKMS needs to build hwheel.ko, and nothing else
dkms-sources:
	install -d $(DESTDIR)/usr/src/$(NAME)-$(VERSION)
	install -m 644 dkms.conf Kbuild hwheel.c hwheel.h hwheel_jiffies.h \
		$(DESTDIR)/usr/src/$(NAME)-$(VERSION)
	install -D -m 644 -t $(DESTDIR)/usr/src/$(NAME)-$(VERSION)/module module/*
	install scripts/dkms-keep.sh scripts/preflight.sh $(DESTDIR)/usr/src/$(NAME)-$(VERSION)

deb:
	@scripts/deb.sh

rpm arch:
	@scripts/packages/build.sh $@

demo:
	@PLOT='$(CURDIR)/demo.svg' scripts/demo.sh

check:
	@SUITE='$(SUITE)' SINCE='$(SINCE)' FULL='$(FULL)' ALL='$(ALL)' scripts/check.sh

torture:
	@scripts/torture.sh

fuzz:
	@scripts/fuzz.sh

sim:
	@scripts/sim.sh

mutants:
	@scripts/mutants.sh

kernel:
	@scripts/kernel.sh

bench:
	@scripts/bench.sh

picture:
	@scripts/bench.sh picture

convert-all:
	@scripts/convert-all.sh

htmldocs:
	@scripts/htmldocs.sh

pacing:
	@scripts/pacing.sh

bpf:
	@scripts/bpf.sh

clean: clean-kbuild
	@rm -rf build Documentation/output

clean-kbuild:
	@rm -f .kdir
	@find . -path ./.git -prune -o -type f \( -name '*.o' -o -name '*.a' \
		-o -name '*.ko' -o -name '*.so' -o -name '*.mod' -o -name '*.mod.c' \
		-o -name '.*.cmd' -o -name '.*.d' -o -name modules.order \
		-o -name Module.symvers -o -name '*.pyc' \) -exec rm -f {} +

help:
	@echo 'make              builds hwheel.ko, its tests, the benchmark and the samples, for the running'
	@echo '                  kernel; KDIR=folder: for the kernel with these headers'
	@echo 'make demo         runs a million session timeouts on a stock kernel in QEMU, and draws'
	@echo '                  demo.svg; SESSIONS=n MAX_MS=n KERNEL=name'
	@echo '                  KERNEL names a kernel that some release of Debian has:'
	@echo '                    6.1, 6.12, 7.3, ...  the series'
	@echo '                    newest               the newest series from 7.0 on'
	@echo '                    lts                  the newest longterm series after 6.12'
	@echo '                    NAME-rt              the same with PREEMPT_RT'
	@echo 'make check        runs the tests that find the most per second; this takes minutes'
	@echo '                  FULL=1: all that must pass before a change lands; this takes much longer'
	@echo '                  ALL=1: also the suites and kernels that take longest'
	@echo '                  SUITE=name: only this suite; SUITE=list: prints the names'
	@echo '                  SINCE=commit: only the suites that check what has changed since then'
	@echo 'make torture      runs the torture test on a kernel in QEMU, or in user-mode Linux'
	@echo '                  TIME=seconds KERNEL=name|uml-smp|x86-kasan|x86-kcsan CPUS=n SEED=n'
	@echo '                  BROKEN=fault: plants this fault, which the test must find'
	@echo 'make fuzz         runs libFuzzer on the levels, in user space; TIME=seconds'
	@echo 'make sim          runs random programs on hwheel.c and a simulated kernel, in user space,'
	@echo '                  until TIME is up or you interrupt it; TIME=seconds SEED=n'
	@echo '                  KIND=rt: as on PREEMPT_RT; KIND=asan: with sanitizers'
	@echo 'make mutants      mutates the sources of hwheel.ko, and prints which mutants survive all'
	@echo '                  tests in user space (takes hours); COUNT=n SEED=n: only a sample'
	@echo '                  SINCE=commit: only lines changed since then; FILE=name JOBS=n'
	@echo 'make kernel       builds Debian'"'"'s newest kernel for user-mode Linux with hwheel in it, moves'
	@echo '                  timers of io_uring, timerfd, TCP, IPVS and WireGuard to hwheel, and'
	@echo '                  compares this kernel with the same kernel without hwheel'
	@echo '                  BENCH=1: measures what their timers cost on both kernels, and draws'
	@echo '                  kernel.svg'
	@echo '                  QUICK=1: only the tests in simulated time, only with hwheel'
	@echo '                  SELFTESTS=1: runs the kernel'"'"'s own tests of networks and timers on both;'
	@echo '                  SELFTESTS=regex: only those whose names match'
	@echo '                  PACKETDRILL=file: packetdrill'"'"'s tests, too'
	@echo '                  WHOLE=1: compares the CPU time of a boot and of a build'
	@echo '                  HOSTILE=1: compares how others fare beside programs that arm a million'
	@echo '                  timers in the past or every nanosecond'
	@echo '                  PACKAGES=debian: builds Debian packages of this kernel instead'
	@echo 'make bench        measures hwheel, timer_list and hrtimer (takes three hours)'
	@echo '                  WHERE="uml years uml-hz1000 uml-smp qemu icount" QUICK=1 KERNEL=newest|...'
	@echo '                  WHAT=core: only this group, in uml, uml-hz1000 and icount'
	@echo 'make picture      draws bench.svg again from bench.json, and prints the tables of README'
	@echo 'make pacing       compares a qdisc on a wheel with fq, tbf and etf, in QEMU'
	@echo '                  RATE=Mbit/s TIME=seconds KERNEL=name'
	@echo 'make bpf          tests timers for BPF programs on stock kernels in QEMU; KERNEL="name..."'
	@echo '                  BENCH=1: counts the instructions of a packet that arms a timer again'
	@echo 'make convert-all  converts each driver of the newest kernel that uses timers, and builds'
	@echo '                  it; SAMPLE=n SEED=n ONLY=regex'
	@echo '                  MOVE=work: each driver that uses delayed work'
	@echo 'make htmldocs     builds Documentation/output/index.html'
	@echo 'make install      installs the modules beside those of the kernel, and a plugin that'
	@echo '                  teaches tc the qdisc of samples/; KDIR=folder'
	@echo 'make uninstall    removes what "make install" has installed; KDIR=folder'
	@echo 'make dkms         lets DKMS build and install hwheel.ko for this kernel and each new one;'
	@echo '                  KDIR=folder'
	@echo 'make dkms-remove  removes what "make dkms" has installed, for all kernels'
	@echo 'make deb          builds Debian packages in build/: the sources for DKMS, the tools,'
	@echo '                  the documentation'
	@echo 'make rpm          builds an RPM package in build/: the sources for DKMS'
	@echo 'make arch         builds the same for Arch'
	@echo 'make clean        removes build/, Documentation/output/ and what kbuild leaves. Results stay:'
	@echo '                  demo.svg, bench.svg, bench.json, kernel.svg, converted*.inc.'
	@echo '                  Downloads and kernels stay, too, in $${XDG_CACHE_HOME:-~/.cache}/hwheel'

.PHONY: modules install install-tc uninstall dkms dkms-remove dkms-may dkms-sources deb rpm arch \
	demo check torture fuzz sim mutants kernel bench picture pacing bpf convert-all htmldocs \
	other-kernel clean clean-kbuild help
