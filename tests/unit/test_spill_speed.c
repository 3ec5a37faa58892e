/* SPDX-License-Identifier: MIT */
/*
 * What the store measures of its device: a simulated one, whose t and s are known, must show them,
 * however long the computation takes.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "sim/machine.h"
#include "spill/writer.h"
#include "tap.h"

#define PAGE 65536u
#define CHUNK (4 * PAGE)
#define RUNS 6
#define RUN_PAGES 40
#define MB 1048576.0

static struct sp_errinfo err;
static struct sp__budget budget;
static struct sp__volume *device;
static struct sp__run *runs[RUNS];
static char page[PAGE];

/* compute_ns: computation while each page is written. */
static void write_run(struct sp__spill *s, struct sp__run **run, void *mem, uint64_t compute_ns)
{
	struct sp__runwriter w;

	if (sp__run_new(run, &budget) ||
	    sp__runwriter_open(&w, s, *run, mem, SP__WRITER_CHUNKS * CHUNK, NULL, NULL))
		abort();
	for (int i = 0; i < RUN_PAGES; i++) {
		sp__machine_charge(device->machine, compute_ns);
		if (sp__runwriter_put(&w, page, PAGE))
			abort();
	}
	if (sp__runwriter_finish(&w))
		abort();
	sp__runwriter_close(&w);
}

/* Measures the speed on a machine. */
static void measure(const char *spec, uint64_t compute_ns, double *transfer_s_per_mib,
		    double *read_s_per_mib, double *seek_s)
{
	static const char *const dirs[] = { "/tmp" };
	char *mem = sp__pages_alloc(SP__WRITER_CHUNKS * CHUNK, false);
	struct sp__spill *s;

	if (!mem || sp__volume_device(&device, spec, &err) ||
	    sp__spill_open(&s, &(struct sp__spill_opts){ .dirs = dirs,
							 .ndirs = 1,
							 .page_bytes = PAGE,
							 .depth = 16,
							 .budget = &budget,
							 .device = device,
							 .err = &err }))
		abort();
	*transfer_s_per_mib = sp__spill_write_s(s) * MB;
	ok(*transfer_s_per_mib == 0, "%s: nothing is known before anything is written", spec);
	for (int i = 0; i < RUNS; i++)
		write_run(s, &runs[i], mem, compute_ns);
	*transfer_s_per_mib = sp__spill_write_s(s) * MB;
	*seek_s = sp__spill_seek_s(s, runs, RUNS, mem);
	*read_s_per_mib = sp__spill_read_s(s, runs[RUNS / 2], mem) * MB;
	for (int i = 0; i < RUNS; i++)
		sp__run_free(runs[i]);
	sp__spill_close(s);
	sp__volume_close(device);
	sp__pages_free(mem, SP__WRITER_CHUNKS * CHUNK);
}

static bool near(double x, double y)
{
	return fabs(x - y) < 0.02 * y;
}

int main(void)
{
	/* A page takes the linear device 18.75 ms. */
	static const uint64_t compute_ns[] = { 0, 9000000, 40000000 };
	double t, r, s;

	err = (struct sp_errinfo)SP_ERRINFO_INIT;
	sp__budget_init(&budget, 64 << 20);
	memset(page, 'x', sizeof(page));
	for (int i = 0; i < 3; i++) {
		measure("linear", compute_ns[i], &t, &r, &s);
		ok(near(t, 0.3), "computing %llu ms a page: t is that of the device, %.4f",
		   (unsigned long long)compute_ns[i] / 1000000, t);
		ok(near(r, 0.3), "... that of reading too, %.4f", r);
		ok(near(s, 0.007 + 0.3 * 4096 / MB), "... and s, with 4096 bytes, %.5f", s);
	}
	return done();
}
