// SPDX-License-Identifier: GPL-2.0
/*
 * Parts that may be left out
 *
 * Delayed work, sleeping, wall time, deferrable wheels and debugfs are parts of hwheel that
 * the core does not need. Each of them has an option CONFIG_HWHEEL_*, and is a file that hwheel.c
 * includes. The core calls the parts through a struct hwheel_part, if they do not only use the API.
 * Only this file names them.
 */

/* Their structures. One that is left out has no functions, as nothing initializes it. */
static const struct hwheel_part hwheel_delayed_works, hwheel_wall, hwheel_deferrable,
				hwheel_debugfs_part;

static const struct hwheel_part * const hwheel_parts[] = {
	&hwheel_delayed_works, &hwheel_wall, &hwheel_deferrable, &hwheel_debugfs_part,
};

/* Call the functions @member of all parts that have one. */
#define hwheel_each_part(member, ...)						\
	do {									\
		for (unsigned int _i = 0; _i < ARRAY_SIZE(hwheel_parts); _i++)	\
			if (hwheel_parts[_i]->member)				\
				hwheel_parts[_i]->member(__VA_ARGS__);		\
	} while (0)
