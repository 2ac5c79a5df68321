# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2013,SC2016,SC2154
#
# Suite: the documentation builds, is complete, and names only what exists
# Takes: 15 s
#
# Without FULL=1 the documentation is built only if Sphinx is there: on a new machine, installing
# Sphinx and matplotlib would take a seventh of a plain run.

suite()
{
	docs=$lab_work/docs
	cd "$lab_top" || return
	if [ "$FULL" ] || /usr/bin/python3 -c 'import sphinx, matplotlib' 2>/dev/null; then
		pages
	else
		result skipped 5 "pages: Sphinx or matplotlib is not installed; FULL=1 installs them"
	fi
	try "README has the recorded costs" recorded_costs
	try "every file and counter in the ABI" all_words 5 \
		"named_in Documentation/ABI/testing/debugfs-hwheel" \
		"$(sed -n 's/^\t\t{ "\(.*\)",\t*&hwheel_.*_fops },/\1/p' module/debugfs.c)
		$(sed -n 's/^\t\[HWHEEL_.*= "\([a-z_]*\)",/\1/p' module/base.h)"
	try "every column in the ABI" columns_in Documentation/ABI/testing/debugfs-hwheel
	try "every parameter" all_words 4 parameter_told \
		"$(sed -n -E 's/^module_param(_array)?\(([a-z_]*),.*/\2/p' hwheel.c)"
	try "every option that preflight.sh checks" diff \
		<(sed -n -E 's/^\t(without|option) ([A-Z_]+) .*/\2/p' scripts/preflight.sh) \
		<(sed -n -E 's/^   \* - ``([A-Z_]+)`` \*$/\1/p' Documentation/options.rst)
	try "every tracepoint" all_words 5 "named_in Documentation/debugging.rst" \
		"$(sed -n -E 's/^(TRACE_EVENT\(|DEFINE_EVENT\([a-z_]*, )(hwheel_[a-z_]*),/\2/p' \
			module/trace.h)"
	try "functions that the documents name" all_words 20 function_exists \
		"$(grep -ohE '\<(__)?(hwheel|levels?|divisor)_[a-z0-9_]+\(\)' \
			README Documentation/*.rst | tr -d '()' | sort -u)"
	# For a module X.ko, look for its source X.c
	try "files that the documents name" all_words 20 file_exists \
		"$(grep -ohE '\<(tests|scripts|tools|samples|proofs|fuzz|sim|debian|Documentation)/[A-Za-z0-9_./-]*|\<module/[a-z_]+\.[ch]\>|\<hwheel(_[a-z]+)?\.[chk]o?\>' \
			Documentation/*.rst | sed 's/[./-]*$//; s/\.ko$/.c/' | sort -u)"
}

pages()
{
	try htmldocs "$lab_scripts/htmldocs.sh" "$docs"
	try "pictures of the front page" all_words 3 "drawn_in $docs" "turning costs late"
	try "the recorded runs are told" [ "$(grep -c "Recorded on .*Linux .*hwheel" \
		"$docs/performance.html")" = 4 ]
	try "every call in the API" all_words 5 "named_in $docs/api.html" \
		"$(sed -n 's/^EXPORT_SYMBOL_GPL(\(h[a-z_]*\));/id="c.\1"/p' module/*.c)
		$(sed -n -E 's/^ \* (struct |enum )?(hwheel_[a-z_]*|(DEFINE|DECLARE|HWHEEL)_[A-Z_]*|to_hwheel_[a-z_]*) - .*/id="c.\2"/p' \
			hwheel.h hwheel_jiffies.h)"
	try "the guide links to the API" all_words 5 "named_in $docs/guide.html" \
		"$(sed -n 's/^bool \(hwheel_[a-z_]*\)(.*/api.html#c.\1/p' hwheel.h)"
}

# drawn_in DIR NAME: whether the front page shows the picture, which draws something
drawn_in()
{
	grep -q "src=\"_images/$2.svg\"" "$1/index.html" &&
		[ "$(grep -c '<\(path\|circle\|use\)' "$1/_images/$2.svg")" -ge 20 ]
}

# recorded_costs: whether README's tables are those of Documentation/recorded/, and what it says of
# BPF
recorded_costs()
{
	local line lines

	mapfile -t lines < <(/usr/bin/python3 scripts/bench.py table Documentation/recorded |
		grep -E '[0-9]{2}|cancel')
	for line in "${lines[@]}"; do
		grep -qxF -e "$line" README || { echo "README has not: $line"; return 1; }
	done
	[ ${#lines[@]} = 11 ] || return
	for line in $(sed -n 's/.*"flows": 1000000, "rearm": \(.*\), "bytes": \(.*\)}.*/\1 \2/p' \
		Documentation/recorded/bpf.json); do
		if ! grep -q "\b$line\b" README || ! grep -qx "     - $line" Documentation/bpf.rst; then
			echo "README or bpf.rst has not: $line"
			return 1
		fi
	done
}

# all_words LEAST COMMAND WORDS: whether COMMAND succeeds for each word, and there are at
# least LEAST words
all_words()
{
	local word status=0 n=0

	for word in $3; do
		n=$((n + 1))
		$2 "$word" || { echo "$2: not $word"; status=1; }
	done
	[ $n -ge "$1" ] || { echo "only $n words to look for"; status=1; }
	return $status
}

# columns_in FILE: whether FILE has the headers of all files in debugfs, between quotes
columns_in()
{
	local header headers n=0 status=0

	mapfile -t headers < <(sed -n 's/.*seq_puts(m, "# \([a-z_ ]*\).*/\1/p' module/debugfs.c)
	for header in "${headers[@]}"; do
		n=$((n + 1))
		tr -s '\n\t ' ' ' <"$1" | grep -qF -e "\"$header\"" -e "\"$header cpu0" ||
			{ echo "not \"$header\""; status=1; }
	done
	[ $n -ge 5 ] && return $status
}

# parameter_told NAME: whether hwheel(4) and the example for modprobe.d have the parameter
parameter_told()
{
	grep -q "^\*\*$1=\*\*" Documentation/hwheel.4.rst &&
		grep -q "^#options hwheel $1=" samples/etc/hwheel-modprobe.conf
}

named_in()
{
	grep -qw "$2" "$1"
}

function_exists()
{
	grep -qE "\<$1\(" ./*.[ch] module/*.[ch] tests/*.[ch] bpf/*.[ch]
}

# A name with capital letters, such as stock-VERSION.sh, stands for several files
file_exists()
{
	[ -e "$1" ] || [ -e "bpf/$1" ] || [ "$1" = Documentation/output ] ||
		[[ $1 = *[A-Z][A-Z]* && $1 != Documentation/ABI* ]]
}
