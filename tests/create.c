// SPDX-License-Identifier: GPL-2.0
/*
 * Suite hwheel_create: creating a wheel while allocations fail, and creating and destroying
 * many wheels. The suite runs before all others: once a wheel was destroyed, the next
 * hwheel_create() takes its memory and allocates little.
 */
#include <kunit/test.h>
#include <linux/cpumask.h>
#include <linux/module.h>

#include "test.h"

static unsigned int creates = 50;
module_param(creates, uint, 0444);
MODULE_PARM_DESC(creates, "wheels created and destroyed one after the other");

static bool leave;
module_param(leave, bool, 0444);
MODULE_PARM_DESC(leave, "create a wheel that is never destroyed");

#define FAULTS_MAX	500

/*
 * Create a wheel. If @nth is not 0, the @nth allocation fails. If there was such an
 * allocation, @left becomes 0.
 */
static struct hwheel *create_failing(unsigned int nth, unsigned int *left)
{
	static unsigned int number;
	struct hwheel *wheel;
	char name[24];

	snprintf(name, sizeof(name), "kunit-failing-%u", number++);
	*left = nth;
#ifdef CONFIG_FAILSLAB
	current->fail_nth = nth;
#endif
	wheel = hwheel_create(&(struct hwheel_config){ .name = name });
#ifdef CONFIG_FAILSLAB
	*left = current->fail_nth;
	current->fail_nth = 0;
#endif
	return wheel;
}

/*
 * Let each allocation of hwheel_create() fail in turn. failslab's ignore-gfp-wait must be
 * off.
 */
static void test_create_faults(struct kunit *test)
{
	unsigned int n, left = 0, failed = 0, whole = 0;
	struct hwheel *wheel;

	for (n = 0; n < FAULTS_MAX && !left; n++) {
		wheel = create_failing(n + 1, &left);
		KUNIT_EXPECT_NOT_NULL(test, wheel);
		if (IS_ERR(wheel)) {
			KUNIT_EXPECT_EQ(test, PTR_ERR(wheel), -ENOMEM);
			KUNIT_EXPECT_EQ(test, left, 0);
			failed++;
		} else if (!left) {
			whole++;	/* the wheel works without this allocation */
		}
		hwheel_destroy(wheel);
	}
	KUNIT_EXPECT_NE(test, left, 0);
	if (!failed && !whole)
		kunit_skip(test, "no failslab, or its ignore-gfp-wait is on");
	/* The wheel, and the parking lot of each CPU */
	KUNIT_EXPECT_GE(test, failed, 1 + num_possible_cpus());
	kunit_info(test, "%u allocations failed; %u times the wheel worked without\n",
		   failed + whole, whole);
}

/* kmemleak sees what is left of these wheels */
static void test_create_often(struct kunit *test)
{
	struct hwheel_timer timer;
	struct hwheel *wheel;
	unsigned int i, left;

	for (i = 0; i < creates; i++) {
		wheel = create_failing(0, &left);
		KUNIT_ASSERT_FALSE(test, IS_ERR_OR_NULL(wheel));
		hwheel_setup_on_stack(&timer, wheel, hwt_probe_run, 0);
		hwheel_add(&timer, HOUR);
		hwheel_destroy_on_stack(&timer);
		hwheel_destroy(wheel);
	}
	if (leave) {
		wheel = hwheel_create(&(struct hwheel_config){ .name = "left" });
		KUNIT_EXPECT_FALSE(test, IS_ERR(wheel));
	}
}

static struct kunit_case hwheel_create_cases[] = {
	KUNIT_CASE(test_create_faults),
	KUNIT_CASE(test_create_often),
	{}
};

static struct kunit_suite hwheel_create_suite = {
	.name		= "hwheel_create",
	.test_cases	= hwheel_create_cases,
};

kunit_test_suite(hwheel_create_suite);
