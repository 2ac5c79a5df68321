/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SIM_LINUX_DEBUGFS_H
#define _SIM_LINUX_DEBUGFS_H

#include <linux/fs.h>

struct dentry;
struct file_operations;

struct dentry *debugfs_create_dir(const char *name, struct dentry *parent);
struct dentry *debugfs_create_file(const char *name, umode_t mode, struct dentry *parent,
				   void *data, const struct file_operations *fops);
void debugfs_remove(struct dentry *dentry);

#endif /* _SIM_LINUX_DEBUGFS_H */
