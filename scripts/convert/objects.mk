# SPDX-License-Identifier: GPL-2.0
#
# Prints what kbuild builds in the folder DIR of a configured kernel tree, a line for each:
#	FOLDER/
#	m MODULE.o PART.o...
#	y OBJECT.o PART.o...
# Usage: make -s -rR -C TREE -f objects.mk DIR=FOLDER

include include/config/auto.conf
include scripts/Kbuild.include

srctree := .
objtree := .
src := $(DIR)
obj := $(DIR)
SRCARCH := x86
BITS := 64

include $(or $(wildcard $(DIR)/Kbuild),$(DIR)/Makefile)

parts = $(filter %.o,$($(2:.o=-objs)) $($(2:.o=-y)) $($(2:.o=-m)))
show = $(info $(1) $(2) $(call parts,,$(2)))

$(foreach dir,$(sort $(filter %/,$(obj-y) $(obj-m))),$(info $(dir)))
$(foreach object,$(sort $(filter %.o,$(obj-m))),$(call show,m,$(object)))
$(foreach object,$(sort $(filter %.o,$(obj-y) $(lib-y))),$(call show,y,$(object)))

.DEFAULT_GOAL := nothing
.PHONY: nothing
nothing:
	@:
