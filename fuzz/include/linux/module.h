/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _LINUX_MODULE_H
#define _LINUX_MODULE_H

#define module_param(...)
#define MODULE_PARM_DESC(...)

#endif /* _LINUX_MODULE_H */
