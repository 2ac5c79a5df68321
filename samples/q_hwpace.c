// SPDX-License-Identifier: GPL-2.0
/*
 * q_hwpace - what tc of iproute2 needs to know about the qdisc hwpace
 *
 * If tc does not know a qdisc, it loads q_NAME.so from TC_LIB_DIR (or /usr/lib/tc;
 * on Debian /usr/lib/x86_64-linux-gnu/tc), and looks for the symbol
 * NAME_qdisc_util in it. The plugin calls functions of tc.
 */
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdint.h>
#include <string.h>

#include "hwheel_pace.h"
#include "tc_plugin.h"

static void explain(void)
{
	fprintf(stderr,
		"Usage: ... hwpace rate RATE [ maxrate RATE ] [ burst BYTES ] [ limit PACKETS ]\n"
		"                  [ flows NUMBER ] [ slack TIME ]\n"
		"rate     of all flows together\n"
		"maxrate  of each flow; 0 for none (default: 0)\n"
		"burst    bytes that may go at once after a pause (default: 0)\n"
		"limit    packets that may wait (default: the device's txqueuelen)\n"
		"flows    queues that flows are hashed to (default: 1024)\n"
		"slack    how late a packet may leave, to share an interrupt (default: 0)\n");
}

static int parse_option(struct nlmsghdr *n, const char *name, const char *arg)
{
	__s64 time;
	__u64 rate;
	__u32 val;

	if (!strcmp(name, "rate") || !strcmp(name, "maxrate")) {
		if (get_rate64(&rate, arg))
			return -1;
		return addattr_l(n, TC_MAX_MSG, *name == 'r' ? TCA_HWPACE_RATE :
							       TCA_HWPACE_MAXRATE,
				 &rate, sizeof(rate));
	}
	if (!strcmp(name, "burst")) {
		if (get_size(&val, arg))
			return -1;
		return addattr_l(n, TC_MAX_MSG, TCA_HWPACE_BURST, &val, sizeof(val));
	}
	if (!strcmp(name, "slack")) {
		if (get_time64(&time, arg) || time < 0 || time > UINT32_MAX)
			return -1;
		val = time;
		return addattr_l(n, TC_MAX_MSG, TCA_HWPACE_SLACK, &val, sizeof(val));
	}
	if (get_u32(&val, arg, 0))
		return -1;
	return addattr_l(n, TC_MAX_MSG, *name == 'l' ? TCA_HWPACE_LIMIT : TCA_HWPACE_FLOWS,
			 &val, sizeof(val));
}

static int hwpace_parse_opt(struct qdisc_util *qu, int argc, char **argv,
			    struct nlmsghdr *n, const char *dev)
{
	static const char * const names[] = {
		"rate", "maxrate", "burst", "limit", "flows", "slack", NULL
	};
	struct rtattr *nest = addattr_nest(n, TC_MAX_MSG, TCA_OPTIONS | NLA_F_NESTED);

	for (; argc > 0; argc -= 2, argv += 2) {
		const char * const *name;

		for (name = names; *name && strcmp(*argv, *name); name++)
			;
		if (!*name) {
			if (strcmp(*argv, "help"))
				fprintf(stderr, "What is \"%s\"?\n", *argv);
			explain();
			return -1;
		}
		if (argc < 2) {
			fprintf(stderr, "\"%s\" needs a value\n", *name);
			return -1;
		}
		if (parse_option(n, *name, argv[1])) {
			fprintf(stderr, "Illegal \"%s\": \"%s\"\n", *name, argv[1]);
			return -1;
		}
	}
	addattr_nest_end(n, nest);
	return 0;
}

/* attr_u32 and attr_u64: false if the attribute is missing or too short. */
static bool attr_u32(struct rtattr *attr, __u32 *val)
{
	if (!attr || RTA_PAYLOAD(attr) < sizeof(*val))
		return false;
	memcpy(val, RTA_DATA(attr), sizeof(*val));
	return true;
}

static bool attr_u64(struct rtattr *attr, __u64 *val)
{
	if (!attr || RTA_PAYLOAD(attr) < sizeof(*val))
		return false;
	memcpy(val, RTA_DATA(attr), sizeof(*val));
	return true;
}

static void print_time(const char *key, const char *fmt, __u64 ns)
{
	char buf[SPRINT_BSIZE];

	print_color_u64(PRINT_JSON, COLOR_NONE, key, NULL, ns);
	print_color_string(PRINT_FP, COLOR_NONE, NULL, fmt, sprint_time64(ns, buf));
}

static int hwpace_print_opt(struct qdisc_util *qu, FILE *f, struct rtattr *opt)
{
	struct rtattr *tb[TCA_HWPACE_MAX + 1];
	__u64 rate;
	__u32 val;

	if (!opt)
		return 0;
	parse_rtattr_flags(tb, TCA_HWPACE_MAX, RTA_DATA(opt), RTA_PAYLOAD(opt), NLA_F_NESTED);

	if (attr_u64(tb[TCA_HWPACE_RATE], &rate))
		tc_print_rate(PRINT_ANY, "rate", "rate %s ", rate);
	if (attr_u64(tb[TCA_HWPACE_MAXRATE], &rate) && rate)
		tc_print_rate(PRINT_ANY, "maxrate", "maxrate %s ", rate);
	if (attr_u32(tb[TCA_HWPACE_BURST], &val) && val)
		print_color_uint(PRINT_ANY, COLOR_NONE, "burst", "burst %ub ", val);
	if (attr_u32(tb[TCA_HWPACE_LIMIT], &val))
		print_color_uint(PRINT_ANY, COLOR_NONE, "limit", "limit %up ", val);
	if (attr_u32(tb[TCA_HWPACE_FLOWS], &val))
		print_color_uint(PRINT_ANY, COLOR_NONE, "flows", "flows %u ", val);
	if (attr_u32(tb[TCA_HWPACE_SLACK], &val) && val)
		print_time("slack", "slack %s ", val);
	return 0;
}

static int hwpace_print_xstats(struct qdisc_util *qu, FILE *f, struct rtattr *xstats)
{
	struct tc_hwpace_xstats stats;

	if (!xstats || RTA_PAYLOAD(xstats) < sizeof(stats))
		return 0;
	memcpy(&stats, RTA_DATA(xstats), sizeof(stats));
	print_color_uint(PRINT_ANY, COLOR_NONE, "busy_flows", "  busy_flows %u ",
			 stats.busy_flows);
	print_color_u64(PRINT_ANY, COLOR_NONE, "horizon_drops", "horizon_drops %llu ",
			stats.horizon_drops);
	print_time("max_late", "max_late %s", stats.max_late_ns);
	return 0;
}

/* tc looks for this name. */
struct qdisc_util hwpace_qdisc_util = {
	.id		= "hwpace",
	.parse_qopt	= hwpace_parse_opt,
	.print_qopt	= hwpace_print_opt,
	.print_xstats	= hwpace_print_xstats,
};
