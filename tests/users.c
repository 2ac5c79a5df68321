// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of module/users.h, the table that has a row for each callback
 *
 * The table compares functions and never calls them, so the tests use made-up addresses.
 */
#include <linux/module.h>

#include "test.h"
#include "module/users.h"

static void *function(unsigned long n)
{
	return (void *)(0x1000UL * (n + 1));
}

static struct hwheel_users *table(struct kunit *test)
{
	struct hwheel_users *users = kunit_kzalloc(test, sizeof(*users), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, users);
	return users;
}

/* Each function has a row of its own, and keeps it. */
static void test_rows(struct kunit *test)
{
	struct hwheel_users *users = table(test);
	struct hwheel_user *row[HWHEEL_MOST_USERS];
	unsigned long i, j;

	for (i = 0; i < HWHEEL_MOST_USERS; i++) {
		row[i] = users_find(users, function(i));
		KUNIT_EXPECT_PTR_EQ(test, row[i]->function, function(i));
		KUNIT_EXPECT_EQ(test, users->nr, i + 1);
		for (j = 0; j <= i; j++)
			KUNIT_EXPECT_PTR_EQ(test, users_find(users, function(j)), row[j]);
	}
	KUNIT_EXPECT_EQ(test, users->nr, HWHEEL_MOST_USERS);
}

/* Functions that come when the table has no room for them share a row. */
static void test_other(struct kunit *test)
{
	struct hwheel_users *users = table(test);
	unsigned long i;

	for (i = 0; i < 1000; i++)
		users_find(users, function(i))->pending++;
	for (i = 0; i < HWHEEL_MOST_USERS; i++)
		KUNIT_EXPECT_EQ(test, users_find(users, function(i))->pending, 1);
	KUNIT_EXPECT_EQ(test, users->nr, HWHEEL_MOST_USERS);
	KUNIT_EXPECT_EQ(test, users->other.pending, 1000 - HWHEEL_MOST_USERS);
	KUNIT_EXPECT_NULL(test, users->other.function);
}

/* All these functions hash to the last row. The search for a free row goes on at row 0. */
static void test_collisions(struct kunit *test)
{
	struct hwheel_users *users = table(test);
	unsigned long i, n;

	for (i = 0, n = 0; n < 10; i++) {
		if (hash_ptr(function(i), HWHEEL_USER_BITS) != HWHEEL_USERS - 1)
			continue;
		users_find(users, function(i))->pending = n + 1;
		n++;
	}
	KUNIT_EXPECT_EQ(test, users->nr, 10);
	KUNIT_EXPECT_EQ(test, users->row[HWHEEL_USERS - 1].pending, 1);
	for (n = 0; n < 9; n++)
		KUNIT_EXPECT_EQ(test, users->row[n].pending, n + 2);
}

static struct kunit_case hwheel_users_cases[] = {
	KUNIT_CASE(test_rows),
	KUNIT_CASE(test_other),
	KUNIT_CASE(test_collisions),
	{}
};

static struct kunit_suite hwheel_users = {
	.name		= "hwheel_users",
	.test_cases	= hwheel_users_cases,
};

kunit_test_suite(hwheel_users);
