/* SPDX-License-Identifier: MIT */
/*
 * Finds what the inputs tell a plan before they are read: bytes, and the mean length of records.
 */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "flow/parts.h"
#include "run/memory.h"
#include "sort/plan/plan.h"
#include "sort/state.h"

/* The start of an input shows the length of its records. */
#define SAMPLE_BYTES 65536u
#define PLACES 8 /* offsets at which records of a large input are measured */
#define LOOK_FROM_BYTES (UINT64_C(1) << 20)

/* Reads the start of an input that can be read again; returns the number of bytes. */
static size_t look(const char *name, char *sample)
{
	struct stat st;
	ssize_t n = 0;
	off_t from;
	int fd;

	/* Opening another type of file can wait for its other end. */
	if (strcmp(name, "-") ? stat(name, &st) : fstat(STDIN_FILENO, &st))
		return 0;
	if (!S_ISREG(st.st_mode))
		return 0;
	fd = sp__input_open(name, NULL);
	if (fd < 0)
		return 0;
	from = lseek(fd, 0, SEEK_CUR);
	if (from >= 0)
		n = pread(fd, sample, SAMPLE_BYTES, from);
	sp__input_close(name, fd);
	return n > 0 ? (size_t)n : 0;
}

static uint64_t mean_bytes(const struct sp_recfmt *format, const char *data, size_t bytes)
{
	const char *at = data, *next;
	uint64_t records = 0;

	while (at < data + bytes && (next = sp__rec_end(format, at, (size_t)(data + bytes - at)))) {
		at = next;
		records++;
	}
	/* If no record ends here, it has at least this length. */
	return records ? ((uint64_t)(at - data) + records / 2) / records : bytes;
}

/*
 * Returns the mean length of the first records.  Not inlined: small inputs do not need the sample's
 * pages of the stack.
 */
static __attribute__((noinline)) uint64_t sampled_bytes(const struct sp_recfmt *format,
							const char *const *inputs, size_t ninputs)
{
	char sample[SAMPLE_BYTES];
	size_t bytes = 0;

	for (size_t i = 0; i < ninputs && !bytes; i++)
		bytes = look(inputs[i], sample);
	return bytes ? mean_bytes(format, sample, bytes) : 0;
}

/* Returns about the length of the longest record at several offsets, up to this limit. */
static uint64_t longest_bytes(const struct sp_recfmt *format, const char *name, uint64_t limit)
{
	const int fd = strcmp(name, "-") ? sp__input_open(name, NULL) : STDIN_FILENO;
	uint64_t longest = 0, at, cut;
	struct stat st;
	bool regular;

	if (fd < 0)
		return 0;
	regular = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
	for (unsigned i = 0; regular && i < PLACES && longest < limit; i++) {
		at = (uint64_t)st.st_size / PLACES * i;
		if (sp__part_cut(format, fd, at + 1, sp__min((uint64_t)st.st_size, at + limit),
				 &cut) < 0)
			break;
		longest = sp__max(longest, cut - sp__min(at, cut));
	}
	sp__input_close(name, fd);
	return longest;
}

/*
 * Returns the length of the longest records found, if they are so long that threads which hold some
 * of them need more than the memory; or 0.
 */
static uint64_t too_long_bytes(const struct sp_sort_opts *o, const char *const *inputs,
			       size_t ninputs)
{
	const uint64_t memory = sp__working_memory(&o->run, o->run.memory_bytes);
	struct sp_sort_opts planned = *o;
	uint64_t longest = 0;

	sp__plan_threads(&planned);
	if (planned.run.parallel <= 1 || o->input_bytes <= memory)
		return 0;
	for (size_t i = 0; i < ninputs && longest < memory; i++)
		longest = sp__max(longest, longest_bytes(&o->format, inputs[i], memory));
	return longest > memory / SP__LONG_RECORDS / planned.run.parallel ? longest : 0;
}

/* Does not read small inputs, since they stay in memory in any case. */
void sp_sort_expect(struct sp_sort_opts *opts, const char *const *inputs, size_t ninputs)
{
	uint64_t sum;
	bool all;

	sum = sp__inputs_bytes(inputs, ninputs, opts->run.decompress, &all);
	/* 0 would mean unknown. */
	if (!opts->input_bytes && all)
		opts->input_bytes = sp__max(sum, 1);
	if (!opts->cached_bytes && sum >= LOOK_FROM_BYTES)
		opts->cached_bytes = sp__runs_cached(opts);
	opts->on_device = all && !opts->run.volume && sum >= LOOK_FROM_BYTES &&
			  sp__inputs_on_device(inputs, ninputs);
	if (opts->record_bytes || opts->format.kind == SP_REC_FIXED || sum < LOOK_FROM_BYTES ||
	    opts->run.decompress || opts->format.array)
		return;
	opts->record_bytes = sampled_bytes(&opts->format, inputs, ninputs);
	opts->record_bytes = sp__max(opts->record_bytes, too_long_bytes(opts, inputs, ninputs));
}
