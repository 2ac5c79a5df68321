#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Compares hwheel-top's output, as JSON and on a screen, with debugfs. The guest has
# Python. The wheel does not change meanwhile: its timers expire in ten minutes.
#
# Usage: scripts/guest/top.sh, in a checkout after make, with hwheel loaded

set -eu
wheel=/sys/kernel/debug/hwheel/system

# Prints three kinds of lines: for each level its timers, its occupied spokes and its next
# expiration; the counters that only timers change; for each callback its row of the file
# users
from_debugfs()
{
	awk '!/^#/ { timers[$2] += $8; occupied[$2] += $7 }
	!/^#/ && $9 != "-" && (!next_ns[$2] || $9 + 0 < next_ns[$2] + 0) { next_ns[$2] = $9 }
	END {
		for (level in timers) {
			if (next_ns[level] == "")
				next_ns[level] = "-"
			print "level", level, timers[level], occupied[level], next_ns[level]
		}
	}' $wheel/levels | sort
	awk '/^(added|rearmed|cancelled|expired|cascaded) / { print $1, $2 }' $wheel/stats | sort
	sed -n '2,$ s/^/callback /p' $wheel/users | sort
}

from_json()
{
	python3 -c '
import json, sys
shown = json.load(sys.stdin)
for level in shown["levels"]:
    print("level", level["level"], level["timers"], level["occupied"], level["next_ns"] or "-")' \
		</tmp/json | sort
	python3 -c '
import json, sys
for name, n in json.load(sys.stdin)["stats"].items():
    print(name, n)' </tmp/json |
		grep -E '^(added|rearmed|cancelled|expired|cascaded) ' | sort
	python3 -c '
import json, sys
for row in json.load(sys.stdin)["callbacks"]:
    print("callback", row["function"], row["pending"])' </tmp/json | sort
}

# The lines of parked timers and of fans have no ring, and are left out
from_screen()
{
	tr -d , </tmp/screen | sed -n -E \
		's/^level ([0-9]+) .* ([0-9]+) in +([0-9]+) spokes .*/level \1 \2 \3/p'
}

insmod samples/hwheel_sessions.ko sessions=2000 min_ms=600000 max_ms=900000 traffic_ms=100
sleep 3
from_debugfs >/tmp/before
tools/hwheel-top --json --interval 0 >/tmp/json
tools/hwheel-top --once --interval 0 >/tmp/screen
cat /tmp/screen
from_debugfs >/tmp/debugfs
diff /tmp/before /tmp/debugfs
grep -E '^level [0-9]+ [1-9]' /tmp/debugfs
grep -E '^callback session_expired\[hwheel_sessions\] [1-9][0-9]+$' /tmp/debugfs
from_json | diff /tmp/debugfs -
sed -n 's/ [^ ]*$//; /^level/p' /tmp/debugfs |
	grep -Ev '^level 1[5-9] ' >/tmp/levels	# the parking lot and fans are no levels
from_screen | diff /tmp/levels -
grep "^timers $(awk '/^level/ { n += $3 } END { print n }' /tmp/debugfs) " <<END
$(tr -d , </tmp/screen)
END
