#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# DKMS runs this script after it has built hwheel.ko. The script copies the files that a
# driver needs into DIR, the folder of the built module. DKMS makes a link to DIR whose name
# does not contain hwheel's version: /var/lib/dkms/hwheel/kernel-RELEASE-ARCHITECTURE.
#
# Usage: dkms-keep.sh DIR

exec cp hwheel.h hwheel_jiffies.h Module.symvers "$1"
