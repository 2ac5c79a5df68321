// SPDX-License-Identifier: GPL-2.0
/*
 * Runs programs on the simulated kernel, each in a process of its own. A find is a bug
 * that a program shows.
 *
 * Usage: sim seeds FIRST SECONDS [DIR]	runs the programs of the seeds from FIRST on, for
 *					SECONDS or until the first find. With DIR, shrinks
 *					the program of the find, and writes it to DIR
 *	  sim some FIRST N		runs the programs of N seeds, up to the first find
 *	  sim run FILE...		runs programs
 *	  sim first FILE...		the same, but stops at the first find
 *	  sim replay FILE		runs a program in this process, and prints all that
 *					happens
 *	  sim show SEED			prints the program of a seed
 *	  sim shrink FILE		shortens a program that has a find
 */
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "program.h"

/* What a run tells the process that started it */
static struct told {
	char	find[512];
	u64	calls, fired, switches, worst, time;
	unsigned int met[FEATURES][FEATURES];
	bool	done;
} *told;

static void tell(void)
{
	told->calls = sim_calls;
	told->fired = sim_fired;
	told->switches = sim_switches;
	told->worst = sim_worst;
	told->time = sim_time - sim_world.start;
	memcpy(told->met, sim_met, sizeof(sim_met));
}

static void say_where(char *text, size_t size)
{
	if (sim_cpu && sim_cpu->curr)
		snprintf(text, size, " (CPU %d, %s, %s, at %llu)", sim_cpu->id,
			 sim_cpu->curr->name, sim_context(), sim_time);
}

void sim_log(const char *format, ...)
{
	va_list args;

	printf("%14llu CPU %d %-8s %-8s ", sim_time, sim_cpu->id, sim_cpu->curr->name,
	       sim_context());
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
}

void sim_find(const char *format, ...)
{
	size_t n;
	va_list args;

	va_start(args, format);
	vsnprintf(told->find, sizeof(told->find), format, args);
	va_end(args);
	n = strlen(told->find);
	say_where(told->find + n, sizeof(told->find) - n);
	tell();
	if (sim_world.verbose)
		printf("find: %s\n", told->find);
	fflush(stdout);
	if (getenv("SIM_ABORT"))
		abort();
	_exit(1);
}

void program_done(void)
{
	tell();
	told->done = true;
	fflush(stdout);
	_exit(0);
}

static unsigned int seconds_at_most = 20;	/* of CPU time, as the host may be busy */

static void crashed(int sig)
{
	if (sig == SIGPROF)
		sim_find("a run that does not end: %u s of CPU", seconds_at_most);
	sim_find("signal %d: %s", sig, sig == SIGSEGV ? "a wild pointer" : strsignal(sig));
}

static void run_here(const struct program *p)
{
	static char stack[65536];
	stack_t other = { .ss_sp = stack, .ss_size = sizeof(stack) };
	struct sigaction action = { .sa_handler = crashed, .sa_flags = SA_ONSTACK };

	sigaltstack(&other, NULL);
#ifndef __SANITIZE_ADDRESS__
	if (!getenv("SIM_ABORT")) {
		sigaction(SIGSEGV, &action, NULL);
		sigaction(SIGBUS, &action, NULL);
		sigaction(SIGFPE, &action, NULL);
		sigaction(SIGILL, &action, NULL);
		sigaction(SIGABRT, &action, NULL);
	}
#endif
	action.sa_handler = crashed;
	sigaction(SIGPROF, &action, NULL);
	program_run(p);
	_exit(2);
}

/* Run @p in a new process. Returns false if there is a find: it is in told->find. */
static bool run(const struct program *p)
{
	struct itimerval most = { .it_value.tv_sec = seconds_at_most };
	int status;
	pid_t pid;

	memset(told, 0, sizeof(*told));
	fflush(stdout);
	pid = fork();
	if (!pid) {
		setitimer(ITIMER_PROF, &most, NULL);
		run_here(p);
	}
	waitpid(pid, &status, 0);
	if (told->done)
		return true;
	if (!*told->find)
		snprintf(told->find, sizeof(told->find), "crash: status %#x", status);
	return false;
}

/* ------------------------------------------------------------------------ */
/* Shrinking: make a program simpler while it still has a find of the same kind */

/*
 * Copy the text of a find up to the first '(', without digits and '-'. If the first 30 characters
 * of two such copies are the same, the finds are of the same kind: see finds().
 */
static void kind_of(const char *find, char *kind, size_t size)
{
	size_t n = 0;

	for (; *find && *find != '(' && n + 1 < size; find++)
		if ((*find < '0' || *find > '9') && *find != '-')
			kind[n++] = *find;
	kind[n] = 0;
}

static unsigned int tries;
static double shrink_end;

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

/* The CPU time of all runs */
static double cpu_seconds(void)
{
	struct rusage usage;

	getrusage(RUSAGE_CHILDREN, &usage);
	return usage.ru_utime.tv_sec + usage.ru_stime.tv_sec +
	       (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static bool finds(const struct program *p, const char *kind)
{
	char other[512];

	tries++;
	if (seconds() > shrink_end || run(p))
		return false;
	kind_of(told->find, other, sizeof(other));
	return !strncmp(other, kind, 30);
}

static void set_world(struct program *p, const char *name, unsigned long long value)
{
	size_t n = strlen(name);
	int i;

	for (i = 0; i < p->nr_world; i++)
		if (!strncmp(p->world[i], name, n) && p->world[i][n] == ' ')
			break;
	if (i == p->nr_world)
		p->nr_world++;
	snprintf(p->world[i], sizeof(p->world[i]), "%s %llu", name, value);
}

static void shrink(struct program *p)
{
	static const struct {
		const char *name;
		unsigned long long value;
	} simpler[] = {
		{ "ranks", 0 }, { "stall", 0 }, { "late_irq", 0 }, { "absent", 0 }, { "jitter", 0 },
		{ "migrate", 0 }, { "drops", 0 },
		{ "start", 1000000000 }, { "cpus", 1 }, { "cpus", 2 }, { "cpus", 3 },
		{ "slots", 1 }, { "slots", 4 }, { "slots", 64 },
	};
	struct program q = *p;
	char kind[512];
	int size, at, i, j;
	bool less;

	kind_of(told->find, kind, sizeof(kind));
	q.ops = malloc(p->nr * sizeof(*p->ops));
	do {
		less = false;
		for (i = 0; i < (int)ARRAY_SIZE(simpler); i++) {
			struct program r = *p;

			set_world(&r, simpler[i].name, simpler[i].value);
			if (memcmp(r.world, p->world, sizeof(r.world)) && finds(&r, kind)) {
				memcpy(p->world, r.world, sizeof(r.world));
				p->nr_world = r.nr_world;
				less = true;
			}
		}
		for (size = p->nr / 2; size; size /= 2) {
			for (at = 0; at < p->nr;) {
				int n = min(size, p->nr - at);

				memcpy(q.world, p->world, sizeof(q.world));
				q.nr_world = p->nr_world;
				memcpy(q.ops, p->ops, at * sizeof(*p->ops));
				memcpy(q.ops + at, p->ops + at + n,
				       (p->nr - at - n) * sizeof(*p->ops));
				q.nr = p->nr - n;
				if (finds(&q, kind)) {
					memcpy(p->ops, q.ops, q.nr * sizeof(*p->ops));
					p->nr = q.nr;
					less = true;
				} else {
					at += n;
				}
			}
		}
		/* Try task context, actor 0 and smaller numbers */
		for (i = 0; i < p->nr; i++) {
			struct op old = p->ops[i], *op = &p->ops[i];

			if (op->context != 't') {
				op->context = 't';
				if (finds(p, kind))
					less = true;
				else
					*op = old;
			}
			old = *op;
			if (op->actor) {
				op->actor = 0;
				if (finds(p, kind))
					less = true;
				else
					*op = old;
			}
			for (j = 0; j < op->n; j++) {
				long long half;

				while ((half = op->arg[j] / 2) != op->arg[j]) {
					old = *op;
					op->arg[j] = op->arg[j] > 1000 || op->arg[j] < 0 ? half : 0;
					if (!finds(p, kind)) {
						*op = old;
						break;
					}
					less = true;
				}
			}
		}
	} while (less && seconds() < shrink_end);
	free(q.ops);
}

/* ------------------------------------------------------------------------ */

static bool read_file(struct program *p, const char *name)
{
	FILE *file = fopen(name, "r");
	bool good;

	if (!file) {
		perror(name);
		return false;
	}
	good = program_read(p, file);
	fclose(file);
	return good;
}

static int shrink_and_write(struct program *p, const char *name)
{
	char first[512];
	FILE *file;

	snprintf(first, sizeof(first), "%s", told->find);
	shrink_end = seconds() + 20;
	shrink(p);
	run(p);
	file = fopen(name, "w");
	if (!file) {
		perror(name);
		return 1;
	}
	fprintf(file, "# %s\n", *told->find ? told->find : first);
	program_write(p, file);
	fclose(file);
	printf("sim: shrunk to %d operations in %u tries: %s\nsim: %s\n", p->nr, tries, name,
	       *told->find ? told->find : first);
	return 1;
}

static u64 met[FEATURES][FEATURES];

static void add_met(void)
{
	int i, j;

	for (i = 0; i < FEATURES; i++)
		for (j = 0; j < FEATURES; j++)
			met[i][j] += told->met[i][j];
}

/* Print how often each two features met. @OPERATIONS and above are kinds of wheels and worlds. */
static void print_met(void)
{
	int i, j;

	printf("%-10s", "");
	for (i = 0; i < OPERATIONS; i++)
		printf(" %7.7s", feature_names[i]);
	for (i = 0; i < FEATURES; i++) {
		printf("\n%-10s", feature_names[i]);
		for (j = 0; j <= min(i, OPERATIONS - 1); j++)
			printf(" %7llu", met[i][j]);
	}
	printf("\n");
}

/* Run programs for @limit seconds, but at most @most programs. */
static int run_seeds(u64 first, double limit, u64 most, const char *dir)
{
	double begin = seconds(), spent;
	u64 seed, calls = 0, fired = 0, switches = 0, worst = 0;
	struct program p = { };
	char name[300];

	for (seed = first; seconds() - begin < limit && seed - first < most; seed++) {
		bool good;

		program_generate(&p, seed);
		good = run(&p);
		calls += told->calls;
		fired += told->fired;
		switches += told->switches;
		worst = max(worst, told->worst);
		add_met();
		if (good)
			continue;
		printf("sim: seed %llu, after %.1f s of CPU time and %llu calls: %s\n", seed,
		       cpu_seconds(), calls, told->find);
		fflush(stdout);
		if (!dir)
			return 1;
		snprintf(name, sizeof(name), "%s/find-%llu", dir, seed);
		return shrink_and_write(&p, name);
	}
	spent = seconds() - begin;
	printf("sim: %llu seeds from %llu, %llu calls, %llu callbacks, %llu switches",
	       seed - first, first, calls, fired, switches);
	printf(" in %.0f s, %.0f s of CPU time (%.0f calls/s), worst lateness %llu ns\n", spent,
	       cpu_seconds(), calls / cpu_seconds(), worst);
	if (getenv("SIM_MET"))
		print_met();
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	struct program p = { };
	int i, bad = 0;

	told = mmap(NULL, sizeof(*told), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (getenv("SIM_SECONDS"))
		seconds_at_most = atoi(getenv("SIM_SECONDS"));

	if (!strcmp(what, "seeds") && argc >= 4)
		return run_seeds(strtoull(argv[2], NULL, 0), atof(argv[3]), U64_MAX,
				 argc > 4 ? argv[4] : NULL);
	if (!strcmp(what, "some") && argc == 4)
		return run_seeds(strtoull(argv[2], NULL, 0), 1e9, strtoull(argv[3], NULL, 0), NULL);
	if (!strcmp(what, "run") || !strcmp(what, "first")) {
		for (i = 2; i < argc && !(bad && *what == 'f'); i++) {
			if (!read_file(&p, argv[i]))
				return 2;
			if (!run(&p)) {
				printf("sim: %s: %s\n", argv[i], told->find);
				bad++;
			}
			add_met();
		}
		printf("sim: %d programs, %d finds\n", i - 2, bad);
		if (getenv("SIM_MET"))
			print_met();
		return !!bad;
	}
	if (!strcmp(what, "replay") && argc == 3) {
		if (!read_file(&p, argv[2]))
			return 2;
		sim_world.verbose = true;
		run_here(&p);
	}
	if (!strcmp(what, "show") && argc == 3) {
		program_generate(&p, strtoull(argv[2], NULL, 0));
		program_write(&p, stdout);
		return 0;
	}
	if (!strcmp(what, "shrink") && argc == 3) {
		if (!read_file(&p, argv[2]))
			return 2;
		if (run(&p)) {
			printf("sim: %s: no find\n", argv[2]);
			return 0;
		}
		return shrink_and_write(&p, argv[2]);
	}
	fprintf(stderr, "usage: sim seeds|some|run|first|replay|show|shrink ARGUMENTS...\n");
	return 2;
}
