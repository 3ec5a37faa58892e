/* SPDX-License-Identifier: MIT */
/*
 * Cuts two sorted files into ranges of the same keys, and tests whether files seem to be sorted.
 *
 * Cuts: the key of the record one step further in the longer file is the bound.  The cut of
 * each file is its first record whose key does not precede the bound, found by bisection.  A group
 * of equal keys is therefore not cut.  If no other cut is found within a step, the step is doubled.
 *
 * Invariant: in unsorted files bisection ends somewhere, but always between two records, of which
 * the first precedes the bound and the second does not.
 *
 * Memory: one block, or a longer record of up to BLOCK_MAX; longer records are not cut at.
 *
 * Test: examines samples spread evenly over each file; keys must ascend within a sample, and from
 * one to the next.  Unsorted files are nearly always detected at the first sample.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/whole.h"
#include "join/merge/merge.h"
#include "join/merge/ranges.h"

#define SAMPLE_BYTES 4096u
#define SAMPLES 16
#define SAMPLE_KEYS 64

#define ORDER_BIT(by) (1u << (by))

struct look {
	struct sp__cut cut;
	struct sp_recfmt format;
	size_t field;
	const unsigned char *upper;
	char sample[2][SAMPLE_BYTES]; /* the current and the previous one */
	struct sp__slice last;	      /* last key; p NULL: none yet */
	unsigned orders;	      /* orders that hold so far */
	unsigned keys;		      /* seen in this file */
};

static void look_at_key(struct look *l, const char *line, size_t bytes)
{
	struct sp__keyorder order = { .by = SP_JOIN_SORTED_BYTES, .upper = l->upper };
	struct sp__slice key;

	sp__field_find(&l->cut, line, bytes, l->field, &key);
	if (l->cut.kind == SP__CUT_CSV && key.n && *key.p == '"')
		l->orders = 0;
	for (; l->last.p && order.by <= SP_JOIN_SORTED_LENGTH; order.by++)
		if (sp__keyorder_compare(&order, &l->last, &key) > 0)
			l->orders &= ~ORDER_BIT(order.by);
	l->last = key;
	l->keys++;
}

/* first: the sample is at the beginning of the file. */
static void look_at_sample(struct look *l, const char *p, size_t bytes, bool first, bool header)
{
	const char *end = p + bytes, *next;
	bool skip = header || !first, any = false;
	const unsigned most = l->keys + SAMPLE_KEYS;

	for (;
	     l->orders && l->keys < most && (next = sp__rec_end(&l->format, p, (size_t)(end - p)));
	     p = next) {
		if (!skip)
			look_at_key(l, p, (size_t)(next - p) - sp__rec_term(&l->format));
		any |= !skip;
		skip = false;
	}
	/* The next sample overwrites this one. */
	if (!any)
		l->last.p = NULL;
}

static void look_at_file(struct look *l, int fd, uint64_t size, bool header)
{
	uint64_t rest = size > SAMPLE_BYTES ? size - SAMPLE_BYTES : 0;
	/* Samples that overlap would not have ascending keys. */
	unsigned n = (unsigned)sp__max(sp__min(size / SAMPLE_BYTES, SAMPLES), 1);

	for (unsigned i = 0; i < n && l->orders; i++) {
		uint64_t from = n > 1 ? rest / (n - 1) * i : 0;
		ssize_t got;

		got = pread(fd, l->sample[i % 2], SAMPLE_BYTES, (off_t)from);
		if (got < 0)
			l->orders = 0;
		else
			look_at_sample(l, l->sample[i % 2], (size_t)got, !from, header && !from);
	}
}

/* Tests the order of the keys of a file, by samples. */
static bool look_at_input(struct look *l, const char *name, bool header)
{
	struct stat st;
	int fd;

	if (!strcmp(name, "-") || stat(name, &st) || !S_ISREG(st.st_mode) || !st.st_size)
		return false;
	fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	l->last.p = NULL;
	l->keys = 0;
	look_at_file(l, fd, (uint64_t)st.st_size, header);
	close(fd);
	return l->keys >= 2;
}

enum sp_join_sorted sp__join_detect(const struct sp_join_opts *o, const char *const inputs[2])
{
	struct look l;

	if (!o->nkeys || !sp__join_mergeable(o))
		return SP_JOIN_UNSORTED;
	sp__cut_init(&l.cut, o->separator, o->separator_bytes, o->csv);
	l.upper = o->ignore_case ? l.cut.upper : NULL;
	l.format = sp__join_format(o, 0);
	l.orders = ORDER_BIT(SP_JOIN_SORTED_BYTES) | ORDER_BIT(SP_JOIN_SORTED_LENGTH);
	for (int i = 0; i < 2 && l.orders; i++) {
		l.field = o->keys[i][0];
		if (!look_at_input(&l, inputs[i], o->header))
			l.orders = 0;
	}
	return l.orders & ORDER_BIT(SP_JOIN_SORTED_BYTES)    ? SP_JOIN_SORTED_BYTES
	       : l.orders & ORDER_BIT(SP_JOIN_SORTED_LENGTH) ? SP_JOIN_SORTED_LENGTH
							     : SP_JOIN_UNSORTED;
}

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
