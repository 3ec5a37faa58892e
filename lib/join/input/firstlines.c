/* SPDX-License-Identifier: MIT */
/*
 * Reads and writes the first lines of all files: headers, and lines that set the number of columns.
 */
#include "base/err.h"
#include "base/minmax.h"
#include "base/utf8mark.h"
#include "join/plan/plan.h"
#include "join/input/inputs.h"
#include "join/input/suffixes.h"
#include "rec/header.h"

void sp__header_pass(struct sp__source *src, const char *end)
{
	sp__tally_count(&src->done, (uint64_t)(end - src->at));
	src->at = end;
	src->lines++;
}

/* Reads the first record of a file that is scanned: SP_READY, SP_END or an error. */
static int first_of_source(struct sp__join_inputs *in, int side, struct sp__line *first)
{
	struct sp__source *src = &in->source[side];
	int rc = sp__source_fill(src);
	const char *next;

	if (rc != SP_READY)
		return rc;
	first->data = src->at;
	next = sp__record_next(&src->format, src->at, src->end, &first->bytes);
	if (in->opts->header)
		sp__header_pass(src, next);
	return rc;
}

/* Reads the first record of another file, and copies it. */
static int first_of_file(struct sp__join_inputs *in, const char *input,
			 const struct sp_recfmt *format, struct sp__bytes *copy,
			 struct sp__line *first)
{
	struct sp__waits waits = { 0 };
	struct sp__scan_opts o = { .format = *format,
				   .inputs = &input,
				   .ninputs = 1,
				   .stream = in->read,
				   .waits = &waits,
				   .err = in->env->err };
	struct sp__scan *scan = NULL;
	struct sp_batch batch = { 0 };
	int rc;

	/* Reading takes no simulated time: only the index places the file on the machine. */
	o.stream.device = NULL;
	/* An index finds its records by their offsets. */
	o.stream.unpack = SP_PACKED_NONE;
	rc = sp__scan_open(&scan, &o);
	if (!rc)
		rc = sp__iter_next(&(struct sp__iter){ scan, sp__scan_next }, &waits, &batch);
	if (rc == SP_READY) {
		(void)sp__record_next(format, batch.data, batch.data + batch.bytes, &first->bytes);
		if (sp__bytes_set(copy, batch.data, first->bytes + 1, NULL) < 0)
			rc = sp__join_no_memory(in->env);
		first->data = copy->data;
	}
	sp__scan_close(scan);
	return rc;
}

static int first_line(struct sp__join_inputs *in, struct sp__result *out, unsigned file,
		      struct sp__bytes *copy, struct sp__line *first)
{
	const struct sp_recfmt format = sp__join_format(in->opts, file < 2 ? (int)file : 0);
	int rc;

	if (file < 2 && sp__join_scans(in->opts, (int)file))
		rc = first_of_source(in, (int)file, first);
	else
		rc = first_of_file(in,
				   file < 2 ? in->io->inputs[file] : in->opts->then[file - 2].input,
				   &format, copy, first);
	/* The header of the result begins with the mark of the first file, and has no other one. */
	if (rc == SP_READY && in->opts->header && file) {
		const size_t mark = sp__utf8_mark(first->data, first->bytes);

		first->data += mark;
		first->bytes -= mark;
	}
	if (rc == SP_READY && file < 2)
		sp__line_set(&out->emit, (int)file, first->data, first->bytes, first);
	return rc;
}

/* Number of the last column of a file that is requested. */
static size_t last_column(const struct sp_join_opts *o, unsigned file)
{
	size_t last = file < 2 ? 0 : o->then[file - 2].key + 1;

	for (size_t i = 0; file < 2 && i < o->nkeys; i++)
		last = sp__max(last, o->keys[file][i] + 1);
	for (unsigned i = 0; i < o->nthen; i++)
		if (o->then[i].left == file + 1)
			last = sp__max(last, o->then[i].left_field + 1);
	for (size_t i = 0; i < o->ncolumns; i++)
		if (o->columns[i].file == file + 1)
			last = sp__max(last, o->columns[i].field + 1);
	return last;
}

/* Checks that the header of a CSV file has all requested columns. */
static int check_header(struct sp__join_inputs *in, struct sp__result *out, unsigned file,
			const struct sp__line *header)
{
	struct sp__emit *e = &out->emit;
	size_t last = last_column(in->opts, file);
	char uncut[SP__UNCUT_BYTES];

	if (!in->opts->header || !in->opts->csv)
		return 0;
	if (sp__fields_split(&e->cut, header->data, header->bytes, &e->fields[file]) < 0)
		return sp__join_no_memory(in->env);
	if (last <= e->fields[file].n)
		return 0;
	return sp__errf(in->env->err, SP_EFORMAT, "join",
			file < 2 ? in->io->inputs[file] : in->opts->then[file - 2].input, -1,
			"the header has %zu columns, not %zu%s", e->fields[file].n, last,
			sp__header_uncut(e->fields[file].n, (unsigned char)e->cut.sep[0], uncut));
}

/* copies, renamed: buffers for the header of each file. */
static int all_first_lines(struct sp__join_inputs *in, struct sp__result *out,
			   struct sp__bytes *copies, struct sp__bytes *renamed)
{
	const struct sp__line *of[SP_JOIN_FILES_MAX] = { 0 };
	struct sp__line first[SP_JOIN_FILES_MAX] = { 0 };
	struct sp__emit *e = &out->emit;
	bool any = false;

	for (unsigned i = 0; i < e->nfiles; i++) {
		int rc = first_line(in, out, i, &copies[i], &first[i]);

		if (rc == SP_READY)
			rc = check_header(in, out, i, &first[i]);
		else if (rc == SP_END)
			continue;
		if (!rc && (!e->first_alone || i == 0)) {
			of[i] = &first[i];
			any |= i < 2;
			rc = sp__emit_auto(e, i, &first[i]);
		}
		if (rc < 0)
			return rc;
	}
	if (!in->opts->header || !any)
		return 0;
	if (in->opts->suffixes) {
		int rc = sp__suffixes_append(e, of, first, renamed, in->env->err);

		if (rc < 0)
			return rc;
	}
	sp__emit_files(e, of);
	return 0;
}

static int first_lines(struct sp__join_inputs *in, struct sp__result *out)
{
	struct sp__bytes copies[SP_JOIN_FILES_MAX] = { 0 }, renamed[SP_JOIN_FILES_MAX] = { 0 };
	int rc;

	if (!in->opts->header && !out->emit.padded)
		return 0;
	rc = all_first_lines(in, out, copies, renamed);
	for (unsigned i = 0; i < SP_JOIN_FILES_MAX; i++) {
		sp__bytes_release(&copies[i], NULL);
		sp__bytes_release(&renamed[i], NULL);
	}
	return rc;
}

int sp__join_begin_rows(struct sp__join_inputs *in, struct sp__result *out)
{
	struct sp__emit *e = &out->emit;
	int rc = first_lines(in, out);

	if (rc < 0)
		return rc;
	out->timeline = (struct sp__timeline){ .io = in->io, .env = in->env };
	if (in->io->row)
		e->timeline = &out->timeline;
	if (!in->opts->limited)
		return 0;
	e->limit = e->records + sp__min(in->opts->limit, UINT64_MAX - e->records);
	e->error = in->opts->limit ? 0 : SP__LIMIT_REACHED;
	return e->error;
}
