/* SPDX-License-Identifier: MIT */
/*
 * Marks exported symbols, and includes the types of all headers: bool, size_t and those of
 * <stdint.h>.  It declares no function.
 *
 * The library is compiled with -fvisibility=hidden.  A symbol is public if its declaration has
 * SP_API and lib/libspindle.map lists it. scripts/check-symbols compares the two.
 */
#ifndef SPINDLE_API_H
#define SPINDLE_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define SP_API extern "C" __attribute__((visibility("default")))
#else
#define SP_API __attribute__((visibility("default")))
#endif
#define SP_MUST_CHECK __attribute__((warn_unused_result))

#endif
