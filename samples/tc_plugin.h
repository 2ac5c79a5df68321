/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a plugin for a qdisc needs from iproute2's tc. No package has tc's own
 * headers. These declarations hold since iproute2 5.12.
 */
#ifndef _TC_PLUGIN_H
#define _TC_PLUGIN_H

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stdint.h>
#include <stdio.h>

struct qdisc_util {
	struct qdisc_util *next;
	const char *id;
	int (*parse_qopt)(struct qdisc_util *qu, int argc, char **argv,
			  struct nlmsghdr *n, const char *dev);
	int (*print_qopt)(struct qdisc_util *qu, FILE *f, struct rtattr *opt);
	int (*print_xstats)(struct qdisc_util *qu, FILE *f, struct rtattr *xstats);
	int (*parse_copt)(struct qdisc_util *qu, int argc, char **argv,
			  struct nlmsghdr *n, const char *dev);
	int (*print_copt)(struct qdisc_util *qu, FILE *f, struct rtattr *opt);
};

enum output_type {
	PRINT_FP = 1,
	PRINT_JSON = 2,
	PRINT_ANY = 4,
};

#define COLOR_NONE	6
#define SPRINT_BSIZE	64
#define TC_MAX_MSG	16384	/* size of the message that options are put into */

int get_rate64(__u64 *rate, const char *str);
int get_size(unsigned int *size, const char *str);
int get_time64(__s64 *time, const char *str);
int get_u32(__u32 *val, const char *arg, int base);
int addattr_l(struct nlmsghdr *n, int maxlen, int type, const void *data, int len);
struct rtattr *addattr_nest(struct nlmsghdr *n, int maxlen, int type);
int addattr_nest_end(struct nlmsghdr *n, struct rtattr *nest);
int parse_rtattr_flags(struct rtattr *tb[], int max, struct rtattr *rta, int len,
		       unsigned short flags);
void tc_print_rate(enum output_type t, const char *key, const char *fmt,
		   unsigned long long rate);
int print_color_string(enum output_type t, int color, const char *key,
		       const char *fmt, const char *value);
int print_color_uint(enum output_type t, int color, const char *key,
		     const char *fmt, unsigned int value);
int print_color_u64(enum output_type t, int color, const char *key,
		    const char *fmt, uint64_t value);
char *sprint_time64(__s64 time, char *buf);

#endif /* _TC_PLUGIN_H */
