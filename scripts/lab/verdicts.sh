# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034,SC2154
#
# Functions of the scripts that boot a guest and judge what it did. Each check prints a line
#	SCRIPT: NAME ok|FAILED
# The script sets log, a file with the guest's kernel log.
#
# Usage: . "$(dirname "$0")/lab/verdicts.sh"

verdict_of=$(basename "$0" .sh)
failed=0

# verdict NAME COMMAND...: prints whether COMMAND succeeds
verdict()
{
	local name=$1

	shift
	if "$@"; then
		echo "$verdict_of: $name ok"
	else
		echo "$verdict_of: $name FAILED"
		failed=1
	fi
}

# logged LINE: whether the guest's payload logged LINE
logged()
{
	grep -q "^lab: $1\$" "$log"
}

clean()
{
	! dmesg_dirty "$log"
}

# keep_console NAME: if a check failed, shows the end of the file console, and keeps it in
# the cache
keep_console()
{
	[ $failed != 0 ] || return 0
	tail -n 15 "$console" >&2
	cp "$console" "$lab_cache/log/$1.log"
	say "$verdict_of: the guest's console is in $lab_cache/log/$1.log"
}
