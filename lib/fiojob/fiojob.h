/* SPDX-License-Identifier: MIT */
/*
 * The values of one job of a job file, and the table of its keys.
 */
#pragma once

#include <spindle/fiojob.h>

struct sp__setting;

enum sp__fioengine { SP__FIO_URING, SP__FIO_AIO, SP__FIO_SYNC, SP__FIO_NULL };

#define SP__FIO_NAME_BYTES 64

/* The values of one job. Times in ns, sizes in bytes. */
struct sp__fiovalues {
	bool time_based, direct, invalidate, stonewall, fixed_buffers, register_files;
	bool norandommap, group_reporting, new_group, exitall, create, poisson;
	bool scaled;	  /* a line of this section has used kb_base */
	uint32_t kb_base; /* 1024 or 1000 */
	int rw;		  /* enum sp_bench_rw */
	double mix;	  /* share of reads if rw is mixed */
	double theta;	  /* 0: uniform */
	uint32_t bytes;
	uint64_t size, io_size, offset;
	double size_share; /* share of the file in place of size; 0: none */
	char name[SP__FIO_NAME_BYTES], filename[512], directory[512];
	uint32_t iodepth, numjobs, batch_submit, batch_min, batch_max;
	int engine; /* enum sp__fioengine */
	uint64_t runtime_ns, ramp_ns, seed;
	double rate, byte_rate; /* requests or bytes per second; 0: no limit */
	uint64_t filesize;	/* 0: not given */
	uint32_t loops;
	unsigned offset_percent; /* of the file, in place of offset; 0: none */
	uint32_t prioclass, prio, cmdprio_class, cmdprio;
	double cmdprio_share;
};

/* Returns the row of a key; NULL: no such key. */
const struct sp__setting *sp__fiojob_key(const char *name, size_t len);
/* True for a key without effect in this program. */
bool sp__fiojob_ignored(const char *name, size_t len);
/* True for a key that asks for output that this program does not write. */
bool sp__fiojob_output(const char *name, size_t len);
/* Returns the name of the engine in a measurement. */
const char *sp__fiojob_engine(const struct sp__fiovalues *v);
extern const struct sp__fiovalues sp__fiojob_defaults;
