#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# What DKMS runs after a build: keeps, beside the module that was built, what a
# driver needs to be built for it. DKMS has a name for that folder that doesn't
# change with hwheel's version: /var/lib/dkms/hwheel/kernel-RELEASE-ARCHITECTURE.
#
# Usage: dkms-keep.sh DIR

exec cp hwheel.h hwheel_jiffies.h Module.symvers "$1"
