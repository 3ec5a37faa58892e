/* SPDX-License-Identifier: MIT */
/*
 * Writes runs, ranges of the result and the complete result as records of the journal, and reads
 * these records.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/array.h"
#include "base/err.h"
#include "base/minmax.h"
#include "base/whole.h"
#include "sort/resume/resume.h"

/* Checks that a file is as recorded.  Returns 1, 0 if it has changed or is missing, or an error. */
static int verify(const struct sp__resume *r, const char *name, const struct sp__file_state *then,
		  const struct sp__ranges *marks, uint64_t to, uint64_t checksum)
{
	int fd = open(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC), rc;
	struct sp__file_state now;
	uint64_t found = 0;
	struct stat st;

	if (fd < 0)
		return 0;
	rc = fstat(fd, &st) < 0 ? -errno : 1;
	if (rc > 0) {
		now = sp__file_state(&st);
		rc = S_ISREG(st.st_mode) && sp__file_state_moved(&now, then);
	}
	if (rc > 0)
		rc = sp__checksum_range(fd, 0, to, &found);
	if (rc > 0)
		rc = found == checksum;
	if (rc > 0 && marks)
		rc = sp__ranges_verify(marks, fd);
	close(fd);
	return rc < 0 ? sp__err(r->err, rc, "read", name, -1) : rc;
}

static int verify_input(const struct sp__resume *r, const char *name, size_t i)
{
	const struct sp__file_state *now = &r->inputs[i];
	int rc;

	if (r->ends[i].replaced)
		return sp__file_state_moved(now, &r->complete.file);
	rc = verify(r, name, now, NULL, now->bytes, r->ends[i].checksum);
	return rc ? rc : sp__resume_changed(r, name);
}

/* True if the bytes before the marks, and those of the marks, are the whole result. */
static bool covers(const struct sp__complete *c, const struct sp__ranges *marks)
{
	uint64_t bytes = c->from;

	for (size_t i = 0; i < marks->nwritten; i++)
		bytes += marks->written[i].to - marks->written[i].from;
	return bytes == c->file.bytes;
}

int sp__resume_find_result(struct sp__resume *r, const struct sp_sort_io *io)
{
	const struct sp__complete *c = &r->complete;
	int rc;

	if (!r->ends || r->nends != io->ninputs || !covers(c, &r->ranges) ||
	    faccessat(r->dir.fd, SP__RESUME_RESULT, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return 0;
	rc = verify(r, io->output, &c->file, &r->ranges, c->from, c->checksum);
	for (size_t i = 0; rc > 0 && i < io->ninputs; i++)
		rc = verify_input(r, io->inputs[i], i);
	r->committed = rc > 0;
	return rc < 0 ? rc : 0;
}

int sp__resume_compare(const struct sp__resume *r, const struct sp__tally *skipped)
{
	if (!memcmp(&r->read, skipped, sizeof(*skipped)))
		return 0;
	return sp__resume_foreign(r, "has records that are not in the inputs");
}

/* Checks that all inputs are as they were at the start. */
static int check_inputs(const struct sp__resume *r, const struct sp_sort_io *io,
			struct sp__input_end *ends)
{
	struct stat st, out;
	bool has_output = stat(io->output, &out) == 0;

	for (size_t i = 0; i < io->ninputs; i++) {
		struct sp__file_state now;

		if (stat(io->inputs[i], &st) < 0)
			return sp__err(r->err, -errno, "open", io->inputs[i], -1);
		now = sp__file_state(&st);
		if (!sp__file_state_same(&now, &r->inputs[i]))
			return sp__errf(r->err, SP_EUNSUP, "resume", io->inputs[i], -1,
					"has changed while it was sorted: remove %.100s to start "
					"again",
					r->dir.path);
		ends[i].replaced = has_output && out.st_dev == st.st_dev && out.st_ino == st.st_ino;
	}
	return 0;
}

int sp__resume_complete(struct sp__resume *r, const struct sp_sort_io *io, int fd,
			const uint64_t *checksums)
{
	struct sp__input_end *ends = calloc(io->ninputs + 1, sizeof(*ends));
	const struct iovec fields[] = { { &r->complete, sizeof(r->complete) },
					{ ends, io->ninputs * sizeof(*ends) } };
	struct sp__complete *c = &r->complete;
	struct stat st;
	int rc = ends ? check_inputs(r, io, ends) : sp__err(r->err, -ENOMEM, "allocate", NULL, -1);

	for (size_t i = 0; !rc && i < io->ninputs; i++)
		ends[i].checksum = checksums[i];
	if (!rc && (fsync(fd) < 0 || fstat(fd, &st) < 0))
		rc = sp__err(r->err, -errno, "fsync", r->dir.path, -1);
	if (!rc) {
		c->file = sp__file_state(&st);
		c->from = r->ranges.list ? r->ranges.from : c->file.bytes;
		rc = sp__checksum_range(fd, 0, c->from, &c->checksum);
		rc = rc <= 0 ? sp__err(r->err, rc ? rc : -EIO, "read", r->dir.path, -1) : 0;
	}
	if (!rc)
		rc = sp__journal_append(&r->journal, SP__RECORD_COMPLETE, fields, 2);
	free(ends);
	return rc;
}

struct run_head {
	struct sp__checkpoint has;
	uint64_t page_bytes;
};

struct ranges_head {
	uint64_t runs, n;
};

struct mark {
	uint64_t range;
	struct sp__written written;
	struct sp__tally given, dropped;
	uint64_t counted;
};

void sp__checkpoints_free(struct sp__resume *r)
{
	for (size_t i = 0; i < r->nfound; i++)
		free(r->found[i].record);
	free(r->found);
	r->found = NULL;
	r->nfound = 0;
}

void sp__ranges_forget(struct sp__ranges *r)
{
	free(r->list);
	free(r->spans);
	free(r->written);
	*r = (struct sp__ranges){ 0 };
}

/* Adds a run; it replaces the runs whose input it covers, and invalidates the ranges. */
static int take_run(struct sp__resume *r, struct sp__journal_record *rec)
{
	struct run_head h;
	size_t at = 0, after;

	if (rec->bytes < sizeof(h))
		return 0;
	memcpy(&h, rec->data, sizeof(h));
	sp__ranges_forget(&r->ranges);
	while (at < r->nfound && r->found[at].has.from < h.has.from)
		at++;
	for (after = at; after < r->nfound && r->found[after].has.to <= h.has.to; after++)
		free(r->found[after].record);
	if (!SP__ARRAY_RESIZE(r->found, r->nfound + 1))
		return sp__err(r->err, -ENOMEM, "allocate", NULL, -1);
	memmove(&r->found[at + 1], &r->found[after], (r->nfound - after) * sizeof(*r->found));
	r->nfound -= after - at;
	r->nfound++;
	r->found[at] = (struct sp__kept_run){ h.has, rec->data, rec->data + sizeof(h),
					      rec->bytes - sizeof(h) };
	r->page_bytes = (uint32_t)h.page_bytes;
	rec->data = NULL;
	return 0;
}

static int take_ranges(struct sp__resume *r, const struct sp__journal_record *rec)
{
	struct sp__ranges *g = &r->ranges;
	struct ranges_head h;
	const char *from = rec->data + sizeof(h);

	sp__ranges_forget(g);
	if (rec->bytes < sizeof(h))
		return 0;
	memcpy(&h, rec->data, sizeof(h));
	if (rec->bytes != sizeof(h) + h.n * (sizeof(*g->list) + h.runs * sizeof(*g->spans)))
		return 0;
	g->list = calloc(h.n + 1, sizeof(*g->list));
	g->spans = calloc(h.n * h.runs + 1, sizeof(*g->spans));
	if (!g->list || !g->spans)
		return sp__err(r->err, -ENOMEM, "allocate", NULL, -1);
	g->n = (unsigned)h.n;
	g->runs = (unsigned)h.runs;
	memcpy(g->list, from, h.n * sizeof(*g->list));
	memcpy(g->spans, from + h.n * sizeof(*g->list), h.n * h.runs * sizeof(*g->spans));
	for (unsigned i = 0; i < g->n; i++)
		g->list[i].spans = g->spans + (size_t)i * g->runs;
	g->from = g->n ? g->list[0].at : 0;
	return 0;
}

static int take_mark(struct sp__resume *r, const struct sp__journal_record *rec)
{
	struct sp__ranges *g = &r->ranges;
	const char *offsets = rec->data + sizeof(struct mark);
	struct sp__range *range;
	struct mark m;

	if (!g->list || rec->bytes != sizeof(m) + g->runs * sizeof(uint64_t))
		return 0;
	memcpy(&m, rec->data, sizeof(m));
	if (m.range >= g->n)
		return 0;
	if (!SP__ARRAY_GROW_BY_ONE(g->written, g->nwritten))
		return sp__err(r->err, -ENOMEM, "allocate", NULL, -1);
	g->written[g->nwritten++] = m.written;
	range = &g->list[m.range];
	range->at = m.written.to;
	range->given = m.given;
	g->dropped = m.dropped;
	g->counted = m.counted;
	for (unsigned i = 0; i < g->runs; i++)
		memcpy(&range->spans[i].from, offsets + i * sizeof(uint64_t), sizeof(uint64_t));
	return 0;
}

static int take_complete(struct sp__resume *r, const struct sp__journal_record *rec)
{
	const size_t bytes = rec->bytes - sp__min(rec->bytes, sizeof(r->complete));

	if (rec->bytes < sizeof(r->complete) || bytes % sizeof(*r->ends))
		return sp__resume_foreign(r, "has a damaged journal");
	free(r->ends);
	r->ends = malloc(bytes + 1);
	if (!r->ends)
		return sp__err(r->err, -ENOMEM, "allocate", NULL, -1);
	memcpy(&r->complete, rec->data, sizeof(r->complete));
	memcpy(r->ends, rec->data + sizeof(r->complete), bytes);
	r->nends = bytes / sizeof(*r->ends);
	return 0;
}

int sp__checkpoints_take(struct sp__resume *r, struct sp__journal_record *rec)
{
	switch (rec->type) {
	case SP__RECORD_RUN:
		return take_run(r, rec);
	case SP__RECORD_RANGES:
		return take_ranges(r, rec);
	case SP__RECORD_MARK:
		return take_mark(r, rec);
	case SP__RECORD_COMPLETE:
		return take_complete(r, rec);
	default:
		return sp__resume_foreign(r, "has a damaged journal");
	}
}

int sp__ranges_verify(const struct sp__ranges *r, int fd)
{
	uint64_t checksum;
	int rc = 1;

	for (size_t i = 0; rc > 0 && i < r->nwritten; i++) {
		const struct sp__written *w = &r->written[i];

		rc = sp__checksum_range(fd, w->from, w->to, &checksum);
		if (rc > 0)
			rc = checksum == w->checksum;
	}
	return rc;
}

static int add(struct sp__resume *r, size_t id, const struct sp__checkpoint *has)
{
	if (!SP__ARRAY_GROW(r->runs, r->runs_cap, id + 1))
		return sp__err(r->err, -ENOMEM, "allocate", NULL, -1);
	r->runs[id] = *has;
	r->covered_bytes = has->to;
	return 0;
}

int sp__resume_add_found(struct sp__resume *r, size_t id, const struct sp__checkpoint *has)
{
	sp__tally_join(&r->read, &has->read);
	sp__tally_join(&r->dropped, &has->dropped);
	return add(r, id, has);
}

void sp__resume_adopted(struct sp__resume *r, bool all)
{
	if (!all)
		sp__ranges_forget(&r->ranges);
	sp__checkpoints_free(r);
}

uint64_t sp__resume_kept_bytes(const struct sp__resume *r)
{
	struct stat st;

	if (fstatat(r->dir.fd, SP__RESUME_RUNS, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return 0;
	return (uint64_t)st.st_size;
}

static int note_run(struct sp__resume *r, struct sp__spill *store, const struct sp__run *run,
		    const struct sp__checkpoint *has)
{
	struct run_head h = { *has, store->opts.page_bytes };
	size_t bytes;
	char *image = sp__run_image(run, &bytes);
	struct iovec fields[] = { { &h, sizeof(h) }, { image, bytes } };
	int rc;

	sp__ranges_forget(&r->ranges);
	if (!image)
		return sp__err(r->err, -ENOMEM, "allocate", NULL, -1);
	rc = sp__spill_sync(store);
	if (!rc)
		rc = sp__journal_append(&r->journal, SP__RECORD_RUN, fields, 2);
	free(image);
	return rc;
}

int sp__resume_formed(struct sp__resume *r, struct sp__spill *store, const struct sp__run *run,
		      size_t id, struct sp__checkpoint *has)
{
	int rc;

	has->from = r->covered_bytes;
	rc = add(r, id, has);
	return rc < 0 ? rc : note_run(r, store, run, has);
}

int sp__resume_merged(struct sp__resume *r, struct sp__spill *store, struct sp__run *const *runs,
		      const struct sp__merged_runs *merged)
{
	struct sp__checkpoint *has = &r->runs[merged->ids[0]];
	int rc;

	sp__tally_join(&has->dropped, &merged->dropped);
	for (unsigned i = 1; i < merged->n; i++) {
		const struct sp__checkpoint *next = &r->runs[merged->ids[i]];

		if (next->from != has->to)
			return sp__errf(r->err, SP_EBALANCE, "merge", NULL, -1,
					"merged runs are not consecutive");
		has->to = next->to;
		sp__tally_join(&has->read, &next->read);
		sp__tally_join(&has->dropped, &next->dropped);
	}
	rc = note_run(r, store, merged->run, has);
	for (unsigned i = 0; !rc && i < merged->n; i++)
		sp__spill_punch(store, runs[merged->ids[i]]);
	return rc;
}

int sp__resume_begin_ranges(struct sp__resume *r)
{
	struct sp__ranges *g = &r->ranges;
	struct ranges_head h = { g->runs, g->n };
	const struct iovec fields[] = { { &h, sizeof(h) },
					{ g->list, g->n * sizeof(*g->list) },
					{ g->spans, (size_t)g->n * g->runs * sizeof(*g->spans) } };
	int rc = sp__owndir_sync(&r->dir, r->err);

	return rc < 0 ? rc : sp__journal_append(&r->journal, SP__RECORD_RANGES, fields, 3);
}

int sp__resume_mark(struct sp__resume *r, unsigned range, const uint64_t *offsets,
		    const struct sp__written *written)
{
	struct mark m = { .range = range,
			  .written = *written,
			  .given = r->ranges.list[range].given,
			  .dropped = r->ranges.dropped,
			  .counted = r->ranges.counted };
	const struct iovec fields[] = {
		{ &m, sizeof(m) }, { (void *)(uintptr_t)offsets, r->ranges.runs * sizeof(*offsets) }
	};

	return sp__journal_append(&r->journal, SP__RECORD_MARK, fields, 2);
}
