/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _LINUX_LOCKDEP_TYPES_H
#define _LINUX_LOCKDEP_TYPES_H

struct lock_class_key { };
struct lockdep_map { };

#endif /* _LINUX_LOCKDEP_TYPES_H */
