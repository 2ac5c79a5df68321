/* SPDX-License-Identifier: GPL-2.0 */
/* Stands in for the kernel's header, which hwheel.h includes */

struct core {
	struct timer_list	timer;
};
