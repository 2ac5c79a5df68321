// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of module/users.h, the table that has a row of counts for each callback
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
		users_find(users, function(i))->armed++;
	for (i = 0; i < HWHEEL_MOST_USERS; i++)
		KUNIT_EXPECT_EQ(test, users_find(users, function(i))->armed, 1);
	KUNIT_EXPECT_EQ(test, users->nr, HWHEEL_MOST_USERS);
	KUNIT_EXPECT_EQ(test, users->other.armed, 1000 - HWHEEL_MOST_USERS);
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
		users_find(users, function(i))->expired = n + 1;
		n++;
	}
	KUNIT_EXPECT_EQ(test, users->nr, 10);
	KUNIT_EXPECT_EQ(test, users->row[HWHEEL_USERS - 1].expired, 1);
	for (n = 0; n < 9; n++)
		KUNIT_EXPECT_EQ(test, users->row[n].expired, n + 2);
}

/* A sum has the counts of all tables, even of tables added after the sum is full. */
static void test_add(struct kunit *test)
{
	struct hwheel_users *sum = table(test), *users = table(test);
	unsigned long i, first, n = 0;
	u64 armed = 0, latest = 0;

	for (first = 0; first < 3 * HWHEEL_MOST_USERS; first += HWHEEL_MOST_USERS / 2, n++) {
		memset(users, 0, sizeof(*users));
		for (i = first; i < first + HWHEEL_MOST_USERS + 5; i++) {
			struct hwheel_user *row = users_find(users, function(i));

			row->pending += i;
			row->armed += 2 * i + 1;
			row->expired += 3 * i;
			/* Sometimes more than in the table before, sometimes less */
			row->max_late_ns = max_t(u64, row->max_late_ns, 1000 * (n ^ 1) + i);
			latest = max(latest, row->max_late_ns);
			armed += 2 * i + 1;
		}
		users_add(sum, users);
	}
	/* Function 0 is in one table, function HWHEEL_MOST_USERS / 2 in two */
	KUNIT_EXPECT_EQ(test, users_find(sum, function(0))->armed, 1);
	i = HWHEEL_MOST_USERS / 2;
	KUNIT_EXPECT_EQ(test, users_find(sum, function(i))->pending, 2 * i);
	KUNIT_EXPECT_EQ(test, users_find(sum, function(i))->armed, 2 * (2 * i + 1));
	KUNIT_EXPECT_EQ(test, users_find(sum, function(i))->expired, 6 * i);
	KUNIT_EXPECT_EQ(test, users_find(sum, function(i))->max_late_ns, 1000 + i);
	KUNIT_EXPECT_EQ(test, sum->nr, HWHEEL_MOST_USERS);
	KUNIT_EXPECT_EQ(test, sum->other.max_late_ns, latest);
	for (i = 0; i < HWHEEL_USERS; i++)
		armed -= sum->row[i].armed;
	KUNIT_EXPECT_EQ(test, sum->other.armed, armed);
}

static struct kunit_case hwheel_users_cases[] = {
	KUNIT_CASE(test_rows),
	KUNIT_CASE(test_other),
	KUNIT_CASE(test_collisions),
	KUNIT_CASE(test_add),
	{}
};

static struct kunit_suite hwheel_users = {
	.name		= "hwheel_users",
	.test_cases	= hwheel_users_cases,
};

kunit_test_suite(hwheel_users);
