/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _FUZZ_H
#define _FUZZ_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes of an input that are looked at, and a 0. */
#define FUZZ_LINE	1024

/* Say what is done, word by word. */
extern bool fuzz_verbose;

/* libFuzzer calls it by another name, see scripts/fuzz.sh. */
int fuzz_one(const unsigned char *data, size_t size);

#endif /* _FUZZ_H */
