// SPDX-License-Identifier: GPL-2.0
/*
 * Runs the KUnit cases of tests/levels.c in user space. The first failure ends the
 * program.
 *
 * Usage: kunit [SEED]
 */
#include <linux/bitops.h>
#include <linux/compiler.h>
#include <linux/list.h>
#include <linux/math64.h>

#include "tests/test.h"

extern struct kunit_suite *fuzz_suite;

unsigned long hwt_seed = 1;
struct rnd_state hwt_rnd;

static u64 random_u64(void)
{
	u64 x = hwt_rnd.x;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	hwt_rnd.x = x;
	return x * 0x2545f4914f6cdd1dULL;
}

u64 hwt_random_below(u64 below)
{
	return random_u64() % below;
}

u64 hwt_random_magnitude(u64 most)
{
	return hwt_random_below(most) >> hwt_random_below(fls64(most));
}

int hwt_seed_begin(struct kunit_suite *suite)
{
	prandom_seed_state(&hwt_rnd, hwt_seed);
	return 0;
}

int main(int argc, char **argv)
{
	struct kunit_case *test;
	unsigned int n = 0;

	if (argc > 1)
		hwt_seed = strtoul(argv[1], NULL, 0);
	fuzz_suite->suite_init(fuzz_suite);
	for (test = fuzz_suite->test_cases; test->run; test++, n++)
		test->run(&(struct kunit){ .name = test->name });
	printf("kunit: %u cases\n", n);
	return n ? 0 : 2;
}
