/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SIM_LINUX_RCUPDATE_H
#define _SIM_LINUX_RCUPDATE_H

void synchronize_rcu(void);

#endif /* _SIM_LINUX_RCUPDATE_H */
