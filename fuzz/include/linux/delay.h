/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _LINUX_DELAY_H
#define _LINUX_DELAY_H

/* tests/levels.c does not sleep */

#endif /* _LINUX_DELAY_H */
