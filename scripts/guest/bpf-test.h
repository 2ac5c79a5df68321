/* SPDX-License-Identifier: GPL-2.0 */
/* What bpf-test.bpf.c and bpf-test.c share */
#ifndef _BPF_TEST_H
#define _BPF_TEST_H

#define FUZZ_SLOTS	16
#define FUZZ_COOKIE	(1ULL << 32)

/* What expired() does with a timer */
enum test_mode {
	MODE_END,		/* delete the value, as a table of flows does */
	MODE_REARM,		/* arm the timer again until the value's rounds are used up */
	MODE_REPLACE,		/* the same, with a new timer each time */
	MODE_KEEP,		/* only count */
};

/* Argument of the programs that user space runs: what to do to the values first to first + n - 1 */
struct test_args {
	__u64 first;
	__u64 n;
	__u64 ns;		/* delay of the value first */
	__u64 step_ns;		/* what each further value gets more */
	__u64 rounds;
	__u32 id;
	__u32 seed;
	__u64 done;		/* for how many values it worked */
};

/* Counts that the programs keep */
struct test_counts {
	__u64 expired;		/* calls of expired() */
	__u64 ended;		/* values deleted by it */
	__u64 early;
	__u64 max_late_ns;
	__u64 unknown;		/* cookies without a value */
	__u64 other;		/* calls of the second program */
	__u64 traced;		/* values that the tracing program deleted */
};

#endif /* _BPF_TEST_H */
