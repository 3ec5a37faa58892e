/* SPDX-License-Identifier: MIT */
/*
 * Inside fiojob.c and fiojob_values.c.
 */
#ifndef SP__BENCH_FIOJOB_H
#define SP__BENCH_FIOJOB_H

#include <stdbool.h>
#include <stdint.h>
#include <spindle/fiojob.h>

/* What one job says. */
struct sp__fiovalues {
	bool random, time_based, direct, fixed_buffers, register_files;
	double reads; /* 0, 1; or 0.5: mix counts */
	double mix;
	double theta; /* 0: uniform */
	uint32_t bytes;
	uint64_t size, io_size, offset;
	char filename[512];
	uint32_t iodepth, numjobs, batch_submit, batch_min, batch_max;
	const char *engine;
	uint64_t runtime_ns, ramp_ns, seed;
	double rate;
	uint32_t prioclass, prio, cmdprio_class, cmdprio;
	double cmdprio_share;
};

struct sp__fiokey {
	const char *name;
	/* NULL, or why the value cannot be had; value NULL: none. */
	const char *(*set)(struct sp__fiovalues *v, const char *value);
};

/* NULL: there is no such key.  set NULL: it changes nothing here. */
const struct sp__fiokey *sp__fiojob_key(const char *name);
extern const struct sp__fiovalues sp__fiojob_defaults;

#endif
