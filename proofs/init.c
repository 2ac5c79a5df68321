// SPDX-License-Identifier: GPL-2.0
/* The reciprocal. Without division.h: the provers do better by themselves. */

#include "arith.h"
#include "hwheel_levels.h"
#include "divisor.h"
