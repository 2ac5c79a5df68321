/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The part of the simulated kernel that the program and the oracle use. hwheel.c uses the
 * headers in include/linux.
 */
#ifndef _SIM_KERNEL_H
#define _SIM_KERNEL_H

#include <linux/cpu.h>
#include <linux/debugfs.h>
#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/list.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#define SIM_CPUS		8
#define SIM_NEVER		(~0ULL)

#ifdef CONFIG_PREEMPT_RT
#define SIM_RT			1
#else
#define SIM_RT			0
#endif

struct sim_call;
struct expiry;

enum sim_signal { SIM_NO_SIGNAL, SIM_SIGNALLED, SIM_KILLED };

struct task_struct {
	void			*sp;
	struct sim_cpu		*cpu;
	struct list_head	entry;		/* in a run queue */
	bool			queued, blocked, pinned, dead;
	unsigned int		state;		/* TASK_UNINTERRUPTIBLE and so on */
	enum sim_signal		signal;		/* is a signal pending? */
	unsigned long long	signal_at;	/* when it came */
	unsigned long long	alarm;		/* when a fatal signal comes; 0: never */
	unsigned int		wakeups;	/* by others than the timer, while it slept */
	int			prio;
	int			count;		/* preempt_count() */
	int			bh;		/* local_bh_disable() on PREEMPT_RT */
	unsigned int		relaxed;	/* calls of cpu_relax() in this wait */
	unsigned int		tries;		/* locks since it last relaxed or slept */
	unsigned long long	sleeps;		/* calls of sim_might_sleep() */
	unsigned long long	unrested;	/* WRITE_ONCE()s with a base's lock held, */
						/* since its last sim_might_sleep() or API call */
	unsigned long long	work_begun;	/* when a worker began its work */
	int			pool;		/* a worker's pool; else -1 */
	bool			idle_worker;
	struct work_struct	*work;		/* the work that a worker runs; or NULL */
	struct workqueue_struct	*wq;		/* and its workqueue */
	unsigned long long	wake_at;
	struct sim_call		*call;		/* its call of hwheel's API, for the oracle */
	struct expiry		*expiry;	/* the callback of hwheel that runs on its stack */
	void			(*fn)(void *arg);
	void			*arg;
	const char		*name, *where;
	int			id;
	void			*stack;
};

struct sim_cpu {
	int			id;
	unsigned long long	time, writes;
	unsigned long long	irq_next;	/* when an interrupt comes */
	struct task_struct	*curr, *idle, *ksoftirqd;
	struct list_head	runq;
	raw_spinlock_t		*spin;		/* the lock that it waits for */
	bool			irqs_off, online, dead, idling, need_resched, soft_active;
	bool			softirq;	/* a softirq is pending */
	struct task_struct	*bh_owner;	/* see local_bh_disable() */
	unsigned long long	resched_at, slice_end;
	unsigned long long	awake_at;	/* when the CPU last began to run a task */
	unsigned int		deferrables;	/* timer_list timers that are queued */
	long			rank;		/* see by_rank() */
	struct list_head	hrtimers;
	unsigned long long	hr_fire, hr_wanted, hr_late;
	call_single_data_t	*csd;
	bool			in_kick;	/* it runs the handler of a kick */
	struct irq_work		*irq_work;
	unsigned long long	off_writes;	/* sim_writes when irqs went off */
	unsigned long long	off_since;
};

/* The world of one run. After sim_start() only @holds, @no_debug_objects and @late_irq change. */
struct sim_world {
	unsigned long long	seed;
	unsigned int		cpus;
	unsigned long long	start;		/* the clock's first value */
	unsigned int		jitter;		/* a switch takes up to this many ns more */
	unsigned int		stall;		/* one in this many switches is a stall; 0: none */
	unsigned int		stall_ns;	/* the longest stall */
	unsigned int		absent;		/* CPU numbers of CPUs that can't be */
	unsigned int		late_irq;	/* an interrupt may be this many ns late */
	unsigned int		ranks;		/* one in this many switches changes a rank */
	bool			holds;		/* race.c or drops holds up CPUs */
	unsigned int		drops;		/* one in this many drops of a lock ... */
	unsigned int		drops_ns;	/* ... holds up the CPU for up to so long */
	bool			migrate;	/* tasks move between CPUs */
	unsigned int		nohz_full;	/* isolated by nohz_full; a bit for each CPU */
	unsigned int		isolcpus;	/* isolated by isolcpus; a bit for each CPU */
	bool			no_debug_objects;	/* debugobjects calls no fixups */
	bool			no_cpuhp;	/* there is no cpuhp state left for hwheel */
	bool			verbose;
};

extern struct sim_world sim_world;
extern struct sim_cpu sim_cpus[SIM_CPUS];
extern unsigned long long sim_boot_off;	/* ns in suspend */
extern unsigned long long sim_hrtimer_starts;
extern unsigned long long sim_clock_reads;	/* calls of ktime_get() */
extern unsigned long long sim_wall_off;	/* CLOCK_REALTIME minus sim_time */
#define SIM_TAI_NS	37000000000ULL	/* CLOCK_TAI minus CLOCK_REALTIME */
extern unsigned int sim_sets;		/* how often the clock of wall time was set */
extern unsigned long long sim_switches;
extern unsigned long long sim_quiet_steps;	/* switches since the last progress */
extern unsigned int sim_hotplugs;	/* begins and ends of CPU hotplugs: odd during one */
extern unsigned long long sim_hotplug_at;	/* time of the last of these */
extern long sim_allocs, sim_alloc_fail_at, sim_alloc_fails, sim_allocs_failed;
extern unsigned long long sim_alloc_failed_at;

extern char sim_said[300];		/* the last line of the log */
extern unsigned int sim_lines;		/* the number of lines of the log */

void sim_fail_allocs(long after, long n);
size_t sim_allocated(const void *ptr);	/* its size */

unsigned long long sim_random(void);
unsigned long long sim_rnd(unsigned long long n);	/* less than n */

/* Report a find, and end this process. */
__noreturn __printf(1, 2) void sim_find(const char *format, ...);
__printf(1, 2) void sim_log(const char *format, ...);

void sim_start(void (*fn)(void *arg), void *arg);	/* ends by _exit() */
void sim_check_left(void);
struct task_struct *sim_spawn(const char *name, int cpu, void (*fn)(void *arg), void *arg);
void sim_sleep(unsigned long long ns);
void sim_run(unsigned long long ns);			/* keep the CPU busy */
void sim_move(int cpu);			/* move the current task to another CPU */
/*
 * Known calls set this. It is called at some places where another CPU or task may go on, and does
 * what that CPU or task might do. @where: in most cases the function of hwheel that is there.
 */
extern void (*sim_meanwhile)(const char *where);
extern bool sim_no_trylock;		/* another CPU holds each lock that a CPU tries to lock */
void sim_wake(struct task_struct *task);
void sim_wakeup(struct task_struct *task);
void sim_signal(struct task_struct *task, enum sim_signal signal);
bool sim_work_busy(const struct work_struct *work);
bool sim_work_runs(const struct work_struct *work);
extern struct workqueue_struct sim_ordered_wqs[2];
void sim_irq_enter(void);				/* a device interrupts this CPU */
void sim_irq_exit(void);
bool sim_isolated(int cpu);
bool sim_cpu_down(int cpu);
bool sim_cpu_up(int cpu);
void sim_suspend(unsigned long long ns);
void sim_set_clock(long long delta);			/* the clock of wall time */
void sim_set_leap(unsigned long long at);
void sim_insert_leap(void);
void sim_blocked(char *text, size_t size);	/* says which tasks wait, and where */
const char *sim_context(void);

/* Read a debugfs file. The caller frees the text. NULL if the file can't be read. */
char *sim_read_file(const char *dir, const char *name, size_t chunk);
extern unsigned int sim_reads;		/* of files */
ssize_t sim_write_file(const char *dir, const char *name, const char *text);
char *sim_read_again(const char *dir, const char *name, size_t chunk);

/* Per-CPU variables; from the linker */
extern char __start_sim_percpu[], __stop_sim_percpu[];

/* The module; in wheel.c */
int sim_module_init(void);
void sim_module_exit(void);
bool sim_set_param(const char *name, unsigned int i, const char *value);

/* The names of functions in files */
extern const char __executable_start[], etext[];	/* the linker sets them */
unsigned long sim_named(const char *name);

/* The simulated kernel calls these functions of the oracle. */
void oracle_lock(raw_spinlock_t *lock);
void oracle_unlock(raw_spinlock_t *lock, unsigned long long writes);
void oracle_walk(void);			/* a step of levels_walk_next() */
void oracle_irqs_on(unsigned long long writes);
void oracle_moved(const struct sim_call *call, int cpu);	/* its task's CPU goes offline */
void oracle_stalled(unsigned long long ns);	/* a CPU was held up */
void oracle_hrtimer(struct hrtimer *timer, bool end);
void oracle_hrtimer_start(struct hrtimer *timer, ktime_t expires);
struct hwheel_base;
void oracle_interrupt(struct hwheel_base *base, int cpu);
bool oracle_warn(const char *text);
struct hwheel;
void oracle_free(const struct hwheel *wheel, void *bases);	/* calls free_percpu(@bases) */
void oracle_work_queued(const struct work_struct *work, const struct workqueue_struct *wq, int cpu);
void oracle_work_cancelled(const struct work_struct *work);
void oracle_work_begins(const struct work_struct *work);	/* soon its function runs */
void oracle_interrupted(unsigned long long ns);	/* by CPUs, not by an hrtimer */
void oracle_set_clock(void);		/* the clock of wall time is about to be set */
void oracle_quiet(void);		/* all CPUs idle until the next interrupt */
void oracle_dead_end(void);		/* no CPU will ever go on */

#endif /* _SIM_KERNEL_H */
