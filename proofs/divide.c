// SPDX-License-Identifier: GPL-2.0
/* For the proof of divisor_div(), which divides by multiplication. */

#include "arith.h"
#include "division.h"
#include "module/levels.h"
#include "divisor.h"
