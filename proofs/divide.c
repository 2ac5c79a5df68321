// SPDX-License-Identifier: GPL-2.0
/* Division by multiplication. */

#include "arith.h"
#include "division.h"
#include "hwheel_levels.h"
#include "divisor.h"
