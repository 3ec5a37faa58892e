/* SPDX-License-Identifier: MIT */
/*
 * Properties of named inputs: their total size and, from the beginning of the first
 * regular file, the length of their records.  Small inputs are not read: they stay in
 * memory in any case.
 */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <spindle/sort.h>
#include "flow/scan.h"
#include "rec/recfmt.h"

#define SAMPLE_BYTES 65536u
#define LOOK_FROM_BYTES (UINT64_C(1) << 20)

/* Reads the beginning of an input that can be read again; returns the number of bytes. */
static size_t look(const char *name, char *sample)
{
	struct stat st;
	ssize_t n = 0;
	off_t from;
	int fd;

	/* Opening anything else might wait for its other end. */
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
	/* None ends here: it is at least this long. */
	return records ? ((uint64_t)(at - data) + records / 2) / records : bytes;
}

void sp_sort_expect(struct sp_sort_opts *opts, const char *const *inputs, size_t ninputs)
{
	char sample[SAMPLE_BYTES];
	size_t bytes = 0;
	uint64_t sum;
	bool all;

	sum = sp__inputs_bytes(inputs, ninputs, &all);
	if (!opts->input_bytes && all)
		opts->input_bytes = sum;
	if (opts->record_bytes || opts->format.kind == SP_REC_FIXED || sum < LOOK_FROM_BYTES)
		return;
	for (size_t i = 0; i < ninputs && !bytes; i++)
		bytes = look(inputs[i], sample);
	if (bytes)
		opts->record_bytes = mean_bytes(&opts->format, sample, bytes);
}
