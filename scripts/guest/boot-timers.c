// SPDX-License-Identifier: GPL-2.0
/*
 * boot_timers - the driver of the suite boot
 *
 * Counts the callbacks of a periodic timer, and keeps timers pending that are not due for a day.
 * It has a wheel of its own and uses hwheel_system. It builds for version 0.1, too.
 */
#include <linux/compiler.h>
#include <linux/err.h>
#include <linux/ktime.h>
#include <linux/module.h>

#include "hwheel.h"

#define PERIOD	ms_to_ktime(100)
#define DAY	ms_to_ktime(24 * 3600 * 1000)

static unsigned int fired;
module_param(fired, uint, 0444);
MODULE_PARM_DESC(fired, "callbacks of the periodic timer so far");

static struct hwheel *wheel;
static struct hwheel_timer periodic;
static struct hwheel_timer lazy[1000];

static void boot_period(struct hwheel_timer *timer)
{
	WRITE_ONCE(fired, fired + 1);
	hwheel_add_forward(timer, PERIOD);
}

static void boot_lazy(struct hwheel_timer *timer)
{
	WARN(1, "a timer of a day has fired\n");
}

static int __init boot_init(void)
{
	int i;

	wheel = hwheel_create(&(struct hwheel_config){ .name = "boot" });
	if (IS_ERR(wheel))
		return PTR_ERR(wheel);
	for (i = 0; i < ARRAY_SIZE(lazy); i++) {
		hwheel_setup(&lazy[i], i % 2 ? wheel : hwheel_system, boot_lazy, 0);
		hwheel_add(&lazy[i], DAY);
	}
	hwheel_setup(&periodic, hwheel_system, boot_period, 0);
	hwheel_add(&periodic, PERIOD);
	return 0;
}

static void __exit boot_exit(void)
{
	int i;

	hwheel_shutdown_sync(&periodic);
	for (i = 0; i < ARRAY_SIZE(lazy); i++)
		hwheel_shutdown_sync(&lazy[i]);
	hwheel_destroy(wheel);
}

module_init(boot_init);
module_exit(boot_exit);

MODULE_DESCRIPTION("the driver of hwheel's suite boot");
MODULE_LICENSE("GPL");
