// SPDX-License-Identifier: GPL-2.0
/* The reciprocal. Without division.h, because the provers do better without it. */

#include "arith.h"
#include "hwheel_levels.h"
#include "divisor.h"
