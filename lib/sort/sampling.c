/* SPDX-License-Identifier: MIT */
/*
 * Computes splitters by sampling.
 *
 * Algorithm: the bytes of all inputs are divided into strata of equal length, 1000 per part.  In
 * each stratum a byte is drawn.  Positioned reads around the byte find its record, which is put
 * into a sort.  The options of this sort limit memory, threads and temporary space, for any number
 * of samples.  Then the records are read in order, with their weights.  A part ends between two
 * groups of equal keys, where its weight is nearest to its share of what earlier parts have left.
 *
 * Weights: a record is put once, even if several strata draw from it.  If it is shorter than a
 * stratum, it is drawn with probability length / stratum, and represents a stratum.  If it is
 * longer, it is drawn with a probability close to one, and represents its own bytes.  So the weight
 * of a record is the larger of both lengths, and is not stored.
 *
 * Precision: the variance of the number of samples below a key is at most that of independent
 * draws.  Between two splitters are 1000 samples, plus or minus the square root, so one standard
 * deviation is about 3.2 % of a part.
 *
 * Assumptions: a CSV record is found with high probability only (rec/recfmt.h).  Text that is not a
 * record is skipped; a wrong record makes parts uneven, never incorrect.
 *
 * Rejected: the record that starts after a random byte, which prefers records after long ones; one
 * offset for all strata, which resonates with periodic files.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/array.h"
#include "base/err.h"
#include "base/minmax.h"
#include "base/rng.h"
#include "base/utf8mark.h"
#include "base/whole.h"
#include "flow/scan.h"
#include "rec/key.h"
#include "sort/sort.h"
#include "sort/splitters.h"

#define SAMPLES_PER_PART 1000
/*
 * Bytes first read on each side of a byte.  CSV needs several quotes to find the start of a record.
 */
#define REACH_LINE 2048u
#define REACH_CSV 8192u
/* The page cache is asked for a sample this many samples ahead. */
#define READS_AHEAD 128

struct range {
	uint64_t from, to; /* offsets of the records of an input */
};

struct sampler {
	struct sp_sort_opts opts;
	const struct sp_sort_io *io;
	struct sp_errinfo *err;
	struct sp__budget *budget; /* budget of the splitters */
	struct range *ranges;
	uint64_t total;	  /* in all ranges */
	uint64_t strata;  /* number of strata */
	uint64_t stratum; /* bytes of one stratum, at least 1 */
	struct sp__sorter sorter;
	uint64_t weights; /* sum of the weights of the records put */

	/* The current input: */
	const char *name;
	int fd;		     /* -1: none */
	uint64_t file_bytes; /* when it was opened */
	struct range range;
	uint64_t taken; /* where the last record put ends */
	uint64_t at;	/* the window: its offset, its bytes, and a free byte for a terminator */
	size_t bytes, capacity;
	char *window;
	struct sp__keybuf text; /* of a record that is checked */
};

static uint64_t weight(const struct sampler *s, size_t bytes)
{
	return sp__max(bytes, s->stratum);
}

static int no_memory(const struct sampler *s)
{
	return sp__err(s->err, -ENOMEM, "allocate", NULL, -1);
}

static void close_input(struct sampler *s)
{
	if (s->fd >= 0)
		sp__input_close(s->name, s->fd);
	s->fd = -1;
	s->bytes = 0;
}

static int open_input(struct sampler *s, size_t i)
{
	close_input(s);
	s->name = s->io->inputs[i];
	s->fd = sp__input_open(s->name, s->err);
	if (s->fd < 0)
		return s->fd;
	if (s->fd != STDIN_FILENO)
		(void)posix_fadvise(s->fd, 0, 0, POSIX_FADV_RANDOM);
	s->file_bytes = sp__file_bytes(s->fd);
	s->range = s->ranges[i];
	s->taken = s->range.from;
	return 0;
}

/* Moves the window to [from, to) of the file, or to the end of the file if that comes first. */
static int fill(struct sampler *s, uint64_t from, uint64_t to)
{
	size_t want = (size_t)(to - from), had = s->capacity;
	ssize_t n;

	if (!SP__ARRAY_GROW(s->window, s->capacity, want + 1))
		return no_memory(s);
	sp__budget_charge(s->budget, s->capacity - had);
	s->at = from;
	n = sp__read_whole(s->fd, s->window, want, from);
	if (n < 0)
		return sp__err(s->err, (int)n, "read", s->name, -1);
	s->bytes = (size_t)n;
	if (s->bytes < want)
		s->range.to = from + s->bytes;
	return s->bytes < want ? sp__check_uncut(s->fd, s->file_bytes, s->name, s->err) : 0;
}

/* Moves the start of the range past the header. */
static int skip_header(struct sampler *s, uint64_t records)
{
	const struct sp_recfmt *f = &s->opts.format;
	const char *p, *next;
	uint64_t reach = REACH_LINE, left;
	int rc;

	do {
		rc = fill(s, s->range.from, sp__min(s->range.to, s->range.from + reach));
		if (rc < 0)
			return rc;
		p = s->window;
		for (left = records; left; left--, p = next) {
			next = sp__rec_end(f, p, (size_t)(s->window + s->bytes - p));
			if (!next)
				break;
		}
		reach *= 2;
	} while (left && s->at + s->bytes < s->range.to);
	s->range.from = left ? s->range.to : s->range.from + (uint64_t)(p - s->window);
	return 0;
}

/* Computes the range of an input's records. */
static int measure(struct sampler *s, size_t i)
{
	const struct sp_recfmt *f = &s->opts.format;
	struct stat st;
	off_t from;
	int rc = open_input(s, i);

	if (rc < 0)
		return rc;
	if (fstat(s->fd, &st) < 0)
		return sp__err(s->err, -errno, "stat", s->name, -1);
	if (S_ISDIR(st.st_mode))
		return sp__err(s->err, -EISDIR, "read", s->name, -1);
	from = S_ISREG(st.st_mode) ? lseek(s->fd, 0, SEEK_CUR) : -1;
	if (from < 0)
		return sp__errf(
			s->err, SP_EUNSUP, "read", s->name, -1,
			"not a regular file, so it cannot be sampled: write it to a file first");
	s->range.from = (uint64_t)from;
	s->range.to = sp__max((uint64_t)from, (uint64_t)st.st_size);
	if (f->kind == SP_REC_CSV) {
		rc = fill(s, s->range.from, s->range.from + SP__UTF8_MARK_BYTES);
		s->range.from += sp__utf8_mark(s->window, s->bytes);
	}
	if (!rc && s->io->header_records && (i == 0 || !s->io->header_first))
		rc = skip_header(s, s->io->header_records);
	if (!rc && f->kind == SP_REC_FIXED && (s->range.to - s->range.from) % f->fixed_bytes)
		rc = sp__rec_partial(f, s->name, s->err);
	s->ranges[i] = s->range;
	s->total += s->range.to - s->range.from;
	return rc;
}

/* Moves the window to the record at a byte of the file.  SP_END: the file ends before it. */
static int find(struct sampler *s, uint64_t p, size_t *begin, size_t *end)
{
	const struct sp_recfmt *f = &s->opts.format;
	uint64_t reach = f->kind == SP_REC_CSV ? REACH_CSV : REACH_LINE, before;
	int rc = 0;

	for (;; reach *= 2) {
		struct sp__file_piece piece = { s->window, s->bytes, s->at == s->range.from,
						s->at + s->bytes == s->range.to };

		if (p >= s->range.to)
			return SP_END;
		if (p >= s->at && p - s->at < s->bytes &&
		    sp__rec_around(f, &piece, (size_t)(p - s->at), begin, end))
			return SP_READY;
		before = sp__min(reach, p - s->range.from);
		rc = fill(s, p - before, p + sp__min(reach, s->range.to - p));
		if (rc < 0)
			return rc;
	}
}

static int find_fixed(struct sampler *s, uint64_t p, size_t *begin, size_t *end)
{
	size_t length = s->opts.format.fixed_bytes;
	uint64_t first = p - (p - s->range.from) % length;
	int rc = fill(s, first, first + length);

	*begin = 0;
	*end = length;
	if (rc < 0)
		return rc;
	return s->bytes == length ? SP_READY : SP_END;
}

/* Records the error of a record of the window that does not fit the keys. */
static int refuse(const struct sampler *s, size_t begin, const struct sp__badtext *bad)
{
	const char eol = s->opts.format.kind == SP_REC_LINE ? s->opts.format.eol : '\n';
	const off_t from = lseek(s->fd, 0, SEEK_CUR);
	uint64_t before = 0, lines = 0;
	int rc = sp__lines_before(s->fd, from > 0 ? (uint64_t)from : 0, eol, &before);

	if (!rc)
		rc = sp__lines_before(s->fd, s->at + begin, eol, &lines);
	return rc ? sp__err(s->err, rc, "read", s->name, -1)
		  : sp__badtext_error(bad, s->name, lines - before + 1, s->err);
}

/* Checks a record of the window as a scan does: the sort of samples does not know its line. */
static int check(struct sampler *s, size_t begin, const struct sp_batch *rec)
{
	struct sp__badtext bad;
	size_t fitting;

	if (!sp__ks(s->opts.keys)->checks)
		return 0;
	if (sp__key_fitting(s->opts.keys, rec->data, rec->bytes, &s->text, &fitting, &bad))
		return no_memory(s);
	return fitting < rec->bytes ? refuse(s, begin, &bad) : 0;
}

/* Puts the record at a byte of the current input. */
static int take(struct sampler *s, uint64_t p)
{
	const struct sp_recfmt *f = &s->opts.format;
	size_t begin, end;
	struct sp_batch rec;
	char *to;
	int rc;

	if (p < s->taken)
		return 0;
	rc = f->kind == SP_REC_FIXED ? find_fixed(s, p, &begin, &end) : find(s, p, &begin, &end);
	if (rc != SP_READY)
		return rc;
	s->taken = s->at + end;
	rec = (struct sp_batch){ s->window + begin, end - begin };
	if (s->taken == s->range.to && !sp__rec_end(f, rec.data, rec.bytes))
		s->window[begin + rec.bytes++] = f->kind == SP_REC_LINE ? f->eol : '\n';
	if (sp__rec_end(f, rec.data, rec.bytes) != rec.data + rec.bytes)
		return 0;
	rc = check(s, begin, &rec);
	if (rc)
		return rc;
	s->weights += weight(s, rec.bytes);
	to = sp__sorter_space(&s->sorter, rec.bytes);
	if (!to)
		return -ENOMEM;
	memcpy(to, rec.data, rec.bytes);
	return sp__sorter_add(&s->sorter, rec.bytes);
}

static uint64_t stratum_begin(const struct sampler *s, uint64_t k)
{
	return (uint64_t)((unsigned __int128)s->total * k / s->strata);
}

/* Draws bytes, one in each stratum that has any, as offsets in the concatenation of all ranges. */
struct draws {
	struct sp__rng rng;
	uint64_t k; /* next stratum */
};

static bool draw(const struct sampler *s, struct draws *d, uint64_t *p)
{
	while (d->k < s->strata) {
		uint64_t from = stratum_begin(s, d->k), to = stratum_begin(s, ++d->k);

		if (from == to)
			continue;
		*p = from + sp__rng_below(&d->rng, to - from);
		return true;
	}
	return false;
}

/* Starts reading ahead for a later sample, if it is in the current input. */
static void read_ahead(const struct sampler *s, uint64_t before, struct draws *ahead)
{
	uint64_t p;

	if (!draw(s, ahead, &p) || p < before || p - before >= s->range.to - s->range.from)
		return;
	p = s->range.from + (p - before);
	p -= sp__min(p, (uint64_t)REACH_LINE);
	(void)posix_fadvise(s->fd, (off_t)p, 2 * REACH_LINE, POSIX_FADV_WILLNEED);
}

static int draw_samples(struct sampler *s)
{
	struct draws draws = { { sp__mix64(s->opts.run.seed) }, 0 }, ahead = draws;
	uint64_t before = 0; /* bytes of the inputs before this one */
	size_t input = 0;
	uint64_t p;
	int rc = open_input(s, 0);

	for (int i = 0; !rc && i < READS_AHEAD; i++)
		read_ahead(s, 0, &ahead);
	while (!rc && draw(s, &draws, &p)) {
		struct range r = s->ranges[input];

		for (; !rc && p - before >= r.to - r.from; r = s->ranges[input]) {
			before += r.to - r.from;
			rc = open_input(s, ++input);
		}
		if (rc)
			break;
		read_ahead(s, before, &ahead);
		rc = take(s, r.from + (p - before));
	}
	return rc;
}

/* The cuts between groups of equal keys. */
struct cutter {
	struct sp_splitters *to;
	size_t parts;
	struct sp__bytes first; /* the first record of the current group */
	uint64_t before, group; /* weights: of the open part before this group, of the group */
	uint64_t left;		/* weight that is in no closed part */
};

/* Closes the open part before a record. */
static int cut(struct cutter *c, const struct sp_batch *rec)
{
	c->left -= c->before;
	c->before = 0;
	return sp__splitters_add(c->to, rec->data, rec->bytes);
}

/*
 * Closes the open part before or after the current group, whichever is nearer to its share of what
 * is left, and again after a group larger than a share.  next: the first record of the next group.
 */
static int end_group(struct cutter *c, const struct sp_batch *next)
{
	unsigned __int128 open = c->parts - c->to->n;
	unsigned __int128 before = c->before * open, after = (c->before + c->group) * open;
	int rc = 0;

	if (open > 1 && c->before && after > c->left && after - c->left > c->left - before) {
		rc = cut(c, &(struct sp_batch){ c->first.data, c->first.bytes });
		after = c->group * --open;
	}
	c->before += c->group;
	c->group = 0;
	return !rc && open > 1 && after >= c->left ? cut(c, next) : rc;
}

/* Adds a sample, in order, to its group. */
static int add_sample(struct sampler *s, struct cutter *c, const struct sp_batch *rec)
{
	const size_t term = sp__rec_term(&s->opts.format);
	int rc = 0;

	if (!c->group || sp__key_compare(s->opts.keys, c->first.data, c->first.bytes - term,
					 rec->data, rec->bytes - term)) {
		rc = c->group ? end_group(c, rec) : 0;
		if (!rc)
			rc = sp__bytes_set(&c->first, rec->data, rec->bytes, s->budget);
	}
	c->group += weight(s, rec->bytes);
	return rc;
}

/*
 * Chooses the splitters from the samples in order.  If there are fewer groups than parts, the last
 * one is the splitter of all remaining parts.
 */
static int choose(struct sampler *s, struct sp_splitters *to, size_t parts)
{
	struct cutter c = { .to = to, .parts = parts, .left = s->weights };
	struct sp_batch batch, rec;
	int rc = sp__sorter_finish(&s->sorter);

	while (!rc && (rc = sp__sort_get_next(s->sorter.sort, &batch)) == SP_READY) {
		rc = 0;
		for (const char *end = batch.data + batch.bytes; !rc && batch.data < end;
		     batch.data += rec.bytes) {
			rec.data = batch.data;
			rec.bytes = (size_t)(sp__rec_end(&s->opts.format, rec.data,
							 (size_t)(end - rec.data)) -
					     rec.data);
			rc = add_sample(s, &c, &rec);
		}
		if (rc < 0)
			rc = no_memory(s);
	}
	while (rc >= 0 && c.group && to->n + 1 < parts)
		if (sp__splitters_add(to, c.first.data, c.first.bytes) < 0)
			rc = no_memory(s);
	sp__bytes_release(&c.first, s->budget);
	return rc;
}

/* Sets the expected input of the sort of samples. */
static void expect(struct sampler *s)
{
	uint64_t record = s->opts.format.fixed_bytes;

	sp_sort_expect(&s->opts, s->io->inputs, s->io->ninputs);
	if (s->opts.format.kind != SP_REC_FIXED)
		record = s->opts.record_bytes;
	s->opts.input_bytes = record ? sp__min(s->total, s->strata * record) : s->total;
}

static int sample(struct sampler *s, struct sp_splitters *to, size_t parts)
{
	size_t n = s->io->ninputs;
	int rc = 0;

	for (size_t i = 0; !rc && i < n; i++)
		rc = measure(s, i);
	if (rc < 0 || parts == 1)
		return rc;
	s->strata = (uint64_t)parts * SAMPLES_PER_PART;
	s->stratum = sp__max(s->total / s->strata, (uint64_t)1);
	expect(s);
	rc = sp_sort_new(&s->sorter.sort, &s->opts, s->err);
	if (!rc && s->total)
		rc = draw_samples(s);
	if (!rc)
		rc = choose(s, to, parts);
	if (!rc && !to->n)
		rc = sp__errf(s->err, SP_EFORMAT, "read", n == 1 ? s->io->inputs[0] : NULL, -1,
			      "there are no records to choose splitters from");
	return rc;
}

int sp_splitters_sample(struct sp_splitters **splitters, const struct sp_sort_opts *opts,
			const struct sp_sort_io *io, size_t parts, struct sp_errinfo *err)
{
	struct sampler s = { .opts = *opts, .io = io, .err = err, .fd = -1 };
	int rc = sp__splitters_new(splitters, opts, err);

	s.opts.unique = s.opts.count = false;
	s.opts.top = 0;
	s.opts.run.trace_path = s.opts.run.trace_tasks_path = NULL;
	s.ranges = calloc(io->ninputs + 1, sizeof(*s.ranges));
	if (!rc && (opts->run.decompress || opts->format.array))
		rc = sp__errf(err, SP_EUNSUP, "plan", NULL, -1,
			      "samples are read at random offsets, which compressed inputs and "
			      "arrays of JSON do not have");
	if (!rc && (!parts || parts > UINT32_MAX))
		rc = sp__errf(err, -EINVAL, "plan", NULL, -1,
			      "the number of parts is not between 1 and 4294967295");
	if (!rc && !s.ranges)
		rc = no_memory(&s);
	if (!rc) {
		s.budget = &(*splitters)->budget;
		rc = sample(&s, *splitters, parts);
		sp__budget_credit(s.budget, s.capacity);
	}
	close_input(&s);
	(void)!sp__sorter_close(&s.sorter);
	sp__keybuf_release(&s.text);
	free(s.window);
	free(s.ranges);
	return sp__splitters_keep(splitters, rc);
}
