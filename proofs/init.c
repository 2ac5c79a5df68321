// SPDX-License-Identifier: GPL-2.0
/*
 * For the proof of divisor_init(), which computes the reciprocal. Unlike divide.c, this file
 * leaves out division.h, because the provers do better without it.
 */

#include "arith.h"
#include "module/levels.h"
#include "divisor.h"
