/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _FUZZ_H
#define _FUZZ_H

#include <stdbool.h>
#include <stddef.h>

/* The most bytes of an input, including the 0 at its end */
#define FUZZ_LINE	1024

/* Print each word when it is carried out */
extern bool fuzz_verbose;

/* libFuzzer calls this function by another name, see scripts/fuzz.sh */
int fuzz_one(const unsigned char *data, size_t size);

#endif /* _FUZZ_H */
