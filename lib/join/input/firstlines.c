/* SPDX-License-Identifier: MIT */
/*
 * Reads and writes the first lines of all files: headers, and lines that set the number of columns.
 *
 * Suffixes of names: the columns of the result are listed, names that occur twice get the suffix of
 * their file, and the headers are written again with these names.  The time is quadratic in the
 * columns.
 */
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/utf8mark.h"
#include "join/input/inputs.h"
#include "join/plan/plan.h"
#include "join/result/emit.h"
#include "rec/fields.h"

struct column {
	unsigned file; /* from 0 */
	size_t field;
	char *name; /* without quotes; with the suffix, if it is shared */
	bool shared;
	size_t part; /* of the key; SIZE_MAX: none */
};

struct names {
	struct sp__emit *emit;
	struct column *at;
	size_t n;
};

static int add(struct names *names, unsigned file, size_t field, size_t part)
{
	const struct sp__fields *f = &names->emit->fields[file];
	struct column c = { .file = file, .field = field, .part = part };

	if (field >= f->n)
		return 0;
	if (!SP__ARRAY_GROW_BY_ONE(names->at, names->n))
		return -ENOMEM;
	c.name = sp__header_name(&names->emit->cut, &f->at[field]);
	if (!c.name)
		return -ENOMEM;
	names->at[names->n++] = c;
	return 0;
}

static int add_key(struct names *names, unsigned side)
{
	const struct sp_join_opts *o = names->emit->opts;
	int rc = 0;

	for (size_t i = 0; !rc && i < o->nkeys; i++)
		rc = add(names, side, o->keys[side][i], i);
	return rc;
}

/* Lists the columns in the order of the result. */
static int list(struct names *names, unsigned key_side)
{
	const struct sp__emit *e = names->emit;
	const struct sp_join_opts *o = e->opts;
	int rc = o->ncolumns ? 0 : add_key(names, key_side);

	for (size_t i = 0; !rc && i < o->ncolumns; i++)
		rc = o->columns[i].file
			     ? add(names, o->columns[i].file - 1, o->columns[i].field, SIZE_MAX)
			     : add_key(names, key_side);
	for (unsigned file = 0; !o->ncolumns && file < e->nfiles; file++)
		for (size_t k = 0; !rc && k < e->fields[file].n; k++)
			rc = sp__emit_is_key(e, file, k) ? 0 : add(names, file, k, SIZE_MAX);
	return rc;
}

/* Returns the second of two columns with one name, or NULL; marks both if `mark`. */
static const struct column *find_shared(struct names *names, bool mark)
{
	const struct column *found = NULL;

	for (size_t i = 0; i < names->n; i++)
		for (size_t j = i + 1; j < names->n; j++) {
			if (strcmp(names->at[i].name, names->at[j].name) != 0)
				continue;
			found = &names->at[j];
			if (mark)
				names->at[i].shared = names->at[j].shared = true;
		}
	return found;
}

static int append_suffixes(struct names *names, struct sp_errinfo *err)
{
	const char *const *suffixes = names->emit->opts->suffixes;
	const struct column *twice;

	if (!find_shared(names, true))
		return 0;
	for (size_t i = 0; i < names->n; i++) {
		struct column *c = &names->at[i];
		const char *suffix = suffixes[c->file];
		const size_t bytes = strlen(c->name);

		if (!c->shared)
			continue;
		if (!SP__ARRAY_RESIZE(c->name, bytes + strlen(suffix) + 1))
			return -ENOMEM;
		strcpy(c->name + bytes, suffix);
	}
	twice = find_shared(names, false);
	if (twice)
		return sp__errf(err, SP_EFORMAT, "join", NULL, -1,
				"two columns of the result have the name %s: choose other suffixes "
				"or columns",
				twice->name);
	return 0;
}

static const struct column *find(const struct names *names, unsigned file, size_t field)
{
	for (size_t i = 0; i < names->n; i++)
		if (names->at[i].file == file && names->at[i].field == field)
			return names->at[i].shared ? &names->at[i] : NULL;
	return NULL;
}

static int put_name(const struct sp__emit *e, const char *name, struct sp__bytes *to)
{
	const size_t bytes = strlen(name);

	if (sp__bytes_reserve(to, to->bytes + 2 * bytes + 2, NULL))
		return -ENOMEM;
	if (e->cut.kind == SP__CUT_CSV)
		to->bytes += sp__csv_quote(name, bytes, e->cut.sep[0], to->data + to->bytes);
	else
		return sp__bytes_append(to, name, bytes, NULL);
	return 0;
}

/* Makes a header with the names of the result. */
static int rewrite(const struct names *names, unsigned file, struct sp__bytes *to)
{
	const struct sp__emit *e = names->emit;
	const struct sp__fields *f = &e->fields[file];
	int rc = 0;

	for (size_t k = 0; !rc && k < f->n; k++) {
		const struct column *c = find(names, file, k);

		if (k)
			rc = sp__bytes_append(to, e->cut.sep, e->cut.sep_bytes, NULL);
		if (!rc)
			rc = c ? put_name(e, c->name, to)
			       : sp__bytes_append(to, f->at[k].p, f->at[k].n, NULL);
	}
	return rc;
}

/* Replaces a header; a suffix must not make more fields of it, or more lines. */
static int replace(const struct names *names, unsigned file, struct sp__line *line,
		   struct sp__bytes *copy, struct sp_errinfo *err)
{
	struct sp__emit *e = names->emit;
	const size_t n = e->fields[file].n;
	int rc = rewrite(names, file, copy);

	if (!rc)
		rc = sp__fields_split(&e->cut, copy->data, copy->bytes, &e->fields[file]);
	if (rc)
		return rc;
	if (e->fields[file].n != n ||
	    (e->cut.kind != SP__CUT_CSV && memchr(copy->data, e->opts->eol, copy->bytes)))
		return sp__errf(err, SP_ESYNTAX, "join", NULL, -1,
				"a suffix of names of columns contains the separator");
	line->data = copy->data;
	line->bytes = copy->bytes;
	if (file < 2)
		sp__line_set(e, (int)file, line->data, line->bytes, line);
	return 0;
}

/* Lists the columns of the result, with their names in the headers. */
static int list_headers(struct names *names, const struct sp__line *const *of)
{
	struct sp__emit *e = names->emit;
	int rc = 0;

	for (unsigned i = 0; !rc && i < e->nfiles; i++) {
		e->fields[i].n = 0;
		if (of[i])
			rc = sp__fields_split(&e->cut, of[i]->data, of[i]->bytes, &e->fields[i]);
	}
	return rc ? rc : list(names, of[0] ? 0 : 1);
}

/*
 * Appends suffixes to shared names in the headers first[] of all files; of: the headers, or NULL
 * without one. copies: empty buffers, one for each file, that then own the headers.  Returns 0;
 * SP_EFORMAT: names are shared after this; SP_ESYNTAX: a suffix has a separator; -ENOMEM.
 */
static int suffixes_append(struct sp__emit *e, const struct sp__line *const *of,
			   struct sp__line *first, struct sp__bytes *copies, struct sp_errinfo *err)
{
	struct names names = { .emit = e };
	int rc = list_headers(&names, of);

	if (!rc)
		rc = append_suffixes(&names, err);
	for (unsigned i = 0; !rc && i < e->nfiles; i++)
		if (of[i] && e->fields[i].n)
			rc = replace(&names, i, &first[i], &copies[i], err);
	for (size_t i = 0; i < names.n; i++)
		free(names.at[i].name);
	free(names.at);
	return rc == -ENOMEM ? sp__err(err, -ENOMEM, "allocate", NULL, -1) : rc;
}

/* Members of JSON. */

static bool is_number(const struct sp_join_opts *o, const struct column *c)
{
	const enum sp_key_type type =
		c->part != SIZE_MAX && o->types ? o->types[c->part].type : SP_KEY_TEXT;

	return type == SP_KEY_NUMERIC || type == SP_KEY_GENERAL;
}

/* Makes the columns of the result members, whose names are in the headers. */
static int add_members(struct names *names, struct sp_errinfo *err)
{
	const struct sp_join_opts *o = names->emit->opts;
	const struct column *twice = find_shared(names, false);
	int rc = 0;

	if (twice)
		return sp__errf(err, SP_EFORMAT, "join", NULL, -1,
				"two columns of the result have the name %s, so an object would "
				"have it twice: use --suffixes, or -o for other columns",
				twice->name);
	for (size_t i = 0; !rc && i < names->n; i++) {
		const struct column *c = &names->at[i];
		struct sp__rowcolumn member = { .file = c->file,
						.number = is_number(o, c),
						.field = { c->field } };

		if (c->part != SIZE_MAX) {
			member.file = 0;
			member.key = true;
			member.field[0] = o->keys[0][c->part];
			member.field[1] = o->keys[1][c->part];
		}
		rc = sp__rowform_add(names->emit->own_rows, &member,
				     c->name + sp__utf8_mark(c->name, strlen(c->name)), err);
	}
	return rc;
}

static int name_members(struct sp__emit *e, const struct sp__line *const *of,
			struct sp_errinfo *err)
{
	struct names names = { .emit = e };
	int rc = list_headers(&names, of);

	if (rc)
		rc = sp__err(err, -ENOMEM, "allocate", NULL, -1);
	else
		rc = add_members(&names, err);
	for (size_t i = 0; i < names.n; i++)
		free(names.at[i].name);
	free(names.at);
	return rc;
}

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

static int parse_where(struct sp__join_inputs *in, struct sp__result *out,
		       const struct sp__line *headers)
{
	return sp__joincondition_parse(&out->where, &out->emit, headers, in->env->err);
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
	if (in->opts->where) {
		int rc = parse_where(in, out, in->opts->header ? first : NULL);

		if (rc < 0)
			return rc;
	}
	if (!in->opts->header || !any)
		return 0;
	if (in->opts->suffixes) {
		int rc = suffixes_append(e, of, first, renamed, in->env->err);

		if (rc < 0)
			return rc;
	}
	if (e->own_rows)
		return name_members(e, of, in->env->err);
	sp__emit_files(e, of);
	return 0;
}

static int first_lines(struct sp__join_inputs *in, struct sp__result *out)
{
	struct sp__bytes copies[SP_JOIN_FILES_MAX] = { 0 }, renamed[SP_JOIN_FILES_MAX] = { 0 };
	int rc;

	if (!in->opts->header && !out->emit.padded) {
		rc = in->opts->where ? parse_where(in, out, NULL) : 0;
		if (rc || !out->emit.rows || !out->emit.rows->csv)
			return rc;
		sp__rowform_header(&out->emit);
		sp__emit_count(&out->emit);
		return 0;
	}
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
	e->where = out->where;
	out->timeline = (struct sp__timeline){ .io = in->io, .env = in->env };
	if (in->io->row)
		e->timeline = &out->timeline;
	if (!in->opts->limited)
		return 0;
	e->limit = e->records + sp__min(in->opts->limit, UINT64_MAX - e->records);
	e->error = in->opts->limit ? 0 : SP__LIMIT_REACHED;
	return e->error;
}
