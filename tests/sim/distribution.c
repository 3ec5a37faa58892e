/* SPDX-License-Identifier: MIT */
/*
 * A distribution-based sort of lines on a simulated drive, for scripts/experiments/sh08:
 *
 *	distribution SIM PLACEMENT MEMORY PAGE PARTS INPUT OUTPUT
 *
 * SIM is the text after "sim:" in a volume; MEMORY, PAGE: bytes.  Splitters sampled from the input
 * make PARTS ranges of keys.  Each range is a run in temporary space.  All runs are written
 * concurrently, like partitions of a hash join: full pages wait, and are written together in the
 * order of their locations.  Then each run is read, sorted in memory and appended to OUTPUT.  Only
 * the order of these steps is new: placement, gathering and reading are those of xjoin, splitters
 * those of xsort --splitters.
 *
 * MEMORY is that of the pages being filled, then that of the records of one range: a larger range
 * is an error.  Buffers of streams are added, and the sample is taken off the drive.  Prints
 * KEY=VALUE pairs in one line; times are virtual.
 *
 * Source: Shao 2008, section 6.2.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <spindle/buffers.h>
#include "base/mem.h"
#include "flow/scan.h"
#include "flow/runread.h"
#include "run/charge.h"
#include "spill/writer.h"

/* Requests outstanding: as many as gather. */
#define DEPTH 1024
#define STREAM_BYTES ((uint64_t)4 << 20)

struct range {
	struct sp__run *run;
	struct sp__runwriter writer;
	struct sp_tally tally;
};

struct job {
	struct sp_sort_opts opts;
	struct sp__env env;
	const char *input, *output;
	char *volume;
	struct sp_geometry *geometry;
	struct sp_keyset *keys;
	struct sp_splitters *splitters;
	struct sp__spill *spill;
	struct range *ranges;
	unsigned nranges;
	char *memory; /* for pages being filled, then for records */
	uint64_t memory_bytes, largest_bytes;
	struct sp_errinfo err;
};

static void fail(const struct job *j, int rc)
{
	fprintf(stderr, "distribution: %s: %s\n", j->err.path,
		j->err.text[0] ? j->err.text : sp_strerror(rc));
	exit(2);
}

/* n, if it is not an error. */
static int good(const struct job *j, int n)
{
	if (n < 0)
		fail(j, n);
	return n;
}

static void *owned(const struct job *j, void *p)
{
	if (!p)
		fail(j, -ENOMEM);
	return p;
}

static void open_ranges(struct job *j)
{
	uint64_t each = j->memory_bytes / j->nranges;
	struct sp__spill_opts o = sp__env_spilling(&j->env);

	each -= each % j->opts.run.page_bytes;
	o.page_bytes = j->opts.run.page_bytes;
	o.recycle_level = 1;
	o.depth = DEPTH;
	o.budget = &j->env.budget;
	o.runs = j->nranges;
	o.hops = SP_GEOMETRY_WRITE;
	good(j, sp__spill_open(&j->spill, &o));
	for (unsigned i = 0; i < j->nranges; i++) {
		struct range *r = &j->ranges[i];

		good(j, sp__run_new(&r->run, &j->env.budget));
		good(j, sp__runwriter_open(&r->writer, j->spill, r->run, j->memory + i * each, each,
					   NULL, NULL));
	}
	sp__spill_gather(j->spill, j->nranges * sp__runwriter_chunk(&j->ranges[0].writer));
}

/* Records between two splitters to their range. */
static void put(struct job *j, unsigned range, const char *data, size_t bytes)
{
	struct range *r = &j->ranges[range];
	struct sp_tally t;

	if (!bytes)
		return;
	good(j, sp_tally_buffer(&t, &j->opts.format, &(struct sp_batch){ data, bytes }, &j->err));
	good(j, sp__runwriter_put_part(&r->writer, data, bytes, (unsigned)t.records));
	r->tally.records += t.records;
	r->tally.bytes += t.bytes;
	r->tally.sum += t.sum;
}

static void distribute(struct job *j, const struct sp_batch *batch, size_t *offsets)
{
	struct sp_sort_opts o = SP_SORT_OPTS_INIT;
	char *parted = owned(j, malloc(batch->bytes + 1));
	struct sp_tally t;

	/* Sorted is grouped, too; the time of this is not charged. */
	o.format = j->opts.format;
	o.keys = j->keys;
	good(j, sp_sort_buffer(&o, batch, 1, parted, batch->bytes + 1, &t, NULL, &j->err));
	good(j, sp_split_buffer(j->splitters, &(struct sp_batch){ parted, batch->bytes }, offsets,
				&j->err));
	sp__charge_work(&j->env, t.records, (unsigned)ceil(log2(j->nranges)), batch->bytes);
	offsets[j->nranges - 1] = batch->bytes;
	for (unsigned i = 0; i < j->nranges; i++) {
		size_t from = i ? offsets[i - 1] : 0;

		put(j, i, parted + from, offsets[i] - from);
	}
	free(parted);
}

static void partition(struct job *j)
{
	struct sp__waits waits = { 0 };
	struct sp__scan_opts o = { .format = j->opts.format,
				   .inputs = &j->input,
				   .ninputs = 1,
				   .stream = sp__env_reading(&j->env),
				   .waits = &waits,
				   .err = &j->err };
	size_t *offsets = owned(j, calloc(j->nranges, sizeof(*offsets)));
	struct sp__scan *scan;
	struct sp_batch batch;
	int rc;

	good(j, sp__inputs_lay(o.stream.device, &j->input, 1, &o.stream.sim_file, &j->err));
	good(j, sp__scan_open(&scan, &o));
	open_ranges(j);
	while ((rc = good(j, sp__scan_next(scan, &batch))) != SP_END) {
		if (rc == SP_READY)
			distribute(j, &batch, offsets);
		else
			good(j, sp__waits_block(&waits));
	}
	for (unsigned i = 0; i < j->nranges; i++)
		good(j, sp__runwriter_end(&j->ranges[i].writer));
	for (unsigned i = 0; i < j->nranges; i++) {
		good(j, sp__runwriter_finish(&j->ranges[i].writer));
		sp__runwriter_close(&j->ranges[i].writer);
	}
	sp__scan_close(scan);
	free(offsets);
}

/* Reads a range into the memory; its bytes. */
static size_t gather(struct job *j, const struct range *range, char *chunks, size_t chunk_bytes)
{
	struct sp__runread r;
	struct sp_batch batch;
	size_t bytes = 0;

	if (range->tally.bytes > j->memory_bytes) {
		fprintf(stderr, "distribution: a range has %llu bytes\n",
			(unsigned long long)range->tally.bytes);
		exit(2);
	}
	sp__runread_open(&r, j->spill, range->run, &j->opts.format, true, chunks, chunk_bytes);
	while (good(j, sp__runread_next(&r, &batch)) != SP_END) {
		memcpy(j->memory + bytes, batch.data, batch.bytes);
		bytes += batch.bytes;
	}
	sp__runread_close(&r);
	return bytes;
}

/* Sorts a range into out, and proves that it is what was put there. */
static void sort(struct job *j, const struct range *range, size_t bytes, char *out)
{
	struct sp_batch batch = { j->memory, bytes };
	struct sp_sort_opts o = j->opts;
	struct sp_tally read, given;

	o.run.volume = NULL;
	o.run.geometry = NULL;
	o.run.placement = SP_PLACE_CONTIGUOUS;
	o.run.memory_bytes = 8 * j->memory_bytes;
	good(j, sp_sort_buffer(&o, &batch, 1, out, j->memory_bytes, &read, &given, &j->err));
	if (memcmp(&read, &range->tally, sizeof(read)) || memcmp(&given, &read, sizeof(read)))
		fail(j, SP_EBALANCE);
	sp__charge_sorting(&j->env, read.records);
	sp__charge_work(&j->env, read.records, 0, bytes);
}

static void sort_ranges(struct job *j)
{
	struct sp__wstream_opts writing = sp__env_writing(&j->env);
	size_t chunk_bytes = (size_t)SP__CHUNKREAD_CHUNKS * writing.chunk_bytes;
	char *chunks = owned(j, sp__pages_alloc(chunk_bytes, false));
	char *out = owned(j, malloc(j->memory_bytes));
	int fd = open(j->output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	struct sp__wstream *ws;

	if (fd < 0)
		fail(j, -errno);
	good(j, sp__wstream_open(&ws, fd, j->output, &writing, &j->err));
	for (unsigned i = 0; i < j->nranges; i++) {
		struct range *r = &j->ranges[i];
		size_t bytes = gather(j, r, chunks, chunk_bytes);

		j->largest_bytes = bytes > j->largest_bytes ? bytes : j->largest_bytes;
		if (bytes)
			sort(j, r, bytes, out);
		good(j, sp__wstream_put(ws, out, bytes));
		sp__spill_end_run(j->spill, r->run);
		sp__run_free(r->run);
	}
	good(j, sp__wstream_finish(ws));
	sp__wstream_close(ws);
	sp__env_sync(&j->env, j->spill);
	close(fd);
	free(out);
	sp__pages_free(chunks, chunk_bytes);
}

/* Options, and the splitters, which are sampled by a sort of its own. */
static void begin(struct job *j, const char *sim, const char *placement)
{
	static const char *tmpdir;
	struct sp_keyset_opts keys = { .format = j->opts.format, .separator = -1 };
	struct sp_sort_io io = { .inputs = &j->input, .ninputs = 1 };
	int place;

	tmpdir = getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp";
	j->opts.run.tmpdirs = &tmpdir;
	j->opts.run.ntmpdirs = 1;
	j->opts.run.parallel = 1;
	j->opts.run.memory_bytes = j->memory_bytes + STREAM_BYTES;
	good(j, sp_keyset_new(&j->keys, &keys, &j->err));
	j->opts.keys = j->keys;
	good(j, sp_splitters_sample(&j->splitters, &j->opts, &io, j->nranges, &j->err));
	if (asprintf(&j->volume, "sim:%s", sim) < 0 || sp_placement_parse(placement, &place))
		fail(j, -EINVAL);
	j->opts.run.volume = j->volume;
	j->opts.run.placement = place;
	good(j, sp_run_geometry(&j->geometry, j->volume, &j->err));
	j->opts.run.geometry = j->geometry;
	good(j, sp__env_open(&j->env, &j->opts.run, &j->err));
}

static void end(struct job *j)
{
	sp__spill_close(j->spill);
	good(j, sp__env_close(&j->env));
	sp_splitters_free(j->splitters);
	sp_keyset_free(j->keys);
	sp_geometry_free(j->geometry);
	free(j->volume);
	free(j->ranges);
	sp__pages_free(j->memory, j->memory_bytes);
}

static void print(const struct job *j, uint64_t parted_ns)
{
	struct sp_run_stats st = { 0 };

	sp__env_note(&j->env, &st, true);
	printf("partition_s=%.9f sort_s=%.9f total_s=%.9f cpu_s=%.9f seeks=%llu "
	       "largest_bytes=%llu\n",
	       (double)(parted_ns - j->env.begin_ns) * 1e-9,
	       st.elapsed_s - (double)(parted_ns - j->env.begin_ns) * 1e-9, st.elapsed_s,
	       (double)st.sim_cpu_time_ns * 1e-9, (unsigned long long)st.sim_seeks,
	       (unsigned long long)j->largest_bytes);
}

int main(int argc, char **argv)
{
	struct job j = { .opts = SP_SORT_OPTS_INIT, .err = SP_ERRINFO_INIT };
	uint64_t parted_ns;

	if (argc != 8) {
		fprintf(stderr, "distribution: SIM PLACEMENT MEMORY PAGE PARTS INPUT OUTPUT\n");
		return 2;
	}
	j.opts.format = (struct sp_recfmt){ .kind = SP_REC_LINE, .eol = '\n' };
	j.memory_bytes = strtoull(argv[3], NULL, 10) & ~(uint64_t)4095;
	j.opts.run.page_bytes = (uint32_t)strtoul(argv[4], NULL, 10);
	j.nranges = (unsigned)strtoul(argv[5], NULL, 10);
	j.input = argv[6];
	j.output = argv[7];
	j.ranges = owned(&j, calloc(j.nranges, sizeof(*j.ranges)));
	j.memory = owned(&j, sp__pages_alloc(j.memory_bytes, false));
	begin(&j, argv[1], argv[2]);
	partition(&j);
	parted_ns = sp__env_now_ns(&j.env);
	sort_ranges(&j);
	print(&j, parted_ns);
	end(&j);
	return 0;
}
