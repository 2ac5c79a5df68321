// SPDX-License-Identifier: GPL-2.0
#include "code.h"

void code_init(void)
{
	code_start();
}
