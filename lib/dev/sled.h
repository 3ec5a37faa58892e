/* SPDX-License-Identifier: MIT */
/*
 * Declares the motion of a MEMS sled along one axis: an actuator that pulls with full force to one
 * side or the other, against a spring that pulls to the middle.
 *
 * The unit of length is 2^-30 of the distance from the middle where spring and actuator are in
 * balance, which the sled does not reach.  A speed is divided by the angular frequency of the
 * motion, and so is a length, too.
 *
 * Thread rule: immutable after sp__sled_init().
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define SP__SLED_BALANCE (INT64_C(1) << 30)

struct sp__sled {
	double balance_m, per_s; /* the distance of balance, and the angular frequency */
	uint64_t ns_2_20;	 /* nanoseconds per radian, times 2^20 */
};

struct sp__sledpoint {
	int64_t at, speed; /* from the middle; positive: to the right */
};

/*
 * half_m: the travel to one side. spring: force of the spring there, as a share of the actuator's,
 * between 0 and 1.
 */
void sp__sled_init(struct sp__sled *s, double half_m, double acceleration_m_s2, double spring);
int64_t sp__sled_length(const struct sp__sled *s, double m);
int64_t sp__sled_speed(const struct sp__sled *s, double m_s);
/*
 * Returns the shortest time from one point to another.  The squares of distance from a balance and
 * of speed are together at most 2^62.
 */
uint64_t sp__sled_seek_ns(const struct sp__sled *s, struct sp__sledpoint from,
			  struct sp__sledpoint to);
/* Brings the sled to rest as early as possible: moves *p, and returns the time. */
uint64_t sp__sled_stop(const struct sp__sled *s, struct sp__sledpoint *p);
