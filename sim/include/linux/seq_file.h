/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _SIM_LINUX_SEQ_FILE_H
#define _SIM_LINUX_SEQ_FILE_H

#include <linux/fs.h>

#define SEQ_START_TOKEN		((void *)1)
#define SEQ_SKIP		1

struct seq_operations;

struct seq_file {
	char			*buf;
	size_t			size, count, from;
	loff_t			index;
	const struct seq_operations *op;
	int			(*show)(struct seq_file *m, void *v);
	void			*private;
	bool			overflow;
};

struct seq_operations {
	void	*(*start)(struct seq_file *m, loff_t *pos);
	void	(*stop)(struct seq_file *m, void *v);
	void	*(*next)(struct seq_file *m, void *v, loff_t *pos);
	int	(*show)(struct seq_file *m, void *v);
};

static inline bool seq_has_overflowed(struct seq_file *m)
{
	return m->overflow;
}

int seq_open(struct file *file, const struct seq_operations *op);
void *__seq_open_private(struct file *file, const struct seq_operations *op, int size);
int single_open(struct file *file, int (*show)(struct seq_file *m, void *v), void *data);
ssize_t seq_read(struct file *file, char __user *to, size_t size, loff_t *pos);
loff_t seq_lseek(struct file *file, loff_t offset, int whence);
int seq_release(struct inode *inode, struct file *file);
int seq_release_private(struct inode *inode, struct file *file);
int single_release(struct inode *inode, struct file *file);
__printf(2, 3) void seq_printf(struct seq_file *m, const char *format, ...);
void seq_puts(struct seq_file *m, const char *s);
void seq_putc(struct seq_file *m, char c);

#define DEFINE_SHOW_ATTRIBUTE(name)					\
static int name##_open(struct inode *inode, struct file *file)		\
{									\
	return single_open(file, name##_show, inode->i_private);	\
}									\
static const struct file_operations name##_fops = {			\
	.open = name##_open, .read = seq_read,				\
	.llseek = seq_lseek, .release = single_release,			\
}

#define DEFINE_SEQ_ATTRIBUTE(name)					\
static int name##_open(struct inode *inode, struct file *file)		\
{									\
	int err = seq_open(file, &name##_sops);				\
									\
	if (!err)							\
		((struct seq_file *)file->private_data)->private = inode->i_private; \
	return err;							\
}									\
static const struct file_operations name##_fops = {			\
	.open = name##_open, .read = seq_read,				\
	.llseek = seq_lseek, .release = seq_release,			\
}

#endif /* _SIM_LINUX_SEQ_FILE_H */
