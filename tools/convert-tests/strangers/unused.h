/* SPDX-License-Identifier: GPL-2.0 */
/* No file includes this header */
#ifndef _UNUSED_H
#define _UNUSED_H

static struct timer_list unused_timer;

#endif /* _UNUSED_H */
