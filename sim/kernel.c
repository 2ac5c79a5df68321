// SPDX-License-Identifier: GPL-2.0
/*
 * A simulated kernel for hwheel.c: CPUs, tasks, interrupts, locks, hrtimers, works
 *
 * All of it is one thread. A task is a coroutine. An interrupt runs on the stack of the
 * task that it interrupts, as in Linux.
 *
 * Each CPU has a time of its own. Each action that other CPUs can see is a step
 * (sim_step()). A step adds its price in ns to the CPU's time. Then the CPU with the
 * least time goes on. So the CPUs run in parallel, and each step happens before all steps
 * of later times. When all CPUs are idle, the time jumps to the next event.
 *
 * A switch to the next CPU takes a little longer at random (jitter). At a few switches a CPU is
 * held up for long (a stall). Jitter and stalls lead to orders of events that are rare on real
 * machines.
 *
 * A program can choose another scheduler, that of probabilistic concurrency testing: see
 * by_rank().
 *
 * Memory is sequentially consistent, so the simulator does not find missing barriers.
 */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kernel.h"
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/mutex.h>
#include <linux/jiffies.h>
#include <linux/jump_label.h>
#include <linux/kstrtox.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/pvclock_gtod.h>
#include <linux/rcupdate.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/timekeeper_internal.h>
#include <linux/timer.h>
#include <linux/sched/task_stack.h>
#include <linux/sched/isolation.h>
#include "wheel.h"

#define STACK_SIZE	(256 << 10)
#define SLICE_NS	3000000ULL
#define IPI_NS		500

struct sim_world sim_world;
struct sim_cpu sim_cpus[SIM_CPUS];
struct sim_cpu *sim_cpu;
void (*sim_meanwhile)(const char *where);
bool sim_no_trylock;
unsigned long long sim_time, sim_horizon = SIM_NEVER, sim_writes;
unsigned long long sim_boot_off, sim_wall_off, sim_switches, sim_quiet_steps;
unsigned int sim_sets;
unsigned int sim_hotplugs;
unsigned long long sim_hotplug_at;
unsigned int nr_cpu_ids;

static void *main_sp;
static unsigned long long rng;

unsigned long long sim_random(void)
{
	rng ^= rng << 13;
	rng ^= rng >> 7;
	rng ^= rng << 17;
	return rng * 0x2545f4914f6cdd1dULL >> 16;
}

unsigned long long sim_rnd(unsigned long long n)
{
	return n ? sim_random() % n : 0;
}

/* ------------------------------------------------------------------------ */
/* Coroutines */

#ifdef __x86_64__
void sim_switch(void **save, void *to);
__asm__(".text\n"
	".globl sim_switch\n"
	".type sim_switch,@function\n"
	"sim_switch:\n"
	"	push %rbp\n	push %rbx\n	push %r12\n"
	"	push %r13\n	push %r14\n	push %r15\n"
	"	mov %rsp, (%rdi)\n"
	"	mov %rsi, %rsp\n"
	"	pop %r15\n	pop %r14\n	pop %r13\n"
	"	pop %r12\n	pop %rbx\n	pop %rbp\n"
	"	ret\n"
	".size sim_switch, .-sim_switch\n");

static void prepare_stack(struct task_struct *task, void (*entry)(void))
{
	void **sp = task->stack + STACK_SIZE - 64;

	*--sp = NULL;			/* keeps the stack aligned as after a call */
	*--sp = entry;
	sp -= 6;
	memset(sp, 0, 6 * sizeof(*sp));
	task->sp = sp;
}
#else
#include <ucontext.h>

static void sim_switch(void **save, void *to)
{
	static ucontext_t main_context;

	if (!*save)
		*save = &main_context;
	swapcontext(*save, to);
}

static void prepare_stack(struct task_struct *task, void (*entry)(void))
{
	ucontext_t *context = calloc(1, sizeof(*context));

	getcontext(context);
	context->uc_stack.ss_sp = task->stack;
	context->uc_stack.ss_size = STACK_SIZE;
	makecontext(context, entry, 0);
	task->sp = context;
}
#endif

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>

/*
 * sim_check_left() finds memory that hwheel leaks. Timers on the stack must be on the stack: gcc 14
 * would put them elsewhere.
 */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "detect_leaks=0:detect_stack_use_after_return=0";
}

static void switch_to(void **save, void *to, const void *stack)
{
	void *fake;

	__sanitizer_start_switch_fiber(&fake, stack, STACK_SIZE);
	sim_switch(save, to);
	__sanitizer_finish_switch_fiber(fake, NULL, NULL);
}

static void first_switched(void)
{
	__sanitizer_finish_switch_fiber(NULL, NULL, NULL);
}
#else
static inline void switch_to(void **save, void *to, const void *stack)
{
	sim_switch(save, to);
}

static inline void first_switched(void)
{
}
#endif

static struct task_struct tasks[4096];
static int nr_tasks;

static void task_main(void)
{
	struct task_struct *task = sim_cpu->curr;

	first_switched();
	task->fn(task->arg);
	task->dead = true;
	task->blocked = true;
	sim_schedule();
	abort();
}

static struct task_struct *task_new(const char *name, int cpu, void (*fn)(void *arg), void *arg)
{
	struct task_struct *task = NULL;
	int i;

	for (i = 0; i < nr_tasks; i++)
		if (tasks[i].dead && !tasks[i].queued && tasks[i].cpu->curr != &tasks[i])
			task = &tasks[i];
	if (!task) {
		if (nr_tasks == ARRAY_SIZE(tasks))
			sim_find("too many tasks");
		task = &tasks[nr_tasks++];
		task->stack = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	}
	*task = (struct task_struct){ .stack = task->stack, .name = name, .fn = fn, .arg = arg,
				      .cpu = &sim_cpus[cpu], .pool = -1, .blocked = true,
				      .wake_at = SIM_NEVER, .id = task - tasks };
	prepare_stack(task, task_main);
	return task;
}

int object_is_on_stack(const void *obj)
{
	const void *stack = sim_cpu->curr->stack;

	return obj >= stack && obj < stack + STACK_SIZE;
}

/* ------------------------------------------------------------------------ */
/* Which CPU goes on */

static inline bool preemptible(const struct sim_cpu *c)
{
	return !c->curr->count && !c->irqs_off;
}

static inline unsigned long long next_time(const struct sim_cpu *c)
{
	if (c->dead)
		return SIM_NEVER;
	if (c->spin || c->idling) {
		if (c->idling && c->need_resched)
			return c->time;
		if (c->irqs_off || c->irq_next == SIM_NEVER)
			return SIM_NEVER;
		return max(c->irq_next, c->time);
	}
	return c->time;
}

/* An event comes at @time: make the current CPU call sim_slow() then. */
static inline void poke(unsigned long long time)
{
	sim_horizon = min(sim_horizon, time);
}

static void irq_at(struct sim_cpu *c, unsigned long long time)
{
	c->irq_next = min(c->irq_next, time);
	if (c != sim_cpu || !c->irqs_off)
		poke(max(time, c->time));
}

static void interrupt(struct sim_cpu *c);
static void reschedule(bool preempt);
static void idle_changes(struct sim_cpu *c);

static long least_rank;

/* Give the current CPU the lowest rank: it goes on only when all others wait. */
static void rank_last(void)
{
	sim_cpu->rank = --least_rank;
}

/*
 * The other scheduler. Each CPU has a rank. Of the CPUs that do not wait, the one with
 * the highest rank goes on, until it waits. At a few switches this CPU gets the lowest
 * rank. Here all CPUs share one time. While a CPU lets others go first, its time passes,
 * too: the oracle counts that as a stall.
 * (Burckhardt, Kothari, Musuvathi and Nagarakatte, "A randomized scheduler with
 * probabilistic guarantees of finding bugs", 2010.)
 */
static struct sim_cpu *by_rank(unsigned long long now, unsigned long long *time)
{
	struct sim_cpu *best = NULL;
	unsigned int i;

	if (!(sim_random() % sim_world.ranks))
		rank_last();
	*time = SIM_NEVER;
	for (i = 0; i < sim_world.cpus; i++) {
		struct sim_cpu *c = &sim_cpus[i];
		unsigned long long t = max(next_time(c), now);

		if (t < *time || (best && t == *time && c->rank > best->rank)) {
			*time = t;
			best = c;
		}
	}
	if (best && next_time(best) < now)
		oracle_stalled(now - next_time(best));
	return best;
}

/* Switch to the CPU with the least time. Returns when that is the caller's CPU again. */
void sim_slow(void)
{
	for (;;) {
		struct sim_cpu *c = sim_cpu, *best = NULL;
		unsigned long long least = SIM_NEVER, second = SIM_NEVER;
		unsigned int i;

		c->time = sim_time;
		if (sim_world.jitter)
			c->time += sim_random() % sim_world.jitter;
		c->writes = sim_writes;
		sim_switches++;
		if (++sim_quiet_steps > (sim_world.ranks ? 30000000 : 3000000))
			sim_find("a wait that does not end: millions of switches, %s on CPU %d",
				 c->curr->name, c->id);
		if (sim_world.stall && !c->spin && !c->idling &&
		    !(sim_random() % sim_world.stall)) {
			unsigned int ns = sim_rnd(sim_world.stall_ns);

			if (!(sim_random() % 4))
				ns /= 100;
			c->time += ns;
			oracle_stalled(ns);
		}
		if (sim_world.ranks) {
			best = by_rank(c->time, &least);
			second = 0;
		}
		for (i = 0; i < sim_world.cpus && !sim_world.ranks; i++) {
			unsigned long long t = next_time(&sim_cpus[i]);

			if (t < least) {
				second = least;
				least = t;
				best = &sim_cpus[i];
			} else if (t < second) {
				second = t;
			}
		}
		if (!best)
			oracle_dead_end();
		if (best->idling && least > sim_time + 100000)
			oracle_quiet();
		if (best != c) {
			sim_cpu = best;
			sim_writes = best->writes;
			sim_time = max(least, best->time);
			best->time = sim_time;
			sim_horizon = second;
			switch_to(&c->curr->sp, best->curr->sp, best->curr->stack);
			/* Another CPU has switched back to this one. */
			c = sim_cpu;
		} else {
			sim_time = max(least, sim_time);
			c->time = sim_time;
			sim_horizon = second;
		}
		if (!c->irqs_off && c->irq_next <= sim_time) {
			interrupt(c);
			sim_horizon = 0;
			continue;
		}
		if (c->need_resched && preemptible(c) && !c->idling) {
			reschedule(true);
			sim_horizon = 0;
			continue;
		}
		if (c->spin || c->idling) {
			if (c->idling && c->need_resched)
				return;
			continue;
		}
		if (!c->irqs_off)
			sim_horizon = min(sim_horizon, c->irq_next);
		if (!list_empty(&c->runq) && c->curr != c->idle) {
			if (sim_time >= c->slice_end) {
				c->slice_end = sim_time + SLICE_NS;
				c->need_resched = true;
				if (preemptible(c)) {
					reschedule(true);
					sim_horizon = 0;
					continue;
				}
			}
			sim_horizon = min(sim_horizon, c->slice_end);
		}
		return;
	}
}

void sim_place(const char *where)
{
	if (sim_meanwhile)
		sim_meanwhile(where);
	if (sim_world.drops && !(sim_random() % sim_world.drops)) {
		unsigned int ns = sim_rnd(sim_world.drops_ns);

		oracle_stalled(ns);
		sim_step(ns);
	}
}

static void settle(void)
{
	sim_horizon = 0;
	sim_step(0);
}

/* ------------------------------------------------------------------------ */
/* Tasks */

struct task_struct *sim_current(void)
{
	return sim_cpu->curr;
}

static struct sim_cpu *any_online(void)
{
	struct sim_cpu *c;

	do
		c = &sim_cpus[sim_rnd(sim_world.cpus)];
	while (!c->online);
	return c;
}

static void enqueue(struct task_struct *task, struct sim_cpu *c)
{
	task->cpu = c;
	task->queued = true;
	list_add_tail(&task->entry, &c->runq);
	if (c->idling || task->prio > c->curr->prio) {
		c->need_resched = true;
		if (c != sim_cpu) {
			if (c->idling) {
				if (c->irq_next < sim_time)	/* its rank was too low */
					oracle_stalled(sim_time - c->irq_next);
				c->time = max(c->time, sim_time + IPI_NS);
			} else {
				c->resched_at = min(c->resched_at, sim_time + IPI_NS);
			}
			irq_at(c, sim_time + IPI_NS);
		} else {
			poke(0);
		}
	} else if (c == sim_cpu) {
		poke(c->slice_end);
	}
}

static void worker_runs(struct task_struct *task);
static void worker_sleeps(struct task_struct *task);

void sim_wake(struct task_struct *task)
{
	if (!task->blocked || task->dead)
		return;
	task->blocked = false;
	task->state = TASK_RUNNING;
	task->wake_at = SIM_NEVER;
	if (task->queued || task->cpu->curr == task)
		return;
	if (task->pool >= 0)
		worker_runs(task);
	if (!task->pinned && (!task->cpu->online ||
			      (task->pool < 0 && sim_world.migrate && !(sim_random() % 8))))
		task->cpu = any_online();
	enqueue(task, task->cpu);
}

static void reschedule(bool preempt)
{
	struct sim_cpu *c = sim_cpu;
	struct task_struct *prev = c->curr, *next = NULL, *task;

	c->need_resched = false;
	if (prev != c->idle) {
		if (preempt || !prev->blocked) {
			prev->queued = true;
			list_add_tail(&prev->entry, &c->runq);
		} else if (prev->pool >= 0) {
			worker_sleeps(prev);
		}
	}
	list_for_each_entry(task, &c->runq, entry)
		if (!next || task->prio > next->prio)
			next = task;
	if (next) {
		list_del(&next->entry);
		next->queued = false;
	} else {
		next = c->idle;
	}
	c->slice_end = sim_time + SLICE_NS / 2 + sim_rnd(SLICE_NS);
	if (next == prev)
		return;
	sim_time += 200;
	c->curr = next;
	if (prev == c->idle || next == c->idle)
		idle_changes(c);
	switch_to(&prev->sp, next->sp, next->stack);
	/* @prev goes on, maybe on another CPU. */
}

void sim_schedule(void)
{
	struct sim_cpu *c = sim_cpu;

	if (c->curr->count || c->irqs_off)
		sim_find("schedule() with preempt_count %x, irqs %s in %s",
			 c->curr->count, c->irqs_off ? "off" : "on", c->curr->name);
	reschedule(false);
	settle();
}

void set_current_state(unsigned int state)
{
	struct task_struct *task = sim_cpu->curr;

	sim_step(SIM_WRITE);
	task->state = state;
	task->blocked = state != TASK_RUNNING;
	sim_step(SIM_READ);		/* a wakeup may come from here on */
}

bool signal_pending_state(unsigned int state, struct task_struct *task)
{
	sim_step(SIM_READ);
	return task->signal == SIM_KILLED ? state & (TASK_INTERRUPTIBLE | TASK_WAKEKILL) :
	       task->signal && state & TASK_INTERRUPTIBLE;
}

/* If the task has an alarm, a fatal signal wakes it at that time. */
void schedule(void)
{
	struct task_struct *task = sim_cpu->curr;

	sim_might_sleep(__func__);
	if (task->blocked && signal_pending_state(task->state, task)) {
		task->blocked = false;
		task->state = TASK_RUNNING;
	}
	if (task->blocked && task->alarm) {
		task->wake_at = task->alarm;
		irq_at(sim_cpu, task->wake_at);
	}
	sim_schedule();
	if (task->alarm && task->alarm <= sim_time) {
		task->alarm = 0;
		task->signal = SIM_KILLED;
		task->signal_at = sim_time;
		task->wakeups++;
	}
}

int wake_up_process(struct task_struct *task)
{
	bool blocked;

	sim_step(SIM_CALL);
	blocked = task->blocked;
	sim_wake(task);
	sim_step(SIM_CALL);		/* @task may run */
	return blocked;
}

/* Wake @task on behalf of somebody who is not its timer, and count this wakeup. */
void sim_wakeup(struct task_struct *task)
{
	sim_step(SIM_CALL);
	task->wakeups++;
	sim_wake(task);
}

/* Send @task a signal: SIM_SIGNALLED, or SIM_KILLED for a fatal one. */
void sim_signal(struct task_struct *task, enum sim_signal signal)
{
	sim_step(SIM_CALL);
	if (task->signal < signal) {
		task->signal = signal;
		task->signal_at = sim_time;
	}
	sim_step(SIM_CALL);
	if (signal_pending_state(task->state, task))
		sim_wake(task);
}

static void idle_main(void *arg)
{
	struct sim_cpu *c = arg;

	for (;;) {
		c->idling = true;
		while (!c->need_resched && list_empty(&c->runq))
			settle();
		c->idling = false;
		reschedule(false);
	}
}

struct task_struct *sim_spawn(const char *name, int cpu, void (*fn)(void *arg), void *arg)
{
	struct task_struct *task = task_new(name, cpu, fn, arg);

	if (!task->cpu->online)
		task->cpu = any_online();
	sim_wake(task);
	return task;
}

void sim_sleep(unsigned long long ns)
{
	struct task_struct *task = sim_cpu->curr;

	sim_might_sleep(__func__);
	task->wake_at = sim_time + ns;
	task->blocked = true;
	irq_at(sim_cpu, task->wake_at);
	sim_schedule();
}

void msleep(unsigned int msecs)
{
	sim_sleep(msecs * 1000000ULL);
}

/* Wait for each CPU and task that has interrupts, preemption or softirqs off. */
void synchronize_rcu(void)
{
	unsigned int i;

	sim_might_sleep(__func__);
	for (i = 0; i < sim_world.cpus; i++)
		while (sim_cpus[i].irqs_off && sim_cpus[i].online)
			sim_sleep(1000);
	for (i = 0; i < (unsigned int)nr_tasks; i++)
		while (!tasks[i].dead && (tasks[i].count || tasks[i].bh))
			sim_sleep(1000);
}

/* Move the current task to @c. */
static void migrate_to(struct sim_cpu *c)
{
	struct task_struct *task = sim_cpu->curr;

	task->blocked = true;
	task->cpu = c;
	task->wake_at = sim_time + IPI_NS;
	irq_at(c, task->wake_at);
	sim_schedule();
}

void sim_move(int cpu)
{
	migrate_to(&sim_cpus[cpu]);
}

void sim_run(unsigned long long ns)
{
	unsigned long long part;

	while (ns) {
		/* Busy CPUs take turns, but not at every nanosecond. */
		part = sim_horizon > sim_time ? sim_horizon - sim_time : 0;
		part = min(ns, clamp(part, sim_world.ranks ? 2000ULL : 64ULL, 1000000ULL));
		sim_step(part);
		ns -= part;
	}
}

static void check_sleep(const char *where)
{
	if (sim_cpu->curr->count || sim_cpu->irqs_off || (SIM_RT && sim_cpu->curr == sim_cpu->idle))
		sim_find("%s() may sleep, with preempt_count %x, irqs %s in %s", where,
			 sim_cpu->curr->count, sim_cpu->irqs_off ? "off" : "on",
			 sim_cpu->curr->name);
}

void sim_might_sleep(const char *where)
{
	check_sleep(where);
	sim_cpu->curr->where = where;
	sim_cpu->curr->sleeps++;
	sim_cpu->curr->unrested = 0;
	sim_cpu->curr->tries = 0;
	sim_step(SIM_READ);
}

void cond_resched(void)
{
	sim_might_sleep(__func__);
	settle();
	sim_place(__func__);
}

void cpu_relax(void)
{
	struct task_struct *task = sim_cpu->curr;
	unsigned int ns = 50 << min(task->relaxed / 16, 6U);

	task->tries = 0;
	if (++task->relaxed > 100000)
		sim_find("a wait that does not end: 100000 times %s() in %s", __func__,
			 task->name);
	rank_last();
	sim_step(ns);
}

/* ------------------------------------------------------------------------ */
/* Contexts */

int raw_smp_processor_id(void)
{
	return sim_cpu->id;
}

int smp_processor_id(void)
{
	if (!sim_cpu->curr->count && !sim_cpu->irqs_off && !sim_cpu->curr->pinned)
		sim_find("%s() in preemptible code", __func__);
	return sim_cpu->id;
}

int sim_preempt_count(void)
{
	return sim_cpu->curr->count;
}

void preempt_count_set(int count)
{
	sim_cpu->curr->count = count;
}

void preempt_disable(void)
{
	sim_cpu->curr->count++;
}

void preempt_enable(void)
{
	if (!--sim_cpu->curr->count && sim_cpu->need_resched)
		settle();
}

bool in_hardirq(void)
{
	return sim_cpu->curr->count & 0xf0000;
}

bool in_softirq(void)
{
	return sim_cpu->curr->count & 0xff00 || sim_cpu->curr->bh;
}

bool in_interrupt(void)
{
	return in_hardirq() || in_softirq();
}

bool irqs_disabled(void)
{
	return sim_cpu->irqs_off;
}

void sim_assert_irqs_disabled(const char *where)
{
	if (!irqs_disabled())
		sim_find("interrupts are on in %s()", where);
}

void sim_assert_preemption_enabled(const char *where)
{
	if (sim_cpu->curr->count || irqs_disabled())
		sim_find("preemption is off in %s()", where);
}

static void irqs_go_off(void)
{
	sim_cpu->irqs_off = true;
	sim_cpu->off_writes = sim_writes;
	sim_cpu->off_since = sim_time;
}

static void irqs_go_on(void)
{
	struct sim_cpu *c = sim_cpu;

	oracle_irqs_on(sim_writes - c->off_writes);
	c->irqs_off = false;
	if (c->irq_next <= sim_time || c->need_resched)
		settle();
	else
		poke(c->irq_next);
}

unsigned long sim_irq_save(void)
{
	unsigned long flags = sim_cpu->irqs_off;

	if (!flags) {
		sim_step(SIM_READ);
		irqs_go_off();
	}
	return flags;
}

void sim_irq_restore(unsigned long flags)
{
	if (!sim_cpu->irqs_off)
		sim_find("interrupts are restored, but were on already");
	if (!flags)
		irqs_go_on();
}

void local_irq_disable(void)
{
	sim_irq_save();
}

void local_irq_enable(void)
{
	if (in_hardirq())
		sim_find("interrupts are switched on in a hardirq");
	if (sim_cpu->irqs_off)
		irqs_go_on();
}

static void hr_interrupt(struct sim_cpu *c);
static void hr_softirq(struct sim_cpu *c);
static unsigned long long hr_program(struct sim_cpu *c);

/* With irqs off */
static void do_softirq(struct sim_cpu *c)
{
	unsigned long long begin = sim_time;
	int restart = 0;

	if (SIM_RT) {
		sim_wake(c->ksoftirqd);
		return;
	}
	c->curr->count += SOFTIRQ_OFFSET;
	do {
		c->softirq = false;
		irqs_go_on();
		hr_softirq(c);
		irqs_go_off();
	} while (c->softirq && ++restart < 10 && sim_time - begin < 2000000 && !c->need_resched);
	c->curr->count -= SOFTIRQ_OFFSET;
	if (c->softirq)
		sim_wake(c->ksoftirqd);
}

static void ksoftirqd_main(void *arg)
{
	struct sim_cpu *c = arg;

	for (;;) {
		c->curr->blocked = true;
		if (!c->softirq) {
			sim_schedule();
			continue;
		}
		c->curr->blocked = false;
		if (SIM_RT) {
			local_bh_disable();
			c->softirq = false;
			hr_softirq(c);
			local_bh_enable();
		} else {
			local_irq_disable();
			do_softirq(c);
			local_irq_enable();
		}
		settle();
	}
}

static wait_queue_head_t bh_free = { { &bh_free.waiting, &bh_free.waiting } };

static void wake_waiters(wait_queue_head_t *wq);

/* On PREEMPT_RT this locks the CPU's softirqs. The softirq thread takes that lock, too. */
void local_bh_disable(void)
{
	struct task_struct *task = sim_cpu->curr;

	if (!SIM_RT) {
		task->count += SOFTIRQ_OFFSET;
		return;
	}
	if (task->bh) {
		task->bh++;
		return;
	}
	task->pinned = true;
	while (sim_cpu->bh_owner)
		wait_event(bh_free, !sim_cpu->bh_owner);
	sim_cpu->bh_owner = task;
	task->bh = 1;
}

void local_bh_enable(void)
{
	struct sim_cpu *c = sim_cpu;

	if (SIM_RT) {
		if (!--c->curr->bh) {
			c->bh_owner = NULL;
			c->curr->pinned = c->curr == c->ksoftirqd;
			wake_waiters(&bh_free);
		}
		return;
	}
	c->curr->count -= SOFTIRQ_OFFSET;
	if (!in_interrupt() && c->softirq) {
		irqs_go_off();
		do_softirq(c);
		irqs_go_on();
	}
	if (c->need_resched && preemptible(c))
		settle();
}

void sim_irq_enter(void)
{
	if (sim_cpu->irqs_off)
		sim_find("an interrupt comes while interrupts are off");
	irqs_go_off();
	sim_cpu->curr->count += HARDIRQ_OFFSET;
}

void sim_irq_exit(void)
{
	struct sim_cpu *c = sim_cpu;

	c->curr->count -= HARDIRQ_OFFSET;
	if (c->softirq && (SIM_RT || !in_interrupt()))
		do_softirq(c);
	/* Take the next interrupt at the next step, so that interrupts do not nest. */
	oracle_irqs_on(sim_writes - c->off_writes);
	c->irqs_off = false;
	poke(c->need_resched ? 0 : c->irq_next);
}

const char *sim_context(void)
{
	return in_hardirq() ? "hardirq" : in_softirq() ? "softirq" : "task";
}

static unsigned long long irq_next(struct sim_cpu *c)
{
	unsigned long long next = min(c->hr_fire, c->resched_at);
	call_single_data_t *csd;
	struct irq_work *work;
	int i;

	for (csd = c->csd; csd; csd = csd->next)
		next = min(next, csd->arrives);
	for (work = c->irq_work; work; work = work->next)
		next = min(next, work->arrives);
	for (i = 0; i < nr_tasks; i++)
		if (tasks[i].cpu == c && tasks[i].blocked && !tasks[i].dead)
			next = min(next, tasks[i].wake_at);
	return next;
}

static void run_calls(struct sim_cpu *c, bool all)
{
	call_single_data_t **csdp = &c->csd, *csd;
	struct irq_work **workp = &c->irq_work, *work;

	while ((csd = *csdp)) {
		void (*func)(void *info) = csd->func;
		void *info = csd->info;

		if (csd->arrives > sim_time && !all) {
			csdp = &csd->next;
			continue;
		}
		*csdp = csd->next;
		sim_step(SIM_CALL);
		csd->locked = false;
		sim_step(SIM_CALL);
		c->in_kick = true;
		func(info);
		c->in_kick = false;
		csdp = &c->csd;
	}
	while ((work = *workp)) {
		if (work->arrives > sim_time && !all) {
			workp = &work->next;
			continue;
		}
		*workp = work->next;
		work->busy = true;
		work->pending = false;
		sim_step(SIM_CALL);
		work->func(work);
		sim_step(SIM_CALL);
		work->busy = work->pending;
		workp = &c->irq_work;
	}
}

static void interrupt(struct sim_cpu *c)
{
	struct task_struct *task = c->curr;
	struct sim_call *call = task->call;
	raw_spinlock_t *spin = c->spin;
	bool idling = c->idling;
	unsigned long long begun = sim_time;
	int i;

	task->call = NULL;
	c->spin = NULL;
	c->idling = false;
	sim_irq_enter();
	sim_time += SIM_IRQ;
	c->irq_next = SIM_NEVER;
	run_calls(c, false);
	oracle_interrupted(sim_time - begun);
	for (i = 0; i < nr_tasks; i++)
		if (tasks[i].cpu == c && tasks[i].blocked && tasks[i].wake_at <= sim_time)
			sim_wake(&tasks[i]);
	if (c->resched_at <= sim_time) {
		c->resched_at = SIM_NEVER;
		c->need_resched = true;
	}
	if (c->hr_fire <= sim_time)
		hr_interrupt(c);
	c->irq_next = irq_next(c);
	sim_irq_exit();
	c->idling = idling;
	c->spin = spin && spin->owner ? spin : NULL;
	task->call = call;
}

/* ------------------------------------------------------------------------ */
/* Locks */

/* Pairs of locks that were held together, the outer one first. */
static struct {
	raw_spinlock_t *outer, *inner;
} orders[4096];

static raw_spinlock_t *held[SIM_CPUS][16];
static int nr_held[SIM_CPUS];

/* The addresses of the locks of a wheel's bases differ only in high bits. */
static unsigned int order_hash(raw_spinlock_t *outer, raw_spinlock_t *inner)
{
	return ((unsigned long)outer * 31 + (unsigned long)inner) * 0x9e3779b97f4a7c15UL >> 52;
}

static void note_order(raw_spinlock_t *outer, raw_spinlock_t *inner)
{
	unsigned int hash = order_hash(inner, outer);

	if (orders[hash].outer == inner && orders[hash].inner == outer)
		sim_find("two locks are taken in both orders");
	hash = order_hash(outer, inner);
	orders[hash].outer = outer;
	orders[hash].inner = inner;
}

static bool in_percpu(const void *ptr);

void sim_spin_init(raw_spinlock_t *lock)
{
	memset(lock, 0, sizeof(*lock));
	lock->is_base = in_percpu(lock);
	lock->ready = true;
}

static bool holds_base(void)
{
	int i;

	for (i = 0; i < nr_held[sim_cpu->id]; i++)
		if (held[sim_cpu->id][i]->is_base)
			return true;
	return false;
}

static void locked(raw_spinlock_t *lock)
{
	struct sim_cpu *c = sim_cpu;

	lock->owner = c;
	lock->moves = sim_writes;
	oracle_lock(lock);
	if (nr_held[c->id] == 16)
		sim_find("16 locks held");
	held[c->id][nr_held[c->id]++] = lock;
}

void sim_spin_lock(raw_spinlock_t *lock, bool nested)
{
	struct sim_cpu *c;

	sim_step(SIM_CALL);
	preempt_disable();
	c = sim_cpu;
	if (!lock->ready)
		sim_find("a lock is used that was never initialized");
	if (in_hardirq())
		lock->in_irq = true;
	if (!c->irqs_off)
		lock->irqs_on = true;
	if (lock->in_irq && lock->irqs_on)
		sim_find("a lock is taken in a hardirq, and elsewhere with interrupts on");
	if (lock->owner == c)
		sim_find("a lock is taken by the CPU that holds it");
	if (nr_held[c->id])
		note_order(held[c->id][nr_held[c->id] - 1], lock);
	while (lock->owner) {
		c->spin = lock;
		settle();
	}
	locked(lock);
}

bool sim_spin_trylock(raw_spinlock_t *lock)
{
	sim_step(SIM_CALL);
	if (lock->owner || sim_no_trylock)
		return false;
	preempt_disable();
	locked(lock);
	return true;
}

void sim_spin_unlock(raw_spinlock_t *lock)
{
	struct sim_cpu *c;
	unsigned int i;
	int n;

	sim_step(SIM_CALL);
	c = sim_cpu;
	if (lock->owner != c)
		sim_find("a lock is unlocked by a CPU that does not hold it");
	for (n = nr_held[c->id] - 1; held[c->id][n] != lock; n--)
		;
	memmove(&held[c->id][n], &held[c->id][n + 1], (nr_held[c->id] - n - 1) * sizeof(void *));
	nr_held[c->id]--;
	oracle_unlock(lock, (unsigned int)sim_writes - lock->moves);
	/* Without preemption, other tasks wait until this task calls cond_resched(). */
	if (lock->is_base && sim_cpu->curr->count == 1 && !in_interrupt()) {
		sim_cpu->curr->unrested += (unsigned int)sim_writes - lock->moves;
		if (sim_cpu->curr->unrested > 1000)
			sim_find("%llu list moves without cond_resched()",
				 sim_cpu->curr->unrested / 3);
	}
	lock->owner = NULL;
	for (i = 0; i < sim_world.cpus; i++) {
		struct sim_cpu *other = &sim_cpus[i];

		if (other->spin != lock)
			continue;
		other->spin = NULL;
		other->time = max(other->time, sim_time + sim_rnd(20));
		poke(other->time);
	}
	preempt_enable();
}

/* Sleeping locks. An unlock wakes the waiters of all these locks; they check again. */
static wait_queue_head_t released = { { &released.waiting, &released.waiting } };

static void sleeping_lock(struct task_struct **owner, const char *what)
{
	if (*owner == sim_cpu->curr)
		sim_find("a %s is locked by the task that holds it", what);
	sim_step(SIM_CALL);
	while (*owner)
		wait_event(released, !*owner);
	*owner = sim_cpu->curr;
}

/* The caller then wakes the waiters. */
static void sleeping_unlock(struct task_struct **owner, const char *what)
{
	sim_step(SIM_CALL);
	if (sim_cpu->irqs_off || sim_cpu->curr->count)
		sim_find("a %s is unlocked where a task can't sleep", what);
	if (*owner != sim_cpu->curr)
		sim_find("a %s is unlocked by a task that does not hold it", what);
	*owner = NULL;
}

void mutex_init(struct mutex *mutex)
{
	*mutex = (struct mutex){ .ready = true };
}

void mutex_lock(struct mutex *mutex)
{
	if (!mutex->ready)
		sim_find("a mutex is locked that is not initialized");
	sim_place(__func__);
	sleeping_lock(&mutex->owner, "mutex");
}

void mutex_unlock(struct mutex *mutex)
{
	sleeping_unlock(&mutex->owner, "mutex");
	wake_waiters(&released);
	sim_place(__func__);
}

void spin_lock_init(spinlock_t *lock)
{
	*lock = (spinlock_t){ .ready = true };
}

/* Tasks get the lock in the order in which they ask for it. No task overtakes another. */
void spin_lock(spinlock_t *lock)
{
	unsigned int turn = lock->next++;

	check_sleep(__func__);
	if (!lock->ready)
		sim_find("a spinlock is locked that is not initialized");
	if (lock->owner == sim_cpu->curr)
		sim_find("a spinlock is locked by the task that holds it");
	sim_step(SIM_CALL);
	while (lock->turn != turn)
		wait_event(released, lock->turn == turn);
	lock->owner = sim_cpu->curr;
}

void spin_unlock(spinlock_t *lock)
{
	sleeping_unlock(&lock->owner, "spinlock");
	lock->turn++;
	wake_waiters(&released);
}

void spin_lock_bh(spinlock_t *lock)
{
	local_bh_disable();
	spin_lock(lock);
}

void spin_unlock_bh(spinlock_t *lock)
{
	spin_unlock(lock);
	local_bh_enable();
}

/* ------------------------------------------------------------------------ */
/* Waiting */

void init_waitqueue_head(wait_queue_head_t *wq)
{
	INIT_LIST_HEAD(&wq->waiting);
}

void sim_prepare_to_wait(wait_queue_head_t *wq, struct sim_wait *wait)
{
	sim_step(SIM_CALL);
	wait->task = sim_cpu->curr;
	if (!wait->entry.next)
		list_add_tail(&wait->entry, &wq->waiting);
	wait->task->blocked = true;
	sim_step(SIM_CALL);
}

/* Returns -ERESTARTSYS, and does not prepare, if a signal must end the sleep in @state. */
long sim_prepare_to_wait_event(wait_queue_head_t *wq, struct sim_wait *wait, unsigned int state)
{
	if (signal_pending_state(state, sim_cpu->curr))
		return -ERESTARTSYS;
	sim_cpu->curr->state = state;
	sim_prepare_to_wait(wq, wait);
	return 0;
}

void sim_finish_wait(wait_queue_head_t *wq, struct sim_wait *wait)
{
	sim_cpu->curr->blocked = false;
	sim_cpu->curr->state = TASK_RUNNING;
	sim_step(SIM_CALL);
	if (wait->entry.next)
		list_del(&wait->entry);
}

/*
 * Sleep until somebody wakes the current task, or until sim_time is @end. The caller has
 * prepared the wait. Returns false if sim_time is @end already.
 */
bool sim_wait_until(unsigned long long end)
{
	struct task_struct *task = sim_cpu->curr;

	if (sim_time >= end)
		return false;
	task->wake_at = end;
	irq_at(sim_cpu, end);
	sim_schedule();
	task->wake_at = SIM_NEVER;
	return true;
}

static void wake_waiters(wait_queue_head_t *wq)
{
	sim_step(SIM_CALL);
	while (!list_empty(&wq->waiting)) {
		struct sim_wait *wait = list_first_entry(&wq->waiting, struct sim_wait, entry);

		list_del(&wait->entry);
		sim_wake(wait->task);
	}
	sim_step(SIM_CALL);
}

/*
 * The simulated kernel itself calls wake_waiters(), without this check: such a wakeup takes only
 * raw locks, or the caller holds no raw lock.
 */
void wake_up_all(wait_queue_head_t *wq)
{
	if (SIM_RT && nr_held[sim_cpu->id])
		sim_find("a task is woken with a raw lock held: a wait queue's lock may sleep");
	wake_waiters(wq);
}

bool wq_has_sleeper(wait_queue_head_t *wq)
{
	sim_step(SIM_CALL);
	return !list_empty(&wq->waiting);
}

/* ------------------------------------------------------------------------ */
/* Clocks and hrtimers */

unsigned long long sim_clock_reads;

ktime_t ktime_get(void)
{
	sim_step(SIM_CALL);
	sim_clock_reads++;
	return sim_time;
}

ktime_t ktime_get_boottime(void)
{
	sim_step(SIM_CALL);
	return sim_time + sim_boot_off;
}

/* When somebody sets the clock of wall time, the timekeeping code calls this notifier. */
static struct notifier_block *timekeeping_nb;
static unsigned long long leap_at = KTIME_MAX, leaps_ns;

static void tell_timekeeping(bool was_set)
{
	struct timekeeper tk = {
		.offs_real = sim_wall_off,
		.offs_tai = sim_wall_off + SIM_TAI_NS + leaps_ns,
		.next_leap_ktime = leap_at,
	};

	if (timekeeping_nb)
		timekeeping_nb->notifier_call(timekeeping_nb, was_set, &tk);
}

int pvclock_gtod_register_notifier(struct notifier_block *nb)
{
	timekeeping_nb = nb;
	tell_timekeeping(false);
	return 0;
}

int pvclock_gtod_unregister_notifier(struct notifier_block *nb)
{
	sim_place(__func__);
	timekeeping_nb = NULL;
	return 0;
}

/*
 * As in a kernel, CLOCK_REALTIME becomes neither less than CLOCK_MONOTONIC nor as great as
 * KTIME_MAX.
 */
void sim_set_clock(long long delta)
{
	unsigned long flags;

	local_irq_save(flags);
	if (delta < 0 && sim_wall_off < -(unsigned long long)delta)
		delta = -(long long)sim_wall_off;
	if (delta <= KTIME_MAX / 2 && sim_wall_off + delta <= (KTIME_MAX - sim_time) / 2) {
		oracle_set_clock();
		sim_wall_off += delta;
		sim_sets++;
		tell_timekeeping(true);
	}
	local_irq_restore(flags);
}

/* A leap second will be due at @at. */
void sim_set_leap(unsigned long long at)
{
	unsigned long flags;

	local_irq_save(flags);
	leap_at = at;
	tell_timekeeping(false);
	local_irq_restore(flags);
}

/* A timer tick inserts the leap second, which may have been due for a while. */
void sim_insert_leap(void)
{
	unsigned long flags;

	local_irq_save(flags);
	oracle_set_clock();
	leap_at = KTIME_MAX;
	leaps_ns += NSEC_PER_SEC;
	sim_wall_off -= NSEC_PER_SEC;
	sim_sets++;
	tell_timekeeping(true);
	local_irq_restore(flags);
}

unsigned long sim_jiffies(void)
{
	return sim_time / TICK_NSEC;
}

/* When @timer expires, on CLOCK_MONOTONIC */
static unsigned long long hr_expires(const struct hrtimer *timer)
{
	s64 expires = timer->__expires;

	if (timer->__clock == CLOCK_BOOTTIME)
		expires -= sim_boot_off;
	if (timer->__queued && timer->__queued->curr == timer->__queued->idle)
		expires += timer->__defer;
	return max_t(s64, expires, 0);
}

static struct hrtimer *hr_first(struct sim_cpu *c, bool soft, bool hard)
{
	struct hrtimer *timer, *first = NULL;

	list_for_each_entry(timer, &c->hrtimers, __entry)
		if ((timer->__soft ? soft : hard) &&
		    (!first || hr_expires(timer) < hr_expires(first)))
			first = timer;
	return first;
}

static unsigned long long hr_program(struct sim_cpu *c)
{
	struct hrtimer *first = hr_first(c, !c->soft_active, true);

	/* The late interrupt will not come: its timer is not the first any more. */
	if (c->hr_late && c->hr_wanted < sim_time && (!first || c->hr_wanted != hr_expires(first)))
		oracle_stalled(min(c->hr_late, sim_time - c->hr_wanted));
	if (!first) {
		c->hr_late = 0;
		c->hr_fire = SIM_NEVER;
		c->hr_wanted = SIM_NEVER;
		return SIM_NEVER;
	}
	if (c->hr_wanted != hr_expires(first)) {
		c->hr_wanted = hr_expires(first);
		c->hr_late = 0;
		if (sim_world.late_irq && !(sim_random() % 4))
			c->hr_late = sim_rnd(sim_world.late_irq);
		c->hr_fire = max(c->hr_wanted, sim_time) + c->hr_late;
	}
	return c->hr_fire;
}

/* @c has become idle, or is not idle any more. Its timer_list timers expire later, or sooner. */
static void idle_changes(struct sim_cpu *c)
{
	if (c->curr != c->idle)
		c->awake_at = sim_time;
	if (!c->deferrables)
		return;
	hr_program(c);
	c->irq_next = irq_next(c);
	irq_at(c, c->irq_next);
}

static void hr_dequeue(struct hrtimer *timer)
{
	timer->__queued->deferrables -= timer->__deferrable;
	list_del(&timer->__entry);
	timer->__queued = NULL;
}

static void hr_enqueue(struct hrtimer *timer, struct sim_cpu *c)
{
	list_add_tail(&timer->__entry, &c->hrtimers);
	timer->__queued = c;
	c->deferrables += timer->__deferrable;
	hr_program(c);
	c->irq_next = irq_next(c);
	irq_at(c, c->irq_next);
}

static void hr_call(struct sim_cpu *c, struct hrtimer *timer)
{
	hr_dequeue(timer);
	timer->__running = c;
	if (timer->__soft && !SIM_RT)
		irqs_go_on();
	oracle_hrtimer(timer, false);
	if (timer->__function(timer) != HRTIMER_NORESTART)
		sim_find("an hrtimer asks to be restarted");
	oracle_hrtimer(timer, true);
	sim_step(SIM_CALL);
	if (timer->__soft && !SIM_RT)
		irqs_go_off();
	timer->__running = NULL;
}

static void hr_interrupt(struct sim_cpu *c)
{
	struct hrtimer *timer;

	oracle_stalled(c->hr_late);
	timer = hr_first(c, true, false);
	if (timer && !c->soft_active && hr_expires(timer) <= sim_time) {
		c->soft_active = true;
		c->softirq = true;
	}
	while ((timer = hr_first(c, false, true)) && hr_expires(timer) <= sim_time)
		hr_call(c, timer);
	c->hr_wanted = SIM_NEVER;
	hr_program(c);
}

static void hr_softirq(struct sim_cpu *c)
{
	struct hrtimer *timer;

	local_irq_disable();
	if (SIM_RT)
		irqs_go_on();
	while ((timer = hr_first(c, true, false)) && hr_expires(timer) <= sim_time)
		hr_call(c, timer);
	c->soft_active = false;
	hr_program(c);
	c->irq_next = irq_next(c);
	if (!SIM_RT)
		local_irq_enable();
	irq_at(c, c->irq_next);
}

void hrtimer_setup(struct hrtimer *timer,
		   enum hrtimer_restart (*function)(struct hrtimer *timer),
		   clockid_t clock, enum hrtimer_mode mode)
{
	if (timer->__queued || timer->__running)
		sim_find("an hrtimer is set up while it is armed or runs");
	memset(timer, 0, sizeof(*timer));
	timer->__function = function;
	timer->__clock = clock;
	timer->__soft = mode == HRTIMER_MODE_ABS_PINNED_SOFT;
}

unsigned long long sim_hrtimer_starts;

/* Queue @timer on this CPU, or on the CPU that is running its callback. */
void hrtimer_start(struct hrtimer *timer, ktime_t expires, enum hrtimer_mode mode)
{
	bool soft = mode == HRTIMER_MODE_ABS_PINNED_SOFT;
	struct sim_cpu *c;

	oracle_hrtimer_start(timer, expires);
	sim_hrtimer_starts++;
	sim_step(2 * SIM_CALL);
	if (soft != timer->__soft)
		sim_find("an hrtimer's mode changes");
	if (expires < 0)
		sim_find("an hrtimer is armed for %lld", expires);
	c = timer->__running ?: sim_cpu;
	if (timer->__queued) {
		struct sim_cpu *old = timer->__queued;

		hr_dequeue(timer);
		hr_program(old);
		old->irq_next = irq_next(old);
	}
	timer->__expires = expires;
	hr_enqueue(timer, c);
	sim_step(SIM_CALL);
}

/* Dequeue @timer if it is queued */
static int hr_remove(struct hrtimer *timer)
{
	struct sim_cpu *c = timer->__queued;

	if (!c)
		return 0;
	hr_dequeue(timer);
	hr_program(c);
	c->irq_next = irq_next(c);
	return 1;
}

int hrtimer_try_to_cancel(struct hrtimer *timer)
{
	sim_step(2 * SIM_CALL);
	return timer->__running ? -1 : hr_remove(timer);
}

int hrtimer_cancel(struct hrtimer *timer)
{
	int ret;

	if (nr_held[sim_cpu->id])	/* the callback may wait for this lock */
		sim_find("%s() with a lock held", __func__);
	while ((ret = hrtimer_try_to_cancel(timer)) < 0) {
		if (timer->__running == sim_cpu && !SIM_RT)
			sim_find("%s() waits for its own CPU", __func__);
		if (SIM_RT && timer->__soft)
			sim_sleep(2000);
		else
			cpu_relax();
	}
	return ret;
}

/*
 * timer_list. An hrtimer in softirq context stands in for each timer, and expires when a jiffy
 * begins. An idle CPU runs a deferrable timer late, as if something else woke the CPU then. As in
 * the kernel, a timer with a long delay is late by up to an eighth of it.
 */
static enum hrtimer_restart timer_expired(struct hrtimer *hrtimer)
{
	struct timer_list *timer = container_of(hrtimer, struct timer_list, __hrtimer);

	timer->__function(timer);
	return HRTIMER_NORESTART;
}

void timer_setup(struct timer_list *timer, void (*function)(struct timer_list *timer),
		 unsigned int flags)
{
	if (flags && flags != (TIMER_DEFERRABLE | TIMER_PINNED))
		sim_find("%s() with flags %#x", __func__, flags);
	hrtimer_setup(&timer->__hrtimer, timer_expired, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS_PINNED_SOFT);
	timer->__function = function;
	timer->__hrtimer.__deferrable = flags & TIMER_DEFERRABLE;
}

void add_timer_on(struct timer_list *timer, int cpu)
{
	struct hrtimer *hrtimer = &timer->__hrtimer;
	long delay = timer->expires - jiffies;

	sim_step(2 * SIM_CALL);
	if (hrtimer->__queued)
		sim_find("%s() of a timer that is pending", __func__);
	if (delay > (long)MAX_JIFFY_OFFSET)
		sim_find("%s() with a delay of %ld jiffies", __func__, delay);
	delay = max(delay, 1L);
	if (delay >= 64)
		delay += sim_rnd(delay / 8 + 1);
	hrtimer->__expires = delay > KTIME_MAX / 2 / TICK_NSEC ? KTIME_MAX / 2 :
			     (s64)(jiffies + delay) * TICK_NSEC;
	hrtimer->__defer = sim_rnd(1ULL << sim_rnd(30));
	hr_enqueue(hrtimer, cpu_online(cpu) ? &sim_cpus[cpu] : sim_cpu);
	sim_step(SIM_CALL);
}

int sim_timer_delete(struct timer_list *timer)
{
	sim_step(2 * SIM_CALL);
	return hr_remove(&timer->__hrtimer);
}

int timer_delete_sync(struct timer_list *timer)
{
	return hrtimer_cancel(&timer->__hrtimer);
}

/* Does any CPU or task have interrupts, preemption or softirqs off? */
static bool in_atomic_anywhere(void)
{
	unsigned int i;

	for (i = 0; i < sim_world.cpus; i++)
		if (sim_cpus[i].irqs_off && sim_cpus[i].online)
			return true;
	for (i = 0; i < (unsigned int)nr_tasks; i++)
		if (!tasks[i].dead && (tasks[i].count || tasks[i].bh))
			return true;
	return false;
}

void sim_suspend(unsigned long long ns)
{
	unsigned int i;

	while (in_atomic_anywhere())
		sim_sleep(1000);
	sim_boot_off += ns;
	for (i = 0; i < sim_world.cpus; i++) {
		struct sim_cpu *c = &sim_cpus[i];

		if (c->dead)
			continue;
		hr_program(c);
		/* irq_at() keeps an earlier interrupt: a suspend delays no hrtimer */
		irq_at(c, irq_next(c));
	}
}

/* ------------------------------------------------------------------------ */
/* Interrupts from one CPU to another */

static void send(struct sim_cpu *c, call_single_data_t *csd)
{
	call_single_data_t **tail = &c->csd;

	csd->arrives = sim_time + IPI_NS + sim_rnd(sim_world.jitter);
	if (sim_world.late_irq && !(sim_random() % 8)) {
		unsigned int ns = sim_rnd(sim_world.late_irq);

		csd->arrives += ns;
		oracle_stalled(ns);
	}
	csd->next = NULL;
	while (*tail)
		tail = &(*tail)->next;
	*tail = csd;
	irq_at(c, csd->arrives);
}

int smp_call_function_single_async(int cpu, call_single_data_t *csd)
{
	struct sim_cpu *c = &sim_cpus[cpu];
	unsigned long flags;

	sim_step(SIM_CALL);
	oracle_interrupt(csd->info, cpu);
	if (csd->locked)
		return -EBUSY;
	csd->locked = true;
	sim_step(SIM_CALL);
	if (c == sim_cpu) {
		csd->locked = false;
		local_irq_save(flags);
		csd->func(csd->info);
		local_irq_restore(flags);
		return 0;
	}
	if (!c->online) {
		csd->locked = false;
		return -ENXIO;
	}
	send(c, csd);
	return 0;
}

bool irq_work_queue(struct irq_work *work)
{
	struct irq_work **tail = &sim_cpu->irq_work;

	sim_step(SIM_CALL);
	oracle_interrupt(NULL, sim_cpu->id);
	if (work->pending)
		return false;
	work->pending = true;
	work->busy = true;
	work->arrives = sim_time + IPI_NS + sim_rnd(sim_world.late_irq);
	work->next = NULL;
	tail = &sim_cpu->irq_work;
	while (*tail)
		tail = &(*tail)->next;
	*tail = work;
	irq_at(sim_cpu, work->arrives);
	return true;
}

bool irq_work_is_busy(struct irq_work *work)
{
	sim_step(SIM_READ);
	return work->pending || work->busy;
}

void irq_work_sync(struct irq_work *work)
{
	while (irq_work_is_busy(work))
		sim_sleep(1000);
}

/* ------------------------------------------------------------------------ */
/* Workqueues */

#define UNBOUND		SIM_CPUS

static struct pool {
	struct list_head	works;
	int			running;	/* workers that do not sleep */
} pools[SIM_CPUS + 1];

static struct workqueue_struct percpu_wq, dfl_wq = { .unbound = true };
struct workqueue_struct *system_percpu_wq = &percpu_wq, *system_dfl_wq = &dfl_wq;
/* As alloc_ordered_workqueue() makes them: one work at a time */
struct workqueue_struct sim_ordered_wqs[2] = {
	{ .unbound = true, .most = 1 }, { .unbound = true, .most = 1 }
};

static wait_queue_head_t work_done = { { &work_done.waiting, &work_done.waiting } };

/* A call of flush_work(): it waits for a run of @work. */
struct flusher {
	struct flusher		*next;
	struct work_struct	*work;
	struct task_struct	*worker;	/* NULL until the run begins */
	bool			done;
};

static struct flusher *flushers;

/* The worker that runs @work; or NULL. The function may have freed @work. */
static struct task_struct *worker_of(const struct work_struct *work)
{
	int i;

	for (i = 0; i < nr_tasks; i++)
		if (tasks[i].work == work && !tasks[i].dead)
			return &tasks[i];
	return NULL;
}

/* Is @work queued, or does its function run? */
bool sim_work_busy(const struct work_struct *work)
{
	return work->pending || worker_of(work);
}

/*
 * The work to run next. Only one worker at a time may run a work. This holds in a kernel
 * only if nobody queues the work on another workqueue while it runs.
 */
static struct work_struct *next_work(struct pool *pool)
{
	struct work_struct *work;

	list_for_each_entry(work, &pool->works, entry)
		if (!worker_of(work) && (!work->wq->most || work->wq->active < work->wq->most))
			return work;
	return NULL;
}

static bool bound(const struct pool *pool)
{
	return pool != &pools[UNBOUND] && sim_cpus[pool - pools].online;
}

static void more_workers(struct pool *pool);

/* Interrupts are off while the work is in no list and still pending, as in a kernel. */
static void run_work(struct pool *pool, struct work_struct *work)
{
	struct task_struct *task = sim_cpu->curr;
	struct workqueue_struct *wq = work->wq;
	struct flusher *flusher;
	unsigned int i;

	irqs_go_off();
	list_del(&work->entry);
	task->work = work;
	task->wq = wq;
	wq->active++;
	sim_step(SIM_CALL);
	for (flusher = flushers; flusher; flusher = flusher->next)
		if (flusher->work == work && !flusher->worker)
			flusher->worker = task;
	oracle_work_begins(work);
	work->pending = false;
	irqs_go_on();
	sim_step(SIM_CALL);
	task->work_begun = sim_time;
	work->func(work);		/* may free @work */
	task->unrested = 0;		/* a worker calls cond_resched() between works */
	if (task->count || sim_cpu->irqs_off)
		sim_find("a work returned with preempt_count %x", task->count);
	sim_step(SIM_CALL);
	for (flusher = flushers; flusher; flusher = flusher->next)
		flusher->done |= flusher->worker == task;
	task->work = NULL;
	wq->active--;
	wake_waiters(&work_done);
	for (i = 0; i <= SIM_CPUS; i++)		/* works that waited for this one */
		if (&pools[i] != pool && !list_empty(&pools[i].works))
			more_workers(&pools[i]);
}

static void worker_main(void *arg)
{
	struct task_struct *task = sim_cpu->curr;
	struct pool *pool = arg;
	struct work_struct *work;

	for (;;) {
		while ((work = next_work(pool))) {
			if (bound(pool) && sim_cpu != &sim_cpus[pool - pools]) {
				migrate_to(&sim_cpus[pool - pools]);
				continue;
			}
			run_work(pool, work);
			if (bound(pool) && pool->running > 1)
				break;
		}
		task->idle_worker = true;
		task->blocked = true;
		if (next_work(pool) && !(bound(pool) && pool->running > 1)) {
			task->blocked = false;
			task->idle_worker = false;
			continue;
		}
		sim_schedule();
		task->idle_worker = false;
	}
}

/* Wake or create a worker, if @pool needs one. */
static void more_workers(struct pool *pool)
{
	struct task_struct *worker = NULL;
	int i, cpu = pool - pools;

	if (!next_work(pool) || (bound(pool) && pool->running))
		return;
	for (i = 0; i < nr_tasks; i++)
		if (tasks[i].idle_worker && tasks[i].blocked && tasks[i].pool == cpu)
			worker = &tasks[i];
	if (!worker) {
		worker = task_new("worker", cpu == UNBOUND ? any_online()->id : cpu, worker_main,
				  pool);
		worker->pool = cpu;
	}
	if (cpu == UNBOUND)
		worker->cpu = any_online();
	else if (bound(pool))
		worker->cpu = &sim_cpus[cpu];
	worker->idle_worker = false;
	sim_wake(worker);
}

static void worker_runs(struct task_struct *task)
{
	pools[task->pool].running++;
}

static void worker_sleeps(struct task_struct *task)
{
	pools[task->pool].running--;
	more_workers(&pools[task->pool]);
}

/* Does a worker have @work? It keeps @work for a moment after the function has returned. */
bool sim_work_runs(const struct work_struct *work)
{
	return worker_of(work);
}

bool queue_work_on(int cpu, struct workqueue_struct *wq, struct work_struct *work)
{
	struct task_struct *worker;
	unsigned long flags;
	struct pool *pool;

	sim_step(SIM_CALL);
	local_irq_save(flags);
	if (work->pending || work->cancelling) {
		local_irq_restore(flags);
		return false;
	}
	work->pending = true;
	work->wq = wq;
	sim_step(SIM_CALL);
	pool = &pools[wq->unbound ? UNBOUND : cpu < 0 ? sim_cpu->id : cpu];
	worker = worker_of(work);
	if (worker && worker->wq == wq)		/* it runs: queue it in the same pool */
		pool = &pools[worker->pool];
	list_add_tail(&work->entry, &pool->works);
	oracle_work_queued(work, wq, cpu);
	more_workers(pool);
	sim_step(SIM_CALL);		/* the work may run, and may free @work */
	local_irq_restore(flags);
	return true;
}

bool queue_work(struct workqueue_struct *wq, struct work_struct *work)
{
	sim_place(__func__);
	return queue_work_on(sim_cpu->id, wq, work);
}

/* Take @work off its list. Its function may be about to begin on another CPU: then wait. */
bool cancel_work(struct work_struct *work)
{
	struct flusher *flusher;

	for (;;) {
		sim_step(SIM_CALL);
		if (!work->pending)
			return false;
		if (work->entry.next)
			break;
		cpu_relax();
	}
	list_del(&work->entry);
	work->pending = false;
	oracle_work_cancelled(work);
	for (flusher = flushers; flusher; flusher = flusher->next)
		flusher->done |= flusher->work == work && !flusher->worker;
	wake_waiters(&work_done);
	return true;
}

bool cancel_work_sync(struct work_struct *work)
{
	bool pending;

	sim_might_sleep(__func__);
	work->cancelling++;
	pending = cancel_work(work);
	wait_event(work_done, !worker_of(work));
	work->cancelling--;
	return pending;
}

/* Delayed work. While its timer is pending, its work is pending, and in no list. */
static void delayed_work_expired(struct timer_list *timer)
{
	struct delayed_work *dwork = container_of(timer, struct delayed_work, timer);

	dwork->work.pending = false;
	queue_work_on(sim_cpu->id, dwork->wq, &dwork->work);
}

void sim_delayed_work_init(struct delayed_work *dwork, void (*func)(struct work_struct *work))
{
	INIT_WORK(&dwork->work, func);
	timer_setup(&dwork->timer, delayed_work_expired, 0);
}

bool queue_delayed_work(struct workqueue_struct *wq, struct delayed_work *dwork,
			unsigned long delay)
{
	sim_place(__func__);
	if (!delay)
		return queue_work_on(sim_cpu->id, wq, &dwork->work);
	if (dwork->work.pending || dwork->work.cancelling)
		return false;
	dwork->work.pending = true;
	dwork->wq = wq;
	dwork->timer.expires = jiffies + delay;
	add_timer_on(&dwork->timer, sim_cpu->id);
	return true;
}

bool cancel_delayed_work_sync(struct delayed_work *dwork)
{
	bool pending;

	dwork->work.cancelling++;
	pending = timer_delete_sync(&dwork->timer);
	if (pending)
		dwork->work.pending = false;
	pending |= cancel_work_sync(&dwork->work);
	dwork->work.cancelling--;
	return pending;
}

/* Waits for the run of a work that is pending, else for the run that is under way. */
bool flush_work(struct work_struct *work)
{
	struct flusher flusher = { .work = work }, **link;

	sim_might_sleep(__func__);
	if (!work->pending) {
		flusher.worker = worker_of(work);
		if (!flusher.worker)
			return false;
	}
	flusher.next = flushers;
	flushers = &flusher;
	wait_event(work_done, flusher.done);
	for (link = &flushers; *link != &flusher; link = &(*link)->next)
		;
	*link = flusher.next;
	return true;
}

/* The work whose function calls this; or NULL */
struct work_struct *current_work(void)
{
	return in_interrupt() ? NULL : sim_cpu->curr->work;
}

/* ------------------------------------------------------------------------ */
/* CPU hotplug */

static int (*cpuhp_online)(unsigned int cpu), (*cpuhp_dead)(unsigned int cpu);
static wait_queue_head_t hotplug = { { &hotplug.waiting, &hotplug.waiting } };
static int hotplug_readers;
static struct task_struct *hotplug_writer;

bool cpu_online(unsigned int cpu)
{
	return sim_cpus[cpu].online;
}

bool cpu_possible(unsigned int cpu)
{
	if (cpu >= nr_cpu_ids)
		sim_find("%s(%d)", __func__, (int)cpu);
	return cpu < sim_world.cpus;
}

void cpus_read_lock(void)
{
	sim_step(SIM_CALL);
	while (hotplug_writer)
		wait_event(hotplug, !hotplug_writer);
	hotplug_readers++;
}

void cpus_read_unlock(void)
{
	hotplug_readers--;
	wake_waiters(&hotplug);
}

bool static_key_enabled(const struct static_key_false *key)
{
	return key->enabled;
}

static void hotplug_step(void)
{
	sim_hotplugs++;
	sim_hotplug_at = sim_time;
}

static void hotplug_begin(void)
{
	while (hotplug_writer)
		wait_event(hotplug, !hotplug_writer);
	hotplug_writer = sim_cpu->curr;
	wait_event(hotplug, !hotplug_readers);
}

static void hotplug_end(void)
{
	hotplug_writer = NULL;
	wake_waiters(&hotplug);
}

int cpuhp_setup_state_nocalls(int state, const char *name, int (*startup)(unsigned int cpu),
			      int (*teardown)(unsigned int cpu))
{
	if (sim_world.no_cpuhp)
		return -ENOMEM;
	cpus_read_lock();
	if (state == CPUHP_BP_PREPARE_DYN && !startup)
		cpuhp_dead = teardown;
	else if (state == CPUHP_AP_ONLINE_DYN && !teardown)
		cpuhp_online = startup;
	else
		sim_find("a cpuhp state with other callbacks");
	cpus_read_unlock();
	return 100 + state;
}

void cpuhp_remove_state_nocalls(int state)
{
	cpus_read_lock();
	if (state == 100 + CPUHP_BP_PREPARE_DYN && cpuhp_dead)
		cpuhp_dead = NULL;
	else if (state == 100 + CPUHP_AP_ONLINE_DYN && cpuhp_online)
		cpuhp_online = NULL;
	else
		sim_find("cpuhp state %d is removed", state);
	cpus_read_unlock();
}

/* Take the current CPU down. Only this task runs there. */
static void take_down(void *arg)
{
	struct sim_cpu *c = sim_cpu, *other = arg;
	struct task_struct *task, *n;
	struct hrtimer *timer;
	int i;

	while (c->bh_owner)		/* on PREEMPT_RT, a task that can't leave the CPU */
		wait_event(bh_free, !c->bh_owner);
	irqs_go_off();
	c->curr->count += HARDIRQ_OFFSET;
	c->online = false;
	run_calls(c, true);
	c->curr->count -= HARDIRQ_OFFSET;
	while (!list_empty(&c->hrtimers)) {
		timer = list_first_entry(&c->hrtimers, struct hrtimer, __entry);
		hr_dequeue(timer);
		hr_enqueue(timer, other);
	}
	for (i = 0; i < nr_tasks; i++) {
		if (tasks[i].cpu != c || (tasks[i].pinned && tasks[i].prio))
			continue;
		if (tasks[i].call)
			oracle_moved(tasks[i].call, other->id);
		if (!tasks[i].queued)
			tasks[i].cpu = other;
	}
	list_for_each_entry_safe(task, n, &c->runq, entry) {
		if (task == c->ksoftirqd || (task->pinned && task->prio))
			continue;
		list_del(&task->entry);
		enqueue(task, other);
	}
	other->irq_next = irq_next(other);
	irq_at(other, other->irq_next);
	c->softirq = false;
	c->soft_active = false;
	c->hr_fire = SIM_NEVER;
	c->hr_wanted = SIM_NEVER;
	c->irq_next = SIM_NEVER;
	sim_horizon = SIM_NEVER;	/* no other CPU may run before @c is dead */
	c->dead = true;
	wake_waiters(&hotplug);
	while (c->dead)
		settle();
	irqs_go_on();
}

struct static_key_false housekeeping_overridden;

bool housekeeping_test_cpu(int cpu, enum hk_type type)
{
	return !(sim_world.nohz_full & BIT(cpu));
}

bool cpu_is_isolated(int cpu)
{
	return sim_world.isolcpus & BIT(cpu);
}

/* For HK_TYPE_DOMAIN one CPU after the other. At least one CPU of each type stays online */
int housekeeping_any_cpu(enum hk_type type)
{
	unsigned long isolated = type == HK_TYPE_TIMER ? sim_world.nohz_full : sim_world.isolcpus;
	static unsigned int last;
	unsigned int i = type == HK_TYPE_TIMER ? 0 : ++last % sim_world.cpus;

	if (!isolated)
		return sim_cpu->id;
	while (isolated & BIT(i) || !sim_cpus[i].online)
		i = (i + 1) % sim_world.cpus;
	return i;
}

bool sim_isolated(int cpu)
{
	return (sim_world.nohz_full | sim_world.isolcpus) & BIT(cpu);
}

/* As in a kernel, at least one CPU that is not isolated stays online. */
bool sim_cpu_down(int cpu)
{
	struct sim_cpu *c = &sim_cpus[cpu];
	struct task_struct *task;
	unsigned int i, online = 0;
	int was = sim_cpu->curr->pinned;

	hotplug_begin();
	for (i = 0; i < sim_world.cpus; i++)
		online += sim_cpus[i].online && !sim_isolated(i) && i != (unsigned int)cpu;
	if (!c->online || !online) {
		hotplug_end();
		return false;
	}
	hotplug_step();
	while (sim_cpu == c) {		/* leave @c */
		for (i = 0; !sim_cpus[i].online || &sim_cpus[i] == c; i++)
			;
		migrate_to(&sim_cpus[i]);
	}
	sim_cpu->curr->pinned = true;
	task = task_new("stopper", cpu, take_down, sim_cpu);
	task->pinned = true;
	task->prio = 2;
	sim_wake(task);
	wait_event(hotplug, c->dead);
	sim_cpu->curr->pinned = was;
	sim_step(sim_rnd(20000));
	if (cpuhp_dead && cpuhp_dead(cpu))
		sim_find("a CPU goes offline in vain");
	hotplug_step();
	hotplug_end();
	return true;
}

/* On a CPU that is online again */
static void bring_up(void *arg)
{
	bool *up = arg;

	if (cpuhp_online && cpuhp_online(sim_cpu->id))
		sim_find("a CPU comes online in vain");
	*up = true;
	wake_waiters(&hotplug);
}

bool sim_cpu_up(int cpu)
{
	struct sim_cpu *c = &sim_cpus[cpu];
	struct task_struct *task;
	bool up = false;

	hotplug_begin();
	if (c->online) {
		hotplug_end();
		return false;
	}
	hotplug_step();
	sim_run(sim_rnd(20000));
	c->time = sim_time;
	c->online = true;
	c->dead = false;
	poke(c->time);
	sim_run(sim_rnd(2000));
	task = task_new("cpuhp", cpu, bring_up, &up);
	task->pinned = true;
	sim_wake(task);
	wait_event(hotplug, up);
	hotplug_step();
	hotplug_end();
	return true;
}

/* ------------------------------------------------------------------------ */
/* Memory */

long sim_allocs, sim_alloc_fail_at = -1, sim_alloc_fails, sim_allocs_failed;
unsigned long long sim_alloc_failed_at;
static long allocs_made;

struct chunk {
	size_t		size;
	unsigned long	magic;
	char		pad[48];
} __aligned(64);

#ifdef __SANITIZE_ADDRESS__
#define TAIL		0	/* the sanitizer finds such writes itself */
#else
#define TAIL		64	/* bytes after the memory: nobody may write to them */
#endif
#define MAGIC_USED	0x5ca1ab1edecade01UL
#define MAGIC_FREE	0xdeadbeefdeadbeefUL

static bool alloc_fails(void)
{
	sim_might_sleep("kmalloc");
	sim_step(300);
	allocs_made++;
	if (sim_alloc_fail_at < 0 || allocs_made <= sim_alloc_fail_at || !sim_alloc_fails)
		return false;
	sim_alloc_fails--;
	sim_allocs_failed++;
	sim_alloc_failed_at = sim_time;
	return true;
}

void sim_fail_allocs(long after, long n)
{
	sim_alloc_fail_at = allocs_made + after;
	sim_alloc_fails = n;
}

void *sim_alloc(size_t size, bool zero)
{
	struct chunk *chunk;
	size_t i;

	if (alloc_fails())
		return NULL;
	chunk = aligned_alloc(64, (sizeof(*chunk) + size + TAIL + 63) & ~63UL);
	chunk->size = size;
	chunk->magic = MAGIC_USED;
	memset(chunk + 1, zero ? 0 : 0x5a, size);
	for (i = size; i < size + TAIL; i++)
		((char *)(chunk + 1))[i] = 0x6b;
	sim_allocs++;
	return chunk + 1;
}

#ifndef __SANITIZE_ADDRESS__
/* Overwrite freed memory, and keep it for a while, to find writes to it. */
static struct chunk *quarantine[256];

static void check_freed(const struct chunk *chunk)
{
	const unsigned char *p = (void *)(chunk + 1);
	size_t i;

	for (i = 0; chunk && i < chunk->size + TAIL; i++)
		if (p[i] != 0x6b)
			sim_find("%s memory of %zu bytes was written to, at offset %zu",
				 i < chunk->size ? "freed" : "beyond", chunk->size, i);
}

static void poison(struct chunk *chunk)
{
	static unsigned int n;
	struct chunk **place = &quarantine[n++ % ARRAY_SIZE(quarantine)];

	memset(chunk + 1, 0x6b, chunk->size);
	check_freed(*place);
	free(*place);
	*place = chunk;
}

static void check_quarantine(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(quarantine); i++)
		check_freed(quarantine[i]);
}
#else
static void check_quarantine(void)
{
}
#endif

void sim_free(const void *ptr)
{
	struct chunk *chunk;

	if (!ptr)
		return;
	chunk = (struct chunk *)ptr - 1;
	sim_step(SIM_CALL);
	if (chunk->magic != MAGIC_USED)
		sim_find("bad free: %s", chunk->magic == MAGIC_FREE ? "freed twice" : "no memory");
	sim_allocs--;
	chunk->magic = MAGIC_FREE;
#ifdef __SANITIZE_ADDRESS__
	free(chunk);
#else
	poison(chunk);
#endif
}

void sim_seq_begin(unsigned int sequence)
{
	if (sequence % 2)
		sim_find("a reader waits for a writer that does not end");
}

/* As in the kernel, it may sleep: the memory may be vmalloc()'s. */
void sim_kvfree(const void *ptr)
{
	if (ptr && (sim_cpu->curr->count || sim_cpu->irqs_off))
		sim_find("kvfree() may sleep, with preempt_count %x, irqs %s",
			 sim_cpu->curr->count, sim_cpu->irqs_off ? "off" : "on");
	sim_free(ptr);
}

size_t sim_allocated(const void *ptr)
{
	return ptr ? ((const struct chunk *)ptr)[-1].size : 0;
}

#define PERCPU_SIZE	(8UL << 20)

static char *percpu;
static size_t percpu_used;
static struct {
	size_t at, size;
} percpu_live[64];			/* allocations; size is 0 if there is none */

static bool in_percpu(const void *ptr)
{
	return ptr >= (void *)percpu && ptr < (void *)percpu + SIM_CPUS * PERCPU_SIZE;
}

static void percpu_init(void)
{
	int cpu;

	percpu = mmap(NULL, SIM_CPUS * PERCPU_SIZE, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	percpu_used = (__stop_sim_percpu - __start_sim_percpu + 63) & ~63UL;
	for (cpu = 0; cpu < SIM_CPUS; cpu++)
		memcpy(percpu + cpu * PERCPU_SIZE, __start_sim_percpu,
		       __stop_sim_percpu - __start_sim_percpu);
}

void *sim_per_cpu(const void *ptr, int cpu)
{
	if ((unsigned int)cpu >= sim_world.cpus)
		sim_find("CPU %d has no per-CPU data", cpu);
	return (char *)ptr - __start_sim_percpu + percpu + cpu * PERCPU_SIZE;
}

void *sim_alloc_percpu(size_t size, size_t align)
{
	size_t at;
	int cpu, i = 0;

	if (alloc_fails())
		return NULL;
	while (percpu_live[i].size)
		if (++i == ARRAY_SIZE(percpu_live))
			sim_find("too many per-CPU allocations");
	at = (percpu_used + align - 1) & -align;
	percpu_used = at + size;
	if (percpu_used > PERCPU_SIZE)
		sim_find("out of per-CPU memory");
	for (cpu = 0; cpu < SIM_CPUS; cpu++)
		memset(percpu + cpu * PERCPU_SIZE + at, 0, size);
	percpu_live[i].at = at;
	percpu_live[i].size = size;
	sim_allocs++;
	return __start_sim_percpu + at;
}

/* Overwrites the memory, and never allocates it again, so that a use after free is found. */
void free_percpu(void *ptr)
{
	size_t at = (char *)ptr - __start_sim_percpu;
	int cpu, i;

	if (!ptr)
		return;
	sim_step(SIM_CALL);
	sim_allocs--;
	for (i = 0; !percpu_live[i].size || percpu_live[i].at != at;)
		if (++i == ARRAY_SIZE(percpu_live))
			sim_find("per-CPU memory freed that was not allocated");
	for (cpu = 0; cpu < SIM_CPUS; cpu++)
		memset(percpu + cpu * PERCPU_SIZE + at, 0x6b, percpu_live[i].size);
	percpu_live[i].size = 0;
}

/* ------------------------------------------------------------------------ */
/* debugfs and seq_file */

struct dentry {
	char			name[64];
	struct dentry		*parent, *next;
	void			*data;
	const struct file_operations *fops;
	int			readers;
	bool			removed;
};

static struct dentry *dentries;
static wait_queue_head_t debugfs_readers = {
	{ &debugfs_readers.waiting, &debugfs_readers.waiting }
};

struct dentry *debugfs_create_file(const char *name, umode_t mode, struct dentry *parent,
				   void *data, const struct file_operations *fops)
{
	struct dentry *dentry;

	for (dentry = dentries; dentry; dentry = dentry->next)
		if (dentry->parent == parent && !strcmp(dentry->name, name) && !dentry->removed)
			sim_find("debugfs: %s exists already", name);
	if (parent && parent->removed)
		sim_find("debugfs: %s is created in a folder that was removed", name);
	if (!parent && strcmp(name, "hwheel"))
		sim_find("debugfs: %s goes to the root", name);
	if (mode != (fops ? 0400 : 0))
		sim_find("debugfs: the mode of %s is %o", name, mode);
	sim_might_sleep(__func__);
	dentry = calloc(1, sizeof(*dentry));
	snprintf(dentry->name, sizeof(dentry->name), "%s", name);
	dentry->parent = parent;
	dentry->data = data;
	dentry->fops = fops;
	dentry->next = dentries;
	dentries = dentry;
	return dentry;
}

struct dentry *debugfs_create_dir(const char *name, struct dentry *parent)
{
	return debugfs_create_file(name, 0000, parent, NULL, NULL);
}

void debugfs_remove(struct dentry *dir)
{
	struct dentry *dentry;

	if (dir->removed)
		sim_find("debugfs: %s is removed twice", dir->name);
	dir->removed = true;
	wait_event(debugfs_readers, !dir->readers);
	for (dentry = dentries; dentry; dentry = dentry->next)
		if (dentry->parent == dir && !dentry->removed)
			debugfs_remove(dentry);
}

unsigned int sim_reads;

static struct dentry *find_dentry(const char *dir, const char *name)
{
	struct dentry *dentry;

	for (dentry = dentries; dentry; dentry = dentry->next)
		if (dentry->parent && !strcmp(dentry->name, name) && !dentry->removed &&
		    !dentry->parent->removed && !strcmp(dentry->parent->name, dir))
			break;
	return dentry;
}

static char *read_file(const char *dir, const char *name, size_t chunk, bool again)
{
	struct dentry *dentry;
	struct inode inode;
	struct file file = { };
	size_t size = 1 << 16, n = 0;
	loff_t pos = 0;
	ssize_t got;
	char *text;

	dentry = find_dentry(dir, name);
	if (!dentry)
		return NULL;
	inode.i_private = dentry->data;
	dentry->readers++;
	got = dentry->fops->open(&inode, &file);
	dentry->readers--;
	wake_waiters(&debugfs_readers);
	if (got > 0)
		sim_find("open() of file %s returns %zd", name, got);
	if (got)
		return NULL;
	text = malloc(size);
	for (;;) {
		if (dentry->removed)
			break;
		dentry->readers++;
		sim_reads++;
		if (n + chunk + 1 > size)
			text = realloc(text, size *= 2);
		got = dentry->fops->read(&file, text + n, chunk, &pos);
		dentry->readers--;
		wake_waiters(&debugfs_readers);
		if (!got && again) {
			again = false;
			n = 0;
			pos = dentry->fops->llseek(&file, 0, SEEK_SET);
			continue;
		}
		if (got <= 0)
			break;
		n += got;
	}
	if (dentry->removed || got < 0) {
		free(text);
		text = NULL;
	} else {
		text[n] = 0;
	}
	dentry->fops->release(&inode, &file);
	return text;
}

int kstrtouint_from_user(const char __user *text, size_t size, unsigned int base,
			 unsigned int *number)
{
	char *end;

	*number = strtoul(text, &end, base);
	return end != text && (size_t)(end - text) == size ? 0 : -EINVAL;
}

ssize_t sim_write_file(const char *dir, const char *name, const char *text)
{
	struct dentry *dentry = find_dentry(dir, name);
	struct inode inode = { .i_private = dentry->data };
	struct file file = { };
	loff_t pos = 0;
	ssize_t got;

	if (dentry->fops->open(&inode, &file))
		return -ENOMEM;
	got = dentry->fops->write(&file, text, strlen(text), &pos);
	dentry->fops->release(&inode, &file);
	return got;
}

char *sim_read_file(const char *dir, const char *name, size_t chunk)
{
	return read_file(dir, name, chunk, false);
}

/* Read the file, go back to its beginning, and read it again. Returns the second text. */
char *sim_read_again(const char *dir, const char *name, size_t chunk)
{
	return read_file(dir, name, chunk, true);
}

static struct seq_file *seq_new(struct file *file)
{
	struct seq_file *m = calloc(1, sizeof(*m));

	file->private_data = m;
	return m;
}

int seq_open(struct file *file, const struct seq_operations *op)
{
	sim_might_sleep(__func__);
	seq_new(file)->op = op;
	return 0;
}

void *__seq_open_private(struct file *file, const struct seq_operations *op, int size)
{
	void *private = sim_alloc(size, true);

	if (!private)
		return NULL;
	seq_open(file, op);
	((struct seq_file *)file->private_data)->private = private;
	return private;
}

int single_open(struct file *file, int (*show)(struct seq_file *m, void *v), void *data)
{
	struct seq_file *m;

	sim_might_sleep(__func__);
	m = seq_new(file);
	m->show = show;
	m->private = data;
	return 0;
}

static int seq_show(struct seq_file *m, void *v)
{
	sim_place(__func__);
	return m->op ? m->op->show(m, v) : m->show(m, v);
}

static void *seq_start(struct seq_file *m)
{
	if (m->op)
		return m->op->start(m, &m->index);
	return m->index ? NULL : SEQ_START_TOKEN;
}

static void *seq_next(struct seq_file *m, void *v)
{
	if (m->op)
		return m->op->next(m, v, &m->index);
	m->index++;
	return NULL;
}

/*
 * Fill the buffer with rows from m->index on, until it has @wanted bytes or the next row does
 * not fit. If the first row does not fit, the buffer grows.
 */
static int seq_fill(struct seq_file *m, size_t wanted)
{
	void *v;
	int err = 0;

	m->from = 0;
	m->count = 0;
	if (!m->size) {
		m->size = PAGE_SIZE;
		m->buf = malloc(m->size);
	}
	v = seq_start(m);
	while (v && !IS_ERR(v)) {
		size_t before = m->count;
		loff_t index = m->index;

		m->overflow = false;
		err = seq_show(m, v);
		if (err < 0)
			break;
		if (err == SEQ_SKIP)
			m->count = before;
		err = 0;
		if (m->overflow) {
			if (before) {		/* this row begins the next buffer */
				m->count = before;
				m->index = index;
				break;
			}
			if (m->op)
				m->op->stop(m, v);
			m->size *= 2;
			m->buf = realloc(m->buf, m->size);
			m->count = 0;
			v = seq_start(m);
			continue;
		}
		v = seq_next(m, v);
		if (m->count >= wanted)
			break;
	}
	if (m->op)
		m->op->stop(m, v);
	return IS_ERR(v) && !m->count ? PTR_ERR(v) : err;	/* first come the rows before it */
}

ssize_t seq_read(struct file *file, char __user *to, size_t size, loff_t *pos)
{
	struct seq_file *m = file->private_data;
	size_t n;
	int err;

	sim_might_sleep(__func__);
	if (m->from == m->count) {
		err = seq_fill(m, size);
		if (err)
			return err;
	}
	n = min(size, m->count - m->from);
	memcpy(to, m->buf + m->from, n);
	m->from += n;
	*pos += n;
	return n;
}

loff_t seq_lseek(struct file *file, loff_t offset, int whence)
{
	struct seq_file *m = file->private_data;

	if (offset || whence != SEEK_SET)
		return -EINVAL;
	m->index = 0;
	m->from = 0;
	m->count = 0;
	return 0;
}

int seq_release(struct inode *inode, struct file *file)
{
	struct seq_file *m = file->private_data;

	sim_might_sleep(__func__);
	free(m->buf);
	free(m);
	return 0;
}

int seq_release_private(struct inode *inode, struct file *file)
{
	sim_free(((struct seq_file *)file->private_data)->private);
	return seq_release(inode, file);
}

int single_release(struct inode *inode, struct file *file)
{
	return seq_release(inode, file);
}

void seq_printf(struct seq_file *m, const char *format, ...)
{
	va_list args;
	size_t n;

	sim_step(100);
	va_start(args, format);
	n = vsnprintf(m->buf + m->count, m->size - m->count, format, args);
	va_end(args);
	if (m->count + n >= m->size) {
		m->overflow = true;
		m->count = m->size;
	} else {
		m->count += n;
	}
}

/* Half of all functions are in a module */
static const char *module_of(unsigned long function)
{
	return function / 16 % 2 ? " [sim]" : "";
}

/* As the kernel shows a function. A pointer that is no function has no name. */
int sim_function_name(char *name, size_t size, const char *format, const void *function)
{
	bool known = (const char *)function >= __executable_start && (const char *)function < etext;
	unsigned long address = (unsigned long)function;

	if (strcmp(format, "%ps"))
		sim_find("snprintf(\"%s\")", format);
	memset(name, '?', size);
	if (known)
		return snprintf(name, size, "f%lx%s", address, module_of(address));
	return snprintf(name, size, "0x%016lx", address);
}

/* The address of the function whose name in a file is the word @name. 0 if this is no such name */
unsigned long sim_named(const char *name)
{
	unsigned long address;
	int n = 0;

	if (sscanf(name, "f%lx%n", &address, &n) != 1)
		return 0;
	name += n;
	if (*module_of(address)) {
		name += *name == ' ';
		if (strncmp(name, "[sim]", 5))
			return 0;
		name += 5;
	}
	return !*name || *name == ' ' || *name == '\n' ? address : 0;
}

void seq_puts(struct seq_file *m, const char *s)
{
	seq_printf(m, "%s", s);
}

void seq_putc(struct seq_file *m, char c)
{
	seq_printf(m, "%c", c);
}

/* ------------------------------------------------------------------------ */

char sim_said[300];
unsigned int sim_lines;

int sim_printk(const char *format, ...)
{
	va_list args;

	sim_lines++;
	va_start(args, format);
	vsnprintf(sim_said, sizeof(sim_said), format, args);
	va_end(args);
	if (sim_world.verbose)
		printf("%s", sim_said);
	return 0;
}

bool sim_warn(const char *file, int line, const char *format, ...)
{
	char text[300];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	text[strcspn(text, "\n")] = 0;
	if (holds_base())	/* the console may use timers of hwheel */
		sim_find("warning with a base locked: %s", text);
	if (!oracle_warn(text))
		sim_find("warning: %s", text);
	return true;
}

void sim_blocked(char *text, size_t size)
{
	size_t n = 0;
	int i;

	for (i = 0; i < nr_tasks && n < size; i++)
		if (tasks[i].blocked && !tasks[i].dead && !tasks[i].idle_worker &&
		    &tasks[i] != tasks[i].cpu->ksoftirqd)
			n += snprintf(text + n, size - n, "; %s %d waits in %s", tasks[i].name,
				      i, tasks[i].where);
}

void sim_start(void (*fn)(void *arg), void *arg)
{
	unsigned int i;

	rng = sim_world.seed * 0x9e3779b97f4a7c15ULL + 1;
	nr_cpu_ids = sim_world.cpus + sim_world.absent;
	sim_time = sim_world.start;
	percpu_init();
	for (i = 0; i <= SIM_CPUS; i++)
		INIT_LIST_HEAD(&pools[i].works);
	for (i = 0; i < sim_world.cpus; i++) {
		struct sim_cpu *c = &sim_cpus[i];

		c->id = i;
		c->rank = sim_rnd(1000);
		c->time = sim_time;
		c->online = true;
		c->irq_next = SIM_NEVER;
		c->resched_at = SIM_NEVER;
		c->hr_fire = SIM_NEVER;
		c->hr_wanted = SIM_NEVER;
		INIT_LIST_HEAD(&c->runq);
		INIT_LIST_HEAD(&c->hrtimers);
		c->idle = task_new("idle", i, idle_main, c);
		c->idle->blocked = false;
		c->idle->prio = -1;
		c->idle->pinned = true;
		c->curr = c->idle;
	}
	sim_cpu = &sim_cpus[0];
	for (i = 0; i < sim_world.cpus; i++) {
		struct sim_cpu *c = &sim_cpus[i];

		c->ksoftirqd = task_new("ksoftirqd", i, ksoftirqd_main, c);
		c->ksoftirqd->pinned = true;
		c->ksoftirqd->prio = 1;
	}
	sim_spawn("main", 0, fn, arg);
	sim_horizon = 0;
	switch_to(&main_sp, sim_cpu->curr->sp, sim_cpu->curr->stack);
}

/* After the module's exit: report what the module has left behind. */
void sim_check_left(void)
{
	struct dentry *dentry;
	unsigned int i;

	for (i = 0; i < sim_world.cpus; i++)
		if (!list_empty(&sim_cpus[i].hrtimers))
			sim_find("an hrtimer is left armed on CPU %u", i);
	for (i = 0; i < sim_world.cpus; i++)
		if (sim_cpus[i].in_kick || sim_cpus[i].csd)
			sim_find("the module is unloaded while CPU %u handles a kick", i);
	for (i = 0; i < sim_world.cpus; i++)
		if (sim_cpus[i].irq_work)
			sim_find("an irq_work is left queued on CPU %u", i);
	for (i = 0; i <= SIM_CPUS; i++)
		if (!list_empty(&pools[i].works))
			sim_find("a work is left queued");
	if (sim_allocs)
		sim_find("%ld allocations are left", sim_allocs);
	if (cpuhp_online || cpuhp_dead)
		sim_find("a state of CPU hotplug is left");
	if (timekeeping_nb)
		sim_find("a notifier is left");
	check_quarantine();
	for (dentry = dentries; dentry; dentry = dentry->next)
		if (!dentry->removed)
			sim_find("debugfs: %s is left", dentry->name);
}
