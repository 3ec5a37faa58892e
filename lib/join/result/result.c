/* SPDX-License-Identifier: MIT */
/* Writes the result of a join to its stream, and reports when its records were complete. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/err.h"
#include "join/result/result.h"

/* From this number on, a row is reported if all but its first three digits are 0. */
#define DIGITS_BEYOND 1000

static void report(struct sp__timeline *t)
{
	t->reported = t->rows;
	t->io->row(t->io->row_arg, t->rows, t->elapsed_s);
}

static bool is_reported(uint64_t row)
{
	while (row >= DIGITS_BEYOND && row % 10 == 0)
		row /= 10;
	return row < DIGITS_BEYOND;
}

void sp__timeline_row(struct sp__timeline *t)
{
	t->rows++;
	t->elapsed_s = (double)(sp__env_now_ns(t->env) - t->env->begin_ns) * 1e-9;
	if (is_reported(t->rows))
		report(t);
}

void sp__timeline_end(struct sp__timeline *t)
{
	if (t->rows > t->reported)
		report(t);
}

int sp__result_open(struct sp__result *r)
{
	struct sp__wstream_opts o = sp__env_writing(r->env);
	int rc = sp__wstream_open(&r->ws, r->fd, r->name, &o, r->env->err);

	r->emit.ws = r->ws;
	return rc;
}

int sp__result_write(struct sp__result *r)
{
	int rc = sp__emit_flush(&r->emit);

	return rc ? rc : sp__wstream_finish(r->ws);
}

static void close_stream(struct sp__result *r)
{
	sp__wstream_close(r->ws);
	r->ws = r->emit.ws = NULL;
}

/* Ends the stream and starts a new one at the descriptor's offset. */
int sp__result_flush(struct sp__result *r)
{
	int rc;

	if (r->emit.sink) /* an operator writes nothing */
		return 0;
	rc = sp__result_write(r);
	if (rc < 0)
		return rc;
	close_stream(r);
	return sp__result_open(r);
}

/* True if threads can write the file at offsets of their own. */
static bool is_placed(const struct sp__result *r, const struct sp__wstream_opts *writing)
{
	int flags = fcntl(r->fd, F_GETFL);
	struct stat st;

	return !writing->pack && flags >= 0 && !(flags & O_APPEND) && !fstat(r->fd, &st) &&
	       S_ISREG(st.st_mode) && lseek(r->fd, 0, SEEK_CUR) >= 0;
}

/* Appends what threads have made, one at a time. */
static int put(void *result, const char *data, size_t bytes)
{
	struct sp__result *r = result;
	/* A sink other than a stream sorts lines. */
	bool whole = !r->emit.sink || data[bytes - 1] == r->emit.opts->eol;

	sp__emit_append(&r->emit, data, bytes, whole, 0);
	return r->emit.error;
}

int sp__result_begin_ordered(struct sp__result *r, struct sp__inorder *ordered, char *mem,
			     size_t buffer_bytes, unsigned buffers, bool placed)
{
	struct sp__inorder_opts o = { .ranges = UINT64_MAX,
				      .mem = mem,
				      .buffer_bytes = buffer_bytes,
				      .buffers = buffers,
				      .put_err = r->env->err,
				      .arg = r,
				      .fd = r->fd,
				      .name = r->name,
				      .writing = sp__env_writing(r->env) };
	int rc = 0;

	if (!placed || r->emit.sink || !is_placed(r, &o.writing)) {
		o.put = put;
	} else {
		rc = sp__result_write(r);
		close_stream(r);
		o.at = (uint64_t)lseek(r->fd, 0, SEEK_CUR);
	}
	return rc < 0 ? rc : sp__inorder_open(ordered, &o, r->env->err);
}

int sp__result_end_ordered(struct sp__result *r, struct sp__inorder *ordered)
{
	uint64_t begin = ordered->opts.at, end;
	int rc = sp__inorder_finish(ordered, &end, r->env->err);

	if (rc < 0 || r->ws || r->emit.sink)
		return rc;
	r->emit.bytes += end - begin;
	return sp__result_open(r);
}
