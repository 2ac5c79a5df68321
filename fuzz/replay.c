// SPDX-License-Identifier: GPL-2.0
/*
 * Runs the inputs of a fuzzer without a fuzzer, with any compiler. Each line of the files
 * is an input. If the program dies, it prints the file and the line number of the input.
 *
 * Usage: replay [-v] FILE...
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"

static char where[4200];

/* Have the sanitizers end with abort(), as failed checks do */
const char *__asan_default_options(void);
const char *__ubsan_default_options(void);

const char *__asan_default_options(void)
{
	return "abort_on_error=1";
}

const char *__ubsan_default_options(void)
{
	return "abort_on_error=1";
}

static void died(int sig)
{
	/* If this fails, there is nothing left to do */
	if (write(STDERR_FILENO, where, strlen(where)) < 0)
		_exit(2);
	_exit(1);
}

int main(int argc, char **argv)
{
	char line[FUZZ_LINE + 1];
	unsigned int n, all = 0;
	int i = 1;

	signal(SIGABRT, died);
	if (i < argc && !strcmp(argv[i], "-v")) {
		fuzz_verbose = true;
		i++;
	}
	for (; i < argc; i++) {
		FILE *file = fopen(argv[i], "r");

		if (!file) {
			perror(argv[i]);
			return 2;
		}
		for (n = 1; fgets(line, sizeof(line), file); n++, all++) {
			snprintf(where, sizeof(where), "%s:%u: died\n", argv[i], n);
			fuzz_one((unsigned char *)line, strlen(line));
		}
		fclose(file);
	}
	printf("replay: %u inputs\n", all);
	return all ? 0 : 2;
}
