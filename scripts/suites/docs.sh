# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# Suite: the documentation builds, and says all there is to say
# Takes: 60 s

suite()
{
	docs=$lab_work/docs
	try htmldocs "$lab_scripts/htmldocs.sh" "$docs"
	cd "$lab_top" || return
	try "every call in the API" all_named "$docs/api.html" \
		"$(sed -n 's/^EXPORT_SYMBOL_GPL(\([a-z_]*\));/\1/p' hwheel.c)"
	try "every file and counter in the ABI" all_named \
		Documentation/ABI/testing/debugfs-hwheel \
		"$(sed -n 's/^\t\t{ "\(.*\)",\t*&hwheel_.*_fops },/\1/p' hwheel_debugfs.h)
		$(sed -n 's/^\t\[HWHEEL_.*= "\([a-z_]*\)",/\1/p' hwheel.c)"
	try "every tracepoint" all_named Documentation/debugging.rst \
		"$(sed -n -E 's/^(TRACE_EVENT\(|DEFINE_EVENT\(hwheel_timer, )(hwheel_[a-z_]*),/\2/p' \
			hwheel_trace.h)"
}

# all_named FILE WORDS: each of at least five words is somewhere in the file
all_named()
{
	local word status=0 n=0

	for word in $2; do
		n=$((n + 1))
		grep -qw "$word" "$1" || { echo "$1 does not name $word"; status=1; }
	done
	[ $n -ge 5 ] || { echo "only $n words to look for"; status=1; }
	return $status
}
