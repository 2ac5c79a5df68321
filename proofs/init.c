// SPDX-License-Identifier: GPL-2.0
/* The reciprocal. The provers do better here without division.h. */

#include "arith.h"
#include "hwheel_levels.h"
#include "divisor.h"
