// SPDX-License-Identifier: GPL-2.0
/*
 * Parts that may be left out
 *
 * Delayed work, sleeping, wall time, deferrable wheels and debugfs are parts of hwheel that
 * the core does not need. Each of them has an option CONFIG_HWHEEL_*, and hwheel.c lists them.
 * The core names none of them. A part that only uses the API is a file that hwheel.c includes.
 * The core calls other parts through a struct hwheel_part.
 */

/* The parts of hwheel_all_parts, from the beginning of hwheel_init() on. The last one is NULL. */
static const struct hwheel_part * const hwheel_no_parts[] = { NULL };
static const struct hwheel_part * const *hwheel_parts = hwheel_no_parts;

#define for_each_part(at)	for ((at) = hwheel_parts; *(at); (at)++)

/* Call the functions @member of all parts that have one. */
#define hwheel_each_part(member, ...)				\
	do {							\
		const struct hwheel_part * const *_at;		\
								\
		for_each_part(_at)				\
			if ((*_at)->member)			\
				(*_at)->member(__VA_ARGS__);	\
	} while (0)
