/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _FUZZ_H
#define _FUZZ_H

#include <stdbool.h>
#include <stddef.h>

/* An input has at most so many bytes, with a 0 at its end */
#define FUZZ_LINE	1024

/* Print each word as it is done */
extern bool fuzz_verbose;

/* libFuzzer calls this function by another name, see scripts/fuzz.sh */
int fuzz_one(const unsigned char *data, size_t size);

#endif /* _FUZZ_H */
