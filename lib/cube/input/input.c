/* SPDX-License-Identifier: MIT */
/*
 * Reads boxes of elements from a file by offset, or from a pipe in sequence.
 *
 * The first bytes of an input tell whether it is a .npy file; those of a pipe are held until its
 * elements are read.  If the length of a pipe must be known, or its elements are not read in
 * sequence, it is copied to a temporary file.  Threads read a file by ranges.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/task.h"
#include "base/err.h"
#include "base/whole.h"
#include "cube/input/input.h"
#include "cube/input/npy.h"

#define COPY_BYTES (1 << 20)
#define ITEM_BYTES (UINT64_C(1) << 20) /* bytes that a thread reads */
#define OFFSET_MAX (UINT64_C(1) << 62)

static int read_error(const struct sp__loadinput *in, int code, uint64_t offset, const char *text)
{
	return sp__errf(in->err, code, "read", in->name, (long long)offset, "%s", text);
}

/* Reads the next bytes of a pipe, like read(). */
static ssize_t read_pipe(struct sp__loadinput *in, void *to, size_t bytes)
{
	size_t n = sp__min(in->nheld, bytes);

	if (!n)
		return read(in->fd, to, bytes);
	memcpy(to, in->held, n);
	in->nheld -= (unsigned)n;
	memmove(in->held, in->held + n, in->nheld);
	return (ssize_t)n;
}

/* Reads bytes at an offset; a pipe is already there. */
static int read_range(struct sp__loadinput *in, void *data, uint64_t bytes, uint64_t offset,
		      struct sp_errinfo *err)
{
	uint8_t *to = data;

	while (bytes) {
		size_t n = (size_t)sp__min(bytes, UINT64_C(1) << 30);
		ssize_t got =
			in->seekable ? pread(in->fd, to, n, (off_t)offset) : read_pipe(in, to, n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return sp__errf(err, got ? -errno : SP_EFORMAT, "read", in->name,
					(long long)offset, "%s",
					got ? "" : "the input ends before the last element");
		to += got;
		offset += (uint64_t)got;
		bytes -= (uint64_t)got;
	}
	if (!in->seekable)
		in->at = offset;
	return 0;
}

int sp__loadinput_skip(struct sp__loadinput *in, uint64_t bytes)
{
	static uint8_t nowhere[65536];
	int rc = 0;

	for (uint64_t n; !rc && bytes; bytes -= n) {
		n = sp__min(bytes, sizeof(nowhere));
		rc = read_range(in, nowhere, n, in->at, in->err);
	}
	return rc;
}

static void swap_numbers(uint8_t *data, uint64_t bytes, uint32_t size)
{
	for (; bytes >= size; data += size, bytes -= size)
		for (uint32_t i = 0; i < size / 2; i++) {
			uint8_t byte = data[i];

			data[i] = data[size - 1 - i];
			data[size - 1 - i] = byte;
		}
}

/* A box of the input, as rows of elements that are contiguous in it. */
struct rows {
	struct sp__loadinput *in;
	struct sp_cube_box box; /* in the order of the dimensions of the input */
	unsigned whole;		/* dimensions that a row covers */
	uint64_t row_bytes, bytes, item_bytes;
	uint8_t *to;
};

static void set_rows(struct rows *r, const struct sp_cube_box *box)
{
	const struct sp__loadinput *in = r->in;
	const struct sp_cube_shape *s = &in->file->superblock.shape;

	for (unsigned i = 0; i < s->ndims; i++) {
		r->box.lo[i] = box->lo[in->order[i]];
		r->box.hi[i] = box->hi[in->order[i]];
		r->box.stride[i] = 1;
	}
	r->row_bytes = s->element_bytes;
	for (bool all = true; all && r->whole < s->ndims; r->whole++) {
		r->row_bytes *= sp__box_count(&r->box, r->whole);
		all = sp__box_count(&r->box, r->whole) == in->count[in->order[r->whole]];
	}
	r->bytes = s->element_bytes * sp__box_cells(&r->box, s->ndims);
	r->item_bytes = sp__max(ITEM_BYTES / s->element_bytes, 1) * s->element_bytes;
}

/* Returns the offset of a row in the input. */
static uint64_t row_offset(const struct rows *r, uint64_t row)
{
	const struct sp__loadinput *in = r->in;
	uint64_t offset = in->offset;

	for (unsigned i = 0; i < in->file->superblock.shape.ndims; i++) {
		uint64_t count = i < r->whole ? 1 : sp__box_count(&r->box, i);

		offset += (r->box.lo[i] + row % count) * in->pitch[in->order[i]];
		row /= count;
	}
	return offset;
}

/* Reads some bytes of the elements, which begin and end with an element. */
static int read_item(void *arg, unsigned worker, uint64_t item, struct sp_errinfo *err)
{
	const struct rows *r = arg;
	uint64_t at = item * r->item_bytes, end = sp__min(at + r->item_bytes, r->bytes), n;
	int rc = 0;

	(void)worker;
	for (; !rc && at < end; at += n) {
		uint64_t skip = at % r->row_bytes;

		n = sp__min(end - at, r->row_bytes - skip);
		rc = read_range(r->in, r->to + at, n, row_offset(r, at / r->row_bytes) + skip, err);
	}
	return rc;
}

static int swap_item(void *arg, unsigned worker, uint64_t item, struct sp_errinfo *err)
{
	const struct rows *r = arg;
	uint64_t at = item * r->item_bytes;

	(void)worker;
	(void)err;
	swap_numbers(r->to + at, sp__min(r->item_bytes, r->bytes - at),
		     r->in->file->superblock.shape.element_bytes);
	return 0;
}

int sp__loadinput_read(struct sp__loadinput *in, const struct sp_cube_box *box, uint8_t *elements)
{
	struct rows r = { .in = in, .to = elements };
	unsigned threads = sp__cube_threads(in->file);
	uint64_t items;
	int rc;

	set_rows(&r, box);
	items = sp__div_up(r.bytes, r.item_bytes);
	rc = sp__deal(in->seekable ? threads : 1, items, read_item, &r, in->err);
	if (!rc && in->big_endian && in->file->superblock.shape.type != SP_CUBE_BYTES)
		rc = sp__deal(threads, items, swap_item, &r, in->err);
	return rc;
}

/* Returns the offset after the last element. */
static uint64_t input_end(const struct sp__loadinput *in)
{
	unsigned slowest = in->order[in->file->superblock.shape.ndims - 1];

	return in->offset + in->pitch[slowest] * in->count[slowest];
}

/* Writes the held bytes of n, then copies from the pipe. */
static int copy_pipe(int fd, const char *name, uint8_t *data, size_t n, uint64_t max,
		     const struct sp__volume *to, struct sp_errinfo *err)
{
	uint64_t at = 0;

	for (;;) {
		int rc = sp__write_whole(to->fd, data, n, at);
		ssize_t got;

		if (rc)
			return sp__err(err, rc, "write", to->name, (long long)at);
		at += n;
		/* One byte too many is enough to detect that. */
		if (at > max)
			return 0;
		do {
			got = read(fd, data, COPY_BYTES);
		} while (got < 0 && errno == EINTR);
		if (got <= 0)
			return got ? sp__err(err, -errno, "read", name, (long long)at) : 0;
		n = (size_t)got;
	}
}

int sp__cubeinput_spool(const struct sp__cubefile *c, int fd, const char *name, const void *held,
			size_t nheld, uint64_t max, struct sp_errinfo *err)
{
	const struct sp_run_opts *o = &c->opts.run;
	const uint64_t file_bytes = sp__file_bytes(fd);
	struct sp__volume *v = NULL;
	uint8_t *data = malloc(COPY_BYTES);
	int rc = data ? 0 : sp__err(err, -ENOMEM, "malloc", NULL, -1);

	if (!rc)
		rc = sp__volume_temp(&v, o->ntmpdirs ? o->tmpdirs[0] : "/tmp", SP__DIRECT_NEVER,
				     err);
	if (!rc && nheld)
		memcpy(data, held, nheld);
	if (!rc)
		rc = copy_pipe(fd, name, data, nheld, max, v, err);
	free(data);
	if (!rc)
		rc = sp__check_uncut(fd, file_bytes, name, err);
	if (!rc && dup2(v->fd, fd) < 0)
		rc = sp__err(err, -errno, "dup", name, -1);
	sp__volume_close(v);
	return rc;
}

/* Copies the rest of a pipe, up to just after an offset, to a temporary file. */
static int spool(struct sp__loadinput *in, uint64_t end)
{
	int rc = sp__cubeinput_spool(in->file, in->fd, in->name, in->held, in->nheld, end - in->at,
				     in->err);

	in->nheld = 0;
	in->seekable = true;
	in->offset -= in->at; /* the copy begins where the pipe was */
	return rc;
}

/* Refuses a file of a wrong size, before anything is changed. */
static int check_size(const struct sp__loadinput *in)
{
	uint64_t end = input_end(in);
	struct stat st;

	if (fstat(in->fd, &st))
		return read_error(in, -errno, 0, "");
	if (!in->seekable || !S_ISREG(st.st_mode) || (uint64_t)st.st_size == end)
		return 0;
	if ((uint64_t)st.st_size < end)
		return sp__errf(
			in->err, SP_EFORMAT, "read", in->name, (long long)end,
			"the input ends before the last element: it has %lld bytes, not %llu",
			(long long)st.st_size, (unsigned long long)end);
	/* The copy of a pipe does not have all excess bytes. */
	return sp__errf(in->err, SP_EFORMAT, "read", in->name, (long long)end,
			"the input goes on after the last element: it has more than %llu bytes",
			(unsigned long long)end);
}

int sp__loadinput_begin(struct sp__loadinput *in, bool in_sequence)
{
	int rc = 0;

	if (!in->seekable)
		rc = in_sequence ? sp__loadinput_skip(in, in->offset - in->at)
				 : spool(in, input_end(in));
	in->file_bytes = sp__file_bytes(in->fd);
	return rc ? rc : check_size(in);
}

int sp__loadinput_end(struct sp__loadinput *in)
{
	uint64_t end = input_end(in);
	uint8_t byte;
	ssize_t n;

	do {
		n = in->seekable ? pread(in->fd, &byte, 1, (off_t)end) : read_pipe(in, &byte, 1);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return read_error(in, -errno, end, "");
	return n ? read_error(in, SP_EFORMAT, end, "the input goes on after the last element")
		 : sp__check_uncut(in->fd, in->file_bytes, in->name, in->err);
}

int sp__cubeinput_open(const struct sp__cubefile *c, const char *name, struct sp_errinfo *err)
{
	int fd = strcmp(name, "-") == 0 ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
					: open(name, O_RDONLY | O_CLOEXEC);
	int rc = fd < 0 ? sp__err(err, -errno, "open", name, -1)
			: sp__cube_check_input(c, fd, name, err);

	if (!rc)
		return fd;
	if (fd >= 0)
		close(fd);
	return rc;
}

/* Returns 1 if the input begins like a .npy file, 0, or an error; keeps the bytes read. */
static int is_npy(struct sp__loadinput *in)
{
	while (in->nheld < SP__NPY_MAGIC_BYTES) {
		uint8_t *to = in->held + in->nheld;
		size_t n = SP__NPY_MAGIC_BYTES - in->nheld;
		ssize_t got = in->seekable ? pread(in->fd, to, n, in->nheld) : read(in->fd, to, n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return read_error(in, -errno, 0, "");
		if (!got)
			break;
		in->nheld += (unsigned)got;
	}
	if (in->nheld < SP__NPY_MAGIC_BYTES || memcmp(in->held, SP__NPY_MAGIC, in->nheld) != 0)
		return 0;
	return 1;
}

/* Changes RAW to NPY if detection is requested and the input is a .npy file. */
static int find_format(struct sp__loadinput *in, struct sp_cube_load_opts *opts)
{
	int rc = 0;

	if (opts->format == SP_CUBE_RAW && opts->detect && !opts->ordered && !opts->offset &&
	    !opts->big_endian)
		rc = is_npy(in);
	if (in->seekable)
		in->nheld = 0;
	if (rc > 0)
		opts->format = SP_CUBE_NPY;
	return rc < 0 ? rc : 0;
}

/* Takes offset, order, byte order and numbers of elements from the header of a .npy file. */
static int read_npy_header(struct sp__loadinput *in, struct sp_cube_load_opts *opts)
{
	struct sp_cube_shape shape = in->file->superblock.shape;
	uint8_t header[SP__NPY_HEADER_MAX];
	uint64_t bytes;
	const char *reason;
	int rc;

	if (opts->ordered || opts->offset || opts->big_endian)
		return sp__errf(in->err, SP_ESYNTAX, "load", in->name, -1,
				"a .npy file states its order, offset and byte order itself");
	rc = read_range(in, header, SP__NPY_PREFIX, 0, in->err);
	if (rc)
		return rc;
	bytes = sp__npy_header_bytes(header);
	if (!bytes)
		return read_error(in, SP_EFORMAT, 0, "is not a .npy file");
	rc = read_range(in, header + SP__NPY_PREFIX, bytes - SP__NPY_PREFIX, SP__NPY_PREFIX,
			in->err);
	if (rc)
		return rc;
	memcpy(shape.dims, in->count, sizeof(shape.dims));
	reason = sp__npy_parse(header, bytes, &shape, opts);
	memcpy(in->count, shape.dims, sizeof(shape.dims));
	return reason ? read_error(in, SP_EFORMAT, 0, reason) : 0;
}

static int set_order(struct sp__loadinput *in, const struct sp_cube_load_opts *opts)
{
	unsigned n = in->file->superblock.shape.ndims;

	for (unsigned i = 0; i < n; i++)
		in->order[i] = opts->ordered ? opts->order[i] : i;
	if (!sp__is_order(in->order, n))
		return sp__errf(in->err, SP_ESYNTAX, "load", in->file->path, -1,
				"the order of dimensions must name each of them once");
	if (opts->offset > OFFSET_MAX)
		return sp__errf(in->err, SP_ESYNTAX, "load", in->name, -1,
				"no input has an offset beyond 2^62");
	in->offset = opts->offset;
	in->big_endian = opts->big_endian;
	return 0;
}

/* Sets *bytes to the length of the input; a pipe has it when it is copied to a file. */
static int measure(struct sp__loadinput *in, uint64_t *bytes)
{
	struct stat st;
	off_t end;
	int rc = 0;

	if (fstat(in->fd, &st))
		return sp__err(in->err, -errno, "stat", in->name, -1);
	if (!in->seekable || !(S_ISREG(st.st_mode) || S_ISBLK(st.st_mode)))
		rc = spool(in, OFFSET_MAX);
	if (rc)
		return rc;
	end = lseek(in->fd, 0, SEEK_END);
	*bytes = (uint64_t)end;
	return end < 0 ? sp__err(in->err, -errno, "seek", in->name, -1) : 0;
}

/* Sets the number of elements along a dimension to those that the input has. */
static int count_elements(struct sp__loadinput *in, unsigned dim)
{
	const struct sp_cube_shape *s = &in->file->superblock.shape;
	uint64_t layer = s->element_bytes, bytes = 0;
	int rc = measure(in, &bytes);

	if (rc)
		return rc;
	for (unsigned i = 0; i < s->ndims; i++)
		layer *= i == dim ? 1 : in->count[i];
	bytes -= sp__min(bytes, in->offset);
	in->count[dim] = bytes / layer;
	if (bytes && bytes % layer == 0)
		return 0;
	return sp__errf(in->err, SP_EFORMAT, "read", in->name, -1,
			"%llu bytes of elements are not a multiple of a layer of %llu bytes",
			(unsigned long long)bytes, (unsigned long long)layer);
}

int sp__loadinput_open(struct sp__loadinput *in, const struct sp__cubefile *file, const char *name,
		       const struct sp_cube_load_opts *opts, const uint64_t *count,
		       struct sp_errinfo *err)
{
	const struct sp_cube_shape *s = &file->superblock.shape;
	struct sp_cube_load_opts own = *opts;
	uint64_t pitch = s->element_bytes;
	int rc;

	*in = (struct sp__loadinput){ .file = file, .name = name, .err = err, .fd = -1 };
	memcpy(in->count, count, sizeof(in->count));
	in->fd = sp__cubeinput_open(file, name, err);
	if (in->fd < 0)
		return in->fd;
	in->seekable = lseek(in->fd, 0, SEEK_CUR) == 0;
	rc = find_format(in, &own);
	if (!rc && own.format == SP_CUBE_NPY)
		rc = read_npy_header(in, &own);
	if (!rc)
		rc = set_order(in, &own);
	for (unsigned i = 0; !rc && i < s->ndims; i++)
		if (!in->count[i])
			rc = count_elements(in, i);
	for (unsigned i = 0; !rc && i < s->ndims; i++) {
		in->pitch[in->order[i]] = pitch;
		pitch *= in->count[in->order[i]];
	}
	return rc;
}

void sp__loadinput_close(struct sp__loadinput *in)
{
	if (in->fd >= 0)
		close(in->fd);
	in->fd = -1;
}
