# SPDX-License-Identifier: GPL-2.0
#
# hwheel outside the kernel's tree. What is built stands in Kbuild; what each
# target does, in "make help".

KDIR ?= /lib/modules/$(shell uname -r)/build
SUITE ?=
ALL ?=
# Debian's tc looks into a folder of the machine's architecture
TC_LIB_DIR ?= $(firstword $(wildcard /usr/lib/$(shell $(CC) -print-multiarch)/tc) /usr/lib/tc)

# As dkms.conf has them
NAME := $(shell sed -n 's/^PACKAGE_NAME="\(.*\)"/\1/p' dkms.conf)
VERSION := $(shell sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' dkms.conf)

modules:
	@scripts/preflight.sh build $(KDIR)
	$(MAKE) -C $(KDIR) M=$(CURDIR) modules
	@scripts/preflight.sh load

install: modules
	$(MAKE) -C $(KDIR) M=$(CURDIR) modules_install
	depmod $$($(MAKE) -s --no-print-directory -C $(KDIR) kernelrelease)
	@if command -v tc >/dev/null; then $(MAKE) --no-print-directory install-tc; \
		else echo "hwheel: no tc here, so no plugin for it"; fi

# By it tc knows the options of the sample qdisc hwpace
install-tc: samples/q_hwpace.so
	install -D -m 644 $< $(DESTDIR)$(TC_LIB_DIR)/q_hwpace.so

samples/q_hwpace.so: samples/q_hwpace.c samples/hwheel_pace.h samples/tc_plugin.h
	$(CC) -O2 -Wall -shared -fPIC -o $@ $<

dkms:
	@command -v dkms >/dev/null || { echo "hwheel: no dkms:" \
		"apt-get install dkms" >&2; exit 1; }
	@scripts/preflight.sh build $(KDIR)
	! dkms status $(NAME)/$(VERSION) | grep -q . || \
		dkms remove $(NAME)/$(VERSION) --all
	$(MAKE) dkms-sources
	dkms install --force $(NAME)/$(VERSION) -k $$(cat $(KDIR)/include/config/kernel.release)
	@scripts/preflight.sh load

# What DKMS needs to build hwheel.ko, and nothing else
dkms-sources:
	install -d $(DESTDIR)/usr/src/$(NAME)-$(VERSION)
	install -m 644 dkms.conf Kbuild hwheel.c $(filter-out hwheel_test.h,$(wildcard hwheel*.h)) \
		$(DESTDIR)/usr/src/$(NAME)-$(VERSION)
	install scripts/dkms-keep.sh $(DESTDIR)/usr/src/$(NAME)-$(VERSION)

deb:
	@scripts/deb.sh

demo:
	@PLOT='$(CURDIR)/demo.svg' scripts/demo.sh

check:
	@SUITE='$(SUITE)' ALL='$(ALL)' scripts/check.sh

torture:
	@scripts/torture.sh

fuzz:
	@scripts/fuzz.sh

sim:
	@scripts/sim.sh

bench:
	@scripts/bench.sh

htmldocs:
	@scripts/htmldocs.sh

pacing:
	@scripts/pacing.sh

clean:
	@rm -rf build Documentation/output
	@find . -path ./.git -prune -o -type f \( -name '*.o' -o -name '*.a' \
		-o -name '*.ko' -o -name '*.so' -o -name '*.mod' -o -name '*.mod.c' \
		-o -name '.*.cmd' -o -name '.*.d' -o -name modules.order \
		-o -name Module.symvers -o -name '*.pyc' \) -exec rm -f {} +

help:
	@echo 'make              hwheel.ko and the samples for the running kernel'
	@echo '                  KDIR=folder: for the kernel of these headers'
	@echo 'make demo         a million session timeouts on a stock kernel in QEMU'
	@echo '                  SESSIONS=n MAX_MS=n KERNEL=name; draws demo.svg'
	@echo '                  KERNEL is a series of kernels that Debian has, in any release:'
	@echo '                  6.1, 6.12, 7.3 and so on; newest, from 7.0 on; lts, the newest with'
	@echo '                  support for years beside 6.1 and 6.12; each with -rt: PREEMPT_RT'
	@echo 'make check        everything that must pass'
	@echo '                  SUITE=name: only that; SUITE=list: their names; ALL=1:'
	@echo '                  everything on every kernel'
	@echo 'make torture      tries hard to break it, on a kernel in QEMU, or on uml-smp'
	@echo '                  TIME=seconds KERNEL=name|uml-smp|x86-kasan|x86-kcsan'
	@echo '                  CPUS=n SEED=n'
	@echo '                  BROKEN=fault: with a fault, which it has to find'
	@echo 'make fuzz         lets libFuzzer drive the levels in user space; TIME=seconds'
	@echo 'make sim          hwheel.c on a simulated kernel, in user space: programs at random'
	@echo '                  under an oracle, until a find; TIME=seconds SEED=n LATE=strict'
	@echo '                  KIND=rt: as on PREEMPT_RT; KIND=asan: with sanitizers'
	@echo 'make bench        measures it beside timer_list and hrtimer (an hour);'
	@echo '                  WHERE="uml years uml-smp qemu icount" QUICK=1; WHAT=core: only that, in uml'
	@echo 'make pacing       a qdisc on a wheel beside fq and tbf, in QEMU: rates and gaps'
	@echo '                  RATE=Mbit/s TIME=seconds KERNEL=name'
	@echo 'make htmldocs     Documentation/output/index.html'
	@echo 'make install      puts the modules beside those of the kernel, and a plugin for'
	@echo '                  the qdisc of samples/ where tc finds it; KDIR=folder'
	@echo 'make dkms         has DKMS build and install hwheel.ko, now and for new kernels;'
	@echo '                  KDIR=folder'
	@echo 'make deb          Debian packages of hwheel.ko, by DKMS, and of the programs: build/'
	@echo 'make clean        removes what was built here; downloads and kernels stay in'
	@echo '                  $${XDG_CACHE_HOME:-~/.cache}/hwheel'

.PHONY: modules install install-tc dkms dkms-sources deb demo check torture fuzz sim bench \
	pacing htmldocs clean help
