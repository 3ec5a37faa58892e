/* SPDX-License-Identifier: MIT */
/*
 * How many cells random records touch, and when it pays to read only these.
 *
 * Source: Shao 2008, section 4.5, for the switch between S-scan and SI-scan.
 *
 * Thread rule: pure functions.
 */
#pragma once

#include <math.h>

/* Returns the share of cells of n records that have a record, if each is chosen with this share. */
static inline double sp__cells_touched(double share, double n)
{
	return -expm1(n * log1p(-share));
}

/*
 * Returns the share of records below which reading only the touched cells of n records takes less
 * time than reading all.  rho: bytes per second of reads of single cells, divided by those of a
 * sequential read.
 */
static inline double sp__share_switch(double rho, double n)
{
	return rho < 1 ? -expm1(log1p(-rho) / n) : 1;
}
