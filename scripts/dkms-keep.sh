#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# DKMS runs this after a build. It keeps the files that a driver needs beside the module
# that was built. DKMS has a link to that folder whose name does not depend on hwheel's
# version: /var/lib/dkms/hwheel/kernel-RELEASE-ARCHITECTURE.
#
# Usage: dkms-keep.sh DIR

exec cp hwheel.h hwheel_jiffies.h Module.symvers "$1"
