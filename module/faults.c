// SPDX-License-Identifier: GPL-2.0
/*
 * Faults for the torture test to find: see enum hwheel_fault
 */

#ifdef HWHEEL_BROKEN
static char *broken = "";
module_param(broken, charp, 0444);
MODULE_PARM_DESC(broken, "name of the fault that the torture test has to find");

static bool hwheel_broken(enum hwheel_fault fault)
{
	static const char * const faults[] = {
		[HWHEEL_EARLY]			= "early",
		[HWHEEL_LOSE_IN_CASCADE]	= "lose_in_cascade",
		[HWHEEL_NO_WAIT_IN_CANCEL_SYNC]	= "no_wait_in_cancel_sync",
		[HWHEEL_NO_WAIT_IN_SYNCHRONIZE]	= "no_wait_in_synchronize",
		[HWHEEL_FIRE_TWICE]		= "fire_twice",
		[HWHEEL_FORGET_OFFLINE_CPU]	= "forget_offline_cpu",
		[HWHEEL_LEAK_RUNNING]		= "leak_running",
		[HWHEEL_DATA_RACE]		= "data_race",
	};
	static atomic_t n = ATOMIC_INIT(0);

	/*
	 * Inject most faults in one call of 16, but three of them in each call: CPU hotplug is
	 * rare, and so is hwheel_synchronize() while a callback runs. KCSAN seldom sees a race.
	 */
	return !strcmp(broken, faults[fault]) &&
	       (fault == HWHEEL_FORGET_OFFLINE_CPU || fault == HWHEEL_DATA_RACE ||
		fault == HWHEEL_NO_WAIT_IN_SYNCHRONIZE ||
		!(atomic_inc_return(&n) % 16));
}
#endif
