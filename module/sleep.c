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

/*
 * Returns the wheel to sleep on: @wheel, or the module's own wheel if a task would not wake
 * up on @wheel. A callback in process context can't sleep on its own wheel: its task would
 * have to run the timer.
 */
static noinline struct hwheel *hwheel_sleep_wheel(struct hwheel *wheel, void *caller)
{
	if (hwheel_warn(IS_ERR_OR_NULL(wheel) || READ_ONCE(wheel->life) == HWHEEL_GONE, caller,
			"hwheel: %ps sleeps on wheel %pe, which is not there\n", caller, wheel))
		return hwheel_system;
	if (wheel->context == HWHEEL_WORK &&
	    hwheel_warn(hwheel_in_callback(wheel), caller,
			"hwheel: %ps sleeps on wheel \"%s\" in one of its callbacks\n",
			caller, wheel->name))
		return hwheel_system;
	return wheel;
}

static void hwheel_sleeper_begin(struct hwheel_sleeper *sleeper, struct hwheel *wheel,
				 ktime_t delay, ktime_t slack, void *caller)
{
	static struct lock_class_key key;

	wheel = hwheel_sleep_wheel(wheel, caller);
	__hwheel_setup(&sleeper->timer, wheel, hwheel_wake_sleeper, 0, true, "hwheel_sleeper",
		       &key);
	/* If hwheel failed to start when the kernel booted, the time is over at once. */
	sleeper->task = delay > 0 && !IS_ERR_OR_NULL(wheel) ? current : NULL;
	if (sleeper->task && delay != KTIME_MAX)
		hwheel_add_range(&sleeper->timer, delay, slack);
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
	hwheel_sleeper_begin(sleeper, wheel, delay, slack, __builtin_return_address(0));
}
EXPORT_SYMBOL_GPL(__hwheel_sleeper_begin);

/**
 * __hwheel_sleeper_end - end the life of a sleeper
 * @sleeper: the sleeper
 *
 * Context: task, in TASK_RUNNING.
 */
void __hwheel_sleeper_end(struct hwheel_sleeper *sleeper)
{
	hwheel_destroy_on_stack(&sleeper->timer);
}
EXPORT_SYMBOL_GPL(__hwheel_sleeper_end);

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
 * hwheel then warns, and the task sleeps on the module's own wheel. The same goes for a wheel
 * that is NULL, an ERR_PTR, or destroyed. Do not destroy a wheel while a task sleeps on it.
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
	hwheel_sleeper_begin(&sleeper, wheel, delay, slack, __builtin_return_address(0));
	if (likely(READ_ONCE(sleeper.task)))
		schedule();
	__set_current_state(TASK_RUNNING);
	__hwheel_sleeper_end(&sleeper);
	return READ_ONCE(sleeper.task) ? -EINTR : 0;
}
EXPORT_SYMBOL_GPL(hwheel_schedule_hrtimeout);

/* Sleep in @state on the module's own wheel. Only a signal can end the sleep early. */
static __always_inline int hwheel_sleep_in(ktime_t delay, unsigned int state)
{
	struct hwheel_sleeper sleeper;
	int ret = 0;

	might_sleep();
	hwheel_sleeper_begin(&sleeper, hwheel_system, delay, 0, __builtin_return_address(0));
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
	__hwheel_sleeper_end(&sleeper);
	return ret;
}

/**
 * hwheel_sleep - sleep for a time
 * @delay: the time in nanoseconds; 0 or less: do not sleep
 *
 * Like msleep(), but exact to the tick: sleeps on the module's own wheel until the first
 * tick at or after now + @delay. Signals and other wakeups do not shorten the sleep.
 *
 * Context: task; sleeps.
 */
void hwheel_sleep(ktime_t delay)
{
	hwheel_sleep_in(delay, TASK_UNINTERRUPTIBLE);
}
EXPORT_SYMBOL_GPL(hwheel_sleep);

/**
 * hwheel_sleep_interruptible - sleep for a time, or until a signal
 * @delay: as in hwheel_sleep()
 *
 * Context: task; sleeps.
 * Return: 0 if the time is over, -EINTR if a signal is pending.
 */
int hwheel_sleep_interruptible(ktime_t delay)
{
	return hwheel_sleep_in(delay, TASK_INTERRUPTIBLE);
}
EXPORT_SYMBOL_GPL(hwheel_sleep_interruptible);

/**
 * hwheel_sleep_killable - sleep for a time, or until a fatal signal
 * @delay: as in hwheel_sleep()
 *
 * Context: task; sleeps.
 * Return: 0 if the time is over, -EINTR if a fatal signal is pending.
 */
int hwheel_sleep_killable(ktime_t delay)
{
	return hwheel_sleep_in(delay, TASK_KILLABLE);
}
EXPORT_SYMBOL_GPL(hwheel_sleep_killable);
