/* SPDX-License-Identifier: MIT */
/*
 * What one job of a job file asks for, and the table of its keys.
 */
#ifndef SP__FIOJOB_FIOJOB_H
#define SP__FIOJOB_FIOJOB_H

#include <stdbool.h>
#include <stdint.h>
#include <spindle/fiojob.h>

/* The values of one job. Times in ns, sizes in bytes. */
struct sp__fiovalues {
	bool random, time_based, direct, fixed_buffers, register_files;
	double reads; /* share of reads: 0, 1, or 0.5: see mix */
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
	/* NULL, or why the value is refused; value NULL: the key stands alone. */
	const char *(*set)(struct sp__fiovalues *v, const char *value);
};

/* NULL: no such key.  A key whose set is NULL is accepted and ignored. */
const struct sp__fiokey *sp__fiojob_key(const char *name);
extern const struct sp__fiovalues sp__fiojob_defaults;

#endif
