/* SPDX-License-Identifier: GPL-2.0 */
/* Several modules include this, each with its own struct part, as in net/netfilter/ipset */

static void part_stop(struct part *p)
{
	timer_delete(&p->timer);
}
