// SPDX-License-Identifier: GPL-2.0
/* Has a function of delayed work, and nothing that has to be converted */
#include "device.h"

void device_away(struct work_struct *work)
{
}
