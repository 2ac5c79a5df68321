// SPDX-License-Identifier: GPL-2.0
/*
 * Sleeping on a wheel
 *
 * A task sleeps with a timer on its stack. The timer's callback wakes the task.
 */

static void hwheel_wake_sleeper(struct hwheel_timer *timer)
{
	struct hwheel_sleeper *sleeper = container_of(timer, struct hwheel_sleeper, timer);
	struct task_struct *task = sleeper->task;

	/* The task may wake up now. It waits for this callback before its stack is used again. */
	WRITE_ONCE(sleeper->task, NULL);
	wake_up_process(task);
}

/**
 * __hwheel_sleeper_begin - begin to count the time of a sleep
 * @sleeper: on the stack of this task
 * @wheel: the wheel to sleep on
 * @delay: nanoseconds from now; 0 or less: the time is over at once. KTIME_MAX: no limit
 * @slack: as in hwheel_add_range()
 *
 * Context: task.
 */
void __hwheel_sleeper_begin(struct hwheel_sleeper *sleeper, struct hwheel *wheel,
			    ktime_t delay, ktime_t slack)
{
	static struct lock_class_key key;

	/* In a callback in process context, the run that is to wake the task would wait for it */
	if (wheel->context == HWHEEL_WORK)
		hwheel_lockdep_wait(&wheel->lockdep_map, 0);
	__hwheel_setup(&sleeper->timer, wheel, hwheel_wake_sleeper, __HWHEEL_ON_STACK,
		       "hwheel_sleeper", &key);
	sleeper->task = delay > 0 ? current : NULL;
	if (sleeper->task && delay != KTIME_MAX)
		hwheel_add_range(&sleeper->timer, delay, slack);
}
EXPORT_SYMBOL_GPL(__hwheel_sleeper_begin);

/**
 * hwheel_schedule_hrtimeout - sleep until woken, or a time is over
 * @wheel: the wheel to sleep on
 * @delay: nanoseconds from now; 0 or less: do not sleep. KTIME_MAX: no limit
 * @slack: how much longer the sleep may take, in nanoseconds, as in hwheel_add_range()
 *
 * Works as schedule_hrtimeout_range() does. Set the state of the task before the call:
 *
 * * TASK_UNINTERRUPTIBLE - sleeps until the time is over, or the task is woken
 * * TASK_INTERRUPTIBLE - also until a signal
 * * TASK_KILLABLE - also until a fatal signal
 * * TASK_RUNNING - does not sleep
 *
 * Afterwards the state is TASK_RUNNING.
 *
 * A callback in process context must not sleep on its own wheel: it would wait for itself.
 * Do not destroy a wheel while a task sleeps on it.
 *
 * Context: task; sleeps.
 * Return: 0 if the time is over, -EINTR if the task was woken before.
 */
int hwheel_schedule_hrtimeout(struct hwheel *wheel, ktime_t delay, ktime_t slack)
{
	struct hwheel_sleeper sleeper;

	if (delay == KTIME_MAX) {
		schedule();
		return -EINTR;
	}
	__hwheel_sleeper_begin(&sleeper, wheel, delay, slack);
	if (likely(READ_ONCE(sleeper.task)))
		schedule();
	__set_current_state(TASK_RUNNING);
	hwheel_destroy_on_stack(&sleeper.timer);
	return READ_ONCE(sleeper.task) ? -EINTR : 0;
}
EXPORT_SYMBOL_GPL(hwheel_schedule_hrtimeout);

/**
 * __hwheel_sleep - sleep on the module's own wheel
 * @delay: as in hwheel_sleep()
 * @state: of the task. Only a signal can end the sleep early
 *
 * Context: task; sleeps.
 * Return: 0 if the time is over, -EINTR if a signal is pending.
 */
int __hwheel_sleep(ktime_t delay, unsigned int state)
{
	struct hwheel_sleeper sleeper;
	int ret = 0;

	might_sleep();
	__hwheel_sleeper_begin(&sleeper, hwheel_system, delay, 0);
	for (;;) {
		set_current_state(state);
		if (!READ_ONCE(sleeper.task))
			break;
		if (signal_pending_state(state, current)) {
			ret = -EINTR;
			break;
		}
		schedule();
	}
	__set_current_state(TASK_RUNNING);
	hwheel_destroy_on_stack(&sleeper.timer);
	return ret;
}
EXPORT_SYMBOL_GPL(__hwheel_sleep);
