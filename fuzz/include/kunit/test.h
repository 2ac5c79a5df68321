/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Just enough of KUnit to run tests/levels.c in user space. The first failure ends
 * the program.
 */
#ifndef _KUNIT_TEST_H
#define _KUNIT_TEST_H

#include <stdio.h>
#include <stdlib.h>
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/math.h>
#include <linux/minmax.h>
#include <linux/types.h>

#define GFP_KERNEL		0
#define atomic_t		int	/* tests/test.h declares variables of this type */

struct kunit {
	const char		*name;
};

struct kunit_case {
	const char		*name;
	void			(*run)(struct kunit *test);
};

struct kunit_suite {
	const char		*name;
	int			(*suite_init)(struct kunit_suite *suite);
	struct kunit_case	*test_cases;
};

#define KUNIT_CASE(function)	{ #function, function }
#define kunit_test_suite(suite)	struct kunit_suite *fuzz_suite = &(suite)

#define kunit_info(test, format, ...)						\
	printf("%s: " format "\n", (test)->name, ##__VA_ARGS__)
#define KUNIT_FAIL(test, format, ...)						\
	do {									\
		printf("%s: " format "\n", (test)->name, ##__VA_ARGS__);	\
		exit(1);							\
	} while (0)

#define KUNIT_EXPECT_TRUE(test, condition)					\
	do {									\
		if (!(condition))						\
			KUNIT_FAIL(test, "not so: %s", #condition);		\
	} while (0)
#define KUNIT_EXPECT_FALSE(test, x)		KUNIT_EXPECT_TRUE(test, !(x))
#define KUNIT_EXPECT_NULL(test, x)		KUNIT_EXPECT_TRUE(test, !(x))
#define KUNIT_EXPECT_NOT_NULL(test, x)		KUNIT_EXPECT_TRUE(test, x)
#define KUNIT_EXPECT_EQ(test, a, b)		KUNIT_EXPECT_TRUE(test, (a) == (b))
#define KUNIT_EXPECT_GE(test, a, b)		KUNIT_EXPECT_TRUE(test, (a) >= (b))
#define KUNIT_EXPECT_LE(test, a, b)		KUNIT_EXPECT_TRUE(test, (a) <= (b))
#define KUNIT_EXPECT_GT(test, a, b)		KUNIT_EXPECT_TRUE(test, (a) > (b))
#define KUNIT_EXPECT_LT(test, a, b)		KUNIT_EXPECT_TRUE(test, (a) < (b))
#define KUNIT_EXPECT_PTR_EQ(test, a, b)		KUNIT_EXPECT_TRUE(test, (a) == (b))
#define KUNIT_EXPECT_STREQ(test, a, b)		KUNIT_EXPECT_TRUE(test, !strcmp(a, b))
#define KUNIT_EXPECT_EQ_MSG(test, a, b, ...)	KUNIT_EXPECT_TRUE(test, (a) == (b))
#define KUNIT_ASSERT_NULL(test, x)		KUNIT_EXPECT_TRUE(test, !(x))
#define KUNIT_ASSERT_NOT_NULL(test, x)		KUNIT_EXPECT_TRUE(test, x)

/*
 * Memory is aligned to 64 bytes. kmalloc() also does this if the size is a power of two, 64 or
 * more.
 */
static inline void *kunit_kzalloc(struct kunit *test, size_t size, int gfp)
{
	void *memory;

	size = (size + 63) & ~(size_t)63;
	memory = aligned_alloc(64, size);
	return memory ? memset(memory, 0, size) : NULL;
}

static inline void *kunit_kcalloc(struct kunit *test, size_t n, size_t size, int gfp)
{
	return kunit_kzalloc(test, n * size, gfp);
}

static inline void *kunit_kmalloc_array(struct kunit *test, size_t n, size_t size, int gfp)
{
	return kunit_kzalloc(test, n * size, gfp);
}

static inline void kunit_kfree(struct kunit *test, const void *memory)
{
	free((void *)memory);
}

#endif /* _KUNIT_TEST_H */
