/* SPDX-License-Identifier: GPL-2.0 */
/* The entries of a table */
	1, 2, 3
