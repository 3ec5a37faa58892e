/* SPDX-License-Identifier: MIT */
/*
 * Cuts two sorted files into ranges of the same keys.
 *
 * Algorithm: the key of the record one step further in the longer file is the bound.  The cut of
 * each file is its first record whose key does not precede the bound, found by bisection.  A group
 * of equal keys is therefore not cut.  If no other cut is found within a step, the step is doubled.
 *
 * Invariant: in unsorted files bisection ends somewhere, but always between two records, of which
 * the first precedes the bound and the second does not.
 *
 * Memory: one block, or a longer record of up to BLOCK_MAX; longer records are not cut at.
 */
#include <unistd.h>
#include "base/whole.h"
#include "join/merge/cuts.h"

#define BLOCK_BYTES 4096u
#define BLOCK_MAX (1u << 20)

/* A record found in the block. */
struct found {
	uint64_t begin, end; /* offsets in the file; the end with terminator */
	struct sp__slice key;
};

/* Reads a block of a file from an offset.  Returns the bytes read, or an error. */
static ssize_t load(struct sp__keycuts *c, int side, uint64_t from, size_t bytes)
{
	ssize_t n;

	if (sp__bytes_reserve(&c->block, bytes, NULL) < 0)
		return sp__join_no_memory(c->in->env);
	n = pread(c->fd[side], c->block.data, bytes, (off_t)from);
	if (n < 0)
		n = sp__err(c->in->env->err, -errno, "read", c->in->io->inputs[side],
			    (long long)from);
	return n;
}

/*
 * Finds the first record that begins at `from` or later, before `to`.  Returns 1; 0: there is none,
 * or it is too long; or an error.
 */
static int record_at(struct sp__keycuts *c, int side, uint64_t from, uint64_t to, struct found *f)
{
	const char eol = c->in->opts->eol, *p, *end, *stop;
	bool inside = from > c->at[side]; /* a record begins after a terminator */
	uint64_t offset = from - inside;

	for (size_t bytes = BLOCK_BYTES; bytes <= BLOCK_MAX; bytes *= 4) {
		ssize_t n = load(c, side, offset, bytes);
		struct sp__line l;

		if (n <= 0)
			return (int)n;
		p = c->block.data;
		end = p + n;
		if (inside)
			p = memchr(p, eol, (size_t)n);
		p = p ? p + inside : end;
		f->begin = offset + (uint64_t)(p - c->block.data);
		if (f->begin >= to)
			return 0;
		stop = memchr(p, eol, (size_t)(end - p));
		if (!stop && offset + (uint64_t)n < c->size[side])
			continue;
		stop = stop ? stop : end;
		sp__line_set(c->emit, side, p, (size_t)(stop - p), &l);
		f->key = l.key;
		f->end = offset + (uint64_t)(stop - c->block.data) + 1;
		return 1;
	}
	return 0;
}

static bool precedes(const struct sp__keycuts *c, const struct sp__slice *key,
		     const struct sp__slice *bound)
{
	return sp__keyorder_compare(&c->order, key, bound) < 0;
}

/* Finds the cut between the record at `low`, and `high`, a record or the end.  1, 0 or an error. */
static int walk(struct sp__keycuts *c, int side, uint64_t low, uint64_t high,
		const struct sp__slice *bound, uint64_t *cut)
{
	struct found f;
	int rc;

	for (*cut = low; *cut < high; *cut = f.end) {
		rc = record_at(c, side, *cut, high, &f);
		if (rc <= 0)
			return rc;
		if (!precedes(c, &f.key, bound))
			break;
	}
	*cut = *cut < high ? *cut : high;
	return 1;
}

/* Finds the cut of a file, at most at `high`.  1; 0: none was found; or an error. */
static int bisect(struct sp__keycuts *c, int side, uint64_t high, const struct sp__slice *bound,
		  uint64_t *cut)
{
	/* Records that begin from top on do not precede the bound, or begin at high. */
	uint64_t low = c->at[side], top = high, width = c->step;
	struct found f;

	while (top - low > BLOCK_BYTES) {
		uint64_t half = (top - low) / 2, mid = low + (width < half ? width : half);
		int rc = record_at(c, side, mid, top, &f);

		if (rc < 0)
			return rc;
		if (rc && precedes(c, &f.key, bound)) {
			low = f.begin;
			width *= 2;
			continue;
		}
		if (rc)
			high = f.begin;
		top = mid;
		width = top - low;
	}
	return walk(c, side, low, high, bound, cut);
}

/* Cuts both files at the key of the record at this offset of one.  1; 0: no cut; or an error. */
static int cut_at(struct sp__keycuts *c, int side, uint64_t offset, struct sp__joinrange_cut *r)
{
	struct sp__slice bound;
	struct found f;
	int rc = record_at(c, side, offset, c->size[side], &f);

	if (rc <= 0)
		return rc;
	/* The bound of a missing key is empty, too. */
	if (sp__bytes_reserve(&r->bound_copy, f.key.n + 1, NULL) < 0)
		return sp__join_no_memory(c->in->env);
	memcpy(r->bound_copy.data, f.key.p, f.key.n);
	bound = r->bound = (struct sp__slice){ r->bound_copy.data, f.key.n };
	rc = bisect(c, side, f.begin, &bound, &r->to[side]);
	if (rc <= 0 || r->to[side] == c->at[side])
		return rc < 0 ? rc : 0;
	return bisect(c, !side, c->size[!side], &bound, &r->to[!side]);
}

int sp__keycuts_next(struct sp__keycuts *c, struct sp__joinrange_cut *r)
{
	int side = c->size[1] > c->size[0], rc = 0;

	if (c->at[0] == c->size[0] && c->at[1] == c->size[1])
		return SP_END;
	for (uint64_t step = c->step; !rc && step < c->size[side] - c->at[side]; step *= 2)
		rc = cut_at(c, side, c->at[side] + step, r);
	if (rc < 0)
		return rc;
	for (int i = 0; i < 2; i++) {
		r->from[i] = c->at[i];
		r->to[i] = c->at[i] = rc ? r->to[i] : c->size[i];
		r->more[i] = r->to[i] < c->size[i];
	}
	return SP_READY;
}

/* Checks that an open file is the input, and is not shorter than when the join opened it. */
static int check(const struct sp__keycuts *c, int side, int fd)
{
	return sp__check_continues(fd, &c->in->file[side], c->in->io->inputs[side],
				   c->in->env->err);
}

int sp__keycuts_open(struct sp__keycuts *c, struct sp__join_inputs *in, const struct sp__emit *emit,
		     const struct sp__keyorder *order, const uint64_t from[2])
{
	*c = (struct sp__keycuts){ .in = in, .emit = emit, .order = *order, .fd = { -1, -1 } };
	for (int i = 0; i < 2; i++) {
		int rc;

		c->fd[i] = sp__input_open(in->io->inputs[i], in->env->err);
		rc = c->fd[i] < 0 ? c->fd[i] : check(c, i, c->fd[i]);
		if (rc < 0)
			return rc;
		c->size[i] = (uint64_t)in->file[i].st_size;
		c->at[i] = from[i] < c->size[i] ? from[i] : c->size[i];
	}
	return 0;
}

int sp__keycuts_reopen(const struct sp__keycuts *c, int side)
{
	int fd = sp__input_open(c->in->io->inputs[side], c->in->env->err);
	int rc = fd < 0 ? fd : check(c, side, fd);

	if (rc < 0 && fd >= 0)
		sp__input_close(c->in->io->inputs[side], fd);
	return rc < 0 ? rc : fd;
}

void sp__keycuts_close(struct sp__keycuts *c)
{
	for (int i = 0; i < 2; i++)
		if (c->fd[i] >= 0)
			sp__input_close(c->in->io->inputs[i], c->fd[i]);
	sp__bytes_release(&c->block, NULL);
}

int sp__keycuts_check(const struct sp__keycuts *c)
{
	int rc = 0;

	for (int i = 0; i < 2 && !rc; i++)
		rc = check(c, i, c->fd[i]);
	return rc;
}
