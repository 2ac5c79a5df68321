/* SPDX-License-Identifier: GPL-2.0 */
/* A header without an include, which begins with a macro of several lines */
#ifndef _MACRO_H
#define _MACRO_H

#define MACRO_FLAGS	(MACRO_FIRST | \
			 MACRO_SECOND | \
			 MACRO_THIRD)
#define macro_add(a, b)				\
	((a) +					\
	 (b))

struct macro {
	struct timer_list	macro_timer;
};

#endif /* _MACRO_H */
