#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Makes a manual page of each call, macro and structure from the kernel-doc comments. The kernel's
# source has the program that does this.
#
# Usage: KERNEL_SOURCE=FOLDER man9.sh FOLDER

set -e
mkdir -p "$1"
out=$(realpath "$1")
cd "$(dirname "$0")/.."
"${KERNEL_SOURCE:?}/scripts/kernel-doc" -man hwheel.h hwheel_jiffies.h module/*.c | awk -v out="$out" '
	# The page of a structure has its name alone, and a text that is no call has no page
	/^\.TH / {
		file = ""
		sub(/"(struct|enum) /, "\"")
		split($0, word, "\"")
		if (tolower(word[2]) ~ /^(to_|declare_|define_)?hwheel_/)
			file = out "/" word[2] ".9"
	}
	# ... and no page refers to it
	/^\\fB(Guarantees|__[a-z_]*)\\fR\(9\)/ { next }
	/^(struct|enum) [a-z_]* \\- / { sub(/^[a-z]* /, "") }
	file { print >file }'
