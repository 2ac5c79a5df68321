/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SIM_LINUX_FS_H
#define _SIM_LINUX_FS_H

#include <linux/types.h>

struct inode {
	void	*i_private;
};

struct file {
	void	*private_data;
};

struct file_operations {
	void	*owner;
	int	(*open)(struct inode *inode, struct file *file);
	ssize_t	(*read)(struct file *file, char __user *to, size_t size, loff_t *pos);
	ssize_t	(*write)(struct file *file, const char __user *from, size_t size, loff_t *pos);
	loff_t	(*llseek)(struct file *file, loff_t offset, int whence);
	int	(*release)(struct inode *inode, struct file *file);
};

#endif /* _SIM_LINUX_FS_H */
