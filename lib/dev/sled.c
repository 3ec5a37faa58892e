/* SPDX-License-Identifier: MIT */
/*
 * Computes the shortest time of a motion of a MEMS sled.
 *
 * Algorithm.  Full force to the right moves a point (coordinate, speed) clockwise on a circle
 * around +1, where spring and actuator are in balance; full force to the left, on a circle around
 * -1.  The angle is the time.  The shortest path to the right accelerates on the circle through its
 * start and brakes on the circle through its end, from the point where the two meet.  A path to the
 * left is mirrored.  A path leads to the right if its start is on the left of the curve of all
 * points from which one force alone leads to the end.
 *
 * The computation uses integers, also for arc tangents (CORDIC: rotations by arctan 2^-i, made of
 * shifts and additions), so results are equal on all machines.  The constants of a sled are rounded
 * once; they come from multiplications, divisions and a square root, which IEEE 754 defines.
 * Errors are below 1 ns for sleds of this size.
 *
 * Source: Griffin, Schlosser, Ganger and Nagle 2000 (seek times of MEMS-based storage).
 */
#include <math.h>
#include "dev/sled.h"

#define BALANCE SP__SLED_BALANCE
#define ANGLE_BITS 40 /* bits of the fraction of an angle in radians */
#define ROTATIONS 32

static const int64_t half_pi = INT64_C(1727108826179);

/* arctan 2^-i; later ones are 2^-i, as exactly as a fraction of 40 bits. */
static const int64_t arctans[] = {
	INT64_C(863554413089), INT64_C(509785937287), INT64_C(269356888665), INT64_C(136729762476),
	INT64_C(68630207382),  INT64_C(34348560106),  INT64_C(17178471287),  INT64_C(8589759836),
	INT64_C(4294945451),   INT64_C(2147480917),   INT64_C(1073741483),   INT64_C(536870869),
	INT64_C(268435451),    INT64_C(134217727)
};
#define NARCTANS (sizeof(arctans) / sizeof(*arctans))

void sp__sled_init(struct sp__sled *s, double half_m, double acceleration_m_s2, double spring)
{
	s->balance_m = half_m / spring;
	s->per_s = sqrt(acceleration_m_s2 / s->balance_m);
	s->ns_2_20 = (uint64_t)llround(1e9 * (1 << 20) / s->per_s);
}

int64_t sp__sled_length(const struct sp__sled *s, double m)
{
	return llround(m / s->balance_m * (double)BALANCE);
}

int64_t sp__sled_speed(const struct sp__sled *s, double m_s)
{
	return sp__sled_length(s, m_s / s->per_s);
}

/* Returns the angle of a vector from the x axis, from 0 to pi; a y below 0 is a rounding error. */
static int64_t angle_of(int64_t x, int64_t y)
{
	int64_t angle = 0, sign = 1, across;
	int shift;

	if (y <= 0)
		return x < 0 ? 2 * half_pi : 0;
	if (x < 0) {
		angle = half_pi;
		across = -x;
		x = y;
		y = across;
	}
	/* Scale to 60 bits: rotations lengthen the vector by 1.65. */
	shift = __builtin_clzll((uint64_t)x | (uint64_t)y) - 4;
	x = shift < 0 ? x >> -shift : x << shift;
	y = shift < 0 ? y >> -shift : y << shift;
	for (unsigned i = 0; i <= ROTATIONS; i++) {
		int64_t step = i < NARCTANS ? arctans[i] : INT64_C(1) << (ANGLE_BITS - i);
		int64_t down = x >> i;

		x += y >> i;
		y -= down;
		angle += sign * step;
		if (y < 0) { /* rotate the mirror image to the other side */
			y = -y;
			sign = -sign;
		}
	}
	return angle > 0 ? angle : 0;
}

/* Returns the angle from p clockwise to q, seen from a balance. */
static int64_t arc(struct sp__sledpoint p, struct sp__sledpoint q, int64_t balance)
{
	int64_t px = p.at - balance, qx = q.at - balance;

	return angle_of(px * qx + p.speed * q.speed, p.speed * qx - px * q.speed);
}

/* Returns the square of the distance from a balance. */
static int64_t square(struct sp__sledpoint p, int64_t balance)
{
	return (p.at - balance) * (p.at - balance) + p.speed * p.speed;
}

static int64_t root(int64_t n)
{
	int64_t r = n > 0 ? (int64_t)sqrt((double)n) : 0;

	while (r * r > n && r)
		r--;
	while ((r + 1) * (r + 1) <= n)
		r++;
	return r;
}

static uint64_t ns_of(const struct sp__sled *s, int64_t angle)
{
	unsigned __int128 product = (unsigned __int128)(uint64_t)angle * s->ns_2_20;

	return (uint64_t)((product + ((unsigned __int128)1 << (ANGLE_BITS + 19))) >>
			  (ANGLE_BITS + 20));
}

static struct sp__sledpoint mirrored(struct sp__sledpoint p)
{
	return (struct sp__sledpoint){ -p.at, -p.speed };
}

static bool leads_right(struct sp__sledpoint from, struct sp__sledpoint to)
{
	if (from.speed >= to.speed)
		return square(from, -BALANCE) < square(to, -BALANCE);
	return square(from, BALANCE) > square(to, BALANCE);
}

uint64_t sp__sled_seek_ns(const struct sp__sled *s, struct sp__sledpoint from,
			  struct sp__sledpoint to)
{
	struct sp__sledpoint meet;
	int64_t of_start;

	if (from.at == to.at && from.speed == to.speed)
		return 0;
	if (!leads_right(from, to)) {
		from = mirrored(from);
		to = mirrored(to);
	}
	of_start = square(from, BALANCE);
	meet.at = (square(to, -BALANCE) - of_start + 2 * BALANCE) >> 32; /* / (4 BALANCE) */
	meet.speed = root(of_start - (meet.at - BALANCE) * (meet.at - BALANCE));
	return ns_of(s, arc(from, meet, BALANCE) + arc(meet, to, -BALANCE));
}

uint64_t sp__sled_stop(const struct sp__sled *s, struct sp__sledpoint *p)
{
	bool left = p->speed < 0;
	struct sp__sledpoint from = left ? mirrored(*p) : *p, rest;
	uint64_t ns;

	if (!p->speed)
		return 0;
	rest = (struct sp__sledpoint){ root(square(from, -BALANCE)) - BALANCE, 0 };
	ns = ns_of(s, arc(from, rest, -BALANCE));
	*p = left ? mirrored(rest) : rest;
	return ns;
}
