/* SPDX-License-Identifier: MIT */
/*
 * Opens the inputs of a scan, finds their sizes, and skips blank lines in batches of their records
 * (scan.h).
 */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/err.h"
#include "base/minmax.h"
#include "base/whole.h"
#include "flow/scan.h"
#include "io/volume.h"
#include "io/rstream.h"
#include "rec/key.h"
#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* Length of a blank line at the beginning of the records; 0 if the first line is not blank. */
static size_t blank_line(const char *at, const char *end)
{
	if (*at == '\n')
		return 1;
	return *at == '\r' && end - at > 1 && at[1] == '\n' ? 2 : 0;
}

/* True if a newline is followed by another newline or by a carriage return, also within quotes. */
static bool has_candidate(const char *p, const char *end)
{
#ifdef __SSE2__
	const __m128i newline = _mm_set1_epi8('\n'), cr = _mm_set1_epi8('\r');

	for (; end - p > 16; p += 16) {
		__m128i a = _mm_loadu_si128((const __m128i *)(const void *)p);
		__m128i b = _mm_loadu_si128((const __m128i *)(const void *)(p + 1));
		__m128i second = _mm_or_si128(_mm_cmpeq_epi8(b, newline), _mm_cmpeq_epi8(b, cr));

		if (_mm_movemask_epi8(_mm_and_si128(_mm_cmpeq_epi8(a, newline), second)))
			return true;
	}
#endif
	for (; end - p > 1; p++)
		if (p[0] == '\n' && (p[1] == '\n' || p[1] == '\r'))
			return true;
	return false;
}

static void remove_lines(struct sp__blank *b)
{
	const char *end = b->rest.data + b->rest.bytes;
	size_t bytes;

	while (b->rest.bytes && (bytes = blank_line(b->rest.data, end))) {
		b->rest.data += bytes;
		b->rest.bytes -= bytes;
		b->bytes += bytes;
		b->removed++;
	}
}

void sp__blank_put(struct sp__blank *b, const struct sp_recfmt *f, const struct sp_batch *batch)
{
	const char *at = batch->data, *end = at + batch->bytes;
	size_t bytes;

	b->rest = *batch;
	if (b->decided)
		return;
	while (at < end && (bytes = blank_line(at, end)))
		at += bytes;
	if (at == end)
		return;
	b->decided = true;
	end = sp__rec_end(f, at, (size_t)(end - at)) - 1;
	b->remove = f->kind == SP_REC_CSV
			    ? sp__csv_field_end(at, end, f->separator)[0] == f->separator
			    : memchr(at, f->separator, (size_t)(end - at)) != NULL;
}

bool sp__blank_next(struct sp__blank *b, const struct sp_recfmt *f, struct sp_batch *batch)
{
	const char *at, *end;

	if (b->remove)
		remove_lines(b);
	at = b->rest.data;
	end = at + b->rest.bytes;
	if (!b->remove || !has_candidate(at, end))
		at = end;
	while (at < end && !blank_line(at, end))
		at = sp__rec_end(f, at, (size_t)(end - at));
	*batch = (struct sp_batch){ b->rest.data, (size_t)(at - b->rest.data) };
	b->rest = (struct sp_batch){ at, (size_t)(end - at) };
	return batch->bytes;
}

/* Shorter files are not worth a queue. */
#define SHORT_BYTES (1 << 20)

/* True if a regular file is to be unpacked, or that is not known. */
static bool is_packed(const char *name, enum sp_packed unpack)
{
	const struct sp__rstream_opts o = { .unpack = unpack };
	bool packed;
	int fd;

	if (unpack != SP_PACKED_AUTO)
		return unpack != SP_PACKED_NONE;
	fd = sp__input_open(name, NULL);
	packed = fd < 0 || sp__unpacking_wanted(fd, &o);
	if (fd >= 0)
		sp__input_close(name, fd);
	return packed;
}

uint64_t sp__inputs_bytes(const char *const *inputs, size_t n, enum sp_packed unpack, bool *all)
{
	uint64_t sum = 0;
	struct stat st;

	*all = true;
	for (size_t i = 0; i < n; i++) {
		int rc = strcmp(inputs[i], "-") ? stat(inputs[i], &st) : fstat(0, &st);

		if (rc == 0 && S_ISREG(st.st_mode) && !is_packed(inputs[i], unpack))
			sum += (uint64_t)st.st_size;
		else
			*all = false;
	}
	return sum;
}

/* True if a file is not in the page cache, and can be read directly. */
static bool is_on_device(const char *name, int fd, uint64_t bytes)
{
	struct sp__volume *v = NULL;

	if (sp__file_cached(fd, 0, bytes) || sp__volume_reopen_direct(&v, fd, false, name) < 0)
		return false;
	sp__volume_close(v);
	return true;
}

bool sp__inputs_on_device(const char *const *inputs, size_t n)
{
	bool on_device = false;
	struct stat st;
	int fd;

	for (size_t i = 0; i < n; i++) {
		/* Opening another type of file can wait for its other end. */
		if ((strcmp(inputs[i], "-") ? stat(inputs[i], &st) : fstat(0, &st)) < 0 ||
		    !S_ISREG(st.st_mode))
			return false;
		if (st.st_size < SHORT_BYTES)
			continue;
		fd = sp__input_open(inputs[i], NULL);
		on_device = fd >= 0 && is_on_device(inputs[i], fd, (uint64_t)st.st_size);
		if (fd >= 0)
			sp__input_close(inputs[i], fd);
		if (!on_device)
			return false;
	}
	return on_device;
}

/* Files that are not regular, or cannot be opened, get no location. */
int sp__inputs_lay(const struct sp__volume *device, const char *const *inputs, size_t n,
		   unsigned *first, struct sp_errinfo *err)
{
	bool regular;

	for (size_t i = 0; device && i < n; i++) {
		int number = sp__volume_add_file(
			device, SP__SIM_INPUT,
			sp__inputs_bytes(inputs + i, 1, SP_PACKED_NONE, &regular));

		if (number == -ENOSPC)
			return sp__errf(err, number, "read", inputs[i], -1,
					"No space left on the simulated device");
		if (number < 0)
			return sp__err(err, number, "allocate", NULL, -1);
		if (i == 0)
			*first = (unsigned)number;
	}
	return 0;
}

int sp__input_open(const char *name, struct sp_errinfo *err)
{
	int fd;

	if (!strcmp(name, "-"))
		return 0;
	fd = open(name, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? sp__err(err, -errno, "open", name, -1) : fd;
}

void sp__input_close(const char *name, int fd)
{
	if (strcmp(name, "-"))
		close(fd);
}

int sp__lines_before(int fd, uint64_t offset, char eol, uint64_t *lines)
{
	char buf[4096];
	ssize_t n;

	for (uint64_t at = 0; at < offset; at += (uint64_t)n) {
		n = sp__read_whole(fd, buf, sp__min(sizeof(buf), offset - at), at);
		if (n <= 0)
			return (int)n;
		*lines += sp__count_bytes(buf, (size_t)n, eol);
	}
	return 0;
}
