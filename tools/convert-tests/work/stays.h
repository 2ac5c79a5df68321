/* SPDX-License-Identifier: GPL-2.0 */
/* No file here defines these */
#ifndef _STAYS_H
#define _STAYS_H

extern struct delayed_work stays_shared;
void stays_queue(struct delayed_work *dwork);

#endif /* _STAYS_H */
