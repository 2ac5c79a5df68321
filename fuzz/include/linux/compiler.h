/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _LINUX_COMPILER_H
#define _LINUX_COMPILER_H

#define OPTIMIZER_HIDE_VAR(var)	((void)(var))

#endif /* _LINUX_COMPILER_H */
