# SPDX-License-Identifier: GPL-2.0
#
# Builds the programs of the guests of bpf.sh, and the samples.
#
# Usage: make -f bpf.mk O=folder VMLINUX=file CLANG=clang

here := $(dir $(lastword $(MAKEFILE_LIST)))
top := $(here)../..
variants := flows flows_timer flows_sweep

all: programs

include $(top)/samples/bpf/Makefile

bpf_cc := $(CLANG) -g -O2 -target bpf -D__TARGET_ARCH_$(arch) -Wall -Wno-missing-declarations \
	-I$(O) -I$(top)/bpf -I$(top)/samples/bpf -I$(here)

programs: $(O)/bpf-test $(O)/bpf-fuzz $(O)/bpf-refuse.bpf.o $(O)/bpf-send $(variants:%=$(O)/bench_%) \
	$(variants:%=$(O)/%)

$(O)/bpf-test.bpf.o $(O)/bpf-refuse.bpf.o: $(O)/%.bpf.o: $(here)%.bpf.c $(here)bpf-test.h \
		$(top)/bpf/hwheel.bpf.h $(O)/vmlinux.h
	$(bpf_cc) -c $< -o $@

$(O)/bpf-test.skel.h: $(O)/bpf-test.bpf.o
	$(BPFTOOL) gen skeleton $< name bpf_test >$@

$(O)/bpf-test $(O)/bpf-fuzz: $(O)/%: $(here)%.c $(O)/bpf-test.skel.h
	$(CC) -O2 -Wall -I$(O) -I$(here) -o $@ $< -lbpf -pthread

$(O)/bpf-send: $(here)bpf-send.c
	$(CC) -O2 -Wall -o $@ $<

# The benchmark is built for each sample
$(O)/%.bench/bpf-bench.skel.h: $(here)bpf-bench.bpf.c $(O)/%.bpf.o
	mkdir -p $(@D)
	$(bpf_cc) -DFLOWS='"$*.bpf.c"' -c $< -o $(@D)/bpf-bench.bpf.o
	$(BPFTOOL) gen skeleton $(@D)/bpf-bench.bpf.o name bpf_bench >$@

$(O)/bench_%: $(here)bpf-bench.c $(O)/%.bench/bpf-bench.skel.h
	$(CC) -O2 -Wall -I$(O)/$*.bench -I$(top)/samples/bpf -o $@ $< -lbpf

.PHONY: programs
