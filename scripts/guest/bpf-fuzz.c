// SPDX-License-Identifier: GPL-2.0
/*
 * Makes random BPF programs that call the kfuncs of hwheel_bpf.ko, and runs them on several
 * CPUs at a time. The programs are legal: they own at most one timer in each of three
 * registers, check for NULL, use only what they own, and release it. So the verifier must
 * accept all of them, and the kernel must survive them. Meanwhile the struct_ops is detached,
 * attached and replaced, and maps come and go.
 *
 * Usage: bpf-fuzz SECONDS [SEED]
 */
#define _GNU_SOURCE
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bpf-test.h"
#include "bpf-test.skel.h"

#define MAX_INSNS	4096
#define POINTERS	3	/* values whose addresses a program has, in its stack */
#define OWNED		3	/* registers r7 to r9 */
#define RUNNING		8	/* programs that run at a time */

enum kfunc {
	CREATE, CREATE_FOR, RELEASE, ADD, ADD_RANGE, ADD_AT, CANCEL, PENDING, REMAINING,
	PREEMPT_DISABLE, PREEMPT_ENABLE, IRQ_SAVE, IRQ_RESTORE, KFUNCS
};

static const char * const kfunc_names[KFUNCS] = {
	"bpf_hwheel_create", "bpf_hwheel_create_for", "bpf_hwheel_release", "bpf_hwheel_add",
	"bpf_hwheel_add_range", "bpf_hwheel_add_at", "bpf_hwheel_cancel", "bpf_hwheel_pending",
	"bpf_hwheel_remaining", "bpf_preempt_disable", "bpf_preempt_enable",
	"bpf_local_irq_save", "bpf_local_irq_restore",
};

static int kfunc_ids[KFUNCS];
static int fds[2];
static char log_buf[1 << 20];
static __u64 rng;

static __u32 below(__u32 n)
{
	rng = rng * 6364136223846793005ULL + 1442695040888963407ULL;
	return (rng >> 33) % n;
}

/* ------------------------------------------------------------------------ */
/* A program being made */

static struct bpf_insn insns[MAX_INSNS];
static int count;
static bool owned[OWNED];

/* Jumps to the end of the program, where what is owned there is released */
static struct {
	int at;
	bool owned[OWNED];
} escapes[MAX_INSNS];
static int nescapes;

static void emit(__u8 code, __u8 dst, __u8 src, __s16 off, __s32 imm)
{
	insns[count++] = (struct bpf_insn) {
		.code = code, .dst_reg = dst, .src_reg = src, .off = off, .imm = imm,
	};
}

static void mov_reg(int dst, int src)
{
	emit(BPF_ALU64 | BPF_MOV | BPF_X, dst, src, 0, 0);
}

static void mov(int dst, __s32 imm)
{
	emit(BPF_ALU64 | BPF_MOV | BPF_K, dst, 0, 0, imm);
}

static void mov64(int dst, __u64 imm)
{
	emit(BPF_LD | BPF_IMM | BPF_DW, dst, 0, 0, imm);
	emit(0, 0, 0, 0, imm >> 32);
}

static void helper(int id)
{
	emit(BPF_JMP | BPF_CALL, 0, 0, 0, id);
}

/* The last four are the kernel's own, not the module's */
static void call(enum kfunc kfunc)
{
	emit(BPF_JMP | BPF_CALL, 0, BPF_PSEUDO_KFUNC_CALL, kfunc < PREEMPT_DISABLE,
	     kfunc_ids[kfunc]);
}

static int reg(int i)
{
	return BPF_REG_7 + i;
}

/* If r0 is NULL, leave the program */
static void escape_if_null(void)
{
	memcpy(escapes[nescapes].owned, owned, sizeof(owned));
	escapes[nescapes++].at = count;
	emit(BPF_JMP | BPF_JEQ | BPF_K, BPF_REG_0, 0, 0, 0);
}

/* All kinds of times: at once, soon, far away, and more than there is */
static __u64 random_ns(void)
{
	switch (below(6)) {
	case 0:
		return 0;
	case 1:
		return below(1000);
	case 2:
		return below(3000000);
	case 3:
		return (__u64)below(1 << 30) << below(34);
	case 4:
		return -(__u64)below(5);
	default:
		return 20000;
	}
}

static void make(int i)
{
	mov64(BPF_REG_1, FUZZ_COOKIE + below(FUZZ_SLOTS));
	if (below(4)) {
		call(CREATE);
	} else {
		mov(BPF_REG_2, below(8) ? 0 : below(3));
		call(CREATE_FOR);
	}
	escape_if_null();
	mov_reg(reg(i), BPF_REG_0);
	owned[i] = true;
}

static void release(int i)
{
	mov_reg(BPF_REG_1, reg(i));
	call(RELEASE);
	owned[i] = false;
}

/* Exchange what @i owns with the timer in a random slot */
static void put(int i)
{
	emit(BPF_LDX | BPF_MEM | BPF_DW, BPF_REG_1, BPF_REG_10, -8 * (1 + below(POINTERS)), 0);
	mov_reg(BPF_REG_2, reg(i));
	helper(BPF_FUNC_kptr_xchg);
	owned[i] = false;
	if (below(2)) {
		escape_if_null();
		mov_reg(reg(i), BPF_REG_0);
		owned[i] = true;
	} else {
		emit(BPF_JMP | BPF_JEQ | BPF_K, BPF_REG_0, 0, 2, 0);
		mov_reg(BPF_REG_1, BPF_REG_0);
		call(RELEASE);
	}
}

static void take(int i)
{
	emit(BPF_LDX | BPF_MEM | BPF_DW, BPF_REG_1, BPF_REG_10, -8 * (1 + below(POINTERS)), 0);
	mov(BPF_REG_2, 0);
	helper(BPF_FUNC_kptr_xchg);
	escape_if_null();
	mov_reg(reg(i), BPF_REG_0);
	owned[i] = true;
}

static void use(int i)
{
	enum kfunc kfunc = ADD + below(REMAINING - ADD + 1);
	/* With interrupts or preemption off */
	int off = below(8);

	if (off == 0) {
		call(PREEMPT_DISABLE);
	} else if (off == 1 && kfunc_ids[IRQ_SAVE] > 0) {
		mov_reg(BPF_REG_1, BPF_REG_10);
		emit(BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_1, 0, 0, -8 * (POINTERS + 1));
		call(IRQ_SAVE);
	}
	mov_reg(BPF_REG_1, reg(i));
	mov64(BPF_REG_2, random_ns());
	mov64(BPF_REG_3, random_ns());
	if (off < 2 && !below(3)) {
		call(RELEASE);
		owned[i] = false;
	} else {
		call(kfunc);
	}
	if (off == 0) {
		call(PREEMPT_ENABLE);
	} else if (off == 1 && kfunc_ids[IRQ_SAVE] > 0) {
		mov_reg(BPF_REG_1, BPF_REG_10);
		emit(BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_1, 0, 0, -8 * (POINTERS + 1));
		call(IRQ_RESTORE);
	}
}

static void leave(enum bpf_prog_type type)
{
	mov(BPF_REG_0, type == BPF_PROG_TYPE_XDP ? 2 : 0);
	emit(BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

static void generate(enum bpf_prog_type type, int map)
{
	int i, k, steps = 4 + below(40);

	count = 0;
	nescapes = 0;
	memset(owned, 0, sizeof(owned));
	for (i = 0; i < POINTERS; i++) {
		emit(BPF_ST | BPF_MEM | BPF_W, BPF_REG_10, 0, -64, below(FUZZ_SLOTS));
		mov_reg(BPF_REG_2, BPF_REG_10);
		emit(BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_2, 0, 0, -64);
		emit(BPF_LD | BPF_IMM | BPF_DW, BPF_REG_1, BPF_PSEUDO_MAP_FD, 0, map);
		emit(0, 0, 0, 0, 0);
		helper(BPF_FUNC_map_lookup_elem);
		escape_if_null();
		emit(BPF_STX | BPF_MEM | BPF_DW, BPF_REG_10, BPF_REG_0, -8 * (i + 1), 0);
	}
	while (steps--) {
		i = below(OWNED);
		if (!owned[i]) {
			if (below(2))
				make(i);
			else
				take(i);
			continue;
		}
		switch (below(5)) {
		case 0:
			put(i);
			break;
		case 1:
			if (!below(3))
				release(i);
			break;
		default:
			use(i);
		}
	}
	for (i = 0; i < OWNED; i++)
		if (owned[i])
			release(i);
	leave(type);
	for (k = 0; k < nescapes; k++) {
		insns[escapes[k].at].off = count - escapes[k].at - 1;
		for (i = 0; i < OWNED; i++)
			if (escapes[k].owned[i])
				release(i);
		leave(type);
	}
}

static int load(int map, enum bpf_prog_type *type)
{
	static const enum bpf_prog_type types[] = {
		BPF_PROG_TYPE_XDP, BPF_PROG_TYPE_SCHED_CLS, BPF_PROG_TYPE_SYSCALL,
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .fd_array = fds);
	int fd;

	*type = types[below(3)];
	generate(*type, map);
	if (*type == BPF_PROG_TYPE_SYSCALL)
		opts.prog_flags = BPF_F_SLEEPABLE;
	fd = bpf_prog_load(*type, "fuzz", "GPL", insns, count, &opts);
	if (fd < 0) {
		opts.log_buf = log_buf;
		opts.log_size = sizeof(log_buf);
		opts.log_level = 2;
		fd = bpf_prog_load(*type, "fuzz", "GPL", insns, count, &opts);
	}
	return fd;
}

/* ------------------------------------------------------------------------ */
/* Running */

static struct {
	pthread_mutex_t lock;
	int fd;
	enum bpf_prog_type type;
} running[RUNNING];
static volatile bool stop;
static unsigned long runs;

static void *work(void *arg)
{
	unsigned int n = (long)arg, turn;
	static char packet[64];
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(n % sysconf(_SC_NPROCESSORS_ONLN), &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
	for (turn = n; !stop; turn += 3) {
		LIBBPF_OPTS(bpf_test_run_opts, opts);
		int i = turn % RUNNING, fd;

		pthread_mutex_lock(&running[i].lock);
		fd = running[i].fd > 0 ? dup(running[i].fd) : -1;
		if (running[i].type != BPF_PROG_TYPE_SYSCALL) {
			opts.data_in = packet;
			opts.data_size_in = sizeof(packet);
			opts.repeat = 50;
		}
		pthread_mutex_unlock(&running[i].lock);
		if (fd < 0) {
			usleep(1000);
			continue;
		}
		bpf_prog_test_run_opts(fd, &opts);
		close(fd);
		__sync_fetch_and_add(&runs, 1);
	}
	return NULL;
}

static void replace(int i, int fd, enum bpf_prog_type type)
{
	pthread_mutex_lock(&running[i].lock);
	if (running[i].fd > 0)
		close(running[i].fd);
	running[i].fd = fd;
	running[i].type = type;
	pthread_mutex_unlock(&running[i].lock);
}

static bool find_kfuncs(void)
{
	struct btf *kernel = btf__load_vmlinux_btf(), *module;
	struct bpf_btf_info info;
	char name[64];
	__u32 id = 0, size;
	int i;

	module = btf__load_module_btf("hwheel_bpf", kernel);
	if (!module)
		return false;
	for (i = 0; i < KFUNCS; i++) {
		kfunc_ids[i] = btf__find_by_name_kind(i < PREEMPT_DISABLE ? module : kernel,
						      kfunc_names[i], BTF_KIND_FUNC);
		if (kfunc_ids[i] < 0 && i < IRQ_SAVE)
			return false;
	}
	while (!bpf_btf_get_next_id(id, &id)) {
		fds[1] = bpf_btf_get_fd_by_id(id);
		info = (struct bpf_btf_info) { .name = (long)name, .name_len = sizeof(name) };
		size = sizeof(info);
		if (fds[1] >= 0 && !bpf_btf_get_info_by_fd(fds[1], &info, &size) &&
		    !strcmp(name, "hwheel_bpf"))
			return true;
		close(fds[1]);
	}
	return false;
}

static struct bpf_test *begin(void)
{
	struct bpf_test *skel = bpf_test__open();

	if (!skel)
		return NULL;
	bpf_program__set_autoload(skel->progs.trace_hrtimer, false);
	skel->struct_ops.ops->tick_ns = below(2) ? 0 : 20000;
	skel->struct_ops.other->tick_ns = skel->struct_ops.ops->tick_ns;
	if (bpf_test__load(skel)) {
		bpf_test__destroy(skel);
		return NULL;
	}
	return skel;
}

int main(int argc, char **argv)
{
	unsigned long made = 0, lives = 0, expired = 0, changes = 0;
	time_t end;
	pthread_t threads[3];
	long i;

	if (argc < 2)
		return 2;
	rng = argc > 2 ? strtoull(argv[2], NULL, 0) : (__u64)time(NULL);
	printf("bpf-fuzz: seed %llu\n", (unsigned long long)rng);
	end = time(NULL) + atoi(argv[1]);
	if (!find_kfuncs()) {
		printf("bpf-fuzz: can't find the kfuncs\n");
		return 1;
	}
	for (i = 0; i < RUNNING; i++)
		pthread_mutex_init(&running[i].lock, NULL);
	for (i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, work, (void *)i);

	/* Each life of the maps and the struct_ops */
	for (; time(NULL) < end; lives++) {
		struct bpf_test *skel = begin();
		struct bpf_link *link = NULL;
		struct test_counts counts[libbpf_num_possible_cpus()];
		__u32 zero = 0;
		int n = 20 + below(100);

		if (!skel) {
			printf("bpf-fuzz: can't load the maps\n");
			return 1;
		}
		while (n-- && time(NULL) < end) {
			enum bpf_prog_type type;
			int fd;

			switch (below(10)) {
			case 0:
				bpf_link__destroy(link);
				link = NULL;
				changes++;
				break;
			case 1:
				if (link)
					bpf_link__update_map(link, below(2) ? skel->maps.ops :
							     skel->maps.other);
				changes++;
				break;
			}
			/* It may be refused while timers of a life with another tick are left */
			if (!link)
				link = bpf_map__attach_struct_ops(skel->maps.ops);
			fd = load(bpf_map__fd(skel->maps.slots), &type);
			if (fd < 0) {
				printf("bpf-fuzz: program %lu was refused: %s\n%s\n", made,
				       strerror(errno), log_buf);
				return 1;
			}
			made++;
			replace(below(RUNNING), fd, type);
		}
		if (!bpf_map__lookup_elem(skel->maps.counts, &zero, sizeof(zero), counts,
					  sizeof(counts), 0))
			for (i = 0; i < libbpf_num_possible_cpus(); i++)
				expired += counts[i].expired + counts[i].other;
		/* Programs of this life go on for a while in the next one */
		bpf_link__destroy(link);
		bpf_test__destroy(skel);
	}
	stop = true;
	for (i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	for (i = 0; i < RUNNING; i++)
		replace(i, 0, 0);
	printf("bpf-fuzz: %lu programs, %lu runs, %lu expirations, %lu lives, %lu changes\n", made,
	       runs, expired, lives, changes);
	return !made || !runs || !expired;
}
