// SPDX-License-Identifier: GPL-2.0
/*
 * Counting by callback: the parameter "users" switches it on for all wheels
 */

static bool hwheel_counts_users;	/* changes under hwheel_mutex */

static DEFINE_STATIC_KEY_FALSE(hwheel_users_key);

/* With @base locked: @timer has been armed. */
static noinline void hwheel_count_armed(struct hwheel_base *base,
					const struct hwheel_timer *timer)
{
	if (base->users)
		users_find(base->users, hwheel_named(timer))->armed++;
}

/* With @base locked: the callback of @timer is about to begin. */
static noinline void hwheel_count_expired(struct hwheel_base *base,
					  const struct hwheel_timer *timer, u64 late)
{
	struct hwheel_user *user;

	if (!base->users)
		return;
	user = users_find(base->users, hwheel_named(timer));
	user->expired++;
	user->max_late_ns = max(user->max_late_ns, late);
}

/* From now on @base counts in @users, or not at all if @users is NULL. Frees the old counts. */
static void hwheel_swap_users(struct hwheel_base *base, struct hwheel_users *users)
{
	struct hwheel_users *old;

	raw_spin_lock_irq(&base->lock);
	old = base->users;
	WRITE_ONCE(base->users, users);
	raw_spin_unlock_irq(&base->lock);
	kvfree(old);
}

static int hwheel_begin_users(struct hwheel *wheel)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct hwheel_users *users = kvzalloc_node(sizeof(*users), GFP_KERNEL,
							   cpu_to_node(cpu));

		if (!users)
			return -ENOMEM;
		hwheel_swap_users(per_cpu_ptr(wheel->bases, cpu), users);
	}
	return 0;
}

static void hwheel_end_users(struct hwheel *wheel)
{
	int cpu;

	for_each_possible_cpu(cpu)
		hwheel_swap_users(per_cpu_ptr(wheel->bases, cpu), NULL);
}

/*
 * The kernel calls this when the parameter is written, also before hwheel_init(), one call
 * at a time. Switching the static key takes the lock of CPU hotplug, which nests outside
 * hwheel_mutex. So drop hwheel_mutex first.
 */
static int hwheel_set_users(const char *value, const struct kernel_param *param)
{
	struct hwheel *wheel;
	bool on;
	int err = kstrtobool(value, &on);

	if (err)
		return err;
	mutex_lock(&hwheel_mutex);
	list_for_each_entry(wheel, &hwheel_wheels, list) {
		if (on)
			err = hwheel_begin_users(wheel);
		if (err)
			break;
	}
	on = on && !err;
	list_for_each_entry(wheel, &hwheel_wheels, list) {
		if (!on)
			hwheel_end_users(wheel);
	}
	hwheel_counts_users = on;
	mutex_unlock(&hwheel_mutex);
	if (on)
		static_branch_enable(&hwheel_users_key);
	else
		static_branch_disable(&hwheel_users_key);
	return err;
}

static const struct kernel_param_ops hwheel_users_ops = {
	.set = hwheel_set_users,
	.get = param_get_bool,
};
module_param_cb(users, &hwheel_users_ops, &hwheel_counts_users, 0644);
MODULE_PARM_DESC(users, "1: count armings and expirations of each callback, for the debugfs file users; writing 1 sets the counts to 0; 0: do not count (default 0)");
