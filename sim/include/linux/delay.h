/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SIM_LINUX_DELAY_H
#define _SIM_LINUX_DELAY_H

void msleep(unsigned int msecs);

#endif /* _SIM_LINUX_DELAY_H */
