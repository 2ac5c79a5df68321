# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2013,SC2154
#
# Suite: the documentation builds, says all there is to say, and names what there is
# Takes: 30 s

suite()
{
	docs=$lab_work/docs
	try htmldocs "$lab_scripts/htmldocs.sh" "$docs"
	cd "$lab_top" || return
	try "every call in the API" all_named "$docs/api.html" \
		"$(sed -n 's/^EXPORT_SYMBOL_GPL(\(h[a-z_]*\));/id="c.\1"/p' hwheel.c)
		$(sed -n -E 's/^ \* (struct |enum )?(hwheel_[a-z_]*|DEFINE_[A-Z_]*) - .*/id="c.\2"/p' \
			hwheel.h hwheel_jiffies.h)"
	try "the guide links to the API" all_named "$docs/guide.html" \
		"$(sed -n 's/^bool \(hwheel_[a-z_]*\)(.*/api.html#c.\1/p' hwheel.h)"
	try "every file and counter in the ABI" all_named \
		Documentation/ABI/testing/debugfs-hwheel \
		"$(sed -n 's/^\t\t{ "\(.*\)",\t*&hwheel_.*_fops },/\1/p' hwheel_debugfs.h)
		$(sed -n 's/^\t\[HWHEEL_.*= "\([a-z_]*\)",/\1/p' hwheel.c)"
	try "every tracepoint" all_named Documentation/debugging.rst \
		"$(sed -n -E 's/^(TRACE_EVENT\(|DEFINE_EVENT\(hwheel_timer, )(hwheel_[a-z_]*),/\2/p' \
			hwheel_trace.h)"
	try "functions that the documents name" functions_exist
	try "files that the documents name" files_exist
}

# functions_exist: those of hwheel, in README and Documentation/
functions_exist()
{
	local name status=0 n=0

	for name in $(grep -ohE '\<(__)?(hwheel|levels?|divisor)_[a-z0-9_]+\(\)' \
			README Documentation/*.rst | tr -d '()' | sort -u); do
		n=$((n + 1))
		grep -qE "\<$name\(" ./*.[ch] ||
			{ echo "there is no $name()"; status=1; }
	done
	[ $n -ge 20 ] || { echo "only $n functions"; status=1; }
	return $status
}

# files_exist: in the documents; those that make builds are there as sources, and
# one in capital letters stands for any
files_exist()
{
	local name status=0 n=0

	for name in $(grep -ohE '\<(scripts|tools|samples|proofs|fuzz|sim|debian|Documentation)/[A-Za-z0-9_./-]*|\<hwheel(_[a-z]+)?\.[chk]o?\>' \
			Documentation/*.rst | sed 's/[./-]*$//; s/\.ko$/.c/' | sort -u); do
		n=$((n + 1))
		[ -e "$name" ] || [ "$name" = Documentation/output ] ||
			[[ $name = *[A-Z][A-Z]* && $name != Documentation/ABI* ]] ||
			{ echo "there is no $name"; status=1; }
	done
	[ $n -ge 20 ] || { echo "only $n files"; status=1; }
	return $status
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
