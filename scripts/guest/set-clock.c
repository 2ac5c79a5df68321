// SPDX-License-Identifier: GPL-2.0
/*
 * Sets the clock of the guest of clock.sh.
 *
 * Usage: set-clock tai SECONDS		sets the offset of CLOCK_TAI
 *	  set-clock slew PPM		lets the clocks run faster or slower
 *	  set-clock leap SECONDS	goes to SECONDS seconds before the end of a day, and
 *					inserts a leap second there
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timex.h>
#include <time.h>

static int set(double seconds)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	now.tv_nsec += (long)((seconds - (long)seconds) * 1e9);
	now.tv_sec += (long)seconds + now.tv_nsec / 1000000000;
	now.tv_nsec %= 1000000000;
	if (now.tv_nsec < 0) {
		now.tv_nsec += 1000000000;
		now.tv_sec--;
	}
	return clock_settime(CLOCK_REALTIME, &now);
}

int main(int argc, char **argv)
{
	double n = argc == 3 ? atof(argv[2]) : 0;
	struct timex t = { .modes = 0 };
	struct timespec now;

	if (argc != 3)
		return 2;
	if (!strcmp(argv[1], "leap")) {
		clock_gettime(CLOCK_REALTIME, &now);
		if (set(86400 - n - now.tv_sec % 86400 - now.tv_nsec / 1e9))
			return perror("set-clock"), 1;
		t.modes = ADJ_STATUS;
		t.status = STA_INS;
	} else if (!strcmp(argv[1], "tai")) {
		t.modes = ADJ_TAI;
		t.constant = n;
	} else if (!strcmp(argv[1], "slew")) {
		t.modes = ADJ_FREQUENCY;
		t.freq = n * 65536;
	} else {
		return 2;
	}
	return adjtimex(&t) < 0 && (perror("set-clock"), 1);
}
