# SPDX-License-Identifier: GPL-2.0
#
# Copies module/levels.h from stdin to stdout, with the annotations of FILE put in. An
# annotation in FILE begins with one of these lines:
#	@@ FUNCTION: LINE
#	@@ FUNCTION: after LINE
# The annotation goes before or after the first line of FUNCTION that begins with LINE.
# Without FUNCTION, LINE stands outside of functions. Fails if there is no such line.
#
# Usage: awk -v annotations=FILE -f annotate.awk <module/levels.h
BEGIN {
	while ((getline line < annotations) > 0) {
		if (line ~ /^@@ /) {
			colon = index(line, ": ")
			n++
			inside[n] = substr(line, 4, colon - 4)
			at[n] = substr(line, colon + 2)
			behind[n] = sub(/^after /, "", at[n])
		} else if (n && line !~ /^# /) {
			text[n] = text[n] line "\n"
		}
	}
}

# A function begins with its name at the start of a line or after its type
/^[a-z]/ && /[(]/ && !/;$/ {
	name = $0
	sub(/[(].*/, "", name)
	sub(/.*[ *]/, "", name)
}
/^}/ { name = "" }

{
	line = $0
	sub(/^[ \t]*/, "", line)
	tail = ""
	for (i = 1; i <= n; i++)
		if (!done[i] && inside[i] == name && index(line, at[i]) == 1) {
			done[i] = 1
			if (behind[i])
				tail = tail text[i]
			else
				printf "%s", text[i]
		}
	print
	printf "%s", tail
}

END {
	for (i = 1; i <= n; i++)
		if (!done[i]) {
			printf "annotate: no line \"%s\" in %s()\n", at[i],
				inside[i] >"/dev/stderr"
			bad = 1
		}
	exit bad
}
